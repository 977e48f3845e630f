//! Limits that were once read the wrong way round, or not at all: each with what it must come to.

use crate::learnt::{LearntProperties, StatedProperty, StatedValues};
use crate::tests::{Everything, understood, understood_with};
use forecourt_vocabulary::Vocabulary;

/// The limits of a question, those that are not understood with a mark of interrogation in front.
fn limits(text: &str) -> Vec<String> {
    let found = understood(text, &Everything);
    let told = found.not_understood.iter().map(|words| format!("? {words}"));
    found.filters.iter().map(|filter| filter.words.clone()).chain(told).collect()
}

/// The same where items state what homes and medicines do.
fn stated(text: &str) -> Vec<String> {
    let property = |path: &str, values| StatedProperty { path: path.to_owned(), share: 0.9, values };
    let properties = vec![
        property("numberOfRooms", StatedValues::Numbers { are_whole: true }),
        property("petsAllowed", StatedValues::Truth),
        property("pregnancyWarning", StatedValues::Warnings),
        property("additionalProperty.sugarFree", StatedValues::Truth),
    ];
    let learnt = LearntProperties::of(properties, &Vocabulary::shipped());
    let found = understood_with(text, &Everything, &learnt);
    let told = found.not_understood.iter().map(|words| format!("? {words}"));
    found.filters.iter().map(|filter| filter.words.clone()).chain(told).collect()
}

#[test]
fn what_is_needed_or_contained_is_read_the_right_way_round() {
    for (text, wanted) in [
        ("a stew that needs at least 2 hours", "2 hours or more"),
        ("bread that contains no nuts", "no nuts"),
        ("cake that has no eggs", "no eggs"),
        ("soup, pork is out", "no pork"),
        ("soup, nuts are off limits", "no nuts"),
        ("off limits: nuts", "no nuts"),
        ("Suppe, Nüsse sind tabu", "no nuts"),
        ("movies of the last decade", "from 2016-11-23 to 2026-11-23"),
        ("Filme aus dem letzten Jahrzehnt", "from 2016-11-23 to 2026-11-23"),
        ("only free ones", "free of charge"),
        ("nur kostenlose", "free of charge"),
    ] {
        let found = limits(text);
        assert!(found.iter().any(|words| words == wanted), "{text}: {found:?}");
        assert!(!found.iter().any(|words| words.starts_with('?')), "{text}: {found:?}");
    }
}

#[test]
fn what_items_state_of_homes_and_medicines_is_read_the_right_way_round() {
    for (text, wanted) in [
        ("at least 3 rooms, pets allowed", &["room: at least 3", "pets allowed"][..]),
        ("no pets allowed", &["not pets allowed"]),
        ("tablets suitable in pregnancy", &["suitable in pregnancy"]),
        ("painkillers I can take while pregnant", &["while pregnant"]),
        ("syrup without sugar", &["no sugar"]),
        ("Saft ohne Zucker", &["no sugar"]),
        ("sugar-free syrup", &["sugar free"]),
    ] {
        assert_eq!(stated(text), wanted, "{text}");
    }
}

#[test]
fn words_of_the_grammar_are_no_things() {
    for text in
        ["a soup with at least 4 stars", "a soup with no nuts", "soup with for two", "soup with a", "with or without"]
    {
        let found = limits(text);
        let is_nonsense = |words: &&String| {
            words.strip_prefix("with ").is_some_and(|thing| ["at", "no", "for", "a", "or", "without"].contains(&thing))
        };
        assert_eq!(found.iter().find(is_nonsense), None, "{text}: {found:?}");
    }
}
