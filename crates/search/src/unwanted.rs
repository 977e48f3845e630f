//! What somebody does not want and no property can be asked for: items that mention it come later. It is told as not
//! understood all the same, since what an item does not mention it may still have.

use forecourt_index::Hit;
use forecourt_vocabulary::{Vocabulary, folded};
use serde_json::Value;

/// What an item counts that mentions it, as part of its score: it comes behind what fits half as well.
const MENTIONED_WORTH: f32 = 0.4;
/// Letters by which two forms of a word may differ at their ends.
const ENDING_LETTERS_MAX: usize = 2;

/// Lets what mentions something unwanted come later: behind everything else where an order is asked for, else behind what
/// fits about as well.
pub(super) fn unwanted_later(hits: &mut [Hit], unwanted: &[String], is_ordered: bool, vocabulary: &Vocabulary) {
    let unwanted: Vec<Vec<String>> = unwanted.iter().map(|phrase| words(phrase)).collect();
    let is_mentioned = |hit: &Hit| unwanted.iter().any(|phrase| mentions(&hit.item, phrase, vocabulary));
    if is_ordered || are_alike(hits) {
        hits.sort_by_cached_key(is_mentioned);
        return;
    }
    for hit in hits.iter_mut() {
        if is_mentioned(hit) {
            hit.score *= MENTIONED_WORTH;
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
}

/// Whether some text of an item has all words of a phrase, and does not deny it.
fn mentions(value: &Value, phrase: &[String], vocabulary: &Vocabulary) -> bool {
    match value {
        Value::String(text) => affirms(&words(text), phrase, vocabulary),
        Value::Array(items) => items.iter().any(|item| mentions(item, phrase, vocabulary)),
        Value::Object(fields) => fields.values().any(|value| mentions(value, phrase, vocabulary)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn affirms(text: &[String], phrase: &[String], vocabulary: &Vocabulary) -> bool {
    let affirmed = |(at, other): (usize, &String), word: &String| is_form(word, other) && !vocabulary.denies(text, at);
    let said = |word: &String| text.iter().enumerate().any(|other| affirmed(other, word));
    !phrase.is_empty() && phrase.iter().all(said)
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
            ("A gluten-free cream with perfume", "perfume", true),
            ("Free of gluten and perfume", "perfume", false),
            ("Never on night shifts", "night shift", false),
            ("Nunca de noche", "noche", false),
            ("Jamais la nuit", "nuit", false),
            ("Eggs of free range hens", "eggs", true),
            ("Eggs, free range", "eggs", true),
            ("Goose down", "daunen", false),
            ("", "x", false),
        ] {
            assert_eq!(mentions(&json!({"name": [text]}), &words(phrase), &Vocabulary::shipped()), is_said, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in any::<String>(), phrase in any::<String>()) {
            mentions(&json!(text), &words(&phrase), &Vocabulary::shipped());
        }
    }
}
