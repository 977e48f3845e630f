//! What is nearest to a point, in that order.

use std::cmp::Ordering;

use tantivy::DocAddress;
use tantivy::query::{EnableScoring, Query as Search};

use super::circle::{Circle, Positions};
use super::matching::matching;
use super::query::Query;
use super::rank::RankedDoc;
use crate::best::Best;
use crate::error::Result;
use crate::index::Snapshot;

/// The `wanted` documents of a query that are nearest: of those that have all its words, else of those that have any.
pub(super) fn top(
    snapshot: &Snapshot,
    query: &Query,
    circle: &Circle,
    ranking: Option<Box<dyn Search>>,
    wanted: usize,
) -> Result<Vec<RankedDoc>> {
    let found = nearest(snapshot, &*matching(snapshot, &query.text, &query.filters), circle, wanted)?;
    match ranking {
        Some(any) if found.is_empty() => nearest(snapshot, &*any, circle, wanted),
        _ => Ok(found),
    }
}

/// A document by how far away it is. The nearest is the greatest.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PlacedDoc {
    km: f64,
    ranked: RankedDoc,
}

impl Eq for PlacedDoc {}

impl Ord for PlacedDoc {
    fn cmp(&self, other: &Self) -> Ordering {
        other.km.total_cmp(&self.km).then_with(|| self.ranked.cmp(&other.ranked))
    }
}

impl PartialOrd for PlacedDoc {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn nearest(snapshot: &Snapshot, query: &dyn Search, circle: &Circle, wanted: usize) -> Result<Vec<RankedDoc>> {
    let weight = query.weight(EnableScoring::disabled_from_searcher(&snapshot.searcher))?;
    let mut best: Best<PlacedDoc> = Best::of(wanted);
    for ((reader, columns), segment) in snapshot.searcher.segment_readers().iter().zip(&snapshot.columns).zip(0..) {
        let positions = Positions::of(reader, circle)?;
        weight.for_each_no_score(reader, &mut |docs| {
            for doc in docs.iter().copied().filter(|doc| columns.is_living(*doc)) {
                if let Some(km) = positions.km(doc) {
                    let (key, address) = (columns.key.get_val(doc), DocAddress::new(segment, doc));
                    // Nearer is better, and comparable within one answer.
                    let score = (1.0 / (1.0 + km)) as f32;
                    best.offer(PlacedDoc { km, ranked: RankedDoc { score, key, address } });
                }
            }
        })?;
    }
    Ok(best.into_sorted().into_iter().map(|placed| placed.ranked).collect())
}
