//! Amounts, ends and values that one property has and another one could have by its words alone, in trades of all kinds.

use forecourt_vocabulary::Vocabulary;

use crate::filter::{Filter, Test};
use crate::learnt::{LearntProperties, StatedProperty, StatedValues};
use crate::parsed_question::ParsedQuestion;
use crate::tests::{FINDING, understood_with};

fn asked(text: &str) -> ParsedQuestion {
    let property = |(path, values): (&str, StatedValues)| StatedProperty { path: path.to_owned(), share: 0.6, values };
    let number = || StatedValues::Numbers { are_whole: true };
    let texts = |all: &[&str]| StatedValues::Texts(all.iter().map(|text| (*text).to_owned()).collect());
    let stated = [
        ("numberOfPages", number()),
        ("numberOfRooms", number()),
        ("trailerWeight.gram", number()),
        ("additionalProperty.Price per person", number()),
        ("additionalProperty.Gets on with cats", StatedValues::Truth),
        ("additionalProperty.Geeignet für Hunde", StatedValues::Truth),
        ("additionalProperty.Animal", texts(&["cats", "dogs", "katze"])),
        ("additionalProperty.Genre", texts(&["klassik", "elektronik", "rock"])),
        ("additionalProperty.Rama", texts(&["psicología", "dermatología"])),
        ("additionalProperty.Category", texts(&["note", "task"])),
        ("knowsLanguage", texts(&["inglés", "allemand", "deutsch"])),
    ];
    let learnt = LearntProperties::of(stated.into_iter().map(property).collect(), &Vocabulary::shipped());
    understood_with(text, &FINDING, &learnt)
}

/// The paths of the limits of a question.
fn paths(text: &str) -> Vec<String> {
    let found = asked(text).filters;
    found.iter().flat_map(Filter::alternatives).flat_map(|one| one.fields.clone()).collect()
}

#[test]
fn a_time_is_no_number_of_pages() {
    for text in ["books shorter than 4 hours", "Bücher kürzer als 4 Stunden", "libros más cortos que 4 horas"] {
        assert!(!paths(text).contains(&"numberOfPages".to_owned()), "{text}: {:?}", paths(text));
    }
    assert_eq!(paths("books shorter than 400 pages"), ["numberOfPages"]);
}

#[test]
fn what_tows_more_tows_a_caravan_of_two_tonnes() {
    for text in ["a car that can pull a 2 tonne caravan", "Auto für einen 2 t Anhänger", "tow 2000 kg"] {
        let found = asked(text).filters;
        let is_least =
            |filter: &Filter| matches!(filter.test, Test::Within { from: Some(from), to: None } if from == 2e6);
        assert!(found.iter().any(is_least), "{text}: {found:?}");
    }
}

#[test]
fn a_price_for_each_person_is_no_number_of_persons() {
    for text in ["a table for 60 persons", "Tisch für 60 Personen", "une salle de 60 personnes"] {
        assert!(!paths(text).iter().any(|path| path.contains("Price")), "{text}: {:?}", paths(text));
    }
}

#[test]
fn what_gets_on_with_cats_is_no_cat() {
    assert_eq!(paths("a rabbit that is fine with cats"), ["additionalProperty.Gets on with cats"]);
    assert_eq!(paths("Decke für Hunde"), ["additionalProperty.Geeignet für Hunde"]);
    assert_eq!(paths("cats"), ["additionalProperty.Animal"]);
}

#[test]
fn rooms_with_two_beds_are_no_two_rooms() {
    assert!(!paths("rooms with two single beds").contains(&"numberOfRooms".to_owned()));
    assert!(!paths("Zimmer mit zwei einzelnen Betten").contains(&"numberOfRooms".to_owned()));
    assert_eq!(paths("flat with 3 rooms"), ["numberOfRooms"]);
}

#[test]
fn a_word_that_no_item_has_means_the_value_of_its_family() {
    for (text, path) in [
        ("klassische Abende", "additionalProperty.Genre"),
        ("elektronische Abende", "additionalProperty.Genre"),
        ("un psicólogo", "additionalProperty.Rama"),
        ("une dermatologue", "additionalProperty.Rama"),
    ] {
        assert_eq!(paths(text), [path], "{text}");
    }
    assert!(paths("rocky evenings").is_empty());
}

#[test]
fn a_word_that_denies_is_no_value() {
    assert!(!paths("apps, not hosted here").iter().any(|path| path.contains("Category")));
}

#[test]
fn languages_are_known_by_what_they_are_called_in_any_language() {
    for (text, value) in [
        ("who speaks English", "inglés"),
        ("wer spricht Englisch", "inglés"),
        ("que hablen alemán", "allemand"),
        ("qui parle allemand", "deutsch"),
    ] {
        let found = asked(text).filters;
        let has = |filter: &Filter| match &filter.test {
            Test::IsOneOf { values, .. } => values.iter().any(|known| known == value),
            _ => false,
        };
        assert!(found.iter().any(has), "{text}: {found:?}");
    }
}
