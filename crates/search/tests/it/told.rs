//! What an answer tells beside its items: a feature that none of them has, a limit that is kept by a promise alone, and a
//! broader thing than the one that was asked for.

use forecourt_agents::BuiltAgent;
use forecourt_core::reply::collect;
use forecourt_core::{Language, Message, Part, Role, Turn};
use serde_json::{Value, json};

use crate::support::{build, in_folder, message, stream};

fn agent(folder: &tempfile::TempDir, items: &[Value]) -> BuiltAgent {
    let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
    std::fs::write(folder.path().join("items.jsonl"), lines).unwrap();
    let built = build("[backend]\nkind = \"search\"\ncontent = [\"items.jsonl\"]\n", &in_folder(folder.path()));
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    built
}

/// The answer to a question in a language, and the ids of its items.
async fn answer(built: &BuiltAgent, question: &str, language: &str) -> (String, Vec<String>) {
    let language = Some(Language::parse(language).unwrap());
    let asked = Message { language, ..message(vec![Part::text(question.to_owned())]) };
    let answer = collect(stream(built, asked).await).await;
    let ids = answer.parts.iter().filter_map(|part| match part {
        Part::Data(data) => data.data["@id"].as_str().map(str::to_owned),
        _ => None,
    });
    (answer.text(), ids.collect())
}

#[tokio::test]
async fn a_feature_that_nothing_has_is_told_and_what_has_one_comes_first() {
    let flat = |id: &str, text: &str| json!({"@type": "Apartment", "@id": id, "name": format!("Flat in {id} street"), "numberOfRooms": 3, "description": text});
    let house =
        json!({"@type": "House", "@id": "villa", "name": "House on the hill", "description": "With a swimming pool."});
    let folder = tempfile::tempdir().unwrap();
    let items = [
        flat("mill", "A flat with a view."),
        flat("park", "A flat at the park, with a fireplace."),
        flat("station", "A quiet flat."),
        house,
    ];
    let homes = agent(&folder, &items);
    for (question, language, told) in [
        ("flat with swimming pool", "en", "None of these says anything of “swimming pool”."),
        ("flat with sauna", "en", "None of these says anything of “sauna”."),
        ("flat with sauna", "de", "Keines davon sagt etwas von „sauna“."),
        ("flat with sauna", "fr", "Aucun de ces résultats ne parle de « sauna »."),
        ("flat with sauna", "es", "Ninguno de estos dice nada de «sauna»."),
    ] {
        let (text, ids) = answer(&homes, question, language).await;
        let plain = text.replace(['\u{a0}', '\u{202f}', '\u{2068}', '\u{2069}'], " ").replace("  ", " ");
        assert!(plain.contains(told), "{question}: {text}");
        assert!(!ids.is_empty(), "{question}");
    }
    let (text, ids) = answer(&homes, "flat with a fireplace", "en").await;
    assert!(!text.contains("None of these") && ids[0] == "park", "{text}");
}

#[tokio::test]
async fn a_limit_that_a_name_promises_is_told_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let items = [
        json!({"@type": "Product", "@id": "named", "name": "Gluten-Free Cookies", "offers": {"price": 4}}),
        json!({"@type": "Recipe", "@id": "stated", "name": "Rice pudding", "recipeIngredient": ["rice", "milk", "sugar"]}),
        json!({"@type": "Product", "@id": "labelled", "name": "Rice cakes", "suitableForDiet": "https://schema.org/GlutenFreeDiet"}),
    ];
    let shop = agent(&folder, &items);
    for (question, language, by_name, by_source) in [
        ("something without gluten", "en", "(by its name)", "(as its source states)"),
        ("etwas ohne Gluten", "de", "(laut seinem Namen)", "(laut seiner Quelle)"),
        ("something without gluten", "fr", "(d'après son nom)", "(d'après sa source)"),
        ("something without gluten", "es", "(según su nombre)", "(según su fuente)"),
    ] {
        let (text, ids) = answer(&shop, question, language).await;
        assert_eq!(ids.len(), 3, "{text}");
        assert_eq!(text.matches(by_name).count(), 1, "{text}");
        assert_eq!(text.matches(by_source).count(), 1, "{text}");
    }
}

