//! What is wrong with a file of a judged set.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file that can't be read, or a line of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1. `None`: the file as a whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

impl FileProblem {
    pub(crate) fn of(file: &Path, reason: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, reason: reason.into() }
    }

    pub(crate) fn at(file: &Path, line: usize, reason: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::of(file, reason) }
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file.display(), self.reason),
            None => write!(f, "{}: {}", self.file.display(), self.reason),
        }
    }
}

impl std::error::Error for FileProblem {}
