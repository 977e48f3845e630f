//! Queries in, ranked hits out.

mod explain;
mod facets;
mod fuse;
mod hit;
mod meaning;
mod plan;
mod query;
mod rank;
mod snippet;
mod spelling;

pub use explain::Explained;
pub(crate) use explain::explain;
pub(crate) use facets::facets;
pub use facets::{Facet, Facets};
pub(crate) use hit::stored;
pub use hit::{Hit, Matched};
pub use query::{Filter, Query, Test};

use fuse::fuse;
use meaning::Meaning;

use crate::analysis::Tongue;
use crate::dense::Model;
use crate::error::Result;
use crate::index::Snapshot;
use crate::limits::{FILTERS_MAX, HITS_MAX};

/// Hits of each kind of search that are put together.
const FUSE_DEPTH: usize = 100;

/// What a ranking goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// Words alone: BM25.
    Words,
    /// Meaning alone: the nearest vectors. Without a model, nothing is found.
    Meaning,
    /// Both rankings put together. Without a model, words alone.
    #[default]
    Both,
}

/// Searches one snapshot.
pub(crate) fn search(
    snapshot: &Snapshot,
    model: Option<&Model>,
    query: &Query,
    by: By,
    default: Tongue,
) -> Result<Vec<Hit>> {
    let end = query.offset.saturating_add(query.limit).min(HITS_MAX);
    if end <= query.offset || query.filters.len() > FILTERS_MAX {
        return Ok(Vec::new());
    }
    let tongue = query.language.as_ref().map_or(default, |language| Tongue::of(language.as_str()));
    let mut plan = plan::Plan::of(snapshot, query, tongue);
    let mut ranked = rank_all(snapshot, model, query, by, &plan, end)?;
    if ranked.is_empty() && plan.relax() {
        ranked = rank::top(snapshot, &plan, end)?;
    }
    ranked.truncate(end);
    let page = ranked.iter().skip(query.offset);
    page.map(|ranked| hit::read(snapshot, ranked, query, &plan)).collect()
}

/// The best `end` documents.
fn rank_all(
    snapshot: &Snapshot,
    model: Option<&Model>,
    query: &Query,
    by: By,
    plan: &plan::Plan,
    end: usize,
) -> Result<Vec<rank::Ranked>> {
    let depth = end.max(FUSE_DEPTH);
    let model = model.filter(|_| by != By::Words);
    let Some(meaning) = Meaning::of(snapshot, model, &query.text, plan) else {
        return if by == By::Meaning { Ok(Vec::new()) } else { rank::top(snapshot, plan, end) };
    };
    let near = meaning.nearest(plan, depth)?;
    let words = if by == By::Both { rank::top(snapshot, plan, depth)? } else { Vec::new() };
    Ok(fuse(&words, &near, plan.asked, meaning.kind, |address| meaning.cosine(address)))
}
