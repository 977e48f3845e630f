//! Items that were pushed, for all nodes: a call writes rows into the store, and each node takes them into an index
//! of its own, within about a second.
//!
//! The node that was called takes its change in before it answers. The others are told by the bus, and look at the
//! store once a second if they are not. What a node keeps of it is a copy with the place up to which it was read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use forecourt_core::{Bus, Handle, StoreError};
use forecourt_index::limits::{PUSHED_BYTES_MAX, PUSHED_IDS_MAX};
use forecourt_index::{Error as ContentError, FollowedItem, FollowedRevision, PushedItem, PutOutcome, RemoveOutcome};
use forecourt_store::content::{
    ContentBounds, ContentChange, ContentChanged, ContentHead, ContentItem, ContentPage, ContentRow, ContentRows,
    RowPlace,
};
use futures::StreamExt;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::hint_or;
use crate::content::Content;
use crate::live::LiveHouse;

/// The topic of the bus for pushed content.
const TOPIC: &str = "content";
/// How often the store is looked at where nobody tells.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The bounds of the pushed items of one agent.
const BOUNDS: ContentBounds = ContentBounds { ids: PUSHED_IDS_MAX, bytes: PUSHED_BYTES_MAX };

/// Pushed items of a deployment with several nodes.
pub(crate) struct SharedContent {
    rows: Arc<dyn ContentRows>,
    bus: Arc<dyn Bus>,
    /// One agent's rows are taken in by one at a time. As many as there are agents with content.
    turns: Mutex<HashMap<Handle, Arc<tokio::sync::Mutex<()>>>>,
}

