//! This module has the items that were pushed to agents, as rows from which every node of a deployment builds an index
//! of its own. It searches nothing.
//!
//! The rows are the truth, and each node's index is a cache of them. Each change of an agent's items has a revision, so
//! that a node reads on from the last one it has seen: [`ContentHead`] has the newest.

use forecourt_core::Handle;
use forecourt_core::store::StoreFuture;

mod memory;

pub use memory::MemoryContent;
pub(crate) use memory::epoch;

/// Rows of one page.
pub const PAGE_ROWS_MAX: usize = 5_000;
/// Bytes of items after which a page ends.
pub const PAGE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Items that were pushed, by agent.
pub trait ContentRows: Send + Sync + 'static {
    /// Makes a change, all of it or nothing: durable and to be read by every node when this answers.
    ///
    /// [`forecourt_core::StoreError::Unavailable`] leaves nothing changed.
    fn change(
        &self,
        agent: &Handle,
        change: ContentChange,
        bounds: ContentBounds,
    ) -> StoreFuture<'_, Result<ContentChanged, ContentFull>>;

    /// How far there is to read, for every agent that something was pushed to.
    fn heads(&self) -> StoreFuture<'_, Vec<(Handle, ContentHead)>>;

    /// Reads rows behind `after`, in the order of their revisions and then of their keys: at most
    /// [`PAGE_ROWS_MAX`], and no further row once there are [`PAGE_BYTES_MAX`] bytes of items. Nothing when the
    /// agent's items are of another epoch by now.
    fn page(&self, agent: &Handle, epoch: u64, after: RowPlace) -> StoreFuture<'_, ContentPage>;
}

/// A change of an agent's items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentChange {
    /// These items are put in the place of those with their ids. Each id once.
    Put(Vec<ContentItem>),
    /// These ids count as removed, also where a file of the deployment has such an item. Each once.
    Remove(Vec<String>),
    /// All rows are deleted, removals too, and a new epoch begins.
    Clear,
}

/// An item to put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentItem {
    /// Its id.
    pub id: String,
    /// Its own link, by which it can be removed too.
    pub url: Option<String>,
    /// The item, as JSON.
    pub item: Vec<u8>,
    /// A hash of what was sent: an item that is pushed again unchanged is not indexed again.
    pub said: u64,
}

/// The bounds on the items of one agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentBounds {
    /// Ids, removed ones included.
    pub ids: u64,
    /// Bytes of items.
    pub bytes: u64,
}

/// The epoch and the newest revision of an agent's items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContentHead {
    /// A random number for the sequence of revisions. Another one than before means that everything was deleted, and
    /// that followers begin anew.
    pub epoch: u64,
    /// The number of the last change.
    pub revision: u64,
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentChanged {
    /// How it stands now.
    pub head: ContentHead,
    /// Of items that were put, which are new or different, in their order.
    pub differs: Vec<bool>,
}

/// The agent has as much as it may: nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentFull;

/// The place of a row in the order of pages: by its revision, then by its key.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowPlace {
    /// The change that wrote it.
    pub revision: u64,
    /// The key of its id in the store. Empty: before all others.
    pub key: Vec<u8>,
}

/// Some rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentPage {
    /// In the order of their places.
    pub rows: Vec<ContentRow>,
    /// Whether there is nothing behind them.
    pub is_last: bool,
}

impl ContentPage {
    /// As many of these, which are in order, as a page has.
    pub(crate) fn of(rows: impl IntoIterator<Item = ContentRow>) -> Self {
        let (mut page, mut bytes) = (Self { rows: Vec::new(), is_last: true }, 0);
        for row in rows {
            // Asked before a row is added, so that a page has at least one row, however large, and a follower gets on.
            if page.rows.len() >= PAGE_ROWS_MAX || bytes >= PAGE_BYTES_MAX {
                page.is_last = false;
                break;
            }
            bytes += row.item.as_ref().map_or(0, |item| item.len() as u64);
            page.rows.push(row);
        }
        page
    }
}

/// The row of one id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentRow {
    /// Its place in the order of pages.
    pub place: RowPlace,
    /// The id.
    pub id: String,
    /// The item's own link.
    pub url: Option<String>,
    /// The item as JSON; `None`: the id is removed.
    pub item: Option<Vec<u8>>,
    /// The hash of what was sent; 0 for a removal.
    pub said: u64,
}
