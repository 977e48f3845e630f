//! Where content lies: files and folders, and a cheap way to see that they have changed.

mod files;
mod look;

use std::path::PathBuf;

use forecourt_core::Timestamp;

use crate::format::Format;
use crate::item::hash;
use crate::mapping::TableMapping;

pub use files::{Files, files};
pub use look::{Fingerprint, SourceLook, look};

/// A source is missing or cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {reason}", path.display())]
pub struct SourceError {
    /// The file or folder.
    pub path: PathBuf,
    /// The system's words.
    pub reason: String,
}

/// Something that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedItem {
    /// The file, under its source.
    pub file: String,
    /// The line on which it begins, from 1. `None` when the whole file is meant.
    pub line: Option<u64>,
    /// The reason, in words for the operator.
    pub reason: String,
}

impl std::fmt::Display for SkippedItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.reason),
            None => write!(f, "{}: {}", self.file, self.reason),
        }
    }
}

/// A file or a folder whose items are to be found. Folders are read with all folders in them. What is left
/// out of them, such as hidden files and files in no format that we read, is told in [`Files`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentSource {
    /// The file or folder.
    pub path: PathBuf,
    /// What the settings call it. Files are known by this and their path under it, so that an index stays
    /// what it is when the deployment is moved, or reached by another path.
    pub label: String,
    /// The public URL of that folder, for items (Markdown sections) that have none of their own.
    pub url: Option<String>,
    /// How tables in it are read; the first that is about a file holds.
    pub tables: Vec<TableMapping>,
}

impl ContentSource {
    /// A source without a public URL, known by its path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { label: path.to_string_lossy().into_owned(), path, url: None, tables: Vec::new() }
    }
}

/// One file of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it lies.
    pub path: PathBuf,
    /// The path under its source, with `/` between names.
    pub name: String,
    /// The label of its source.
    source: String,
    /// The format that its ending names.
    pub format: Format,
    /// How large it was when it was looked at.
    pub bytes: u64,
    /// The public URL of its source.
    pub url: Option<String>,
    /// How it is read, when it is a table.
    pub table: Option<TableMapping>,
    modified_ns: u128,
}

impl SourceFile {
    /// A hash of source and name that tells this file from all others of an index.
    pub fn origin(&self) -> u64 {
        // The label and not the path of the source, so that a deployment that was moved is not indexed again.
        hash(&[self.source.as_bytes(), self.name.as_bytes()])
    }

    /// When it was written last.
    pub fn written_at(&self) -> Timestamp {
        let nanoseconds = i128::try_from(self.modified_ns).unwrap_or_default();
        Timestamp::from_nanosecond(nanoseconds).unwrap_or_default()
    }
}
