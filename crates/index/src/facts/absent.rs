//! What an item says is not in it: in its name and its text, or by a property of its own, "Perfume: no".

use forecourt_understanding::unit::{self, Dimension};
use forecourt_vocabulary::{Vocabulary, thing_key};
use serde_json::Value;

use super::truth::{NO, YES};
use crate::limits::ABSENT_THINGS_MAX;

/// Texts in which an item says so.
const TEXTS: [&str; 4] = ["name", "description", "category", "keywords"];
/// Lists of properties of a site's own.
const OWN: [&str; 2] = ["additionalProperty", "amenityFeature"];
/// Values that say that there is none of what their property is called.
const NONE: [&str; 8] = ["none", "keine", "keiner", "kein", "ohne", "aucun", "sans", "ninguno"];

/// The things that an item says are not in it, at most [`ABSENT_THINGS_MAX`], each as [`thing_key`] has it.
pub(super) fn things(item: &Value) -> Vec<String> {
    let vocabulary = Vocabulary::shipped();
    let mut found: Vec<String> = Vec::new();
    let mut add = |things: Vec<String>| {
        for thing in things {
            if found.len() < ABSENT_THINGS_MAX && !thing.is_empty() && !found.contains(&thing) {
                found.push(thing);
            }
        }
    };
    // What a property says counts first: it is about the whole item.
    for (name, value) in own(item) {
        match (said(value), vocabulary.absent_in(name)) {
            (Some(true), things) => add(things),
            (Some(false), things) if things.is_empty() => add(vec![thing_key(name)]),
            (Some(false), _) => {}
            (None, _) => value.as_str().into_iter().for_each(|text| add(vocabulary.absent_in(text))),
        }
    }
    for key in TEXTS {
        match item.get(key) {
            Some(Value::Array(all)) => {
                all.iter().filter_map(Value::as_str).for_each(|text| add(vocabulary.absent_in(text)));
            }
            Some(Value::String(text)) => add(vocabulary.absent_in(text)),
            _ => {}
        }
    }
    found
}

fn own(item: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let lists = OWN.iter().filter_map(|list| item.get(*list)?.as_array()).flatten();
    lists.filter_map(|one| Some((one.get("name")?.as_str()?, one.get("value")?)))
}

/// Whether a value says yes or no.
fn said(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::Number(number) => (number.as_f64() == Some(0.0)).then_some(false),
        Value::String(text) => {
            let is = |words: &[&str]| words.iter().any(|word| text.trim().eq_ignore_ascii_case(word));
            if is(&YES) { Some(true) } else { (is(&NO) || is(&NONE) || is_nothing(text)).then_some(false) }
        }
        _ => None,
    }
}

/// Whether a text is an amount of nothing: `0 %`, `0 g`. Degrees of nothing are as warm or cold as others.
fn is_nothing(text: &str) -> bool {
    let is_degree = |dimension: Dimension| dimension == Dimension::Temperature;
    unit::measured(text).is_some_and(|(dimension, number)| number == 0.0 && !is_degree(dimension))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_item_says_in_many_ways_what_is_not_in_it() {
        let own = |name: &str, value: Value| json!({"additionalProperty": [{"name": name, "value": value}]});
        for (item, things) in [
            (json!({"name": "Deocreme ohne Aluminium"}), &["aluminium"][..]),
            (json!({"description": "Sans parfum."}), &["parfum"]),
            (json!({"keywords": ["vegan", "sugar-free"]}), &["sugar"]),
            (own("Parfümfrei", json!("Ja")), &["Parfüm"]),
            (own("Parfümfrei", json!("Nein")), &[]),
            (own("Sans sucre", json!(true)), &["sucre"]),
            (own("Alkohol", json!("nein")), &["Alkohol"]),
            (own("Duftstoffe", json!("keine")), &["Duftstoffe"]),
            (own("Alkohol", json!("ja")), &[]),
            (own("Robusta", json!("0 %")), &["Robusta"]),
            (own("Robusta", json!("20 %")), &[]),
            (own("Comfort", json!("0 °C")), &[]),
            (own("Zutaten", json!("Ohne Palmöl")), &["Palmöl"]),
            (json!({"name": "Wine"}), &[]),
        ] {
            let wanted: Vec<String> = things.iter().map(|thing| thing_key(thing)).collect();
            assert_eq!(super::things(&item), wanted, "{item}");
        }
    }

    #[test]
    fn no_more_things_are_kept_than_the_bound() {
        let count = |n: usize| {
            let letter = |n: usize| char::from(b'b' + n as u8);
            let list: Vec<Value> = (0..n)
                .map(|n| json!({"name": format!("thing{}{}q", letter(n / 16), letter(n % 16)), "value": false}))
                .collect();
            things(&json!({"additionalProperty": list})).len()
        };
        assert_eq!((count(ABSENT_THINGS_MAX), count(ABSENT_THINGS_MAX + 1)), (ABSENT_THINGS_MAX, ABSENT_THINGS_MAX));
    }
}
