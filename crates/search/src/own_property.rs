//! What an item states in properties of its site's own, where a question names one: "how big is the boot?"

use forecourt_index::Hit;
use forecourt_vocabulary::folded;
use serde_json::Value;

use crate::limits::FACT_ENTRIES_MAX;
use crate::markdown::{link, plain};
use crate::phrases::content_words;
use crate::values::cut;

/// Letters that two forms of a word share, at least, and those by which they may differ at their ends.
const SHARED_MIN: usize = 4;
const ENDING_MAX: usize = 2;
/// Lists of such properties.
const LISTS: [&str; 2] = ["additionalProperty", "amenityFeature"];

/// The properties of an item that a question names, with their values, at most [`FACT_ENTRIES_MAX`]: in markdown, with a
/// link to the item. `None`: it names none.
pub(crate) fn answer(hit: &Hit, question: &str) -> Option<String> {
    let words: Vec<String> = content_words(question).map(folded).collect();
    let is_named = |name: &str| folded(name).split(' ').any(|part| words.iter().any(|word| is_form(word, part)));
    let lists = LISTS.iter().filter_map(|list| hit.item.get(*list)?.as_array()).flatten();
    let stated = lists.filter_map(|one| Some((one.get("name")?.as_str()?, told(one)?)));
    let named = stated.filter(|(name, _)| is_named(name)).take(FACT_ENTRIES_MAX);
    let told: Vec<String> = named.map(|(name, value)| plain(&format!("{name}: {value}"))).collect();
    (!told.is_empty()).then(|| format!("{}: {}.", link(&hit.name, hit.url.as_deref()), told.join("; ")))
}

/// A value with its unit.
fn told(property: &Value) -> Option<String> {
    let value = match property.get("value")? {
        Value::String(text) => cut(text),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        _ => return None,
    };
    let unit = property.get("unitText").and_then(Value::as_str);
    Some(unit.map_or_else(|| value.clone(), |unit| format!("{value} {unit}")))
}

fn is_form(one: &str, other: &str) -> bool {
    let shared = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let longest = one.chars().count().max(other.chars().count());
    one == other || (shared >= SHARED_MIN && longest - shared <= ENDING_MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_is_answered_by_the_property_that_it_names() {
        let item = json!({"name": "Car", "additionalProperty": [
            {"name": "Kofferraum", "value": "640 Liter"}, {"name": "Number of seats", "value": 5},
            {"name": "Garantie", "value": 2, "unitText": "ans"}, {"name": "Tow bar", "value": true},
        ]});
        let hit = Hit {
            score: 1.0,
            id: String::new(),
            item: item.into(),
            name: "Car".to_owned(),
            url: None,
            snippet: String::new(),
            matched: Vec::new(),
            is_pinned: false,
        };
        for (question, told) in [
            ("Wie groß ist der Kofferraum?", Some("Car: Kofferraum: 640 Liter.")),
            ("how many seats does it have?", Some("Car: Number of seats: 5.")),
            ("il est garanti combien de temps ?", Some("Car: Garantie: 2 ans.")),
            ("what colour is it?", None),
            ("", None),
        ] {
            assert_eq!(
                answer(&hit, question).as_deref().map(|text| text.replace("**", "")),
                told.map(str::to_owned),
                "{question}"
            );
        }
    }
}
