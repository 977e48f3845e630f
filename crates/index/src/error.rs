//! Why a library could not be opened, filled or searched.

use std::path::{Path, PathBuf};

/// Why a library could not be opened, filled or searched. A variant for each thing that an operator can do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process, or another part of this one, has the index folder open.
    #[error("the index in {} is in use by another process; it loads changed files by itself", .0.display())]
    InUse(PathBuf),
    /// A run of [`crate::Library::index`] is under way.
    #[error("content is being indexed already")]
    Busy,
    /// A source is missing or cannot be read. Nothing was changed.
    #[error(transparent)]
    Source(#[from] forecourt_loaders::SourceError),
    /// The folder of an embedding model does not hold one that can be used.
    #[error(transparent)]
    Model(#[from] forecourt_embed::Error),
    /// Nothing can be pushed into this index: it was given no file to keep it in.
    #[error("nothing can be pushed here")]
    NothingPushed,
    /// What is pushed can't be read as items at all.
    #[error("{0}")]
    Unreadable(String),
    /// More than one call can carry.
    #[error("more than {0} in one call; send them in several")]
    TooMuch(String),
    /// What is pushed would be more than can be kept.
    #[error("there is room for {ids_max} pushed ids and {bytes_max} bytes of items; remove some first")]
    NoRoom {
        /// Ids, removed ones included.
        ids_max: u64,
        /// Bytes of items.
        bytes_max: u64,
    },
    /// The index folder cannot be read or written.
    #[error("the index in {} cannot be used: {reason}", path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// The search engine failed.
    #[error("the search index failed: {0}")]
    Index(#[from] tantivy::TantivyError),
    /// The engine that keeps the items gave no answer.
    #[error(transparent)]
    Engine(#[from] forecourt_retrieval::RetrievalError),
    /// Work on the index ended in the middle, as it does when files are damaged while they are read.
    #[error("the search index failed: work on it broke off")]
    Crashed,
}

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Gives an IO error the path that it is about.
pub(crate) fn folder(path: &Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
    |error| Error::Folder { path: path.to_owned(), reason: error.to_string() }
}
