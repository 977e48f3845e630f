//! German compounds by their ends: a "Stufenleiter" is a "Leiter". What comes before says which one, so that each is
//! narrower than the word itself.

use std::cmp::Reverse;

use super::dictionary::beginning_with;
use super::other_names::OtherName;
use crate::analysis::backwards;
use crate::index::Snapshot;
use crate::limits::ENDING_COMPOUNDS_MAX;

/// Characters of the stem of a word that others may end with, and of what comes before it: shorter ones are the end of too
/// many by chance.
const END_CHARS_MIN: usize = 4;
const BEGIN_CHARS_MIN: usize = 3;
/// Beginnings of this length that are no word: a "Versand" is no "Sand".
const PREFIXES: &[&str] = &["ent", "ver", "zer"];
/// What begins words with one letter more before their stem: a "Begleiter" is no "Leiter".
const SHORT_PREFIXES: &[&str] = &["be", "ge"];
/// Letters of which every word has one, in stems.
const VOWELS: &[char] = &['a', 'e', 'i', 'o', 'u', 'y', 'ä', 'ö', 'ü'];
/// Compounds with one end that are looked at in each segment.
const LOOKED_AT: usize = 500;

/// The compounds that end with a stem and that items are called, those that most of them are.
pub(super) fn ending_with(snapshot: &Snapshot, stem: &str) -> Vec<OtherName> {
    let chars = stem.chars().count();
    if chars < END_CHARS_MIN || stem.chars().any(|c| !c.is_alphabetic()) {
        return Vec::new();
    }
    // A dictionary that can't be read makes other searches fail loudly; here it has no such word.
    let all = beginning_with(snapshot, snapshot.fields.endings, &backwards(stem), LOOKED_AT);
    let begins = |turned: &str| may_be_word(&backwards(&turned.chars().skip(chars).collect::<String>()));
    let mut found: Vec<(String, u32)> =
        all.unwrap_or_default().into_iter().filter(|(turned, _)| begins(turned)).collect();
    found.sort_by(|(word, items), (other, others)| (Reverse(items), word).cmp(&(Reverse(others), other)));
    let compounds = found.into_iter().take(ENDING_COMPOUNDS_MAX).map(|(turned, _)| backwards(&turned));
    compounds.map(|stem| OtherName { stems: vec![stem], is_narrower: true }).collect()
}

/// Whether what comes before an end may be a word of its own.
fn may_be_word(begin: &str) -> bool {
    let chars = begin.chars().count();
    let is_prefix = PREFIXES.contains(&begin)
        || (chars == BEGIN_CHARS_MIN && SHORT_PREFIXES.iter().any(|prefix| begin.starts_with(prefix)));
    chars >= BEGIN_CHARS_MIN && begin.contains(VOWELS) && !is_prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_word_begins_no_compound() {
        // Of "Stufenleiter", "Teekanne", "Erdbeere", "Bettwäsche", "Bergschuh".
        for begin in ["stufen", "tee", "erd", "bett", "berg"] {
            assert!(may_be_word(begin), "{begin}");
        }
        // Of "Schwein", "Begleiter" and "Versand".
        for begin in ["sch", "beg", "ver", "b", ""] {
            assert!(!may_be_word(begin), "{begin}");
        }
    }
}
