//! How much of a question an index knows, and how much of it the items that were found have: what tells a question that
//! the content answers from one that only shares a word with it.

use super::other_names::OtherName;
use super::plan::{head, words_of};
use super::query_words::QueryWord;
use crate::analysis::{LanguageAnalyzer, bare_word, fold_text, is_generic_word, is_stop_word};
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
/// The same of a question that names something which the items are known not to be.
const COVERED_MIN_LACKING: f64 = 0.5;
/// Words of a short question, which is about one thing.
const SHORT_WORDS_MAX: usize = 4;
/// The same of a short question where the word is unknown that says what is asked for.
const HEADLESS_COVERED_MIN: f64 = 0.5;

/// Whether one of these items answers a text, rather than only sharing a word with it. A text without words that say
/// something is answered by anything. `are_things`: they are no sections of documents, which people ask for by what they
/// do ("forget my password").
pub(crate) fn is_answered(
    snapshot: &Snapshot,
    text: &str,
    ids: &[&str],
    are_things: bool,
    tongue: LanguageAnalyzer,
) -> Result<bool> {
    let all = words_of(snapshot, text, tongue);
    let telling = all.all().iter().filter(|word| !asks_for_anything(&word.written)).take(QUERY_WORDS_MAX);
    let words: Vec<&QueryWord> = telling.collect();
    let known = words.iter().filter(|word| word.is_known()).count();
    if known == words.len() {
        // The usual case, and the cheap one: no item has to be looked at.
        return Ok(true);
    }
    let is_headless = are_things && words.len() <= SHORT_WORDS_MAX && !knows_head(snapshot, text, tongue);
    if !is_headless && known as f64 > KNOWN_MIN * words.len() as f64 {
        return Ok(true);
    }
    let part = match is_headless {
        _ if are_things && lacks_subject(text, &words) => COVERED_MIN_LACKING,
        true => HEADLESS_COVERED_MIN,
        false => COVERED_MIN,
    };
    let wanted = part * words.iter().map(|word| weight(snapshot, word)).sum::<f64>();
    for id in ids {
        let Some(address) = snapshot.find(hash(&[id.as_bytes()]))? else { continue };
        let index = snapshot.searcher.segment_reader(address.segment_ord).inverted_index(snapshot.fields.text)?;
        let mut covered = 0.0;
        for word in &words {
            covered += if word.is_in(&index, snapshot.fields.text, address)? { weight(snapshot, word) } else { 0.0 };
        }
        if covered >= wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a text names a kind of thing by several words of which items lack one: a "rocking chair", where there are
/// chairs.
pub(crate) fn names_lacking_kind(snapshot: &Snapshot, text: &str, tongue: LanguageAnalyzer) -> bool {
    words_of(snapshot, text, tongue).all().iter().any(|word| word.is_of_lacking_kind)
}

/// Whether a word is lacking of those that say what is asked for: in front of the first one that joins. "A cat for the
/// flat" is answered by cats where nothing is a flat.
fn lacks_subject(text: &str, words: &[&QueryWord]) -> bool {
    let subject: Vec<String> = subject(text).iter().map(|word| fold_text(word)).collect();
    words.iter().any(|word| word.is_lacking && subject.contains(&word.written))
}

/// Whether some item has the word that says what is asked for: the only one in front of a word that joins, as in "a canoe
/// for two". Of several, either end may be it.
fn knows_head(snapshot: &Snapshot, text: &str, tongue: LanguageAnalyzer) -> bool {
    match subject(text).as_slice() {
        [only] => words_of(snapshot, only, tongue).all().iter().any(QueryWord::is_known),
        _ => true,
    }
}

/// The words of a text that say what is asked for, in lower case: those in front of the first one that joins.
fn subject(text: &str) -> Vec<String> {
    let words = head(text).split_whitespace().map(bare_word);
    // Whatever the items are in, people ask in their own language.
    let joins = LANGUAGES.map(LanguageAnalyzer::of);
    let says = |word: &String| !asks_for_anything(word) && !joins.iter().any(|tongue| is_stop_word(word, *tongue));
    words.skip_while(|word| !says(word)).take_while(says).collect()
}

/// Whether a word asks for nothing in particular in some language: a remedy for coughs is asked for by the coughs.
fn asks_for_anything(word: &str) -> bool {
    LANGUAGES.iter().any(|code| is_generic_word(word, LanguageAnalyzer::of(code)))
}

/// What a word weighs: as much as a rare one where no item has it.
fn weight(snapshot: &Snapshot, word: &QueryWord) -> f64 {
    let items = |other: &OtherName| other.stems.iter().map(|stem| snapshot.items_with(stem)).min();
    let own = word.stems.iter().map(|stem| snapshot.items_with(stem));
    let items = own.chain(word.others.iter().filter_map(items)).max().unwrap_or(0);
    let all = snapshot.documents() as f64;
    (1.0 + all / (1.0 + items as f64)).ln()
}
