//! Items that nodes hold in common: what a call would change is read without changing anything, and what was
//! changed, by whichever node, is taken into the index of this one.
//!
//! The file of what was pushed is then a copy of what all nodes hold, with the place up to which it was read.

use forecourt_core::Timestamp;
use serde_json::Value;

use crate::error::Result;
use crate::item::hash;
use crate::library::Library;
use crate::push::read;
use crate::pushed::Entry;
use crate::report::SkippedItem;

/// What a document would put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedDocument {
    /// Its items, each id once.
    pub items: Vec<PushedItem>,
    /// What was left out.
    pub skipped: u64,
    /// Why, for the first [`crate::limits::REASONS_MAX`].
    pub reasons: Vec<SkippedItem>,
}

/// An item to put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedItem {
    /// Its id.
    pub id: String,
    /// Its own link, by which it can be removed too.
    pub url: Option<String>,
    /// What was said of it, as JSON, and where it comes from.
    pub item: Vec<u8>,
    /// A hash of what was sent, by which the same is seen to be the same.
    pub said: u64,
}

/// What nodes hold for an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowedItem {
    /// An item.
    Put(PushedItem),
    /// That the id is removed, whatever files say.
    Removed(String),
}

/// Up to where what nodes hold was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FollowedRevision {
    /// Since when changes are counted. Another one: everything was forgotten.
    pub epoch: u64,
    /// The last change of which everything is here.
    pub revision: u64,
}

impl Library {
    /// What [`Library::put`] would put. Fails as that does.
    pub fn read_push(document: &[u8], media_type: &str, now: Timestamp) -> Result<PushedDocument> {
        let (entries, report) = read(document, media_type, now)?;
        let items = entries.into_iter().map(|Entry { id, url, item, said }| PushedItem { id, url, item, said });
        Ok(PushedDocument { items: items.collect(), skipped: report.skipped, reasons: report.reasons })
    }

    /// Up to where it follows what nodes hold.
    pub fn followed(&self) -> Result<FollowedRevision> {
        self.pushed.followed()
    }

    /// What was put and removed here, behind a key: some of it, each with its key, none at the end. For who has been
    /// alone so far, and brings it to other nodes.
    pub fn held_items(&self, after: Option<u64>) -> Result<Vec<(u64, FollowedItem)>> {
        self.pushed.held_items(after)
    }

    /// Takes in what nodes hold, in order, up to `at`. Another epoch than before begins from nothing, and then the
    /// next run of [`Library::index`] has to see to it. Whether all that was taken in can be found.
    pub fn follow(&self, items: Vec<FollowedItem>, at: FollowedRevision) -> Result<bool> {
        let _pushing = self.pushing.lock();
        let followed = self.pushed.followed()?;
        // Who has nothing and followed nobody need not forget anything.
        let is_new = followed.epoch == 0 && self.pushed.held_items(None)?.is_empty();
        let from_nothing = followed.epoch != at.epoch && !is_new;
        let (mut entries, mut removed) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                FollowedItem::Put(PushedItem { id, url, item, said }) => entries.push(Entry { id, url, item, said }),
                FollowedItem::Removed(id) => removed.push(id),
            }
        }
        self.pushed.follow(&entries, &removed, at, from_nothing)?;
        if from_nothing {
            return self.has_what_was_pushed();
        }
        let items: Vec<Value> = entries.iter().filter_map(|entry| serde_json::from_slice(&entry.item).ok()).collect();
        let keys: Vec<u64> = removed.iter().map(|id| hash(&[id.as_bytes()])).collect();
        Ok(self.taken_in(&items, &keys))
    }
}
