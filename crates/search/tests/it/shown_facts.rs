//! Turns about what was shown, in trades of which no rule knows anything: a fact of the one that is left, of one that is
//! named, what is compared with one by its name, and limits that are let go of. In four languages.

use forecourt_agents::BuiltAgent;
use forecourt_core::reply::collect;
use forecourt_core::{Language, Message, Part, Role, Turn};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{build, in_folder, message, stream};

pub(crate) fn agent(items: &[Value]) -> (TempDir, BuiltAgent) {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
    std::fs::write(folder.path().join("items.jsonl"), lines).unwrap();
    let built = build("[backend]\nkind = \"search\"\ncontent = [\"items.jsonl\"]\n", &in_folder(folder.path()));
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    (folder, built)
}

/// The answer to the last of these turns, without marks, and the names of its items.
async fn answer(built: &BuiltAgent, turns: &[&str], language: &str) -> (String, Vec<String>) {
    let (mut history, mut last) = (Vec::new(), (String::new(), Vec::new()));
    for text in turns {
        let language = Language::parse(language);
        let asked = Message { history: history.clone().into(), language, ..message(vec![Part::text(*text)]) };
        let answer = collect(stream(built, asked).await).await;
        let names = answer.parts.iter().filter_map(|part| match part {
            Part::Data(data) => data.data["name"].as_str().map(str::to_owned),
            _ => None,
        });
        history.push(Turn::text(Role::User, *text));
        history.push(Turn::text(Role::Assistant, answer.text()));
        last = (answer.text().replace(['*', '\u{2068}', '\u{2069}'], ""), names.collect());
    }
    last
}

/// Whether each conversation ends in an answer that says this, about this item alone.
pub(crate) async fn says(built: &BuiltAgent, cases: &[(&[&str], &str, &str, &str)]) {
    for (turns, language, item, said) in cases {
        let (text, names) = answer(built, turns, language).await;
        assert!(text.contains(said) && names == [*item], "{turns:?}: {names:?} {text}");
    }
}

/// Whether each conversation ends in a list of exactly these.
pub(crate) async fn lists(built: &BuiltAgent, cases: &[(&[&str], &str, &[&str])]) {
    for (turns, language, wanted) in cases {
        let (text, mut names) = answer(built, turns, language).await;
        names.sort_unstable();
        assert_eq!(names, *wanted, "{turns:?}: {text}");
    }
}

fn property(name: &str, value: Value) -> Value {
    json!({"@type": "PropertyValue", "name": name, "value": value})
}

/// Machines for hire.
fn hire() -> Vec<Value> {
    let machine = |name: &str, brand: &str, noise: u32, weight: f64, price: u32, dust: &str| {
        json!({"@type": "Product", "name": name, "category": "Machines", "brand": brand,
            "offers": {"price": price, "priceCurrency": "EUR"}, "additionalProperty": [
            {"name": "Noise level", "value": noise, "unitText": "dB"}, {"name": "Weight", "value": weight, "unitText": "kg"},
            property("Dust extraction", json!(dust)), property("Power supply", json!(if noise > 80 { "Petrol" } else { "Mains" }))]})
    };
    vec![
        machine("Torq Sander 3", "Torq", 78, 4.5, 30, "yes"),
        machine("Torq Breaker 12", "Torq", 98, 12.0, 60, "no"),
        machine("Mendo Sander 5", "Mendo", 74, 6.5, 45, "yes"),
        machine("Mendo Tiller", "Mendo", 92, 40.0, 80, "no"),
    ]
}

#[tokio::test]
async fn the_one_that_is_left_is_asked_for_whatever_it_states() {
    let (_folder, hire) = agent(&hire());
    says(
        &hire,
        &[
            (&["sander by Mendo", "how loud is it?"], "en", "Mendo Sander 5", "Noise level: 74 dB"),
            (&["tiller", "do they have dust extraction?"], "en", "Mendo Tiller", "Dust extraction: No"),
            (&["breaker", "wie schwer ist der?"], "de", "Torq Breaker 12", "Weight: 12 kg"),
            (&["breaker", "il est bruyant ?"], "fr", "Torq Breaker 12", "Noise level: 98 dB"),
            (&["tiller", "¿cuánto cuesta?"], "es", "Mendo Tiller", "80 EUR"),
        ],
    )
    .await;
}

