//! Words beside limits that say all of what is asked for: they are told where nothing has them, and decide nothing.

use forecourt_agents::BuiltAgent;
use forecourt_core::reply::collect;
use forecourt_core::{Language, Message, Part};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{build, in_folder, message, stream};

/// What a boat house hires out, called in one language.
fn boats(kind: &str, names: [&str; 3]) -> Vec<Value> {
    let boat = |name: &str, of: &str, price: u32, ramp: &str| {
        json!({"@type": "Product", "@id": format!("https://boats.example/{name}"), "name": name,
            "offers": {"price": price, "priceCurrency": "EUR"}, "suitableFor": "lake",
            "additionalProperty": [{"name": kind, "value": of}, {"name": "Ramp", "value": ramp}]})
    };
    vec![
        boat("Teal", names[0], 30, "yes, at the jetty"),
        boat("Swift", names[0], 55, "not available"),
        boat("Heron", names[1], 40, "no"),
        boat("Otter", names[2], 70, "yes"),
    ]
}

fn built(items: &[Value], language: &str) -> (TempDir, BuiltAgent) {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = items.iter().map(Value::to_string).collect();
    std::fs::write(folder.path().join("items.jsonl"), lines.join("\n")).unwrap();
    let settings = format!("[backend]\nkind = \"search\"\nlanguage = \"{language}\"\ncontent = [\"items.jsonl\"]\n");
    let built = build(&settings, &in_folder(folder.path()));
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    (folder, built)
}

/// The names of what is listed, in order of the alphabet, and what is said first.
async fn asked(built: &BuiltAgent, language: &str, text: &str) -> (Vec<String>, String) {
    let asked = Message { language: Language::parse(language), ..message(vec![Part::text(text)]) };
    let answer = collect(stream(built, asked).await).await;
    let names = answer.parts.iter().filter_map(|part| match part {
        Part::Data(data) => data.data["name"].as_str().map(str::to_owned),
        _ => None,
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    (names, answer.text().lines().next().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn what_describes_a_thing_that_a_limit_names_is_told_and_leaves_nothing_out() {
    let trades = [
        ("en", boats("Boat type", ["kayak", "canoe", "dinghy"])),
        ("de", boats("Bootstyp", ["Kajak", "Kanadier", "Ruderboot"])),
        ("fr", boats("Type de bateau", ["kayak", "canoë", "barque"])),
        ("es", boats("Tipo de barco", ["kayak", "canoa", "barca"])),
    ];
    for (language, items) in trades {
        let (_folder, built) = built(&items, language);
        let questions: &[(&str, &[&str], &str)] = match language {
            "en" => &[
                ("kayaks that fold up for my journey", &["Swift", "Teal"], "journey"),
                ("two kayaks under 50 for my sister", &["Teal"], "sister"),
                ("a canoe with a zorgle", &["Heron"], "zorgle"),
            ],
            "de" => &[
                ("Kajak, das in meinen Kofferraum passt", &["Swift", "Teal"], "Kofferraum"),
                ("Kanadier für Leute mit Rückenweh", &["Heron"], "Rückenweh"),
                ("Ruderboot für meine Schwester unter 80", &["Otter"], "Schwester"),
            ],
            "fr" => &[
                ("kayak pour ma belle-sœur", &["Swift", "Teal"], "sœur"),
                ("un canoë qui tient dans le coffre", &["Heron"], "coffre"),
                ("kayak à moins de 50 pour ma grand-tante", &["Teal"], "tante"),
            ],
            _ => &[
                ("kayak para mi cuñada", &["Swift", "Teal"], "cuñada"),
                ("una canoa que quepa en el maletero", &["Heron"], "maletero"),
                ("kayak por menos de 50 para mi tía", &["Teal"], "tía"),
            ],
        };
        for (text, names, told) in questions {
            let (listed, said) = asked(&built, language, text).await;
            assert_eq!(listed, *names, "{text}: {said}");
            assert!(said.contains(told), "{text}: {said}");
        }
    }
}

#[tokio::test]
async fn what_is_named_by_no_limit_is_not_there_and_neither_is_it_for_nobody() {
    let (_folder, built) = built(&boats("Boat type", ["kayak", "canoe", "dinghy"]), "en");
    for text in
        ["a surfboard under 50", "a kayak for toddlers", "kayaks under 20", "a pedal boat with a slide under 100"]
    {
        let (listed, said) = asked(&built, "en", text).await;
        assert!(listed.is_empty(), "{text}: {listed:?} {said}");
    }
}

#[tokio::test]
async fn a_yes_or_a_no_that_says_more_is_one() {
    let (_folder, built) = built(&boats("Boat type", ["kayak", "canoe", "dinghy"]), "en");
    assert_eq!(asked(&built, "en", "kayak with a ramp").await.0, ["Teal"]);
    assert_eq!(asked(&built, "en", "kayak without a ramp").await.0, ["Swift"]);
    assert_eq!(asked(&built, "en", "boats with ramp").await.0, ["Otter", "Teal"]);
}