/// Why a call was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SharedContentError {
    /// As on a host of its own.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The store is away, or has no room.
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl SharedContent {
    /// The pushed items in these rows of the shared store.
    pub(crate) fn new(rows: Arc<dyn ContentRows>, bus: Arc<dyn Bus>) -> Self {
        Self { rows, bus, turns: Mutex::default() }
    }

    /// As [`forecourt_agents::IndexedContent::put`], for all nodes.
    pub(crate) async fn put(
        &self,
        content: &Content,
        document: Vec<u8>,
        media_type: String,
    ) -> Result<PutOutcome, SharedContentError> {
        let indexing = content.indexing.clone();
        let read = blocking(move || indexing.read_push(&document, &media_type)).await?;
        let item = |PushedItem { id, url, item, said }| ContentItem { id, url, item, said };
        let items: Vec<ContentItem> = read.items.into_iter().map(item).collect();
        let count = items.len() as u64;
        let (stored, is_searchable) = match items.is_empty() {
            true => (0, self.catch_up(content, None).await?),
            false => {
                let changed = self.change(content, ContentChange::Put(items)).await?;
                let stored = changed.differs.iter().filter(|differs| **differs).count() as u64;
                (stored, self.catch_up(content, Some(changed.head)).await?)
            }
        };
        let (skipped, reasons) = (read.skipped, read.reasons);
        Ok(PutOutcome { stored, unchanged: count - stored, skipped, reasons, is_searchable })
    }

    /// As [`forecourt_agents::IndexedContent::remove`], for all nodes.
    pub(crate) async fn remove(
        &self,
        content: &Content,
        names: Vec<String>,
    ) -> Result<RemoveOutcome, SharedContentError> {
        // What another node was given a moment ago can be removed here.
        let is_searchable = self.catch_up(content, None).await?;
        let indexing = content.indexing.clone();
        let named = blocking(move || indexing.named_ids(&names)).await?;
        if named.ids.is_empty() {
            return Ok(RemoveOutcome { removed: Vec::new(), unknown: named.unknown, is_searchable });
        }
        let changed = self.change(content, ContentChange::Remove(named.ids.clone())).await?;
        let is_searchable = self.catch_up(content, Some(changed.head)).await?;
        Ok(RemoveOutcome { removed: named.ids, unknown: named.unknown, is_searchable })
    }

    /// As [`forecourt_agents::IndexedContent::forget_pushed`], for all nodes.
    pub(crate) async fn forget(&self, content: &Content) -> Result<(), SharedContentError> {
        let changed = self.change(content, ContentChange::Clear).await?;
        self.catch_up(content, Some(changed.head)).await.map(drop)
    }

    async fn change(&self, content: &Content, change: ContentChange) -> Result<ContentChanged, SharedContentError> {
        let no_room = |_| ContentError::NoRoom { ids_max: BOUNDS.ids, bytes_max: BOUNDS.bytes };
        let changed = self.rows.change(&content.handle, change, BOUNDS).await?.map_err(no_room)?;
        self.bus.publish(TOPIC, Bytes::from(content.handle.as_str().to_owned()));
        Ok(changed)
    }

    /// Brings to all nodes what was pushed while this one was alone, for agents that nobody has pushed anything to
    /// since. For the start.
    ///
    /// # Errors
    /// The store is away; or what is here can't be read.
    pub(crate) async fn bring_all(&self, contents: &[Content]) -> Result<(), SharedContentError> {
        let known: HashSet<Handle> = self.rows.heads().await?.into_iter().map(|(handle, _)| handle).collect();
        for content in contents {
            let indexing = content.indexing.clone();
            // An epoch says that this index follows the store already: what it holds came from there.
            if blocking(move || indexing.followed()).await?.epoch != 0 {
                continue;
            }
            let (mut after, mut brought) = (None, 0);
            loop {
                let indexing = content.indexing.clone();
                let held = blocking(move || indexing.held_items(after)).await?;
                let Some((key, _)) = held.last() else { break };
                after = Some(*key);
                // Others have pushed since: nobody knows which of two items with one id is the newer one.
                if known.contains(&content.handle) {
                    let words = "what was pushed here while this node was alone is ignored: others have pushed since";
                    tracing::warn!(agent = %content.handle, "{words}");
                    break;
                }
                brought += held.len();
                let (mut items, mut removed) = (Vec::new(), Vec::new());
                for (_, item) in held {
                    match item {
                        FollowedItem::Put(PushedItem { id, url, item, said }) => {
                            items.push(ContentItem { id, url, item, said });
                        }
                        FollowedItem::Removed(id) => removed.push(id),
                    }
                }
                for change in [ContentChange::Put(items), ContentChange::Remove(removed)] {
                    self.change(content, change).await?;
                }
            }
            if brought > 0 {
                tracing::info!(agent = %content.handle, brought, "what was pushed to this node is all nodes' from now on");
            }
        }
        Ok(())
    }

    /// Takes in whatever there is for all of these, at the start and again when it may be more. What is wrong with
    /// one is no obstacle for the others.
    ///
    /// # Errors
    /// The store is away; or what failed last.
    pub(crate) async fn catch_up_all(&self, contents: &[Content]) -> Result<(), SharedContentError> {
        let mut failed = None;
        for (handle, head) in self.rows.heads().await? {
            let Some(content) = contents.iter().find(|content| content.handle == handle) else { continue };
            if let Err(error) = self.catch_up(content, Some(head)).await {
                failed = Some(error);
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Takes in what there is up to `head`, or up to where the store is now. Whether all of it can be found.
    async fn catch_up(&self, content: &Content, head: Option<ContentHead>) -> Result<bool, SharedContentError> {
        // One at a time: pages that are taken in out of order would set the revision back.
        let turn = self.turns.lock().entry(content.handle.clone()).or_default().clone();
        let _turn = turn.lock().await;
        let head = match head {
            Some(head) => head,
            None => {
                let heads = self.rows.heads().await?;
                let own = heads.into_iter().find(|(handle, _)| *handle == content.handle);
                own.map(|(_, head)| head).unwrap_or_default()
            }
        };
        let indexing = content.indexing.clone();
        let (at, mut is_searchable) =
            blocking(move || Ok((indexing.followed()?, indexing.has_what_was_pushed().unwrap_or(false)))).await?;
        // Another epoch (everything was cleared) makes the revisions of this node meaningless: it reads from the
        // beginning.
        let from = if at.epoch == head.epoch { at.revision } else { 0 };
        // Another call may have taken this change in while this one waited for its turn.
        if at.epoch == head.epoch && at.revision >= head.revision {
            return Ok(is_searchable);
        }
        // Behind all keys of that revision: they are here.
        let mut place = RowPlace { revision: from + 1, key: Vec::new() };
        loop {
            let ContentPage { rows, is_last } = self.rows.page(&content.handle, head.epoch, place).await?;
            let last = rows.last().map(|row| row.place.clone());
            let revision = match &last {
                // Of the last revision there may be more.
                Some(last) if !is_last => last.revision - 1,
                Some(last) => last.revision.max(head.revision),
                None => head.revision,
            };
            let at = FollowedRevision { epoch: head.epoch, revision: revision.max(from) };
            let (indexing, items) = (content.indexing.clone(), rows.into_iter().map(followed).collect());
            is_searchable = blocking(move || indexing.follow(items, at)).await?;
            match last {
                Some(last) if !is_last => place = last,
                _ => return Ok(is_searchable),
            }
        }
    }

    /// Takes in what other nodes were given, until `stop`.
    pub(crate) async fn follow(self: Arc<Self>, live: Arc<LiveHouse>, stop: CancellationToken) {
        let mut hints = self.bus.subscribe(TOPIC).chain(futures::stream::pending());
        let mut is_failing = false;
        loop {
            if stop.run_until_cancelled(hint_or(&mut hints, LOOK_EVERY)).await.is_none() {
                return;
            }
            let contents = live.now().map(|house| house.contents.clone()).unwrap_or_default();
            let failed = if contents.is_empty() { None } else { self.catch_up_all(&contents).await.err() };
            match &failed {
                Some(error) if !is_failing => {
                    tracing::error!("pushed content of other nodes can't be followed; trying again: {error}");
                }
                None if is_failing => tracing::info!("pushed content of other nodes is followed again"),
                _ => {}
            }
            is_failing = failed.is_some();
        }
    }
}

fn followed(row: ContentRow) -> FollowedItem {
    let ContentRow { id, url, item, said, .. } = row;
    match item {
        Some(item) => FollowedItem::Put(PushedItem { id, url, item, said }),
        None => FollowedItem::Removed(id),
    }
}

/// Disks are read and written on threads that may wait for them.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ContentError> + Send + 'static,
) -> Result<T, SharedContentError> {
    let broke = |_| StoreError::Unavailable("the work on the index was cut off".to_owned());
    Ok(tokio::task::spawn_blocking(work).await.map_err(broke)??)
}

#[cfg(test)]
mod tests;
