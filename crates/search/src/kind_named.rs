//! Whether a question names a kind of thing by several words, and what keeps its limits is of another kind. "A rain
//! jacket under 60" is answered by no fleece jacket: it is nearest, and told as what it is.

use forecourt_index::{Error, Hit, Library, Query};
use forecourt_loaders::item::SECTION;

use super::boost;
use super::head_noun::{HeadNoun, KINDS, kinds};
use super::request::SearchRequest;
use crate::limits::{CALLED_ITEMS_MAX, COVERED_ITEMS};

/// Whether the words beside the limits of `query` are the kind of things that there are, of which none is in `hits`.
pub(super) fn is_of_another_kind(library: &Library, query: &Query, hits: &[Hit]) -> Result<bool, Error> {
    let text = query.text.trim();
    // What a limit says that they are is what they are: glasses for red wine are no wine.
    if query.filters.iter().any(|filter| filter.fields.iter().any(|field| KINDS.contains(&field.as_str()))) {
        return Ok(false);
    }
    // One word alone has to be in every hit already.
    if hits.is_empty() || query.filters.is_empty() || library.word_coverage(text, "", "").len() < 2 {
        return Ok(false);
    }
    if hits.iter().take(COVERED_ITEMS).any(|hit| says_all(library, text, &told(hit))) {
        return Ok(false);
    }
    let unlimited = Query { filters: Vec::new(), offset: 0, limit: COVERED_ITEMS, ..query.clone() };
    let all = library.search(&unlimited)?;
    let is_kind = |hit: &Hit| kinds(hit).any(|kind| says_all(library, text, kind) && says_all(library, kind, text));
    Ok(all.iter().any(is_kind) || is_there_otherwise(library, query, hits, &all)?)
}

/// Whether something is called by all words of a query and keeps a limit not, where nothing among `hits` is that at all: an
/// organ tour on Sunday is no organ recital.
fn is_there_otherwise(library: &Library, query: &Query, hits: &[Hit], unlimited: &[Hit]) -> Result<bool, Error> {
    let text = query.text.trim();
    // A violin for a child of five is no keyboard, where there are violins and nothing here so much as speaks of one.
    if !names_either(text)
        && let Some(named) = HeadNoun::among(library, text, unlimited)
        && unlimited.iter().any(|hit| named.is_called_first(hit))
        && !hits.iter().any(|hit| named.is_mentioned(hit))
    {
        return Ok(true);
    }
    let Some(head) = HeadNoun::of(library, text) else { return Ok(false) };
    let is_called = unlimited.iter().any(|hit| head.is_it(hit) && says_all(library, text, &told(hit)));
    Ok(is_called && !hits.iter().any(|hit| head.is_it(hit)) && !library.says_all(text, &query.filters)?)
}

/// Words between things of which any will do.
const EITHER: [&str; 5] = ["or", "oder", "ou", "o", "u"];
/// Words between things of which all are wanted.
const BOTH: [&str; 6] = ["and", "und", "et", "y", "e", "&"];

/// Whether a text names several things of which any will do.
fn names_either(text: &str) -> bool {
    text.split_whitespace().any(|word| EITHER.contains(&word.to_lowercase().as_str()))
}

/// Whether an item is called by all words of a text.
pub(super) fn is_called(library: &Library, text: &str, hit: &Hit) -> bool {
    !text.trim().is_empty() && says_all(library, text, &told(hit))
}

/// What is found in the order of a query: of things that are called what the question names, no others. The cheapest desk
/// is no bed "with room for a desk below", where there are desks.
pub(super) fn ordered(library: &Library, query: &Query, asked: &SearchRequest) -> Result<Vec<Hit>, Error> {
    let end = query.offset + query.limit;
    let whole = Query { offset: 0, limit: end.max(CALLED_ITEMS_MAX), ..query.clone() };
    let mut all = boost::search(library, &whole, &asked.leanings, &asked.unwanted)?;
    // The lightest bike is no lock of one.
    let head = HeadNoun::of(library, &query.text);
    let is_kind = |hit: &Hit| head.as_ref().is_some_and(|head| head.is_kind_of(hit));
    let is_one_word = head.as_ref().is_some_and(HeadNoun::is_one_word);
    let is_called = |hit: &Hit| says_all(library, &query.text, &told(hit)) || (is_one_word && is_kind(hit));
    retain_any(&mut all, is_called);
    retain_any(&mut all, is_kind);
    let first = HeadNoun::among(library, &query.text, &all);
    retain_any(&mut all, |hit| first.as_ref().is_some_and(|first| first.is_called_first(hit)));
    Ok(all.into_iter().skip(query.offset).take(query.limit).collect())
}

/// Leaves out what has nothing of the things that a question names first, where something is called so: a hammer is no
/// spanner by the same maker. Of several things any will do.
pub(super) fn only_called(library: &Library, text: &str, hits: &mut Vec<Hit>) {
    let are_things = hits.iter().all(|hit| hit.item.get(SECTION).is_none());
    let names_several =
        text.contains(',') || text.split_whitespace().any(|word| BOTH.contains(&word.to_lowercase().as_str()));
    if hits.len() < 2 || !are_things || names_several || names_either(text) {
        return;
    }
    for named in HeadNoun::each(library, text) {
        if hits.iter().any(|hit| named.is_it(hit)) {
            hits.retain(|hit| hit.is_pinned || named.is_mentioned(hit));
        }
    }
}

/// Whether a text has the whole name of an item.
pub(super) fn says_name(library: &Library, text: &str, hit: &Hit) -> bool {
    !library.word_coverage(&hit.name, "", "").is_empty() && says_all(library, &hit.name, text)
}

/// Keeps the hits of which something holds, where it holds of any.
fn retain_any(hits: &mut Vec<Hit>, holds: impl Fn(&Hit) -> bool) {
    let held: Vec<bool> = hits.iter().map(holds).collect();
    if held.contains(&true) {
        let mut held = held.into_iter();
        hits.retain(|_| held.next() == Some(true));
    }
}

/// Whether `told` has every word of `wanted` that says something.
fn says_all(library: &Library, wanted: &str, told: &str) -> bool {
    library.word_coverage(wanted, "", told).iter().all(|word| word.in_text)
}

/// What an item is called, and of what kinds it is.
fn told(hit: &Hit) -> String {
    kinds(hit).chain([hit.name.as_str()]).collect::<Vec<_>>().join("\n")
}
