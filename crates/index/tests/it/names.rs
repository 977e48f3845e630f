//! Other names of what a question names: in its own language, in that of the items, in compounds. The words are those of
//! a deployment, so that the test says all that counts.

use std::sync::Arc;

use forecourt_index::limits::SPELLINGS_READ;
use forecourt_index::{Options, Query};
use forecourt_understanding::SortOrder;
use forecourt_vocabulary::{ProposedEntry, Vocabulary};
use serde_json::json;

use crate::common::Shelf;

const WORDS: &str = r#"
[[synonym]]
en = ["glimmer", "shimmerer"]
de = ["funzel"]
fr = ["loupiote"]
[[synonym]]
en = ["desk glimmer"]
de = ["schreibfunzel"]
broader = ["glimmer"]
[[synonym]]
en = ["torchlet"]
broader = ["glimmer"]
[[synonym]]
en = ["wheelbug"]
de = ["flitzrad"]
[[synonym]]
en = ["headpot"]
de = ["haube", "topf"]
[[synonym]]
en = ["knitted sack"]
de = ["strickbeutel"]
fr = ["sac de laine"]
[[synonym]]
en = ["tire"]
de = ["reifen"]
[[synonym]]
en = ["banquet"]
de = ["tire"]
"#;

fn vocabulary() -> Arc<Vocabulary> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("vocabulary")).unwrap();
    std::fs::write(dir.path().join("vocabulary/words.toml"), WORDS).unwrap();
    Vocabulary::of_deployment(dir.path()).unwrap()
}

/// Items, each with its language and its name.
fn shelf(items: &[(&str, &str)]) -> Shelf {
    let shelf = Shelf::with(Options { vocabulary: Some(vocabulary()), ..Options::default() });
    let line = |(at, (language, name)): (usize, &(&str, &str))| {
        let item = json!({
            "@id": format!("urn:{at}"), "@type": "Product", "name": name, "inLanguage": language, "offers": {"price": at}
        });
        format!("{item}\n")
    };
    shelf.put("items.jsonl", &items.iter().enumerate().map(line).collect::<String>());
    shelf.index();
    shelf
}

#[test]
fn a_word_finds_what_is_called_otherwise_below_what_is_called_so() {
    let shelf = shelf(&[
        ("en", "Torchlet for the bag"),
        ("en", "Shimmerer of brass"),
        ("en", "Glimmer of brass and oak"),
        ("en", "Wooden spoon"),
    ]);
    let found = shelf.names("glimmers");
    assert_eq!(found.len(), 3);
    assert!(found[0].starts_with("Glimmer") && found[1].starts_with("Shimmerer") && found[2].starts_with("Torchlet"));
    assert_eq!(shelf.names("torchlet"), ["Torchlet for the bag"], "what is wider is not what was asked for");
    assert_eq!(shelf.names("shimmerer brass")[0], "Shimmerer of brass");
}

#[test]
fn a_word_of_another_language_finds_items_that_say_it_in_theirs() {
    let english =
        shelf(&[("en", "Knitted sack, grey"), ("en", "Sack of flour"), ("en", "Torchlet"), ("en", "Glimmer")]);
    for question in ["Strickbeutel", "Strickbeuteln grau", "un sac de laine", "sacs de laine gris"] {
        assert_eq!(english.names(question), ["Knitted sack, grey"], "{question}");
    }
    assert_eq!(english.names("Funzel"), ["Glimmer", "Torchlet"]);
    let german = shelf(&[("de", "Strickbeutel grau"), ("de", "Beutel"), ("de", "Schreibfunzel")]);
    assert_eq!(german.names("knitted sacks"), ["Strickbeutel grau"]);
    assert_eq!(german.names("loupiote"), ["Schreibfunzel"], "something narrower, where nothing is called so");
}

#[test]
fn german_compounds_are_read_in_parts_and_put_together() {
    let english = shelf(&[("en", "Headpot for the wheelbug"), ("en", "Headpot of iron"), ("en", "Wheelbug")]);
    assert_eq!(english.names("Flitzradhaube"), ["Headpot for the wheelbug"]);
    let german = shelf(&[("de", "Flitzradhaube"), ("de", "Ofen")]);
    assert_eq!(german.names("wheelbug headpot"), ["Flitzradhaube"]);
}

#[test]
fn a_word_is_read_in_the_language_of_the_question() {
    let shelf = shelf(&[("en", "A flat tire, and how to fix it"), ("en", "Banquet for ten")]);
    assert_eq!(shelf.names("how to fix a flat tire"), ["A flat tire, and how to fix it"]);
    assert_eq!(shelf.names("tire"), ["A flat tire, and how to fix it"]);
    assert_eq!(shelf.names("Reifen"), ["A flat tire, and how to fix it"]);
    assert!(shelf.names("eine Tire für das Fest").contains(&"Banquet for ten".to_owned()));
    assert!(!shelf.names("how to fix a flat tire").contains(&"Banquet for ten".to_owned()));
}

