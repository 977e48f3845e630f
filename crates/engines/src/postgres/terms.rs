//! Terms as lexemes of a `tsvector`, which has all lists of a document in one: each lexeme begins with a letter of its
//! list.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use forecourt_retrieval::{EngineDocument, TermField};

use crate::limits::{POSTGRES_POSITIONS_MAX, POSTGRES_TERMS_BYTES_MAX};

/// Positions that PostgreSQL keeps of one lexeme.
const LEXEME_POSITIONS_MAX: usize = 255;

/// The letter of a list.
fn letter(field: TermField) -> char {
    match field {
        TermField::Words => 'w',
        TermField::Pairs => 'p',
        TermField::Spelled => 's',
        TermField::Facts => 'f',
    }
}

/// A term as it stands in a `tsvector` or a `tsquery`.
pub(super) fn lexeme(field: TermField, term: &str) -> String {
    let mut quoted = String::with_capacity(term.len() + 3);
    quoted.push('\'');
    quoted.push(letter(field));
    for character in term.chars() {
        match character {
            '\'' | '\\' => quoted.extend([character, character]),
            // PostgreSQL has no text with a NUL.
            '\0' => quoted.push(char::REPLACEMENT_CHARACTER),
            _ => quoted.push(character),
        }
    }
    quoted.push('\'');
    quoted
}

/// All terms of a document. Facts first: what limits go by is there however long the item is.
pub(super) fn vector(document: &EngineDocument) -> String {
    let mut vector = String::new();
    for field in [TermField::Facts, TermField::Pairs, TermField::Spelled] {
        for term in document.terms(field) {
            push(&mut vector, &lexeme(field, term));
        }
    }
    let mut positions: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, word) in document.words.iter().take(POSTGRES_POSITIONS_MAX).enumerate() {
        positions.entry(word).or_default().push(at + 1);
    }
    for (word, mut at) in positions {
        at.truncate(LEXEME_POSITIONS_MAX);
        let mut term = lexeme(TermField::Words, word);
        for (place, position) in at.iter().enumerate() {
            let _ = write!(term, "{}{position}", if place == 0 { ':' } else { ',' });
        }
        push(&mut vector, &term);
    }
    vector
}

/// Adds a term, if there is room for it.
fn push(vector: &mut String, term: &str) {
    if vector.len() + term.len() < POSTGRES_TERMS_BYTES_MAX {
        vector.push_str(term);
        vector.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_term_is_syntax() {
        assert_eq!(lexeme(TermField::Words, "a'b\\c & d"), "'wa''b\\\\c & d'");
        assert_eq!(lexeme(TermField::Facts, "a\0b"), "'fa\u{FFFD}b'");
    }

    #[test]
    fn a_vector_ends_at_the_bound_and_has_its_facts() {
        let words = |count: usize| (0..count).map(|number| format!("word{number}")).collect();
        let document = |count| EngineDocument { words: words(count), facts: vec!["x=1".into()], ..Default::default() };
        let small = vector(&document(2));
        assert_eq!(small, "'fx=1' 'wword0':1 'wword1':2 ");
        let large = vector(&document(100_000));
        assert!(large.starts_with("'fx=1' ") && large.len() < POSTGRES_TERMS_BYTES_MAX, "{}", large.len());
        assert!(!large.contains(&format!(":{}", POSTGRES_POSITIONS_MAX + 1)));
        let often = EngineDocument { words: vec!["a".into(); 1_000], ..Default::default() };
        assert!(vector(&often).ends_with(":1,2,3,4,5,6,7,8,9,10 ") || vector(&often).ends_with(",255 "));
    }
}
