//! Items that the operator puts and removes by hand, while everything else goes on.
//!
//! Of what is said about one id, the last call counts, and it counts more than any file or site: what was
//! put is found as it was put, and what was removed is not found, until another call says otherwise. A
//! removal is forgotten when no file and no site has the id any more.

use std::collections::HashSet;

use forecourt_core::Timestamp;
use forecourt_loaders::SkippedItem;
use forecourt_loaders::item::{bounded_id, hash};
use serde_json::Value;

use super::Library;
use crate::error::{Error, Result};
use crate::limits::PUSH_ITEMS_MAX;
use crate::pushed::PushedDocument;

/// What putting items came to. All of it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutOutcome {
    /// Items that are new, or different from those that were put before.
    pub stored: u64,
    /// Items that were put before just so.
    pub unchanged: u64,
    /// The number of items that were left out.
    pub skipped: u64,
    /// Why, for the first [`forecourt_loaders::limits::REASONS_MAX`].
    pub reasons: Vec<SkippedItem>,
    /// Whether they can be found already. Otherwise the next run of [`Library::index`] sees to it.
    pub is_searchable: bool,
}

/// What removing items came to. All of it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoveOutcome {
    /// Ids of items that were there.
    pub removed: Vec<String>,
    /// Names that no item has.
    pub unknown: Vec<String>,
    /// Whether they can be found no more. Otherwise the next run of [`Library::index`] sees to it.
    pub is_searchable: bool,
}

/// The ids that a list of names stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedIds {
    /// Ids of items that are there, each once.
    pub ids: Vec<String>,
    /// Names that no item has.
    pub unknown: Vec<String>,
}

impl Library {
    /// Puts the items of a document in the place of those with their ids, wherever these are from.
    /// `media_type` says how it is written: JSON Lines, JSON, JSON-LD, CSV or a feed. Items that cannot be
    /// taken are left out with a reason. Fails without a change when the document is in no such format or
    /// past the bounds, and when no file for it was named in [`crate::Options`].
    pub fn put(&self, document: &[u8], media_type: &str, now: Timestamp) -> Result<PutOutcome> {
        let PushedDocument { items, skipped, reasons } = PushedDocument::read(document, media_type, now)?;
        // One push at a time: of two for one id, the later in the file has to be the later in the index.
        let _pushing = self.pushing.lock();
        // On disk before it is indexed, so that what the caller is answered for survives a crash.
        let changed = self.pushed.put(&items)?;
        let new = changed.iter().zip(&items).filter(|(changed, _)| **changed);
        let new: Vec<Value> = new.filter_map(|(_, pushed)| serde_json::from_slice(&pushed.item).ok()).collect();
        let is_searchable = self.taken_in(&new, &[]);
        Ok(PutOutcome {
            stored: new.len() as u64,
            unchanged: (items.len() - new.len()) as u64,
            skipped,
            reasons,
            is_searchable,
        })
    }

    /// Removes the items that go by these names, which are ids or links, wherever they are from.
    pub fn remove(&self, names: &[String]) -> Result<RemoveOutcome> {
        let _pushing = self.pushing.lock();
        let NamedIds { ids: removed, unknown } = self.named_ids(names)?;
        if !removed.is_empty() {
            self.pushed.remove(&removed)?;
        }
        let keys: Vec<u64> = removed.iter().map(|id| hash(&[id.as_bytes()])).collect();
        let is_searchable = self.taken_in(&[], &keys);
        Ok(RemoveOutcome { removed, unknown, is_searchable })
    }

    /// The ids of the items that go by these names, which are ids or links, wherever they are from.
    pub fn named_ids(&self, names: &[String]) -> Result<NamedIds> {
        if names.len() > PUSH_ITEMS_MAX {
            return Err(Error::TooMuch(format!("{PUSH_ITEMS_MAX} ids")));
        }
        let mut named = NamedIds::default();
        for name in names {
            match self.ids_of(name)? {
                ids if ids.is_empty() => named.unknown.push(name.clone()),
                ids => named.ids.extend(ids),
            }
        }
        let mut seen = HashSet::new();
        named.ids.retain(|id: &String| seen.insert(id.clone()));
        Ok(named)
    }

    /// Forgets all that was put and removed by hand: files and sites count alone again, from the next run
    /// of [`Library::index`] on.
    pub fn forget_pushed(&self) -> Result<()> {
        let _pushing = self.pushing.lock();
        self.pushed.clear()
    }

    /// The ids of items that go by a name and can be found.
    fn ids_of(&self, name: &str) -> Result<Vec<String>> {
        let held = self.pushed.named(name)?;
        let mut ids: Vec<String> = held.iter().filter(|(_, is_item)| *is_item).map(|(id, _)| id.clone()).collect();
        let own = bounded_id(name.to_owned());
        if !held.iter().any(|(id, _)| *id == own) && self.has(hash(&[own.as_bytes()]))? {
            ids.push(own);
        }
        Ok(ids)
    }

    /// Whether the index has what is on disk already. A failure is the index's own, and the next run's to
    /// make good: what was pushed is kept.
    pub(super) fn taken_in(&self, items: &[Value], removed: &[u64]) -> bool {
        let taken_in = match items.is_empty() && removed.is_empty() {
            true => self.has_what_was_pushed(),
            false => self.index_call(items, removed),
        };
        taken_in.unwrap_or_else(|error| {
            tracing::error!(%error, "what was pushed is kept and not yet indexed");
            false
        })
    }
}
