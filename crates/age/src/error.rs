//! What can go wrong.

use std::io;

/// Why a file can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum AgeError {
    /// It can't be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is no such file, or was changed.
    #[error("its head is damaged")]
    Damaged,
    /// It is of a later version of the format.
    #[error("its format is not known")]
    Unknown,
    /// It is for other keys, or has another passphrase.
    #[error("no key that was given opens it")]
    NoKey,
    /// Its passphrase asks for more work than is done.
    #[error("its passphrase asks for too much work")]
    TooMuchWork,
}

/// Why a text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It has a character too many, too few or a wrong one.
    #[error("it is not whole")]
    Damaged,
    /// It is of another kind.
    #[error("it is of another kind")]
    Kind,
}
