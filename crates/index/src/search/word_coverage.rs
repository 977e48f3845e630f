//! How much of a question a passage speaks of: what decides whether it is told as the answer.

use tantivy::Term;

use super::spelling;
use crate::analysis::{LanguageAnalyzer, Words, content_words, fold_text};
use crate::index::Snapshot;
use forecourt_understanding::limits::QUERY_WORDS_MAX;

/// A word of a question that says something, and where a passage has it.
#[derive(Debug, Clone, PartialEq)]
pub struct WordCoverage {
    /// The word, as it was asked.
    pub word: String,
    /// How much it says: more for words that few items have.
    pub weight: f32,
    /// Whether the heading has it.
    pub in_heading: bool,
    /// Whether the text has it.
    pub in_text: bool,
}

/// The words of a question that say something, at most [`QUERY_WORDS_MAX`], and where a passage has each.
pub(crate) fn word_coverage(
    snapshot: &Snapshot,
    tongue: LanguageAnalyzer,
    question: &str,
    heading: &str,
    text: &str,
) -> Vec<WordCoverage> {
    let (heading, text) = (Words::of(heading, tongue), Words::of(text, tongue));
    let has = |words: &Words, stem: &str| words.iter().any(|word| word == stem);
    let content = content_words(question, tongue);
    let mut found: Vec<WordCoverage> = Vec::new();
    for word in content.split_whitespace().take(QUERY_WORDS_MAX) {
        let stems = Words::of(word, tongue);
        for stem in stems.iter() {
            // What is spelled almost as a word of the index is meant to be that.
            let meant = match snapshot.doc_freq(&Term::from_field_text(snapshot.fields.text, stem)) {
                0 => corrected(snapshot, word, tongue),
                _ => vec![stem.to_owned()],
            };
            let covered = WordCoverage {
                word: word.to_owned(),
                weight: weight(snapshot, &meant),
                in_heading: meant.iter().any(|stem| has(&heading, stem)),
                in_text: meant.iter().any(|stem| has(&text, stem)),
            };
            if !found.contains(&covered) {
                found.push(covered);
            }
        }
    }
    found
}

/// The stems of what a word is read as that no item has.
fn corrected(snapshot: &Snapshot, word: &str, tongue: LanguageAnalyzer) -> Vec<String> {
    let read_as = spelling::correction(snapshot, &fold_text(word), false).map(|correction| correction.readings);
    let stems = read_as
        .into_iter()
        .flatten()
        .flat_map(|(reading, _)| Words::of(&reading, tongue).iter().map(str::to_owned).collect::<Vec<_>>());
    stems.collect()
}

/// The inverse document frequency of the most frequent of these stems.
fn weight(snapshot: &Snapshot, stems: &[String]) -> f32 {
    let items = snapshot.documents() as f32;
    let with = |stem: &String| snapshot.doc_freq(&Term::from_field_text(snapshot.fields.text, stem));
    let with = stems.iter().map(with).max().unwrap_or_default() as f32;
    (1.0 + (items - with).max(0.0) / (with + 0.5)).ln().max(f32::EPSILON)
}
