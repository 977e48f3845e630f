//! How much of a question an index knows, and how much of it the items that were found have: what tells a question that
//! the content answers from one that only shares a word with it.

use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet as _, Term};

use super::plan::{head, stems_of};
use crate::analysis::{LanguageAnalyzer, bare_word, content_words, is_stop_word};
use crate::error::Result;
use crate::index::Snapshot;
use forecourt_loaders::item::hash;
use forecourt_understanding::limits::QUERY_WORDS_MAX;
use forecourt_vocabulary::LANGUAGES;

/// The part of a question's words that has to be known for all of it to be taken seriously.
const KNOWN_MIN: f64 = 0.5;
/// The part of a question that an item has to have to answer it, where less than that is known. Rare words weigh
/// more, and unknown ones most.
const COVERED_MIN: f64 = 0.2;
/// Words of a short question, which is about few things: of those an item has to have more, whatever is known of it.
const SHORT_WORDS_MAX: usize = 4;
const SHORT_COVERED_MIN: f64 = 0.34;
/// The same where the word is unknown that says what is asked for.
const HEADLESS_COVERED_MIN: f64 = 0.5;

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
    let is_short = words.len() <= SHORT_WORDS_MAX;
    if known == words.len() || !is_short && known as f64 > KNOWN_MIN * words.len() as f64 {
        // The usual case, and the cheap one: no item has to be looked at.
        return Ok(true);
    }
    let part = match is_short {
        true if !knows_head(snapshot, text, tongue) => HEADLESS_COVERED_MIN,
        true => SHORT_COVERED_MIN,
        false => COVERED_MIN,
    };
    let wanted = part * words.iter().map(|word| word.weight).sum::<f64>();
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

/// Whether some item has the word that says what is asked for: the only one in front of a word that joins, as in "a canoe
/// for two". Of several, either end may be it.
fn knows_head(snapshot: &Snapshot, text: &str, tongue: LanguageAnalyzer) -> bool {
    let words = head(text).split_whitespace().map(bare_word);
    // Whatever the items are in, people ask in their own language.
    let joins = LANGUAGES.map(LanguageAnalyzer::of);
    let says = |word: &String| !joins.iter().any(|tongue| is_stop_word(word, *tongue));
    let subject: Vec<String> = words.skip_while(|word| !says(word)).take_while(says).collect();
    match subject.as_slice() {
        [only] => !stems_of(snapshot, only, tongue).is_empty(),
        _ => true,
    }
}

/// The word as the index has it, and what it weighs: as much as a rare one where it has none.
fn asked_word(snapshot: &Snapshot, word: &str, tongue: LanguageAnalyzer) -> AskedWord {
    let stems = stems_of(snapshot, word, tongue);
    let freq = |stem: &String| snapshot.doc_freq(&Term::from_field_text(snapshot.fields.text, stem));
    let items = stems.iter().map(freq).max().unwrap_or(0);
    let all = snapshot.searcher.num_docs() as f64;
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
