//! Items that nodes hold in common: what a call would change is read without changing anything, and what was
//! changed, by whichever node, is taken into the index of this one.
//!
//! The file of what was pushed is then a copy of what all nodes hold, with the place up to which it was read.

use forecourt_core::Timestamp;
use forecourt_loaders::item::hash;
use serde_json::Value;

use super::Library;
use crate::error::Result;
use crate::pushed::{FollowedItem, FollowedRevision, PushedDocument};

impl Library {
    /// What [`Library::put`] would put. Fails as that does.
    pub fn read_push(document: &[u8], media_type: &str, now: Timestamp) -> Result<PushedDocument> {
        PushedDocument::read(document, media_type, now)
    }

    /// Up to where it follows what nodes hold.
    pub fn followed(&self) -> Result<FollowedRevision> {
        self.pushed.followed()
    }

    /// What was put and removed here, behind a key: some of it, each entry with its key, none at the end. A node that
    /// was alone so far brings it to the others with this.
    pub fn held_items(&self, after: Option<u64>) -> Result<Vec<(u64, FollowedItem)>> {
        self.pushed.held_items(after)
    }

    /// Takes in what nodes hold, in order, up to `at`. Another epoch than before begins from nothing, and then the
    /// next run of [`Library::index`] has to see to it. Whether all that was taken in can be found.
    pub fn follow(&self, items: Vec<FollowedItem>, at: FollowedRevision) -> Result<bool> {
        let _pushing = self.pushing.lock();
        let followed = self.pushed.followed()?;
        // A node that holds nothing and followed nobody has nothing to forget, and needs no whole run for it.
        let is_new = followed.epoch == 0 && self.pushed.held_items(None)?.is_empty();
        let from_nothing = followed.epoch != at.epoch && !is_new;
        let (mut put, mut removed) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                FollowedItem::Put(item) => put.push(item),
                FollowedItem::Removed(id) => removed.push(id),
            }
        }
        self.pushed.follow(&put, &removed, at, from_nothing)?;
        if from_nothing {
            // Items of the epoch before are still in the index, and only a whole run takes them out.
            return self.has_what_was_pushed();
        }
        let items: Vec<Value> = put.iter().filter_map(|put| serde_json::from_slice(&put.item).ok()).collect();
        let keys: Vec<u64> = removed.iter().map(|id| hash(&[id.as_bytes()])).collect();
        Ok(self.taken_in(&items, &keys))
    }
}
