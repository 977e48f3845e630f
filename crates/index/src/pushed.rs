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
