//! Whether the words around something in a text say that it is not there: "no nights", "ohne Zucker", "perfume-free".

use crate::file::AbsenceTable;
use crate::fold::folded;

/// Words in front of a thing among which one denies it: "without sugar and alcohol".
const DENYING_WORDS_MAX: usize = 3;

/// What denies a thing, in all languages at once: phrases of folded words.
#[derive(Debug, Default)]
pub(crate) struct Denials {
    before: Vec<Vec<String>>,
    after: Vec<Vec<String>>,
    /// What only looks as if it denied.
    unless: Vec<Vec<String>>,
}

impl Denials {
    pub(crate) fn of(absence: &[(String, AbsenceTable)]) -> Self {
        let phrases = |list: fn(&AbsenceTable) -> &[String]| {
            let all = absence.iter().flat_map(|(_, table)| list(table));
            let words = all.map(|phrase| folded(phrase).split_whitespace().map(str::to_owned).collect::<Vec<_>>());
            words.filter(|phrase| !phrase.is_empty()).collect::<Vec<_>>()
        };
        let mut before = phrases(|table| &table.before);
        before.extend(phrases(|table| &table.denies));
        Self { before, after: phrases(|table| &table.after), unless: phrases(|table| &table.unless) }
    }

    /// Whether words deny the one at a place. They are folded.
    pub(crate) fn has(&self, words: &[String], at: usize) -> bool {
        let ends = |phrase: &Vec<String>| {
            (at.saturating_sub(DENYING_WORDS_MAX)..at).any(|last| words[..=last].ends_with(phrase))
        };
        let behind = words.get(at + 1..).unwrap_or_default();
        let begins = |phrase: &Vec<String>| behind.starts_with(phrase);
        self.before.iter().any(ends) || (self.after.iter().any(begins) && !self.unless.iter().any(begins))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::Vocabulary;

    fn is_denied(text: &str, word: &str) -> bool {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let at = words.iter().position(|other| other == word).unwrap();
        Vocabulary::shipped().denies(&words, at)
    }

    #[test]
    fn a_text_denies_what_stands_behind_or_before_such_words() {
        for (text, word) in [
            ("no nights", "nights"),
            ("without sugar and alcohol", "alcohol"),
            ("never on nights", "nights"),
            ("perfume free", "perfume"),
            ("free from perfume", "perfume"),
            ("nicht fur nachte", "nachte"),
            ("pas de nuit", "nuit"),
            ("ninguna noche", "noche"),
        ] {
            assert!(is_denied(text, word), "{text}");
        }
        for (text, word) in [
            ("nights", "nights"),
            ("without sugar but with wine and alcohol", "alcohol"),
            ("gluten free perfume", "perfume"),
            ("eggs free range", "eggs"),
        ] {
            assert!(!is_denied(text, word), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_words_are_denied_or_not(words in proptest::collection::vec("(no|free|range|from|.{0,4})", 0..9), at in 0_usize..9) {
            Vocabulary::shipped().denies(&words, at.min(words.len()));
        }
    }
}
