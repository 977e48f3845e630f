//! What somebody does not want and no property can be asked for: items that mention it come later. It is told as not
//! understood all the same, since what an item does not mention it may still have.

use forecourt_index::Hit;
use forecourt_vocabulary::folded;
use serde_json::Value;

use crate::boost::pinned;

/// What an item counts that mentions it, as part of its score: it comes behind what fits half as well.
const MENTIONED_WORTH: f32 = 0.4;
/// Words in front of a thing that say that it is not there, folded.
const DENIALS: &[&str] = &[
    "no", "not", "non", "without", "free", "never", "nor", "zero", "ohne", "kein", "keine", "keinen", "keiner",
    "nicht", "frei", "weder", "sans", "pas", "ni", "aucun", "aucune", "sin", "ningun", "ninguna",
];
/// Words behind it that do.
const FREE: &[&str] = &["free", "frei", "freie", "freier", "freies", "libre"];
/// Words between a denial and what it is about: "without sugar and alcohol".
const DENIED_WORDS_MAX: usize = 3;
/// Letters by which two forms of a word may differ at their ends.
const ENDING_LETTERS_MAX: usize = 2;

/// Lets what mentions something unwanted come later: behind everything else where an order is asked for, else behind what
/// fits about as well. What is pinned stays where it is.
pub(super) fn unwanted_later(mut hits: Vec<Hit>, unwanted: &[String], is_ordered: bool) -> Vec<Hit> {
    let unwanted: Vec<Vec<String>> = unwanted.iter().map(|phrase| words(phrase)).collect();
    let is_mentioned = |hit: &Hit| unwanted.iter().any(|phrase| mentions(&hit.item, phrase));
    let pinned = pinned(&hits);
    let behind = &mut hits[pinned..];
    if is_ordered || are_alike(behind) {
        behind.sort_by_cached_key(is_mentioned);
        return hits;
    }
    for hit in behind.iter_mut() {
        if is_mentioned(hit) {
            hit.score *= MENTIONED_WORTH;
        }
    }
    behind.sort_by(|a, b| b.score.total_cmp(&a.score));
    hits
}

/// Whether some text of an item has all words of a phrase, and does not deny it.
fn mentions(value: &Value, phrase: &[String]) -> bool {
    match value {
        Value::String(text) => affirms(&words(text), phrase),
        Value::Array(items) => items.iter().any(|item| mentions(item, phrase)),
        Value::Object(fields) => fields.values().any(|value| mentions(value, phrase)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn affirms(text: &[String], phrase: &[String]) -> bool {
    let said = |word: &String| text.iter().enumerate().any(|(at, other)| is_form(word, other) && !is_denied(text, at));
    !phrase.is_empty() && phrase.iter().all(said)
}

fn is_denied(text: &[String], at: usize) -> bool {
    let before = &text[at.saturating_sub(DENIED_WORDS_MAX)..at];
    before.iter().any(|word| DENIALS.contains(&word.as_str()))
        || text.get(at + 1).is_some_and(|word| FREE.contains(&word.as_str()))
}

/// Whether two words are forms of one: they differ in their last letters alone.
fn is_form(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let shared = short.chars().zip(long.chars()).take_while(|(a, b)| a == b).count();
    let longest = long.chars().count();
    shared > ENDING_LETTERS_MAX && longest - shared <= ENDING_LETTERS_MAX
}

fn words(text: &str) -> Vec<String> {
    folded(text).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Whether no hit fits better than another.
fn are_alike(hits: &[Hit]) -> bool {
    hits.windows(2).all(|two| two[0].score.total_cmp(&two[1].score).is_eq())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_denied_is_not_mentioned() {
        for (text, phrase, is_said) in [
            ("Registered nurse, night shifts", "night shift", true),
            ("Early and late shifts, no nights", "night shift", false),
            ("Without sugar and alcohol", "alcohol", false),
            ("Perfume-free cream", "perfume", false),
            ("A cream with perfume", "perfume", true),
            ("Goose down", "daunen", false),
            ("", "x", false),
        ] {
            assert_eq!(mentions(&json!({"name": [text]}), &words(phrase)), is_said, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in any::<String>(), phrase in any::<String>()) {
            mentions(&json!(text), &words(&phrase));
        }
    }
}
