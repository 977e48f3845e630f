//! Series are read back for a span of time.

use std::collections::BTreeMap;

use forecourt_core::store::{LedgerEntry, Span, StoreFuture};
use forecourt_core::{Store, StoreError, Timestamp};

use super::keeper::{ByNode, nodes_of, rest};
use super::{Counts, Resolution};
use crate::limits::{TRENDS_PAGE, TRENDS_READ_MAX};

/// What was counted in one step of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// When it begins.
    pub at: Timestamp,
    /// What each node counted, by its mark.
    pub nodes: BTreeMap<String, Counts>,
}

impl Slice {
    /// What all nodes counted together.
    pub fn all(&self) -> Counts {
        let mut all = Counts::default();
        self.nodes.values().for_each(|counts| all.add_beside(counts));
        all
    }
}

/// Slices from the one that `since` is in, oldest first: what is rolled up so far, and the rest that is not yet. Steps in
/// which nobody counted have none.
pub fn read(
    store: &dyn Store,
    resolution: Resolution,
    since: Timestamp,
    now: Timestamp,
) -> StoreFuture<'_, Vec<Slice>> {
    Box::pin(async move {
        let begin = resolution.floor(since);
        let mut slices: BTreeMap<Timestamp, ByNode> = BTreeMap::new();
        let mut take = |entries: Vec<(u64, LedgerEntry)>| {
            for (_, entry) in entries.into_iter().filter(|(_, entry)| entry.at >= begin) {
                let nodes = slices.entry(resolution.floor(entry.at)).or_default();
                for (node, counts) in nodes_of(&entry.body) {
                    nodes.entry(node).or_default().add_later(counts);
                }
            }
        };
        take(newest(store, resolution, begin, now).await?);
        let mut coarse = resolution;
        while let Some(finer) = coarse.finer() {
            take(rest(store, coarse, now).await?);
            coarse = finer;
        }
        Ok(slices.into_iter().map(|(at, nodes)| Slice { at, nodes }).collect())
    })
}

/// The entries of a stream from a moment on, oldest first.
async fn newest(
    store: &dyn Store,
    resolution: Resolution,
    begin: Timestamp,
    now: Timestamp,
) -> Result<Vec<(u64, LedgerEntry)>, StoreError> {
    let (mut all, mut before) = (Vec::new(), u64::MAX);
    // Nodes write at nearly the same time, so that moments go back a little now and then: a whole page of earlier ones is
    // the end.
    while all.len() < TRENDS_READ_MAX {
        let page = store.entries(resolution.stream(), Span::Before(before), TRENDS_PAGE, now).await?;
        let is_over = page.len() < TRENDS_PAGE || page.iter().all(|(_, entry)| entry.at < begin);
        before = page.last().map_or(0, |(number, _)| *number);
        all.extend(page);
        if is_over {
            break;
        }
    }
    all.reverse();
    Ok(all)
}
