//! What takes items while a file is read, and why something is none.

use serde_json::Value;

/// Why an item, or the rest of a file, was left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// It is not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// It has NUL bytes.
    #[error("no text: it has NUL bytes")]
    NoText,
    /// It is encrypted.
    #[error("it is encrypted, and no password is known")]
    Encrypted,
    /// It asks not to be indexed.
    #[error("it asks not to be indexed")]
    NoIndex,
    /// A table without a column of names: its columns.
    #[error("none of the columns is a name: {0}; say which one in `[backend.tables]`")]
    NoNameColumn(String),
    /// Rows with more cells than the header: how many.
    #[error("{0} rows from here on have more cells than the header has columns; those cells were left out")]
    Ragged(u64),
    /// Cells of a column that are not what it is for.
    #[error("column `{column}`: `{first}` is {wrong}; cells like it from here on: {cells}; their items have none")]
    Cells {
        /// The name of the column, as it is written.
        column: String,
        /// What they are instead.
        wrong: &'static str,
        /// The first of them.
        first: String,
        /// How many there are.
        cells: u64,
    },
    /// What stands where an item has its price is none.
    #[error("the price `{0}` is no number; the item has none")]
    NoPrice(String),
    /// Rows of a shop's export that are not for the public: how many.
    #[error("drafts and rows that are hidden or not published were left out from here on: {0}")]
    Unpublished(u64),
    /// Rows of a shop's export that are another store's view of a product: how many.
    #[error("rows of other store views were left out from here on: {0}; those without one are read")]
    OtherViews(u64),
    /// Variants of a shop's export whose product is not in it: how many.
    #[error("variants of products that are not in the file, from here on: {0}; they are items without it")]
    NoParent(u64),
    /// More of a shop's export waited for others of its group than can be kept.
    #[error(
        "more than {} bytes of variants up to here; those of one product that lie further apart are several items",
        crate::limits::GROUPED_BYTES_MAX
    )]
    GroupsCut,
    /// It cannot be read: why.
    #[error("{0}")]
    Broken(String),
    /// It is JSON and no object.
    #[error("not an object")]
    NotAnObject,
    /// It has no name.
    #[error("no name, headline or title")]
    NoName,
    /// It is pushed, and could not be replaced or removed.
    #[error("no `@id` and no `url`, by which it could be replaced and removed")]
    NoId,
    /// Of items pushed together, a later one has this id.
    #[error("the id `{0}` comes again further on, and the last one counts")]
    Again(String),
    /// It is longer than [`crate::limits::ITEM_BYTES_MAX`].
    #[error("longer than {} bytes", crate::limits::ITEM_BYTES_MAX)]
    TooLong,
    /// An item before it has this id.
    #[error("the id `{0}` was seen before")]
    SameId(String),
    /// There are [`crate::limits::ITEMS_MAX`] items already.
    #[error("more than {} items", crate::limits::ITEMS_MAX)]
    TooManyItems,
    /// The rest of the file cannot be read: why.
    #[error("the rest of the file: {0}")]
    Rest(String),
}

/// What ends the reading of a file before its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    /// The sink asked to end: the run that reads was cancelled.
    Cancelled,
    /// The sink could not take an item. It keeps the cause itself.
    Failed,
    /// The rest of the file cannot be read.
    Broken {
        /// The line up to which it was read, from 1. 0: none was.
        line: u64,
        /// Why.
        reason: Reason,
    },
}

impl Stop {
    pub(crate) fn rest(line: u64, error: impl std::fmt::Display) -> Self {
        Self::Broken { line, reason: Reason::Rest(error.to_string()) }
    }
}

/// How far into a file an item lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    /// Line on which the item begins, from 1.
    pub line: u64,
    /// Bytes of the file read so far.
    pub bytes: u64,
}

/// Takes what a loader finds.
pub trait Sink {
    /// One object, with its own bytes where the file has them in one piece.
    fn item(&mut self, at: At, json: &Value, raw: Option<&[u8]>) -> Result<(), Stop>;

    /// Something that is no item, and why.
    fn skip(&mut self, at: At, reason: Reason) -> Result<(), Stop>;
}
