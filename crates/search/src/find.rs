//! From what is asked to what was found, and what would be found if less were asked.

use forecourt_content::{Correction, Error, Filter, Hit, Library, Query};

use super::boost;
use super::request::NamedFilter;
use super::request::SearchRequest;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct SearchResults {
    /// The best items, best first.
    pub(super) hits: Vec<Hit>,
    /// Whether there are more behind them.
    pub(super) has_more: bool,
    /// The constraints that were applied.
    pub(super) applied: Vec<Filter>,
    /// Filters by name that no item could pass, and so were left out.
    pub(super) ignored: Vec<NamedFilter>,
    /// Words of the question that no item has, and what was looked for instead.
    pub(super) corrections: Vec<Correction>,
    /// Constraints without which something would have been found, each with the best of it.
    pub(super) relaxations: Vec<(Filter, Hit)>,
}

/// Searches for `results` items. When nothing is found, it is tried without each of the constraints.
pub(super) fn find(library: &Library, asked: &SearchRequest, results: usize) -> Result<SearchResults, Error> {
    let (mut applied, mut ignored) = (asked.filters.clone(), Vec::new());
    for named in &asked.named {
        let exactly = std::slice::from_ref(&named.filter);
        let mut known = Vec::new();
        for filters in [exactly, &named.loosely] {
            if known.is_empty() && !filters.is_empty() && is_known(library, filters)? {
                known = filters.to_vec();
            }
        }
        if known.is_empty() { ignored.push(named.clone()) } else { applied.extend(known) }
    }
    let query = Query {
        text: asked.text.clone(),
        filters: applied.clone(),
        limit: results + 1,
        offset: asked.offset,
        language: None,
        order: asked.order.clone(),
    };
    let mut hits = boost::search(library, &query, &asked.leanings)?;
    let has_more = hits.len() > results;
    hits.truncate(results);
    let relaxations = match hits.is_empty() && asked.offset == 0 {
        true => relaxations(library, &query)?,
        false => Vec::new(),
    };
    let corrections = library.corrections(&query);
    Ok(SearchResults { hits, has_more, applied, ignored, corrections, relaxations })
}

/// Whether any item keeps these constraints.
fn is_known(library: &Library, filters: &[Filter]) -> Result<bool, Error> {
    let alone = Query { filters: filters.to_vec(), limit: 1, ..Query::default() };
    Ok(!library.search(&alone)?.is_empty())
}

fn relaxations(library: &Library, query: &Query) -> Result<Vec<(Filter, Hit)>, Error> {
    let mut found = Vec::new();
    for (at, left_out) in query.filters.iter().enumerate() {
        let mut filters = query.filters.clone();
        filters.remove(at);
        let best = library.search(&Query { filters, limit: 1, ..query.clone() })?.pop();
        found.extend(best.map(|hit| (left_out.clone(), hit)));
    }
    Ok(found)
}
