//! What is over is left out, what is sold out comes later, and where nothing fits it is told what is near.

use serde_json::{Value, json};

use crate::support::{ask, build, in_folder};

/// An agent that knows these items.
fn agent(folder: &tempfile::TempDir, items: &[Value]) -> forecourt_agents::BuiltAgent {
    let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
    std::fs::write(folder.path().join("items.jsonl"), lines).unwrap();
    let built = build("[backend]\nkind = \"search\"\ncontent = [\"items.jsonl\"]\n", &in_folder(folder.path()));
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    built
}

fn event(name: &str, more: Value) -> Value {
    let mut event = json!({"@type": "MusicEvent", "@id": name, "name": name});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

fn coat(name: &str, price: f64, stock: &str) -> Value {
    json!({"@type": "Product", "@id": name, "name": name, "offers": {"price": price, "priceCurrency": "EUR",
        "availability": format!("https://schema.org/{stock}")}})
}

/// The first of the names that an answer has.
fn first<'n>(text: &str, names: &[&'n str]) -> &'n str {
    let at = |name: &&str| text.find(*name).unwrap_or(usize::MAX);
    names.iter().min_by_key(|name| at(name)).unwrap()
}

#[tokio::test]
async fn what_is_over_is_left_out_unless_a_date_is_asked_for_or_all_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let built = agent(
        &folder,
        &[
            event("Jazz of old", json!({"startDate": "2001-05-01"})),
            event("Jazz of long ago", json!({"startDate": "1965-05-01"})),
            event("Jazz to come", json!({"startDate": "2999-05-01"})),
            event("Jazz called off", json!({"startDate": "2999-05-02", "eventStatus": "EventCancelled"})),
            event("Jazz never played", json!({"startDate": "1965-05-02", "eventStatus": "EventCancelled"})),
            json!({"@type": "TVSeries", "@id": "s", "name": "Jazz series", "startDate": "2001-01-01"}),
        ],
    );
    let now = ask(&built, "jazz").await;
    let has = |name: &str| now.text().contains(name);
    assert!(has("Jazz to come") && has("Jazz series"), "{}", now.text());
    assert!(!has("Jazz of old") && !has("Jazz called off"), "{}", now.text());
    let then = ask(&built, "jazz in 2001").await;
    assert!(then.text().contains("Jazz of old") && !then.text().contains("Jazz to come"), "{}", then.text());
    let then = ask(&built, "jazz in 1965").await;
    assert!(then.text().contains("Jazz of long ago"), "before 1970: {}", then.text());
    assert!(!then.text().contains("Jazz never played"), "{}", then.text());
    let folder = tempfile::tempdir().unwrap();
    let archive = agent(&folder, &[event("Jazz of old", json!({"startDate": "2001-05-01"}))]);
    assert!(ask(&archive, "jazz").await.text().contains("Jazz of old"), "an archive is searched whole");
}

#[tokio::test]
async fn what_is_sold_out_comes_behind_what_fits_about_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let coats = [coat("Coat one", 10.0, "OutOfStock"), coat("Coat two", 20.0, "InStock"), coat("Hat", 5.0, "InStock")];
    let built = agent(&folder, &coats);
    let names = ["Coat one", "Coat two", "Hat"];
    // What is cheapest is so, whoever can have it.
    for (question, best) in [("coat", "Coat two"), ("the cheapest coat", "Coat one")] {
        let answer = ask(&built, question).await;
        assert_eq!(first(&answer.text(), &names), best, "{question}: {}", answer.text());
        assert!(answer.text().contains("Coat one"), "it is told all the same: {}", answer.text());
    }
    let asked = ask(&built, "coats that are sold out").await;
    assert_eq!(first(&asked.text(), &names), "Coat one", "who asks for it gets it: {}", asked.text());
}

fn jacket(name: &str, category: &str, age: &str, colour: &str, price: f64) -> Value {
    let age = json!([{"@type": "PropertyValue", "name": "Age", "value": age}]);
    json!({"@type": "Product", "@id": name, "name": name, "category": category, "color": colour,
        "additionalProperty": age, "offers": {"price": price, "priceCurrency": "EUR"}})
}

#[tokio::test]
async fn what_is_of_another_kind_is_near_and_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let items = [
        jacket("Puddle Jacket", "Rain jackets", "5-7", "blue", 44.95),
        jacket("Storm Jacket", "Rain jackets", "5-7", "yellow", 64.95),
        jacket("Drop Jacket", "Rain jackets", "2-4", "green", 39.95),
        jacket("Fox Fleece Jacket", "Fleece", "5-7", "black", 19.95),
    ];
    let built = agent(&folder, &items);
    let answer = ask(&built, "a rain jacket for a six-year-old under 60, not blue").await;
    assert!(answer.parts.iter().all(|part| !matches!(part, forecourt_core::Part::Data(_))), "{answer:?}");
    let told = answer.text();
    for near in ["“at most 60”: **Storm Jacket** (64.95 EUR)", "“not blue”: **Puddle Jacket**", "**Drop Jacket**"]
    {
        assert!(told.contains(near), "{near}: {told}");
    }
    assert!(told.contains("Without “a rain jacket”: **Fox Fleece Jacket**"), "{told}");
    // One that fits is the answer.
    let fits = ask(&built, "a rain jacket for a six-year-old under 70, not blue").await;
    assert!(fits.text().contains("Storm Jacket") && !fits.text().contains("Puddle"), "{}", fits.text());
    // Words that are no kind lower the rank and refuse nothing.
    let described = ask(&built, "a warm black jacket under 60").await;
    assert!(described.text().contains("Fox Fleece Jacket"), "{}", described.text());
}

#[tokio::test]
async fn where_nothing_fits_what_keeps_every_limit_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let built = agent(&folder, &[coat("Coat", 90.0, "InStock"), coat("Hat", 5.0, "InStock")]);
    let told = ask(&built, "coat under 20 euros").await.text();
    assert!(told.contains("“coat”") && told.contains("Hat"), "what costs less: {told}");
    assert!(told.contains("at most 20") && told.contains("Coat"), "and what costs more: {told}");
}
