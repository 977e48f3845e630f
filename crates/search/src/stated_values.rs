//! What an item states of itself, property by property, as it is told: yes and no, texts, amounts with their units.

use forecourt_sentences::Sentences;
use forecourt_understanding::name_in_words;
use forecourt_vocabulary::Vocabulary;
use serde_json::{Map, Value};

use crate::limits::STATED_VALUES_MAX;
use crate::stated_fact::{LISTS, StatedFact, fact, fact_of, is_person, is_told, pay};
use crate::stated_parts;

/// One property of an item.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StatedValue {
    /// What it is called in words, in lower case: "noise level", "pets allowed".
    pub(crate) words: String,
    /// The path by which limits know it.
    pub(crate) path: String,
    /// What it is called in an answer.
    pub(crate) name: String,
    /// What it states.
    pub(crate) value: StatedFact,
    /// Whether that is a person.
    pub(crate) is_person: bool,
}

impl StatedValue {
    /// Whether it states a day.
    pub(crate) fn is_date(&self) -> bool {
        let StatedFact::Text(text) = &self.value else { return false };
        text.get(..10).is_some_and(|day| day.parse::<jiff::civil::Date>().is_ok())
    }

    /// The value as it is told.
    pub(crate) fn told(&self, say: Sentences) -> String {
        match &self.value {
            StatedFact::Truth(true) => say.page_yes(),
            StatedFact::Truth(false) => say.page_no(),
            StatedFact::Text(text) => text.clone(),
        }
    }
}

/// What an item states, at most [`STATED_VALUES_MAX`] properties: those of its site's own come first, those of its parts
/// last.
pub(crate) fn all(item: &Value, say: Sentences, vocabulary: &Vocabulary) -> Vec<StatedValue> {
    let lists = LISTS.iter().filter_map(|list| Some((list, item.get(*list)?.as_array()?)));
    let own = lists.flat_map(|(list, all)| all.iter().map(move |one| (list, one))).filter_map(|(list, one)| {
        let name = one.get("name")?.as_str()?;
        // A point within a name parts no path: "max. load".
        let words = name_in_words(&name.replace('.', " "));
        let path = format!("{list}.{name}");
        Some(StatedValue { words, path, name: name.to_owned(), value: fact(one, say)?, is_person: false })
    });
    let fields = item.as_object().into_iter().flat_map(Map::iter).filter(|(key, _)| is_told(key));
    let stated = fields.filter_map(|(key, value)| {
        let fact = pay(value, say).or_else(|| fact_of(value, say))?;
        Some(known(vocabulary, (key.clone(), key), fact, is_person(value), say))
    });
    let parts = stated_parts::of(item, say).into_iter().map(|part| {
        let key = part.path.rsplit('.').next().unwrap_or_default().to_owned();
        known(vocabulary, (part.path, &key), part.fact, part.is_person, say)
    });
    own.chain(stated).chain(parts).take(STATED_VALUES_MAX).collect()
}

/// What a property of schema.org states, by its path and its own name.
fn known(
    vocabulary: &Vocabulary,
    (path, key): (String, &str),
    value: StatedFact,
    is_person: bool,
    say: Sentences,
) -> StatedValue {
    let words = name_in_words(key);
    let name = named(vocabulary, key, say).unwrap_or_else(|| words.clone());
    StatedValue { words, path, name, value, is_person }
}

/// What the vocabulary calls a property.
fn named(vocabulary: &Vocabulary, path: &str, say: Sentences) -> Option<String> {
    let property = vocabulary.properties().iter().find(|property| property.paths.iter().any(|known| known == path))?;
    Some(property.name(say.language().code()).to_owned())
}

#[cfg(test)]
mod tests {
    use forecourt_sentences::SpokenLanguage;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn told(item: &Value, language: SpokenLanguage) -> Vec<String> {
        let say = Sentences::in_language(language);
        let all = all(item, say, &Vocabulary::shipped());
        all.iter().map(|one| format!("{}: {}", one.words, one.told(say))).collect()
    }

    #[test]
    fn values_of_any_shape_are_told_with_their_units() {
        let item = json!({"@type": "Thing", "name": "x", "url": "https://x.example/", "petsAllowed": true,
            "checkoutTime": "11:00:00", "weight": {"value": 3.0, "unitCode": "KGM"}, "color": ["red", "blue"],
            "baseSalary": {"currency": "EUR", "value": {"minValue": 10, "maxValue": 12, "unitText": "HOUR"}},
            "offers": {"price": 3}, "logo": "https://x.example/a.png", "availability": "https://schema.org/InStock",
            "additionalProperty": [{"name": "Growth", "minValue": 30, "maxValue": 40, "unitCode": "CMT"},
                {"name": "Vegan", "value": "Nein"}, {"name": "Range", "maxValue": 9, "unitText": "km"}, {"name": "None"},
                {"value": 3}, {"name": "Sites", "value": ["sun", "shade"]}, {"name": "Stay", "value": 2, "unitCode": "DAY"}]});
        let english = told(&item, SpokenLanguage::English);
        for wanted in [
            "pets allowed: Yes",
            "checkout time: 11:00",
            "weight: 3 kg",
            "color: red, blue",
            "growth: 30–40 cm",
            "base salary: 10–12 EUR an hour",
            "vegan: No",
            "range: 9 km",
            "sites: sun, shade",
            "stay: 2 days",
            "availability: InStock",
        ] {
            assert!(english.contains(&wanted.to_owned()), "{wanted}: {english:?}");
        }
        assert_eq!(english.len(), 11, "{english:?}");
        let german = told(&item, SpokenLanguage::German);
        assert!(german.contains(&"base salary: 10–12 EUR pro Stunde".to_owned()) && german[1] == "vegan: Nein");
    }

    #[test]
    fn as_many_properties_are_read_as_there_may_be() {
        let item = |count: usize| {
            let list: Vec<Value> = (0..count).map(|at| json!({"name": format!("p{at}"), "value": at})).collect();
            json!({ "additionalProperty": list })
        };
        let count = |of: usize| told(&item(of), SpokenLanguage::English).len();
        assert_eq!((count(STATED_VALUES_MAX), count(STATED_VALUES_MAX + 1)), (STATED_VALUES_MAX, STATED_VALUES_MAX));
    }

    proptest! {
        #[test]
        fn any_text_is_a_value_or_none(text in ".{0,200}") {
            let item = json!({"additionalProperty": [{"name": text, "value": text, "unitCode": text}], "x": text});
            prop_assert!(told(&item, SpokenLanguage::Spanish).len() <= 2);
        }
    }
}
