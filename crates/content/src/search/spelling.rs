//! Words that the index does not have, read as words that it has: spelled almost so, or written
//! without the space between them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tantivy::Term;
use tantivy::query::FuzzyTermQuery;

use crate::analysis::{LanguageAnalyzer, Words};
use crate::index::Snapshot;

/// What a word is worth that is one typing error away, or two.
const WORTH: [f32; 2] = [0.8, 0.5];
/// What a word is worth that the asked one begins or ends with.
const PART_WORTH: f32 = 0.8;
/// Characters of a word that may have one typing error, and of one that may have two: shorter ones
/// become other words too easily.
const CHARS_MIN: [usize; 2] = [5, 8];
/// Characters of a word that is looked at; the work grows with them.
const CHARS_MAX: usize = 24;
/// Words that one word may be read as.
const READINGS_MAX: usize = 2;
/// Characters of each part of a word.
const PART_CHARS_MIN: usize = 3;

/// Stems of the index that are spelled almost like this one, with what each is worth; the most
/// frequent ones. Fewer errors hide more errors.
pub(super) fn almost(snapshot: &Snapshot, stem: &str) -> Vec<(String, f32)> {
    let chars = stem.chars().count();
    if chars > CHARS_MAX || stem.bytes().any(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let tries = (1..).zip(WORTH).zip(CHARS_MIN).filter(|(_, chars_min)| chars >= *chars_min);
    for ((errors, worth), _) in tries {
        // A dictionary that cannot be read makes other searches fail loudly; here it has no such word.
        let found = within(snapshot, stem, errors).unwrap_or_default();
        if !found.is_empty() {
            return found.into_iter().map(|stem| (stem, worth)).collect();
        }
    }
    Vec::new()
}

/// The stems of a word's two parts, when the index has both; the parts that more items have.
pub(super) fn parts(snapshot: &Snapshot, word: &str, tongue: LanguageAnalyzer) -> Vec<(String, f32)> {
    let chars: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
    if chars.len() > CHARS_MAX || chars.len() < 2 * PART_CHARS_MIN {
        return Vec::new();
    }
    let known = |part: &str| -> Option<(u64, String)> {
        let stem = Words::of(part, tongue).get(0)?.to_owned();
        let items = snapshot.doc_freq(&Term::from_field_text(snapshot.fields.text, &stem));
        (items > 0).then_some((items, stem))
    };
    let cuts = chars[PART_CHARS_MIN..=chars.len() - PART_CHARS_MIN].iter();
    let both = cuts.filter_map(|at| Some((known(&word[..*at])?, known(&word[*at..])?)));
    let best = both.max_by_key(|((first, _), (second, _))| *first.min(second));
    best.map(|((_, first), (_, second))| vec![(first, PART_WORTH), (second, PART_WORTH)]).unwrap_or_default()
}

/// The stems at so many errors, those that begin alike first, then those that more items have.
fn within(snapshot: &Snapshot, stem: &str, errors: u8) -> tantivy::Result<Vec<String>> {
    let field = snapshot.fields.text;
    let mut items: BTreeMap<String, u32> = BTreeMap::new();
    for segment in snapshot.searcher.segment_readers() {
        let automaton = FuzzyTermQuery::new(Term::from_field_text(field, stem), errors, true).automaton()?;
        let words = segment.inverted_index(field)?;
        let mut stream = words.terms().search(automaton).into_stream()?;
        while let Some((word, info)) = stream.next() {
            if let Ok(word) = std::str::from_utf8(word) {
                *items.entry(word.to_owned()).or_default() += info.doc_freq;
            }
        }
    }
    let begins_alike = |word: &str| word.chars().next() == stem.chars().next();
    let mut found: Vec<(String, u32)> = items.into_iter().collect();
    found.sort_by_key(|(word, items)| (!begins_alike(word), Reverse(*items)));
    found.truncate(READINGS_MAX);
    Ok(found.into_iter().map(|(word, _)| word).collect())
}
