use forecourt_core::Language;
use forecourt_sentences::{Sentences, SpokenLanguage};
use forecourt_vocabulary::Vocabulary;
use serde_json::{Value, json};

use super::*;

fn hit(item: Value) -> Hit {
    let name = item["name"].as_str().unwrap_or_default().to_owned();
    Hit {
        score: 1.0,
        id: String::new(),
        item: item.into(),
        name,
        url: None,
        snippet: String::new(),
        matched: Vec::new(),
        is_pinned: false,
    }
}

/// Whether each question is answered by these properties, or by none.
fn check(item: Value, cases: &[(&str, Option<&str>)]) {
    let (vocabulary, language) = (Vocabulary::shipped(), Language::parse("en").unwrap());
    let say = Sentences::in_language(SpokenLanguage::English);
    let tell = FactContext { say, vocabulary: &vocabulary, language: &language };
    let hit = hit(item);
    for (question, told) in cases {
        let answer = answer(&tell, &hit, question, &[]).map(|text| text.replace("**", ""));
        let wanted = told.map(|told| format!("{}: {told}.", hit.name));
        assert_eq!(answer, wanted, "{question}");
    }
}

#[test]
fn a_question_is_answered_by_the_property_that_it_names() {
    let item = json!({"name": "Car", "additionalProperty": [
        {"name": "Kofferraum", "value": "640 Liter"}, {"name": "Number of seats", "value": 5},
        {"name": "Garantie", "value": 2, "unitText": "ans"}, {"name": "Tow bar", "value": true},
    ]});
    check(
        item,
        &[
            ("Wie groß ist der Kofferraum?", Some("Kofferraum: 640 Liter")),
            ("how many seats does it have?", Some("Number of seats: 5")),
            ("il est garanti combien de temps ?", Some("Garantie: 2 ans")),
            ("does it have a tow bar?", Some("Tow bar: Yes")),
            ("what colour is it?", None),
            ("how many doors does it have?", None),
            ("", None),
        ],
    );
}

#[test]
fn a_property_is_asked_for_by_its_adjective_or_its_verb() {
    let item = json!({"name": "Pump", "weight": {"value": 4, "unitCode": "KGM"}, "additionalProperty": [
        {"name": "Noise level", "value": 62, "unitCode": "2N"}, {"name": "Leistung", "value": "900 W"},
        {"name": "Förderhöhe", "value": "7 m"}, {"name": "Ambient temperature", "value": "5-40 °C"}]});
    check(
        item,
        &[
            ("how loud is it?", Some("Noise level: 62 dB")),
            ("Wie laut ist die?", Some("Noise level: 62 dB")),
            ("elle est bruyante ?", Some("Noise level: 62 dB")),
            ("¿cuánto pesa?", Some("weight: 4 kg")),
            ("wie stark ist sie?", Some("Leistung: 900 W")),
            ("wie hoch pumpt sie?", Some("Förderhöhe: 7 m")),
            ("how wide is it?", None),
        ],
    );
}

#[test]
fn the_best_name_counts_and_what_says_little_names_nothing() {
    let item = json!({"name": "Inn", "checkinTime": "15:00:00", "checkoutTime": "11:00:00", "petsAllowed": "No",
        "amenityFeature": [{"name": "Free Wi-Fi", "value": true}, {"name": "Free parking", "value": false}],
        "additionalProperty": [{"name": "Minimum stay", "value": 2, "unitText": "nights"}]});
    check(
        item,
        &[
            ("does it have free parking?", Some("Free parking: No")),
            ("what time is check-out?", Some("checkout time: 11:00")),
            ("wann ist die Anreise?", Some("checkin time: 15:00")),
            ("do they take dogs?", Some("pets allowed: No")),
            ("how many nights do I have to stay at least?", Some("Minimum stay: 2 nights")),
            ("what time is breakfast?", None),
            ("is it free?", None),
        ],
    );
}

#[test]
fn a_compound_is_asked_for_by_its_parts_and_a_keeping_time_by_until_when() {
    let item = json!({"name": "Plum", "additionalProperty": [{"name": "Erntezeit", "value": "August"},
        {"name": "Blütezeit", "value": "April"}, {"name": "Best before", "value": 2031}]});
    check(
        item,
        &[
            ("wann kann ich sie ernten?", Some("Erntezeit: August")),
            ("wann ist die Blüte?", Some("Blütezeit: April")),
            ("until when can I keep it?", Some("Best before: 2031")),
            ("bis wann ist sie haltbar?", Some("Best before: 2031")),
            ("in welcher Zeit?", None),
        ],
    );
}

#[test]
fn what_an_item_is_names_none_of_its_properties() {
    let item = json!({"@type": "Wine", "name": "Riva", "wineCategory": "white", "Wine region": "north"});
    check(item.clone(), &[("who made the wine?", None), ("what region is the wine from?", Some("wine region: north"))]);
    check(
        json!({"@type": "Recipe", "recipeCategory": "Soup", "name": "x"}),
        &[("wer hat das Rezept geschrieben?", None)],
    );
}

#[test]
fn a_limit_names_its_property_too() {
    let vocabulary = Vocabulary::shipped();
    let language = Language::parse("en").unwrap();
    let say = Sentences::in_language(SpokenLanguage::German);
    let tell = FactContext { say, vocabulary: &vocabulary, language: &language };
    let hit = hit(json!({"name": "Oven", "additionalProperty": [{"name": "Installation", "value": "Freestanding"},
        {"name": "Grill", "value": "yes"}]}));
    let limit = Filter::is("additionalProperty.Installation", "built-in");
    let told = answer(&tell, &hit, "is it built-in?", std::slice::from_ref(&limit)).unwrap();
    assert!(told.ends_with("Installation: Freestanding."), "{told}");
    assert!(answer(&tell, &hit, "is it built-in?", &[]).is_none());
    assert!(is_so(&tell, &hit, "grill").unwrap().ends_with("Grill: Ja."));
    assert!(is_so(&tell, &hit, "installation").is_none());
}
