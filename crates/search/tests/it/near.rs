//! Near me: sorted and limited by distance, from a place of the data or from a position that the caller gives.

use forecourt_agents::BuiltAgent;
use forecourt_core::reply::collect;
use forecourt_core::{Findings, FindingsDetail, Message, Part, SearchOptions};
use serde_json::{Value, json};

use crate::support::{build, in_folder, message, stream};

fn place(id: &str, name: &str, kind: &str, (latitude, longitude): (f64, f64), city: &str) -> Value {
    json!({"@type": kind, "@id": id, "name": name, "address": {"addressLocality": city},
        "geo": {"@type": "GeoCoordinates", "latitude": latitude, "longitude": longitude}})
}

/// Cafés in Porto, Braga (50 km) and Lisbon (270 km), one that does not say where it is, and a station.
fn town() -> (tempfile::TempDir, BuiltAgent) {
    let folder = tempfile::tempdir().unwrap();
    let items = [
        place("a", "Café Aliança", "CafeOrCoffeeShop", (41.150, -8.610), "Porto"),
        place("b", "Café Bolhão", "CafeOrCoffeeShop", (41.180, -8.690), "Matosinhos"),
        place("c", "Café Coimbra", "CafeOrCoffeeShop", (41.545, -8.427), "Braga"),
        place("d", "Café Douro", "CafeOrCoffeeShop", (38.722, -9.139), "Lisboa"),
        place("s", "Campanhã Station", "TrainStation", (41.149, -8.585), "Porto"),
        json!({"@type": "CafeOrCoffeeShop", "@id": "e", "name": "Café Elsewhere"}),
    ];
    let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
    std::fs::write(folder.path().join("items.jsonl"), lines).unwrap();
    let built = build("[backend]\nkind = \"search\"\ncontent = [\"items.jsonl\"]\n", &in_folder(folder.path()));
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    (folder, built)
}

/// The ids that were found, in their order, and what is told beside them.
async fn asked(built: &BuiltAgent, parts: Vec<Part>) -> (String, Findings) {
    let search = SearchOptions { findings: FindingsDetail::Facets, ..SearchOptions::default() };
    let answer = collect(stream(built, Message { search, ..message(parts) }).await).await;
    let ids = answer.parts.iter().filter_map(|part| match part {
        Part::Data(data) => data.data["@id"].as_str().map(str::to_owned),
        _ => None,
    });
    (ids.collect(), *answer.findings.expect("findings are told"))
}

#[tokio::test]
async fn what_is_near_a_place_of_the_data_comes_by_its_distance() {
    let (_folder, built) = town();
    for (question, found) in [
        ("cafés within 15 km of Porto", "ab"),
        ("cafés within 100 km of Porto", "abc"),
        ("cafés near Porto", "ab"),
        ("cafés within 1000 km of Lisboa", "dabc"),
        ("cafés within 3 km of the station", "a"),
        ("cafés im Umkreis von 15 km um Porto", "ab"),
        ("des cafés à moins de 100 km de Porto", "abc"),
        ("cafés a menos de 100 km de Braga", "cba"),
    ] {
        assert_eq!(asked(&built, vec![Part::text(question)]).await.0, found, "{question}");
    }
    let (_, told) = asked(&built, vec![Part::text("cafés within 15 km of Porto")]).await;
    assert_eq!(told.applied.last().map(|limit| limit.words.as_str()), Some("within 15 km of Porto"));
    let fits: Vec<&str> =
        told.items.iter().filter_map(|item| Some(item.reason.as_ref()?.fits.last()?.as_str())).collect();
    let distances: Vec<&str> = told.items.iter().filter_map(|item| item.reason.as_ref()?.distance.as_deref()).collect();
    assert_eq!(distances, fits);
    assert_eq!(fits, ["within 15 km of Porto (2.1 km)", "within 15 km of Porto (9.4 km)"]);
    assert_eq!(told.left_out.first().map(|left| left.items), Some(1), "one does not say where it is");
    // There is no such place: cafés are listed, and what can't be checked is told.
    let (_, told) = asked(&built, vec![Part::text("cafés within 2 km of Atlantis")]).await;
    assert_eq!(told.not_understood, ["within 2 km", "Atlantis"]);
}

#[tokio::test]
async fn a_caller_gives_a_position_and_nothing_is_found_far_from_everything() {
    let (_folder, built) = town();
    let near = |value: Value| vec![Part::text("cafés"), Part::data(json!({"filters": {"near": value}}))];
    assert_eq!(asked(&built, near(json!("41.545,-8.427,60"))).await.0, "cba");
    assert_eq!(asked(&built, near(json!({"latitude": 38.7, "longitude": -9.1, "km": 50}))).await.0, "d");
    let (found, told) = asked(&built, near(json!("0,0,50"))).await;
    assert_eq!((found.as_str(), told.count), ("", 0), "{told:?}");
}
