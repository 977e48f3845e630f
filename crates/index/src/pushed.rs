//! What the operator pushed: items, and ids that are removed whatever files and sites say.

mod change;
mod document;
mod file;

pub use document::PushedDocument;
pub(crate) use file::{PushFile, Row};

/// An item to put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedItem {
    /// Its id.
    pub id: String,
    /// Its own link, by which it can be removed too.
    pub url: Option<String>,
    /// Its JSON, with its grounding: where it is from and when it was pushed.
    pub item: Vec<u8>,
    /// A hash of the item as it was sent, without the grounding: the same item sent again is not written again.
    pub said: u64,
}

/// One entry of what all nodes hold for an id: an item, or its removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowedItem {
    /// An item.
    Put(PushedItem),
    /// That the id is removed, whatever files say.
    Removed(String),
}

/// The point up to which a node has read the changes that all nodes hold in common.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FollowedRevision {
    /// Since when changes are counted. Another one: everything was forgotten.
    pub epoch: u64,
    /// The last change of which everything is here.
    pub revision: u64,
}