#[test]
fn a_word_of_another_language_is_no_misspelled_one() {
    let shelf = shelf(&[("en", "Glimmers"), ("en", "Flitzrat")]);
    assert!(shelf.names("Flitzrad").is_empty());
    assert!(shelf.library.corrections(&Query::new("Flitzrad")).unwrap().is_empty());
    assert_eq!(shelf.names("Flitzrax"), ["Flitzrat"], "this one means nothing");
}

#[test]
fn what_must_have_all_words_may_have_them_by_other_names() {
    let shelf = shelf(&[("en", "Shimmerer of brass"), ("en", "Glimmer of oak"), ("en", "Spoon of brass")]);
    let order = SortOrder { fields: vec!["offers.price".to_owned()], descending: false, words: String::new() };
    let cheapest = |text: &str| -> Vec<String> {
        let query = Query { order: Some(order.clone()), ..Query::new(text) };
        shelf.library.search(&query).unwrap().into_iter().map(|hit| hit.name).collect()
    };
    assert_eq!(cheapest("glimmer brass"), ["Shimmerer of brass"]);
    assert_eq!(cheapest("funzel"), ["Shimmerer of brass", "Glimmer of oak"]);
    assert_eq!(cheapest("spoon"), ["Spoon of brass"]);
    assert!(shelf.library.is_answered("loupiote", &shelf.hits("loupiote")).unwrap());
}

#[test]
fn why_an_item_is_found_by_another_name_is_told() {
    let shelf = shelf(&[("en", "Knitted sack"), ("en", "Shimmerer")]);
    let explained = shelf.library.explain(&Query::new("Strickbeutel")).unwrap();
    let (field, words, adds) = &explained[0].terms[0];
    assert_eq!((field.as_str(), words.as_str()), ("text", "knit sack"));
    assert!(*adds > 0.0);
}

/// Whether two spellings of one word are proposed beside so many words of the same first letter, and as many digits.
fn is_proposed(others: usize) -> bool {
    let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
    let word =
        |number: usize| ["ca".to_owned(), (0..3).map(|at| letter(number / 26_usize.pow(2 - at))).collect()].concat();
    let others: Vec<String> = (0..others).map(word).collect();
    let numbers: Vec<String> = (10_000..10_000 + SPELLINGS_READ).map(|number| number.to_string()).collect();
    let item = |id: &str, text: &str| json!({"@id": id, "name": "thing", "description": text}).to_string() + "\n";
    let shelf = Shelf::new();
    let both = "the cubour and the cubor";
    shelf.put(
        "a.jsonl",
        &[item("a", both), item("b", both), item("c", &others.join(" ")), item("d", &numbers.join(" "))].concat(),
    );
    shelf.index();
    let pair = ["cubor", "cubour"].map(str::to_owned);
    shelf.library.word_proposals(&[]).unwrap().iter().any(|proposal| match proposal.entry() {
        ProposedEntry::Synonym { words } => words.iter().all(|word| pair.contains(word)),
        _ => false,
    })
}

#[test]
fn spellings_are_looked_for_under_every_letter() {
    assert!(is_proposed(SPELLINGS_READ - 2));
    assert!(!is_proposed(SPELLINGS_READ - 1), "the last of them is not read");
}

#[test]
fn an_item_is_explained_where_others_have_its_other_names() {
    let shelf =
        shelf(&[("en", "Shimmerer"), ("en", "Glimmer"), ("en", "Shimmerer and glimmer"), ("en", "Glimmer of oak")]);
    for text in ["glimmer", "shimmerer", "glimmer oak"] {
        let (hits, explained) = (shelf.hits(text), shelf.library.explain(&Query::new(text)).unwrap());
        assert_eq!(hits.len(), explained.len());
        assert!(explained.iter().all(|one| one.terms.iter().any(|(_, _, adds)| *adds > 0.0)), "{text}");
    }
}

#[test]
fn one_item_in_another_language_hides_none_of_the_others() {
    let items =
        [("de", "Die Funzel für das Bad"), ("en", "Glimmer of oak"), ("en", "Shimmerer"), ("en", "Spoon of brass")];
    let found = |text: &str| shelf(&items).hits(text).into_iter().map(|hit| hit.name).collect::<Vec<_>>();
    let mut all = found("Funzel");
    all.sort_unstable();
    assert_eq!(all, ["Die Funzel für das Bad", "Glimmer of oak", "Shimmerer"]);
    assert_eq!(found("spoon"), ["Spoon of brass"]);
}
