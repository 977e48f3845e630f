//! Why a folder holds no model that can be used.

use std::path::{Path, PathBuf};

/// What is missing or wrong, and where.
#[derive(Debug, thiserror::Error)]
#[error("no usable embedding model in {}: {reason}", path.display())]
pub struct Error {
    /// The folder or file.
    pub path: PathBuf,
    /// What was expected.
    pub reason: String,
}

impl Error {
    pub(crate) fn new(path: &Path, reason: impl ToString) -> Self {
        Self { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// What this crate's operations return.
pub type Result<T, E = Error> = std::result::Result<T, E>;
