//! The best documents in an order that does not depend on how the index happens to be cut into
//! segments: by score, then by key.

use tantivy::collector::TopDocs;
use tantivy::collector::sort_key::{SortBySimilarityScore, SortByStaticFastValue};
use tantivy::query::Query as Search;
use tantivy::{DocAddress, Order};

use super::plan::Plan;
use crate::error::Result;
use crate::index::{KEY, Snapshot};

/// A document and its place in a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) score: f32,
    pub(crate) key: u64,
    pub(crate) address: DocAddress,
}

/// The `wanted` best documents of a plan.
pub(super) fn top(snapshot: &Snapshot, plan: &Plan, wanted: usize) -> Result<Vec<Ranked>> {
    match plan.ranking() {
        None => Ok(Vec::new()),
        Some(query) if plan.has_text() => by_score(snapshot, &*query, wanted),
        Some(query) => by_key(snapshot, &*query, wanted),
    }
}

/// One document more than wanted shows whether a tie is cut in two. It rarely is; then a slower
/// search settles it.
fn by_score(snapshot: &Snapshot, query: &dyn Search, wanted: usize) -> Result<Vec<Ranked>> {
    let found = snapshot.searcher.search(query, &TopDocs::with_limit(wanted + 1).order_by_score())?;
    let is_cut = found.len() > wanted && found[wanted - 1].0 == found[wanted].0;
    let mut ranked = match is_cut {
        false => list(snapshot, found.into_iter()),
        true => {
            let key = (SortByStaticFastValue::<u64>::for_field(KEY), Order::Asc);
            let order = ((SortBySimilarityScore, Order::Desc), key);
            let found = snapshot.searcher.search(query, &TopDocs::with_limit(wanted).order_by(order))?;
            list(snapshot, found.into_iter().map(|((score, _), address)| (score, address)))
        }
    };
    ranked.truncate(wanted);
    Ok(ranked)
}

fn by_key(snapshot: &Snapshot, query: &dyn Search, wanted: usize) -> Result<Vec<Ranked>> {
    let order = TopDocs::with_limit(wanted).order_by_fast_field::<u64>(KEY, Order::Asc);
    let found = snapshot.searcher.search(query, &order)?;
    Ok(list(snapshot, found.into_iter().map(|(_, address)| (0.0, address))))
}

fn list(snapshot: &Snapshot, found: impl Iterator<Item = (f32, DocAddress)>) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> =
        found.map(|(score, address)| Ranked { score, key: snapshot.key(address), address }).collect();
    sort(&mut ranked);
    ranked
}

/// Higher scores first, then smaller keys.
pub(super) fn sort(ranked: &mut [Ranked]) {
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
}
