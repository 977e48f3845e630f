//! What one property states, as it is told: yes or no, a text, an amount with its unit.

use forecourt_sentences::Sentences;
use forecourt_vocabulary::folded;
use serde_json::{Map, Number, Value};

use crate::asked_data::asked;
use crate::limits::FACT_ENTRIES_MAX;
use crate::values::{cut, duration, moment};

/// Lists of properties of a site's own.
pub(crate) const LISTS: [&str; 2] = ["additionalProperty", "amenityFeature"];
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

/// What a property states.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StatedFact {
    /// Yes or no.
    Truth(bool),
    /// A text, or an amount with its unit.
    Text(String),
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

/// What a `PropertyValue` or a `QuantitativeValue` states, with its unit.
pub(crate) fn fact(one: &Value, say: Sentences) -> Option<StatedFact> {
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
pub(crate) fn pay(value: &Value, say: Sentences) -> Option<StatedFact> {
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
