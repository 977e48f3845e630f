//! Whether anything that was found has all that was asked for. Where nothing has, the answer calls it the closest: a
//! list of matches would claim more than is true.

use forecourt_index::{Correction, Error, Hit, Library, Query};
use forecourt_loaders::item::SECTION;
use forecourt_vocabulary::folded;

use super::phrases::content_words;
use super::request::SearchRequest;

/// Whether a part of what was asked for is kept by none of the things that were found: one that `is_told` to be unknown
/// or not understood, or words that no item has together beside the limits. Fails when the index cannot be read.
pub(super) fn lacks_something(
    library: &Library,
    asked: &SearchRequest,
    query: &Query,
    (hits, corrections): (&[Hit], &[Correction]),
    is_told: bool,
) -> Result<bool, Error> {
    let is_thing = |hit: &Hit| hit.item.get(SECTION).is_none() && !hit.is_pinned;
    let are_things = !hits.is_empty() && hits.iter().all(is_thing);
    // A model finds what is said in other words.
    if !are_things || asked.offset > 0 || library.has_model() {
        return Ok(false);
    }
    let words = read_as(&query.text, corrections);
    Ok(is_told || (!words.is_empty() && !library.says_all(&words, &query.filters)?))
}

/// The words of a text that ask for something, misspelled ones as they were read.
fn read_as(text: &str, corrections: &[Correction]) -> String {
    let read = |word: &str| {
        let correction = corrections.iter().find(|correction| correction.written == folded(word));
        correction.map_or_else(|| word.to_owned(), Correction::read_as)
    };
    content_words(text).map(read).collect::<Vec<_>>().join(" ")
}
