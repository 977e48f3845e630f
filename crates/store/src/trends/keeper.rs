//! What a node counted is written, and rolled up.

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_core::clock::after;
use forecourt_core::store::{LedgerEntry, Span, StoreFuture};
use forecourt_core::{Store, StoreError, Timestamp};
use serde_json::{Value, json};

use super::{Counts, OTHERS, Resolution};
use crate::limits::{TRENDS_LATE_MAX, TRENDS_NODES_MAX, TRENDS_READ_MAX, TRENDS_ROLL_UPS_MAX};

/// The numbers of each node.
pub(super) type ByNode = BTreeMap<String, Counts>;

/// Writes what one node counts.
pub struct TrendKeeper {
    store: Arc<dyn Store>,
}

/// Up to where finer entries are in coarser ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Progress {
    /// The number of the last one.
    number: u64,
    /// Its moment, by which it is told from another one of the same number in a stream that began anew.
    at: Timestamp,
}

/// How far a coarse stream is written.
#[derive(Debug, Default)]
struct StreamEnd {
    /// The number of its last entry; 0 where there is none.
    last: u64,
    /// Which slice that is of.
    at: Option<Timestamp>,
    /// Up to where the finer stream is in it.
    upto: Option<Progress>,
}

impl TrendKeeper {
    /// Keeps them in `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Writes what `node` counted from `since` to `now`, in one transaction: within the bounds, and durable when this
    /// answers.
    ///
    /// # Errors
    /// The store is away: nothing is written, and the same can be written later.
    pub fn write(&self, node: &str, counts: Counts, since: Timestamp, now: Timestamp) -> StoreFuture<'_, ()> {
        // A write is a moment behind the minute that it is about, or, at the end, within it.
        let middle = now.checked_sub(now.duration_since(since) / 2).unwrap_or(now);
        let at = Resolution::Minute.floor(middle);
        let entry = entry(&ByNode::from([(node.to_owned(), counts.bounded())]), at, Resolution::Minute, None);
        Box::pin(async move {
            self.store.append_entry(Resolution::Minute.stream(), entry, None).await?;
            Ok(())
        })
    }

    /// Adds up what is over: minutes to ten minutes, and those to hours. At the end of a node also what is not over
    /// yet, once for each slice, so that nothing is left behind however long the deployment stands still.
    ///
    /// # Errors
    /// The store is away: what is left is rolled up the next time.
    pub fn roll_up(&self, now: Timestamp, is_end: bool) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            for resolution in [Resolution::TenMinutes, Resolution::Hour] {
                for _ in 0..TRENDS_ROLL_UPS_MAX {
                    if !self.roll_up_one(resolution, now, is_end).await? {
                        break;
                    }
                }
            }
            Ok(())
        })
    }

    /// Makes one slice; whether there may be another one to be made.
    async fn roll_up_one(&self, to: Resolution, now: Timestamp, is_end: bool) -> Result<bool, StoreError> {
        let Some(from) = to.finer() else { return Ok(false) };
        let written = progress(&*self.store, to, now).await?;
        let page = unread(&*self.store, from, written.upto, TRENDS_READ_MAX, now).await?;
        let Some((_, first)) = page.first() else { return Ok(false) };
        let begin = to.floor(first.at);
        // Another node may still write about a minute that has just ended. One that is later yet makes a second entry
        // of the same slice, which counts as well.
        let is_over = after(begin, to.step() + TRENDS_LATE_MAX) <= now;
        // Of a node with a wrong clock, or from before the clock was set: what came behind it must not wait for that day.
        let is_over = is_over || begin > after(now, TRENDS_LATE_MAX);
        // Once: a node that is begun and ended again and again must not fill the store.
        let is_due = is_over || (is_end && written.at.is_none_or(|at| at < begin));
        if !is_due {
            return Ok(false);
        }
        let (mut nodes, mut upto) = (ByNode::new(), None);
        for (number, entry) in page.iter().take_while(|(_, entry)| to.floor(entry.at) == begin) {
            upto = Some(Progress { number: *number, at: entry.at });
            for (node, counts) in nodes_of(&entry.body) {
                nodes.entry(node).or_default().add_later(counts);
            }
        }
        let entry = entry(&fewer(nodes), begin, to, upto);
        // Of several nodes that do this at once, the store lets one: what it wrote is not written again.
        Ok(self.store.append_entry(to.stream(), entry, Some(written.last)).await?.is_some())
    }
}

async fn progress(store: &dyn Store, to: Resolution, now: Timestamp) -> Result<StreamEnd, StoreError> {
    let newest = store.entries(to.stream(), Span::Before(u64::MAX), 1, now).await?;
    let Some((last, entry)) = newest.into_iter().next() else { return Ok(StreamEnd::default()) };
    let number = entry.body["upto"].as_u64();
    let at = entry.body["upto_at"].as_str().and_then(|text| text.parse().ok());
    Ok(StreamEnd { last, at: Some(entry.at), upto: number.zip(at).map(|(number, at)| Progress { number, at }) })
}

/// Entries of a stream that are in no coarser one yet, oldest first.
async fn unread(
    store: &dyn Store,
    from: Resolution,
    upto: Option<Progress>,
    limit: usize,
    now: Timestamp,
) -> Result<Vec<(u64, LedgerEntry)>, StoreError> {
    let entries = |after| store.entries(from.stream(), Span::After(after), limit, now);
    let Some(upto) = upto else { return entries(0).await };
    let mut page = entries(upto.number - upto.number.min(1)).await?;
    match page.first() {
        Some((number, entry)) if *number == upto.number && entry.at == upto.at => {
            page.remove(0);
            Ok(page)
        }
        // What was read is forgotten, and what came behind it is not.
        Some((number, _)) if *number > upto.number => Ok(page),
        // All that was there is forgotten, and numbers have begun anew.
        Some(_) | None => entries(0).await,
    }
}

/// The same for whoever reads on from where coarse entries end.
pub(super) async fn rest(
    store: &dyn Store,
    to: Resolution,
    now: Timestamp,
) -> Result<Vec<(u64, LedgerEntry)>, StoreError> {
    let Some(from) = to.finer() else { return Ok(Vec::new()) };
    let written = progress(store, to, now).await?;
    unread(store, from, written.upto, TRENDS_READ_MAX, now).await
}

fn entry(nodes: &ByNode, at: Timestamp, of: Resolution, upto: Option<Progress>) -> LedgerEntry {
    let values: serde_json::Map<String, Value> =
        nodes.iter().map(|(node, counts)| (node.clone(), counts.to_value())).collect();
    let mut body = json!({"nodes": values});
    if let Some(upto) = upto {
        (body["upto"], body["upto_at"]) = (json!(upto.number), json!(upto.at.to_string()));
    }
    LedgerEntry::new(body, at).until(after(at, of.kept()))
}

/// The numbers that an entry holds.
pub(super) fn nodes_of(body: &Value) -> ByNode {
    let nodes = body["nodes"].as_object().into_iter().flatten();
    nodes.map(|(node, counts)| (node.clone(), Counts::from_value(counts))).collect()
}

/// The same of at most [`TRENDS_NODES_MAX`] nodes, within their bounds: runs of a node that begins again and again are
/// nodes of their own.
fn fewer(nodes: ByNode) -> ByNode {
    let mut kept = ByNode::new();
    for (node, counts) in nodes {
        let name = if kept.len() + 1 < TRENDS_NODES_MAX { node } else { OTHERS.to_owned() };
        kept.entry(name).or_default().add_beside(&counts);
    }
    kept.into_iter().map(|(node, counts)| (node, counts.bounded())).collect()
}
