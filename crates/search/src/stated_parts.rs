//! What the parts of an item state: its offer, the dates of a course, a warranty. Each property of a part is one of the item,
//! by its own name: "instructor", "start date".

use forecourt_sentences::Sentences;
use serde_json::Value;

use crate::limits::{PARTS_DEPTH_MAX, PARTS_READ_MAX, STATED_VALUES_MAX};
use crate::stated_fact::{AMOUNTS, StatedFact, fact_of, is_person, is_told};

/// Parts that are other items, are told by facts of their own, or say nothing to a reader.
const UNREAD: &[&str] = &[
    "aggregateRating",
    "review",
    "priceSpecification",
    "price",
    "lowPrice",
    "highPrice",
    "priceCurrency",
    "businessFunction",
    "hasVariant",
    "isVariantOf",
    "isRelatedTo",
    "isSimilarTo",
    "hasPart",
    "isPartOf",
    "subjectOf",
    "potentialAction",
    "geo",
    "openingHoursSpecification",
    "specialOpeningHoursSpecification",
    "step",
    "comment",
    "mainEntity",
];

/// What one property of a part states.
#[derive(Debug, PartialEq)]
pub(crate) struct StatedPart {
    /// Its dot path.
    pub(crate) path: String,
    /// What it states: several parts of one path together.
    pub(crate) fact: StatedFact,
    /// Whether that is a person.
    pub(crate) is_person: bool,
}

/// What the parts of an item state, at most [`STATED_VALUES_MAX`] properties.
pub(crate) fn of(item: &Value, say: Sentences) -> Vec<StatedPart> {
    let mut found = Vec::new();
    let fields = item.as_object().into_iter().flatten().filter(|(key, _)| is_read(key));
    fields.for_each(|(key, value)| read(value, key, 1, say, &mut found));
    found
}

fn is_read(key: &str) -> bool {
    is_told(key) && !UNREAD.contains(&key)
}

/// Reads the properties of a part, and of those that it has itself.
fn read(part: &Value, path: &str, depth: usize, say: Sentences, found: &mut Vec<StatedPart>) {
    let one = std::slice::from_ref(part);
    let parts = part.as_array().map_or(one, Vec::as_slice).iter().take(PARTS_READ_MAX);
    // An amount is told as a whole.
    let parts = parts.filter_map(Value::as_object).filter(|part| AMOUNTS.iter().all(|key| !part.contains_key(*key)));
    for (key, value) in parts.flatten().filter(|(key, _)| is_read(key)) {
        let path = format!("{path}.{key}");
        match fact_of(value, say) {
            Some(fact) => add(found, StatedPart { path, fact, is_person: is_person(value) }),
            None if depth < PARTS_DEPTH_MAX => read(value, &path, depth + 1, say, found),
            None => {}
        }
    }
}

/// Adds what a property states to what parts of the same path state.
fn add(found: &mut Vec<StatedPart>, part: StatedPart) {
    let is_full = found.len() >= STATED_VALUES_MAX;
    match found.iter_mut().find(|known| known.path == part.path) {
        Some(known) => {
            if let (StatedFact::Text(texts), StatedFact::Text(text)) = (&mut known.fact, part.fact)
                && texts.split(", ").all(|other| other != text)
            {
                texts.push_str(", ");
                texts.push_str(&text);
            }
        }
        None if is_full => {}
        None => found.push(part),
    }
}

#[cfg(test)]
mod tests {
    use forecourt_sentences::SpokenLanguage;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn told(item: &Value) -> Vec<(String, String, bool)> {
        let all = of(item, Sentences::in_language(SpokenLanguage::English)).into_iter();
        let text = |fact: StatedFact| match fact {
            StatedFact::Text(text) => text,
            StatedFact::Truth(truth) => truth.to_string(),
        };
        all.map(|part| (part.path, text(part.fact), part.is_person)).collect()
    }

    #[test]
    fn parts_of_an_item_state_what_it_states() {
        let item = json!({"name": "x", "weight": {"value": 3, "unitCode": "KGM"}, "offers": [
            {"name": "fee", "price": 3, "warranty": {"durationOfWarranty": {"value": 2, "unitCode": "ANN"}}},
            {"price": 4, "availabilityStarts": "2027-03-01"}],
            "run": [{"instructor": {"@type": "Person", "name": "Ada"}, "startDate": "2027-01-13T18:00:00", "work": "PT45H"},
                {"instructor": {"@type": "Person", "name": "Bo"}, "open": true, "days": ["https://schema.org/Monday"]}],
            "hasVariant": [{"color": "red"}]});
        let told = told(&item);
        let wanted = [
            ("offers.warranty.durationOfWarranty", "2 years", false),
            ("offers.availabilityStarts", "2027-03-01", false),
            ("run.instructor", "Ada, Bo", true),
            ("run.startDate", "2027-01-13 18:00", false),
            ("run.work", "45 hours", false),
            ("run.open", "true", false),
            ("run.days", "Monday", false),
        ];
        for (path, text, is_person) in wanted {
            assert!(told.contains(&(path.to_owned(), text.to_owned(), is_person)), "{path}: {told:?}");
        }
        assert_eq!(told.len(), wanted.len(), "{told:?}");
    }

    #[test]
    fn as_many_parts_are_read_and_as_deep_as_there_may_be() {
        let runs = |count: usize| {
            let run: Vec<Value> = (0..count).map(|at| json!({"room": format!("r{at}")})).collect();
            told(&json!({ "run": run }))[0].1.split(", ").count()
        };
        assert_eq!((runs(PARTS_READ_MAX), runs(PARTS_READ_MAX + 1)), (PARTS_READ_MAX, PARTS_READ_MAX));
        let deep = |levels: usize| (0..levels).fold(json!({"room": "r"}), |part, _| json!({ "part": part }));
        assert_eq!((told(&deep(PARTS_DEPTH_MAX)).len(), told(&deep(PARTS_DEPTH_MAX + 1)).len()), (1, 0));
        let wide = |count: usize| {
            let part: serde_json::Map<String, Value> = (0..count).map(|at| (format!("p{at}"), json!(at))).collect();
            told(&json!({ "part": part })).len()
        };
        assert_eq!((wide(STATED_VALUES_MAX), wide(STATED_VALUES_MAX + 1)), (STATED_VALUES_MAX, STATED_VALUES_MAX));
    }

    proptest! {
        #[test]
        fn any_text_is_told_or_not(key in ".{0,20}", text in ".{0,60}") {
            let item = json!({"part": {(key.as_str()): [{(key.as_str()): text}, {"name": text}]}});
            prop_assert!(told(&item).len() <= 2);
        }
    }
}
