//! Keys that had another name in the release before, and where a file still has one of them.

use std::fmt;
use std::path::{Path, PathBuf};

/// A key that has another name, or stands in another section, than in the release before. Whoever owns a
/// section has a list of these and gives it to [`crate::Section::accept_moved`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedKey {
    /// What it was: dotted, from the section on, such as `sharpen` or `agtp.catalog`.
    pub old: &'static str,
    /// What it is now, likewise.
    pub new: &'static str,
}

/// A key that a file has by its old name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyMove {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    /// Dotted, from the root of the file on.
    pub(crate) old: String,
    pub(crate) new: String,
    /// Whether the new key is there as well, so that the old one was left where it is.
    pub(crate) is_superseded: bool,
}

impl KeyMove {
    /// The file that has it.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The line of the old key, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for KeyMove {
    /// A sentence with the new name, the file and the line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, old, new, .. } = self;
        write!(f, "{}:{line}: `{old}` is now `{new}`; `forecourt check --fix` rewrites it", file.display())
    }
}
