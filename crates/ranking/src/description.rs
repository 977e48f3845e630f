//! This module has an operation in the words that are known of it.

use serde_json::Value;

use crate::limits::HEADLINE_CHARS_MAX;

/// One operation, in the words that are known of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Description<'a> {
    /// Its name, in humps, with underscores or otherwise: its words are found.
    pub name: &'a str,
    /// Its title for people; empty without one.
    pub title: &'a str,
    /// What it does, in sentences.
    pub text: &'a str,
    /// The JSON schema of what it takes.
    pub input: Option<&'a Value>,
    /// Whether it changes nothing.
    pub reads_only: bool,
}

impl<'a> Description<'a> {
    /// What it does in one line: its title, or the first sentence of its text.
    pub(crate) fn headline(&self) -> &'a str {
        if !self.title.is_empty() {
            return self.title;
        }
        let sentence = self.text.split_inclusive(['.', '\n', ';', ':']).next().unwrap_or_default();
        let end = sentence.char_indices().nth(HEADLINE_CHARS_MAX).map_or(sentence.len(), |(end, _)| end);
        &sentence[..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_stands_for_a_title() {
        let of = |text, title| Description { name: "x", text, title, ..Description::default() };
        assert_eq!(of("Lists bikes. And more.", "").headline(), "Lists bikes.");
        assert_eq!(of("Lists bikes.", "Bikes").headline(), "Bikes");
        let long = "y".repeat(HEADLINE_CHARS_MAX);
        assert_eq!(of(&long, "").headline(), long);
        assert_eq!(of(&format!("{long}y"), "").headline(), long);
    }
}