#[tokio::test]
async fn one_of_several_is_asked_for_by_its_name_alone() {
    let (_folder, hire) = agent(&hire());
    says(
        &hire,
        &[
            (&["sanders", "is the Torq one heavy?"], "en", "Torq Sander 3", "Weight: 4.5 kg"),
            (&["sanders", "is the Mendo one petrol?"], "en", "Mendo Sander 5", "Power supply: Mains"),
            (&["sanders", "wie laut ist der Mendo?"], "de", "Mendo Sander 5", "Noise level: 74 dB"),
            (
                &["sanders", "is the Torq one heavy?", "and how loud is it?"],
                "en",
                "Torq Sander 3",
                "Noise level: 78 dB",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_name_in_a_question_is_enough_for_a_property_of_the_sites_own() {
    let (_folder, hire) = agent(&hire());
    says(
        &hire,
        &[
            (&["how loud is the Mendo Tiller?"], "en", "Mendo Tiller", "Noise level: 92 dB"),
            (&["hat der Torq Sander eine dust extraction?"], "de", "Torq Sander 3", "Dust extraction: Ja"),
            (&["what power supply does the Torq Breaker use?"], "en", "Torq Breaker 12", "Power supply: Petrol"),
        ],
    )
    .await;
    // Another thing than the one that is named is looked for.
    let (_, names) = answer(&hire, &["what is like the Torq Breaker, with dust extraction?"], "en").await;
    assert_ne!(names, ["Torq Breaker 12"]);
}

#[tokio::test]
async fn what_is_compared_with_by_its_name_gives_the_bound_and_is_left_out() {
    let (_folder, hire) = agent(&hire());
    lists(
        &hire,
        &[
            (&["machines", "anything cheaper than the Torq Breaker 12?"], "en", &["Mendo Sander 5", "Torq Sander 3"]),
            (&["sanders", "gibt es was Günstigeres als den Mendo Sander?"], "de", &["Torq Sander 3"]),
            (&["machines", "quelque chose de moins cher que le Mendo Sander 5"], "fr", &["Torq Sander 3"]),
            (&["machines", "algo más barato que el Mendo Sander 5"], "es", &["Torq Sander 3"]),
            (&["machines", "lighter than the Mendo Sander 5"], "en", &["Torq Sander 3"]),
            (&["machines louder than the Mendo Tiller"], "en", &["Torq Breaker 12"]),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_limit_is_let_go_of_by_another_word_for_it_or_by_its_own() {
    let (_folder, hire) = agent(&hire());
    let (both, quiet): (&[&str], &[&str]) = (&["Mendo Sander 5", "Torq Sander 3"], &["Mendo Sander 5"]);
    lists(
        &hire,
        &[
            (&["sanders", "under 76 dB"], "en", quiet),
            (&["sanders", "under 76 dB", "forget the noise, with dust extraction"], "en", both),
            (&["sanders", "under 76 dB", "never mind the noise level"], "en", both),
            (&["sanders", "with dust extraction", "never mind the dust extraction, under 76 dB"], "en", quiet),
        ],
    )
    .await;
}

#[tokio::test]
async fn the_only_thing_of_a_name_is_meant_by_one_word_and_a_turn_without_finds_leaves_what_was_shown() {
    let (_folder, hire) = agent(&hire());
    says(
        &hire,
        &[
            (&["how much is the tiller?"], "en", "Mendo Tiller", "80 EUR"),
            (&["Was kostet der Breaker?"], "de", "Torq Breaker 12", "60 EUR"),
            (&["how much is the Mendo Tiller?", "and how loud is it?"], "en", "Mendo Tiller", "Noise level: 92 dB"),
            (&["Was kostet der Torq Breaker?", "wie schwer ist der?"], "de", "Torq Breaker 12", "Weight: 12 kg"),
            (&["breaker", "under 3 EUR", "how loud is it?"], "en", "Torq Breaker 12", "Noise level: 98 dB"),
            (&["sanders", "¿cuánto cuesta?"], "es", "Mendo Sander 5", "45 EUR"),
        ],
    )
    .await;
}

/// Courses of a language school.
fn school() -> Vec<Value> {
    let course = |name: &str, start: &str, places: u32, exam: bool| {
        json!({"@type": "Course", "name": name, "startDate": start, "petsAllowed": false, "additionalProperty": [
            property("Plazas", json!(places)), property("Examen incluido", json!(if exam { "Sí" } else { "No" }))]})
    };
    vec![
        course("Italiano intensivo", "2027-02-01T18:30:00", 12, true),
        course("Coreano inicial", "2027-03-05", 8, false),
        course("Coreano avanzado", "2027-04-09T09:00", 6, true),
    ]
}

#[tokio::test]
async fn a_question_may_leave_out_what_it_is_for() {
    let (_folder, school) = agent(&school());
    says(
        &school,
        &[
            (&["italiano", "¿cuándo empieza?"], "es", "Italiano intensivo", "2027-02-01 18:30"),
            (&["italiano", "¿cuántas plazas hay?"], "es", "Italiano intensivo", "Plazas: 12"),
            (&["italiano", "¿tiene examen?"], "es", "Italiano intensivo", "Examen incluido: Sí"),
            (&["italiano", "do they include an examen?"], "en", "Italiano intensivo", "Examen incluido: Yes"),
        ],
    )
    .await;
}

#[tokio::test]
async fn one_variant_is_asked_for_by_what_it_has_of_its_own() {
    let (_folder, roastery) = agent(&[json!({"@type": "ProductGroup", "name": "Lago Espresso", "hasVariant": [
        {"@type": "Product", "size": "250 g", "offers": {"price": "8.50", "priceCurrency": "EUR"}},
        {"@type": "Product", "size": "Box of 4", "offers": {"price": "30.00", "priceCurrency": "EUR"}}]})]);
    says(
        &roastery,
        &[
            (&["espresso", "what does a box of 4 cost?"], "en", "Lago Espresso", "(Box of 4) costs 30.00 EUR"),
            (&["espresso", "was kostet eine Box of 4?"], "de", "Lago Espresso", "30.00 EUR"),
            (&["espresso", "how much is the 250 g?"], "en", "Lago Espresso", "8.50 EUR"),
        ],
    )
    .await;
}

#[tokio::test]
async fn another_kind_of_thing_is_looked_for_and_no_fact_of_what_was_shown() {
    let (_folder, hire) = agent(&hire());
    let (_, names) = answer(&hire, &["tiller", "which sanders have dust extraction?"], "en").await;
    assert!(names.len() == 2 && names.iter().all(|name| name.contains("Sander")), "{names:?}");
    let turns = ["sanders", "is the Torq one heavy?", "which machines have dust extraction?"];
    let (_, names) = answer(&hire, &turns, "en").await;
    assert_eq!(names.len(), 2, "{names:?}");
    let (_, names) = answer(&hire, &["tiller", "is there anything with dust extraction?"], "en").await;
    assert_ne!(names, ["Mendo Tiller"]);
}
