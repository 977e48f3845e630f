//! This module keeps pushed items in memory, for tests and for hosts that share a process.

use std::collections::{BTreeMap, HashMap};

use forecourt_core::Handle;
use forecourt_core::store::StoreFuture;
use parking_lot::Mutex;

use super::{
    ContentBounds, ContentChange, ContentChanged, ContentFull, ContentHead, ContentPage, ContentRow, ContentRows,
    RowPlace,
};

/// Rows that end with the process.
#[derive(Default)]
pub struct MemoryContent(Mutex<HashMap<Handle, AgentContent>>);

/// The items of one agent.
#[derive(Clone, Default)]
struct AgentContent {
    head: ContentHead,
    rows: BTreeMap<String, ContentRow>,
}

impl AgentContent {
    /// Of an agent for whom nothing was held before.
    fn begun() -> Self {
        Self { head: ContentHead { epoch: epoch(), revision: 0 }, rows: BTreeMap::new() }
    }

    fn bytes(&self) -> u64 {
        self.rows.values().filter_map(|row| row.item.as_ref()).map(|item| item.len() as u64).sum()
    }

    fn put(&mut self, row: ContentRow) -> bool {
        let is_same = |known: &ContentRow| known.item.is_some() && row.item.is_some() && known.said == row.said;
        if self.rows.get(&row.id).is_some_and(is_same) {
            return false;
        }
        self.rows.insert(row.id.clone(), row);
        true
    }
}

/// A random number for an epoch, so that no epoch of an agent has the number of an earlier one.
pub(crate) fn epoch() -> u64 {
    let mut bytes = [0; 8];
    // An error means a machine without randomness, on which nothing that is minted would be a secret.
    aws_lc_rs::rand::fill(&mut bytes).expect("the operating system gives random bytes");
    // 63 bits: PostgreSQL's `bigint` is signed.
    u64::from_le_bytes(bytes) >> 1
}

impl ContentRows for MemoryContent {
    fn change(
        &self,
        agent: &Handle,
        change: ContentChange,
        bounds: ContentBounds,
    ) -> StoreFuture<'_, Result<ContentChanged, ContentFull>> {
        let mut all = self.0.lock();
        let before = all.entry(agent.clone()).or_insert_with(AgentContent::begun);
        // On a copy, as the bounds are known only when the whole change was made, and it must then leave nothing
        // changed.
        let mut after = before.clone();
        after.head.revision += 1;
        let revision = after.head.revision;
        let place = |id: &str| RowPlace { revision, key: id.as_bytes().to_vec() };
        let mut differs = Vec::new();
        match change {
            ContentChange::Put(items) => {
                for item in items {
                    let place = place(&item.id);
                    let row = ContentRow { place, id: item.id, url: item.url, item: Some(item.item), said: item.said };
                    differs.push(after.put(row));
                }
            }
            ContentChange::Remove(ids) => ids.into_iter().for_each(|id| {
                let place = place(&id);
                after.put(ContentRow { place, id, url: None, item: None, said: 0 });
            }),
            ContentChange::Clear => {
                after.rows.clear();
                after.head.epoch = epoch();
            }
        }
        // Over the bound a change that does not add is still made: an agent that is full must be able to shrink.
        let is_more = |of: fn(&AgentContent) -> u64, bound: u64| of(&after) > bound && of(&after) > of(before);
        if is_more(|held| held.rows.len() as u64, bounds.ids) || is_more(AgentContent::bytes, bounds.bytes) {
            return Box::pin(async { Ok(Err(ContentFull)) });
        }
        if !differs.is_empty() && !differs.contains(&true) {
            // Nothing differs: without a new revision no node reads or indexes anything.
            after.head = before.head;
        }
        let head = after.head;
        *before = after;
        Box::pin(async move { Ok(Ok(ContentChanged { head, differs })) })
    }

    fn heads(&self) -> StoreFuture<'_, Vec<(Handle, ContentHead)>> {
        let heads = self.0.lock().iter().map(|(agent, held)| (agent.clone(), held.head)).collect();
        Box::pin(async { Ok(heads) })
    }

    fn page(&self, agent: &Handle, epoch: u64, after: RowPlace) -> StoreFuture<'_, ContentPage> {
        let all = self.0.lock();
        let held = all.get(agent).filter(|held| held.head.epoch == epoch);
        let rows = held.into_iter().flat_map(|held| held.rows.values()).filter(|row| row.place > after);
        let mut rows: Vec<_> = rows.cloned().collect();
        rows.sort_by(|a, b| a.place.cmp(&b.place));
        Box::pin(async { Ok(ContentPage::of(rows)) })
    }
}
