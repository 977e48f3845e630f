//! This module reads, makes and rotates the host's keys in its data folder: one that signs, and those that it replaced
//! within the last day.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use forecourt_core::{Entropy, Timestamp};
use forecourt_jose::{KeyError, PublicKey, SigningKey};
use serde_json::{Value, json};

use crate::kept::{self, KeptError};

mod document;

use document::StateSecret;

const CURRENT: &str = "signing.pem";
const PREVIOUS: &str = "signing-previous.json";

/// The keys of this host. Cards and key sets show the public halves.
#[derive(Debug, Clone)]
pub struct HostKeys {
    current: SigningKey,
    previous: Vec<PublicKey>,
    secret: StateSecret,
}

/// Why the host's keys can't be used.
#[derive(Debug, thiserror::Error)]
pub enum HostKeysError {
    /// A file can't be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {fault}", path.display())]
    Key {
        /// Which one.
        path: PathBuf,
        /// Why.
        fault: KeyError,
    },
}

impl From<KeptError> for HostKeysError {
    fn from(KeptError { path, error }: KeptError) -> Self {
        Self::Io { path, error }
    }
}

impl HostKeys {
    /// The file of the current key: when it changes, the keys were rotated.
    pub const FILE: &str = CURRENT;

    /// Reads the keys in `dir`; makes the folder and a key when there is none. Private keys are
    /// PEM PKCS #8 with mode 0600. Two processes that start at once end up with the same key.
    pub fn load_or_create(dir: &Path, entropy: &dyn Entropy) -> Result<Self, HostKeysError> {
        fs::create_dir_all(dir).map_err(|error| HostKeysError::Io { path: dir.to_owned(), error })?;
        let path = dir.join(CURRENT);
        if !path.exists() {
            // `create` keeps a file that appeared meanwhile, and the key is read back below: both processes then have
            // the first one.
            kept::create(&path, &private_pem(&SigningKey::generate(entropy), &path)?, entropy)?;
        }
        let gone = || HostKeysError::Io { path, error: io::ErrorKind::NotFound.into() };
        Self::load(dir, entropy)?.ok_or_else(gone)
    }

    /// Keys that are kept nowhere. For tests and short runs.
    pub fn in_memory(entropy: &dyn Entropy) -> Self {
        let (current, secret) = (SigningKey::generate(entropy), StateSecret::generate(entropy));
        Self { current, previous: Vec::new(), secret }
    }

    /// Replaces the signing key, as [`HostKeys::rotated`] does.
    pub fn rotate(&mut self, dir: &Path, entropy: &dyn Entropy, now: Timestamp) -> Result<(), HostKeysError> {
        let next = self.rotated(entropy, now);
        // The list first: a crash between the two leaves the current key on it, which is harmless.
        let list = json!(next.previous).to_string();
        kept::replace(&dir.join(PREVIOUS), &list, entropy)?;
        let path = dir.join(CURRENT);
        kept::replace(&path, &private_pem(&next.current, &path)?, entropy)?;
        *self = next;
        Ok(())
    }

    /// The key that signs.
    pub fn current(&self) -> &SigningKey {
        &self.current
    }

    /// The replaced keys that are still good.
    pub fn previous(&self, now: Timestamp) -> impl Iterator<Item = &PublicKey> {
        let current = self.current.kid();
        self.previous.iter().filter(move |key| key.is_good_at(now) && key.kid != current)
    }

    /// All public keys that are good, as a JWKS. RFC 7517 5.
    pub fn jwks(&self, now: Timestamp) -> Value {
        let all = std::iter::once(self.current.public()).chain(self.previous(now));
        json!({"keys": all.map(PublicKey::to_jwk).collect::<Vec<_>>()})
    }
}

fn private_pem(key: &SigningKey, path: &Path) -> Result<String, HostKeysError> {
    key.to_private_pem().map_err(|fault| HostKeysError::Key { path: path.to_owned(), fault })
}

fn read_previous(path: &Path) -> Result<Vec<PublicKey>, HostKeysError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(HostKeysError::Io { path: path.to_owned(), error }),
    };
    let wrong = |_| HostKeysError::Key { path: path.to_owned(), fault: KeyError::Malformed };
    serde_json::from_slice(&text).map_err(wrong)
}
