//! How much of a question an index knows, and how much of it the items that were found have: what tells a question that
//! the content answers from one that only shares a word with it.

use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet as _, Term};

use super::plan::{head, stems_of};
use crate::analysis::{LanguageAnalyzer, content_words};
use crate::error::Result;
use crate::index::Snapshot;
use forecourt_loaders::item::hash;
use forecourt_understanding::limits::QUERY_WORDS_MAX;

/// The part of a question's words that has to be known for all of it to be taken seriously.
const KNOWN_MIN: f64 = 0.5;
/// The part of a question that an item has to have to answer it, where less than that is known. Rare words weigh
/// more, and unknown ones most.
const COVERED_MIN: f64 = 0.2;

/// A word of the question.
struct AskedWord {
    stems: Vec<String>,
    weight: f64,
}

/// Whether one of these items answers a text, rather than only sharing a word with it. A text without words that say
/// something is answered by anything.
pub(crate) fn is_answered(snapshot: &Snapshot, text: &str, ids: &[&str], tongue: LanguageAnalyzer) -> Result<bool> {
    let mut texts: Vec<String> =
        content_words(head(text), tongue).split_whitespace().map(str::to_lowercase).take(QUERY_WORDS_MAX).collect();
    texts.sort_unstable();
    texts.dedup();
    let words: Vec<AskedWord> = texts.iter().map(|word| asked_word(snapshot, word, tongue)).collect();
    let known = words.iter().filter(|word| !word.stems.is_empty()).count();
    if words.is_empty() || known as f64 > KNOWN_MIN * words.len() as f64 {
        // The usual case, and the cheap one: no item has to be looked at.
        return Ok(true);
    }
    let wanted = COVERED_MIN * words.iter().map(|word| word.weight).sum::<f64>();
    for id in ids {
        let Some(address) = snapshot.find(hash(&[id.as_bytes()]))? else { continue };
        let mut covered = 0.0;
        for word in &words {
            covered += if has_any(snapshot, address, &word.stems)? { word.weight } else { 0.0 };
        }
        if covered >= wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The word as the index has it, and what it weighs: as much as a rare one where it has none.
fn asked_word(snapshot: &Snapshot, word: &str, tongue: LanguageAnalyzer) -> AskedWord {
    let stems = stems_of(snapshot, word, tongue);
    let freq = |stem: &String| snapshot.doc_freq(&Term::from_field_text(snapshot.fields.text, stem));
    let items = stems.iter().map(freq).max().unwrap_or(0);
    let all = snapshot.documents() as f64;
    AskedWord { stems, weight: (1.0 + all / (1.0 + items as f64)).ln() }
}

fn has_any(snapshot: &Snapshot, address: DocAddress, stems: &[String]) -> Result<bool> {
    let segment = snapshot.searcher.segment_reader(address.segment_ord);
    let inverted = segment.inverted_index(snapshot.fields.text)?;
    for stem in stems {
        let term = Term::from_field_text(snapshot.fields.text, stem);
        let postings = inverted.read_postings(&term, IndexRecordOption::Basic).map_err(tantivy::TantivyError::from)?;
        let Some(mut docs) = postings else { continue };
        // `seek` only goes forward, and must not be asked for a document before the current one.
        let at = if docs.doc() < address.doc_id { docs.seek(address.doc_id) } else { docs.doc() };
        if at == address.doc_id {
            return Ok(true);
        }
    }
    Ok(false)
}
