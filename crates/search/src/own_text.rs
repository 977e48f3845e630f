//! The sentence of an item's own text that says what a question asks for, as it is written.

use forecourt_index::Hit;
use forecourt_vocabulary::folded;
use unicode_segmentation::UnicodeSegmentation;

use crate::fact_words::asks_nothing;
use crate::facts::stem;
use crate::limits::OWN_TEXT_BYTES_MAX;
use crate::markdown::{link, plain};
use crate::phrases::content_words;

/// Properties with the text of an item.
const TEXTS: [&str; 3] = ["description", "text", "abstract"];
/// Letters of a word that says what is asked for.
const LETTERS_MIN: usize = 4;

/// The text of an item, without what is beyond [`OWN_TEXT_BYTES_MAX`].
pub(crate) fn of(hit: &Hit) -> Option<&str> {
    let text = TEXTS.iter().find_map(|key| hit.item.get(*key)?.as_str())?;
    Some(&text[..text.floor_char_boundary(OWN_TEXT_BYTES_MAX)])
}

/// The first sentence of it with the most words that a question asks for, with a link to the item. `None`: none has half
/// of them.
pub(crate) fn quoted(hit: &Hit, question: &str) -> Option<String> {
    let asked = words(question);
    let count = |sentence: &str| {
        let own = words(sentence);
        asked.iter().filter(|word| own.iter().any(|other| stem(other) == stem(word))).count()
    };
    let sentences = of(hit)?.unicode_sentences().map(str::trim).map(|sentence| (count(sentence), sentence));
    let fits = sentences.filter(|(count, _)| *count > 0 && *count * 2 >= asked.len());
    let (_, best) = fits.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    Some(format!("{}: “{}”", link(&hit.name, hit.url.as_deref()), plain(best)))
}

/// The words that say something, folded; those of a compound with a hyphen by themselves.
fn words(text: &str) -> Vec<String> {
    let is_said = |word: &&str| word.chars().count() >= LETTERS_MIN && !asks_nothing(&word.to_lowercase());
    let parts = content_words(text).flat_map(|word| word.split(|c: char| !c.is_alphanumeric()));
    parts.filter(is_said).map(folded).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(text: &str, question: &str) -> Option<String> {
        let hit = Hit {
            score: 1.0,
            id: String::new(),
            item: json!({ "description": text }).into(),
            name: "Coat".to_owned(),
            url: None,
            snippet: String::new(),
            matched: Vec::new(),
            is_pinned: false,
        };
        quoted(&hit, question).map(|text| text.replace("**", ""))
    }

    #[test]
    fn the_sentence_with_what_is_asked_is_quoted() {
        let text = "Made in Lugo. Do not machine wash. The lining can be washed by hand.";
        for (question, wanted) in [
            ("can I machine-wash it?", Some("Coat: “Do not machine wash.”")),
            ("is the lining washed?", Some("Coat: “The lining can be washed by hand.”")),
            ("how heavy is it?", None),
            ("", None),
        ] {
            assert_eq!(told(text, question).as_deref(), wanted, "{question}");
        }
        assert_eq!(told("", "can I wash it?"), None);
    }

    #[test]
    fn as_much_of_a_text_is_read_as_there_may_be() {
        let text = |before: usize| format!("{} wash", "x".repeat(before - 5));
        assert!(told(&text(OWN_TEXT_BYTES_MAX), "can I wash it?").is_some());
        assert!(told(&text(OWN_TEXT_BYTES_MAX + 1), "can I wash it?").is_none());
    }
}
