//! Words that the index does not have, read as words that it has: spelled almost so, or written without the space
//! between them. Words are compared as they are written, not by their stems: a typing error changes the stem.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tantivy::Term;
use tantivy::query::FuzzyTermQuery;

use super::dictionary;
use crate::analysis::{SPELLED_CHARS_MIN, without_doubles};
use crate::index::Snapshot;

/// What a word is worth that is one typing error away, or two.
const WORTH: [f32; 2] = [0.8, 0.5];
/// What a word is worth that the written one begins or ends with.
const PART_WORTH: f32 = 0.8;
/// What a word is worth that the written one is the beginning of: it is half typed.
const BEGUN_WORTH: f32 = 0.8;
/// Characters of a word that may be half typed: fewer are the beginning of too many. Half of the word at least is there:
/// `port` is no portobello.
const BEGUN_CHARS_MIN: usize = 4;
/// Words with the same beginning that are looked at.
const BEGUN_LOOKED_AT: usize = 1_000;
/// Words that a half-typed one is read as.
const BEGUN_READINGS_MAX: usize = 4;
/// Characters of a word that may have one typing error, and of one that may have two: shorter ones
/// become other words too easily.
const CHARS_MIN: [usize; 2] = [5, 7];
/// Characters of a word whose plural ends in "s", and what it is worth.
const SINGULAR_CHARS_MIN: usize = 4;
const SINGULAR_WORTH: f32 = 0.95;
/// Characters of a word that is looked at; the work grows with them.
const CHARS_MAX: usize = 24;
/// Words that one word may be read as.
const READINGS_MAX: usize = 2;
/// Characters of each part of a word.
const PART_CHARS_MIN: usize = SPELLED_CHARS_MIN;

/// A word that no item has, and what was looked for instead.
#[derive(Debug, Clone, PartialEq)]
pub struct Correction {
    /// The word of the question, in lower case and without accents.
    pub written: String,
    /// Words of the index, the likeliest first, each with what it is worth beside a word that is written right.
    pub readings: Vec<(String, f32)>,
    /// Whether the readings belong together: the word is all of them, without the spaces.
    pub joined: bool,
}

