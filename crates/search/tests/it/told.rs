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

#[tokio::test]
async fn what_has_only_some_of_what_was_asked_is_called_the_closest() {
    let folder = tempfile::tempdir().unwrap();
    let lamp = |id: &str, material: &str, price: u32| json!({"@type": "Product", "@id": id, "name": format!("Lamp {id}"), "description": format!("Made of {material}."), "offers": {"price": price, "priceCurrency": "EUR"}});
    let shop = agent(&folder, &[lamp("one", "oak", 90), lamp("two", "brass", 20), lamp("three", "paper", 10)]);
    for (question, language, told) in [
        ("oak lamp under 50", "en", "The closest: **Lamp"),
        ("oak lamp under 50", "de", "Am nächsten kommt: **Lamp"),
        ("oak lamp under 50", "fr", "Le plus proche : **Lamp"),
        ("oak lamp under 50", "es", "Lo más parecido: **Lamp"),
    ] {
        let (text, ids) = answer(&shop, question, language).await;
        let plain = text.replace(['\u{a0}', '\u{202f}', '\u{2068}', '\u{2069}'], " ").replace("  ", " ");
        assert!(plain.contains(told) && !ids.is_empty(), "{question}: {text}");
    }
    let (text, ids) = answer(&shop, "oak lamp under 100", "en").await;
    assert!(ids[0] == "one" && !text.contains("The closest"), "{text}");
    // A misspelled word is what it was read as.
    let (text, _) = answer(&shop, "brasss lamp", "en").await;
    assert!(!text.contains("The closest"), "{text}");
}

#[tokio::test]
async fn what_can_not_be_had_is_told_and_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let thing =
        |id: &str, name: &str, offer: Value| json!({"@type": "Product", "@id": id, "name": name, "offers": offer});
    let gone = || json!({"price": 30, "availability": "https://schema.org/OutOfStock"});
    let there = || json!({"price": 20, "availability": "https://schema.org/InStock"});
    let ended = json!({"price": 20, "validThrough": "2001-01-31"});
    let shop = agent(
        &folder,
        &[
            thing("kayak", "Kayak Otter", gone()),
            thing("tent", "Tent Alder", there()),
            thing("big-tent", "Tent Birch", gone()),
            thing("old-tent", "Tent Cedar", ended),
        ],
    );
    for (language, told) in [
        ("en", "Nothing of this can be had at the moment. Sold out:"),
        ("de", "Nichts davon ist im Moment zu haben. Ausverkauft:"),
        ("fr", "Rien de cela n'est disponible en ce moment. Épuisé :"),
        ("es", "Nada de esto está disponible ahora. Agotado:"),
    ] {
        let (text, ids) = answer(&shop, "kayak", language).await;
        let plain = text.replace(['\u{a0}', '\u{202f}', '\u{2068}', '\u{2069}'], " ").replace("  ", " ");
        assert!(plain.contains(told) && text.contains("Kayak Otter") && ids.is_empty(), "{language}: {text}");
    }
    let (text, ids) = answer(&shop, "tent", "en").await;
    assert!(ids == ["tent"] && text.contains("Tent Birch") && text.contains("Tent Cedar"), "{text}");
    let (text, ids) = answer(&shop, "the Kayak Otter please", "en").await;
    assert_eq!(ids, ["kayak"], "who asks for it by its name gets it: {text}");
}

#[tokio::test]
async fn what_says_that_it_has_no_such_thing_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let coat = |id: &str, text: &str| json!({"@type": "Product", "@id": id, "name": format!("Coat {id}"), "description": text, "offers": {"price": 9}});
    let shop = agent(
        &folder,
        &[
            coat("one", "Warm, with pockets."),
            coat("two", "Warm, without pockets."),
            coat("three", "Mit Kapuze."),
            coat("four", "Ohne Kapuze."),
        ],
    );
    let (text, ids) = answer(&shop, "coat with pockets", "en").await;
    assert!(ids.contains(&"one".to_owned()) && !ids.contains(&"two".to_owned()), "{text}");
    let (text, ids) = answer(&shop, "coat mit Kapuze", "de").await;
    assert!(ids.contains(&"three".to_owned()) && !ids.contains(&"four".to_owned()), "{text}");
}

#[tokio::test]
async fn what_is_called_by_no_word_for_the_thing_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let thing = |id: &str, name: &str| json!({"@type": "Product", "@id": id, "name": name, "brand": "Kronos", "offers": {"price": 9}});
    let shop = agent(
        &folder,
        &[thing("bell", "Kronos steel bell"), thing("horn", "Kronos steel horn"), thing("lock", "Kronos lock")],
    );
    for (question, language) in [("steel bell", "en"), ("a steel bell for my boat", "en")] {
        let (text, ids) = answer(&shop, question, language).await;
        assert_eq!(ids, ["bell"], "{question}: {text}");
    }
    let (text, ids) = answer(&shop, "a steel bell or a horn", "en").await;
    assert!(ids.contains(&"horn".to_owned()), "{text}");
}