#[tokio::test]
async fn one_step_up_is_taken_where_nothing_is_what_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let drug =
        |id: &str, name: &str, text: &str| json!({"@type": "Drug", "@id": id, "name": name, "description": text});
    let items = [
        drug("ibu", "Ibuprofen 400", "For pain of all kinds."),
        drug("nose", "Nasal spray", "For a blocked nose."),
        drug("cream", "Hand cream", "For dry hands."),
    ];
    let pharmacy = agent(&folder, &items);
    for (question, language, told) in [
        ("headache", "en", "Nothing here says “headache”; shown is what says “pain”."),
        ("Kopfschmerzen", "de", "Nichts hier nennt „Kopfschmerzen“; gezeigt wird, was „pain“ nennt."),
        ("mal de tête", "fr", "Rien ici ne mentionne « mal de tête » ; voici ce qui mentionne « pain »."),
        ("dolor de cabeza", "es", "Nada aquí menciona «dolor de cabeza»; se muestra lo que menciona «pain»."),
    ] {
        let (text, ids) = answer(&pharmacy, question, language).await;
        assert_eq!(ids, ["ibu"], "{question}: {text}");
        let plain = text.replace(['\u{2068}', '\u{2069}'], "");
        assert!(plain.contains(told), "{question}: {text}");
    }
    let (text, _) = answer(&pharmacy, "toothbrush", "en").await;
    assert!(!text.contains("shown is what says"), "{text}");
    // What is narrower is found without a word.
    let folder = tempfile::tempdir().unwrap();
    let music = agent(
        &folder,
        &[
            json!({"@type": "Product", "@id": "guitar", "name": "Acoustic guitar"}),
            json!({"@type": "Product", "@id": "lamp", "name": "Desk lamp"}),
        ],
    );
    let (text, ids) = answer(&music, "instruments", "en").await;
    assert!(ids == ["guitar"] && !text.contains("shown is what says"), "{text}");
}

#[tokio::test]
async fn a_word_that_nothing_has_is_told_and_the_rest_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let lamp = |id: &str, brand: Value, price: u32| json!({"@type": "Product", "@id": id, "name": format!("Lamp {id}"), "brand": brand, "category": "Home > Lamps", "offers": {"price": price, "priceCurrency": "EUR"}});
    let items = [
        lamp("one", json!("Kronos"), 10),
        lamp("two", json!({"@type": "Brand", "name": "Kronos"}), 20),
        lamp("three", json!("Vega"), 30),
    ];
    let shop = agent(&folder, &items);
    let (text, ids) = answer(&shop, "frobnicated lamps for running", "en").await;
    assert!(ids.len() == 3 && text.contains("frobnicated"), "{text}");
    for question in ["lamps from Kronos", "Kronos lamp", "a Kronos set"] {
        let (text, mut ids) = answer(&shop, question, "en").await;
        ids.sort();
        assert_eq!(ids, ["one", "two"], "{question}: {text}");
    }
}

#[tokio::test]
async fn a_list_is_sorted_and_not_answered_by_its_first() {
    let folder = tempfile::tempdir().unwrap();
    let lamp = |id: &str, price: u32| json!({"@type": "Product", "@id": id, "name": format!("Lamp {id}"), "offers": {"price": price, "priceCurrency": "EUR"}});
    let shop = agent(&folder, &[lamp("dear", 30), lamp("cheap", 10), lamp("middle", 20)]);
    for turn in ["sort them by price, cheapest first", "sort these by price"] {
        let history =
            vec![Turn::text(Role::User, "lamps".to_owned()), Turn::text(Role::Assistant, "Three.".to_owned())];
        let asked = Message { history: history.into(), ..message(vec![Part::text(turn.to_owned())]) };
        let answer = collect(stream(&shop, asked).await).await;
        let ids = answer.parts.iter().filter_map(|part| match part {
            Part::Data(data) => data.data["@id"].as_str().map(str::to_owned),
            _ => None,
        });
        assert_eq!(ids.collect::<Vec<_>>(), ["cheap", "middle", "dear"], "{turn}: {}", answer.text());
    }
}