impl Correction {
    /// What was looked for: the words that belong together, or the likeliest one.
    pub fn read_as(&self) -> String {
        let count = if self.joined { self.readings.len() } else { 1 };
        self.readings.iter().take(count).map(|(word, _)| word.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// What a word is read as that the index does not have. `None` when nothing is like it. A word that is `spelled_right`
/// has no typing errors, but may be half typed.
pub(super) fn correction(snapshot: &Snapshot, written: &str, spelled_right: bool) -> Option<Correction> {
    let chars = written.chars().count();
    if chars > CHARS_MAX || written.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // The plural of a word from another language, which no stemmer of this one takes for one: "bungalows".
    if let Some(one) = written.strip_suffix('s').filter(|one| one.chars().count() >= SINGULAR_CHARS_MIN)
        && snapshot.doc_freq(&Term::from_field_text(snapshot.fields.spelled, one)) > 0
    {
        return Some(Correction {
            written: written.to_owned(),
            readings: vec![(one.to_owned(), SINGULAR_WORTH)],
            joined: false,
        });
    }
    // Fewer errors hide more errors, and two whole words without their space are one error.
    let almost = |errors: usize| match spelled_right {
        true => Vec::new(),
        false => almost(snapshot, written, errors, chars),
    };
    let correction = |readings, joined| Correction { written: written.to_owned(), readings, joined };
    let mut one = almost(1);
    let begun = begun(snapshot, written, chars);
    let others = begun.into_iter().filter(|(word, _)| !one.iter().any(|(other, _)| other == word));
    one.extend(others.collect::<Vec<_>>());
    if !one.is_empty() {
        return Some(correction(one, false));
    }
    if let Some(parts) = parts(snapshot, written) {
        return Some(correction(parts, true));
    }
    let two = almost(2);
    (!two.is_empty()).then(|| correction(two, false))
}

/// The words of the index that begin with what is written, those that most items have.
fn begun(snapshot: &Snapshot, written: &str, chars: usize) -> Vec<(String, f32)> {
    if chars < BEGUN_CHARS_MIN {
        return Vec::new();
    }
    // As with errors: a dictionary that cannot be read makes other searches fail loudly.
    let all = beginning_with(snapshot, written).unwrap_or_default().into_iter();
    let mut found: Vec<(String, u32)> = all.filter(|(word, _)| word.chars().count() <= 2 * chars).collect();
    found.sort_by(|(word, items), (other, others)| others.cmp(items).then_with(|| word.cmp(other)));
    found.into_iter().take(BEGUN_READINGS_MAX).map(|(word, _)| (word, BEGUN_WORTH)).collect()
}

/// Words as they are written with a beginning, each with how many items have it.
pub(super) fn beginning_with(snapshot: &Snapshot, beginning: &str) -> tantivy::Result<BTreeMap<String, u32>> {
    dictionary::beginning_with(snapshot, snapshot.fields.spelled, beginning, BEGUN_LOOKED_AT)
}

/// Words of the index with so many errors, the likeliest ones.
fn almost(snapshot: &Snapshot, written: &str, errors: usize, chars: usize) -> Vec<(String, f32)> {
    if chars < CHARS_MIN[errors - 1] {
        return Vec::new();
    }
    // A dictionary that cannot be read makes other searches fail loudly; here it has no such word.
    let found = within(snapshot, written, errors as u8).unwrap_or_default();
    found.into_iter().map(|word| (word, WORTH[errors - 1])).collect()
}

/// The two words that a word is made of, when the index has both; those that more items have.
fn parts(snapshot: &Snapshot, written: &str) -> Option<Vec<(String, f32)>> {
    let chars: Vec<usize> = written.char_indices().map(|(at, _)| at).collect();
    if chars.len() < 2 * PART_CHARS_MIN {
        return None;
    }
    let items = |word: &str| snapshot.doc_freq(&Term::from_field_text(snapshot.fields.spelled, word));
    let cuts = chars[PART_CHARS_MIN..=chars.len() - PART_CHARS_MIN].iter().map(|at| written.split_at(*at));
    let both = cuts.map(|(first, second)| (items(first).min(items(second)), first, second));
    let (_, first, second) = both.filter(|(items, ..)| *items > 0).max_by_key(|(items, ..)| *items)?;
    Some(vec![(first.to_owned(), PART_WORTH), (second.to_owned(), PART_WORTH)])
}

/// The words at so many errors, the likeliest first.
fn within(snapshot: &Snapshot, written: &str, errors: u8) -> tantivy::Result<Vec<String>> {
    let field = snapshot.fields.spelled;
    let mut items: BTreeMap<String, u32> = BTreeMap::new();
    for segment in snapshot.searcher.segment_readers() {
        let automaton = FuzzyTermQuery::new(Term::from_field_text(field, written), errors, true).automaton()?;
        let words = segment.inverted_index(field)?;
        let mut stream = words.terms().search(automaton).into_stream()?;
        while let Some((word, info)) = stream.next() {
            if let Ok(word) = std::str::from_utf8(word) {
                *items.entry(word.to_owned()).or_default() += info.doc_freq;
            }
        }
    }
    // People get first letters right: an error there makes another word, as thing of nothing and parrot of carrot. Two
    // letters in the wrong order are seldom seen.
    let is_likely = |word: &str| word.chars().next() == written.chars().next() || (errors == 1 && swaps(written, word));
    let mut found: Vec<(String, u32)> = items.into_iter().filter(|(word, _)| is_likely(word)).collect();
    found.sort_by_key(|(word, items)| (unlikeness(written, word), Reverse(*items)));
    found.truncate(READINGS_MAX);
    Ok(found.into_iter().map(|(word, _)| word).collect())
}

/// Whether two words differ by the order of their first two letters.
fn swaps(written: &str, word: &str) -> bool {
    let first = |text: &str| text.chars().take(2).collect::<Vec<_>>();
    let (mut own, other) = (first(written), first(word));
    own.reverse();
    own == other && written.chars().skip(2).eq(word.chars().skip(2))
}

/// How little an error looks like one of a hand or an ear, 0 to 3: people get first letters right, double
/// letters or don't, and mistake vowels for each other more than consonants.
fn unlikeness(written: &str, word: &str) -> u8 {
    let first = written.chars().next() != word.chars().next();
    let skeletons = skeleton(written) != skeleton(word);
    2 * u8::from(first) + u8::from(skeletons)
}

/// A word's consonants, each run of one once.
fn skeleton(word: &str) -> String {
    without_doubles(word.chars().filter(|c| !matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y' | 'h')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_ear_are_likelier_than_others() {
        assert_eq!(unlikeness("brocoli", "broccoli"), 0);
        assert_eq!(unlikeness("spageti", "spaghetti"), 0);
        assert!(unlikeness("spageti", "spaghetti") < unlikeness("spageti", "tagetes"));
        assert!(unlikeness("muffen", "muffin") < unlikeness("muffen", "mufflen"));
    }

    #[test]
    fn first_letters_are_right_or_in_the_wrong_order() {
        assert!(swaps("almp", "lamp") && swaps("émp", "mép"));
        assert!(!swaps("parrot", "carrot") && !swaps("almps", "lamp") && !swaps("lamp", "lamp") && !swaps("", "a"));
    }

    #[test]
    fn what_belongs_together_is_told_together() {
        let readings = vec![("chicken".to_owned(), 0.8), ("soup".to_owned(), 0.8)];
        let correction = Correction { written: "chickensoup".to_owned(), readings, joined: true };
        assert_eq!(correction.read_as(), "chicken soup");
        assert_eq!(Correction { joined: false, ..correction }.read_as(), "chicken");
    }
}
