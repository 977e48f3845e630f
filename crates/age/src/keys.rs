//! Who may read a file, and what reads it.

use std::fmt;
use std::str::FromStr;

use zeroize::Zeroizing;

use crate::bech32;
use crate::error::KeyError;

/// Somebody who may read a file: the public half of an X25519 key, `age1…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient(pub(crate) [u8; 32]);

impl FromStr for Recipient {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        bytes_of(text, "age").map(|bytes| Self(*bytes))
    }
}

/// What a file is encrypted with that a person remembers.
#[derive(Clone)]
pub struct Passphrase(pub(crate) Zeroizing<String>);

impl Passphrase {
    /// Takes a text as a passphrase.
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

/// What reads a file.
#[derive(Clone)]
pub enum Identity {
    /// The private half of an X25519 key, `AGE-SECRET-KEY-1…`.
    Key(Zeroizing<[u8; 32]>),
    /// A passphrase.
    Passphrase(Passphrase),
}

impl Identity {
    /// Reads a file of keys: one in each line, but for comments that begin with `#`.
    ///
    /// # Errors
    /// A line is no key. It is not said which one, nor what is in it.
    pub fn file(text: &str) -> Result<Vec<Self>, KeyError> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(|line| bytes_of(line, "age-secret-key-").map(Self::Key)).collect()
    }
}

/// Never prints a secret.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

/// Never prints it.
impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase")
    }
}

fn bytes_of(text: &str, kind: &str) -> Result<Zeroizing<[u8; 32]>, KeyError> {
    let (prefix, bytes) = bech32::decode(text).ok_or(KeyError::Damaged)?;
    if prefix != kind {
        return Err(KeyError::Kind);
    }
    <[u8; 32]>::try_from(bytes.as_slice()).map(Zeroizing::new).map_err(|_| KeyError::Damaged)
}
