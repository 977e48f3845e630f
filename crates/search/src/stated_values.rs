//! What an item states of itself, property by property, as it is told: yes and no, texts, amounts with their units.

use forecourt_sentences::Sentences;
use forecourt_understanding::name_in_words;
use forecourt_vocabulary::{Vocabulary, folded};
use serde_json::{Map, Number, Value};

use crate::asked_data::asked;
use crate::limits::{FACT_ENTRIES_MAX, STATED_VALUES_MAX};
use crate::stated_parts;
use crate::values::{cut, duration, moment};

/// Lists of properties of a site's own.
const LISTS: [&str; 2] = ["additionalProperty", "amenityFeature"];
/// What says what an item is, or is told otherwise.
const UNTOLD: &[&str] = &[
    "name",
    "title",
    "description",
    "text",
    "articleBody",
    "abstract",
    "url",
    "sameAs",
    "image",
    "sku",
    "mpn",
    "gtin",
    "gtin8",
    "gtin12",
    "gtin13",
    "gtin14",
    "identifier",
    "productGroupID",
    "keywords",
    "recipeInstructions",
    "recipeIngredient",
    "mainEntityOfPage",
    "position",
    "fetchedAt",
    "dateModified",
];
/// Texts for yes and for no, folded.
const YES: &[&str] = &["yes", "true", "ja", "oui", "si", "vrai", "wahr"];
const NO: &[&str] = &["no", "false", "nein", "non", "faux", "falsch"];
/// Properties of an object that is an amount.
pub(crate) const AMOUNTS: [&str; 3] = ["value", "minValue", "maxValue"];
/// Between the ends of a range.
const TIE: &str = "–";

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

/// What a property states.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StatedFact {
    /// Yes or no.
    Truth(bool),
    /// A text, or an amount with its unit.
    Text(String),
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

/// Whether a value is a person, or several.
pub(crate) fn is_person(value: &Value) -> bool {
    let one = value.as_array().and_then(|all| all.first()).unwrap_or(value);
    one.get("@type").and_then(Value::as_str) == Some("Person")
}

/// Whether a property is told where it is asked for.
pub(crate) fn is_told(key: &str) -> bool {
    !key.starts_with('@') && !UNTOLD.contains(&key) && !LISTS.contains(&key)
}

/// What the vocabulary calls a property.
fn named(vocabulary: &Vocabulary, path: &str, say: Sentences) -> Option<String> {
    let property = vocabulary.properties().iter().find(|property| property.paths.iter().any(|known| known == path))?;
    Some(property.name(say.language().code()).to_owned())
}

/// What a `PropertyValue` or a `QuantitativeValue` states, with its unit.
fn fact(one: &Value, say: Sentences) -> Option<StatedFact> {
    let value = match (one.get("value"), one.get("minValue"), one.get("maxValue")) {
        (Some(value), _, _) => fact_of(value, say)?,
        (_, Some(low), Some(high)) => StatedFact::Text(format!("{}{TIE}{}", scalar(low)?, scalar(high)?)),
        (_, Some(end), None) | (_, None, Some(end)) => StatedFact::Text(scalar(end)?),
        _ => return None,
    };
    let unit = ["unitText", "unitCode"].iter().find_map(|key| one.get(*key)?.as_str());
    Some(match (value, unit) {
        (StatedFact::Text(text), Some(unit)) => StatedFact::Text(format!("{text} {}", asked().unit(unit, say))),
        (value, _) => value,
    })
}

/// A value of any shape that can be told in a few words.
pub(crate) fn fact_of(value: &Value, say: Sentences) -> Option<StatedFact> {
    match value {
        Value::Bool(truth) => Some(StatedFact::Truth(*truth)),
        Value::String(text) if span(text, say).is_some() => span(text, say).map(StatedFact::Text),
        Value::String(text) if text.get(10..11) == Some("T") => moment(text).map(StatedFact::Text),
        Value::String(text) if YES.contains(&folded(text.trim()).as_str()) => Some(StatedFact::Truth(true)),
        Value::String(text) if NO.contains(&folded(text.trim()).as_str()) => Some(StatedFact::Truth(false)),
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().filter_map(scalar).take(FACT_ENTRIES_MAX).collect();
            (!texts.is_empty()).then(|| StatedFact::Text(texts.join(", ")))
        }
        Value::Object(fields) if AMOUNTS.iter().any(|key| fields.contains_key(*key)) => fact(value, say),
        _ => scalar(value).map(StatedFact::Text),
    }
}

/// An ISO 8601 duration in words. Hours of work are no days: 45 of them stay hours.
fn span(text: &str, say: Sentences) -> Option<String> {
    let hours = text.strip_prefix("PT").and_then(|rest| rest.strip_suffix('H')?.parse().ok());
    hours.map(|hours| say.hours(hours)).or_else(|| duration(say, text))
}

/// A pay: an amount of money, and the time that it is for.
fn pay(value: &Value, say: Sentences) -> Option<StatedFact> {
    let (currency, amount) = (value.get("currency")?.as_str()?, value.get("value")?);
    let unit = amount.get("unitText").and_then(Value::as_str);
    let number = match amount {
        Value::Object(fields) => {
            let bare: Map<String, Value> =
                fields.iter().filter(|(key, _)| *key != "unitText").map(|(k, v)| (k.clone(), v.clone())).collect();
            fact(&Value::Object(bare), say)?
        }
        other => StatedFact::Text(scalar(other)?),
    };
    let StatedFact::Text(number) = number else { return None };
    let time = unit.and_then(|unit| asked().for_time(unit, say)).map_or_else(String::new, |time| format!(" {time}"));
    Some(StatedFact::Text(format!("{number} {currency}{time}")))
}

/// A text, a number or a name in a few words.
fn scalar(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim(),
        Value::Number(number) => return Some(whole(number)),
        Value::Object(fields) => fields.get("name")?.as_str()?.trim(),
        Value::Null | Value::Bool(_) | Value::Array(_) => return None,
    };
    // An address of a page or of a term says nothing in an answer but its last part.
    let text =
        ["https://schema.org/", "http://schema.org/"].iter().find_map(|site| text.strip_prefix(site)).unwrap_or(text);
    (!text.is_empty() && !text.contains("://")).then(|| cut(without_seconds(text)))
}

/// A number without a fraction that is none.
fn whole(number: &Number) -> String {
    let text = number.to_string();
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A time of day without seconds that are none.
fn without_seconds(text: &str) -> &str {
    let is_time = text.len() == 8
        && text.bytes().enumerate().all(|(at, byte)| match at {
            2 | 5 => byte == b':',
            _ => byte.is_ascii_digit(),
        });
    if is_time { text.strip_suffix(":00").unwrap_or(text) } else { text }
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
