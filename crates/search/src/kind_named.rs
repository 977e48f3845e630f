//! Whether a question names a kind of thing by several words, and what keeps its limits is of another kind. "A rain
//! jacket under 60" is answered by no fleece jacket: it is nearest, and told as what it is.

use forecourt_index::{Error, Hit, Library, Query};
use serde_json::Value;

use super::boost;
use super::request::SearchRequest;
use crate::limits::{CALLED_ITEMS_MAX, COVERED_ITEMS};

/// Properties that say of what kind a thing is, in words of the site's own.
const KINDS: [&str; 5] = ["category", "recipeCategory", "genre", "bodyType", "additionalType"];

/// Whether the words beside the limits of `query` are the kind of things that there are, of which none is in `hits`.
pub(super) fn is_of_another_kind(library: &Library, query: &Query, hits: &[Hit]) -> Result<bool, Error> {
    let text = query.text.trim();
    // One word alone has to be in every hit already.
    if hits.is_empty() || query.filters.is_empty() || library.word_coverage(text, "", "").len() < 2 {
        return Ok(false);
    }
    if hits.iter().take(COVERED_ITEMS).any(|hit| says_all(library, text, &told(hit))) {
        return Ok(false);
    }
    let unlimited = Query { filters: Vec::new(), offset: 0, limit: COVERED_ITEMS, ..query.clone() };
    let all = library.search(&unlimited)?;
    Ok(all.iter().any(|hit| kinds(hit).any(|kind| says_all(library, text, kind) && says_all(library, kind, text))))
}

/// What is found in the order of a query: of things that are called what the question names, no others. The cheapest desk
/// is no bed "with room for a desk below", where there are desks.
pub(super) fn ordered(library: &Library, query: &Query, asked: &SearchRequest) -> Result<Vec<Hit>, Error> {
    let end = query.offset + query.limit;
    let whole = Query { offset: 0, limit: end.max(CALLED_ITEMS_MAX), ..query.clone() };
    let mut all = boost::search(library, &whole, &asked.leanings, &asked.unwanted)?;
    let is_called: Vec<bool> = all.iter().map(|hit| says_all(library, &query.text, &told(hit))).collect();
    if is_called.contains(&true) {
        let mut is_called = is_called.into_iter();
        all.retain(|_| is_called.next() == Some(true));
    }
    Ok(all.into_iter().skip(query.offset).take(query.limit).collect())
}

/// Whether `told` has every word of `wanted` that says something.
fn says_all(library: &Library, wanted: &str, told: &str) -> bool {
    library.word_coverage(wanted, "", told).iter().all(|word| word.in_text)
}

/// What an item is called, and of what kinds it is.
fn told(hit: &Hit) -> String {
    kinds(hit).chain([hit.name.as_str()]).collect::<Vec<_>>().join("\n")
}

fn kinds(hit: &Hit) -> impl Iterator<Item = &str> {
    KINDS.iter().filter_map(|key| hit.item.get(*key)).flat_map(|value| match value {
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
        value => value.as_str().into_iter().collect::<Vec<_>>(),
    })
}
