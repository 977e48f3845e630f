//! The host's keys in its data folder: one that signs, and those it replaced a short while ago.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forecourt_core::{Entropy, Timestamp};
use serde_json::{Value, json};

use crate::limits::{KEYS_MAX, PREVIOUS_KEY_TTL};
use crate::signing_key::{PublicKey, SigningKey};
use crate::verify_key::KeyFault;

const CURRENT: &str = "signing.pem";
const PREVIOUS: &str = "signing-previous.json";

/// The keys of this host. Cards and key sets show the public halves.
#[derive(Debug, Clone)]
pub struct HostKeys {
    current: SigningKey,
    previous: Vec<PublicKey>,
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
        fault: KeyFault,
    },
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
            create(&path, &private_pem(&SigningKey::generate(entropy), &path)?, entropy)?;
        }
        let pem = fs::read_to_string(&path).map_err(|error| HostKeysError::Io { path: path.clone(), error })?;
        let current = SigningKey::from_pem(&pem).map_err(|fault| HostKeysError::Key { path, fault })?;
        Ok(Self { current, previous: read_previous(&dir.join(PREVIOUS))? })
    }

    /// Keys that are kept nowhere. For tests and short runs.
    pub fn in_memory(entropy: &dyn Entropy) -> Self {
        Self { current: SigningKey::generate(entropy), previous: Vec::new() }
    }

    /// Replaces the signing key. The old one stays published for [`PREVIOUS_KEY_TTL`].
    pub fn rotate(&mut self, dir: &Path, entropy: &dyn Entropy, now: Timestamp) -> Result<(), HostKeysError> {
        let fresh = SigningKey::generate(entropy);
        let old = self.current.public().clone().replaced(now, PREVIOUS_KEY_TTL);
        let mut previous: Vec<_> = self.previous.iter().filter(|key| key.is_good_at(now)).cloned().collect();
        previous.insert(0, old);
        previous.truncate(KEYS_MAX);
        // The list first: a crash between the two leaves the current key on it, which is harmless.
        let list = json!(previous).to_string();
        replace(&dir.join(PREVIOUS), &list, entropy)?;
        let path = dir.join(CURRENT);
        replace(&path, &private_pem(&fresh, &path)?, entropy)?;
        *self = Self { current: fresh, previous };
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
    let wrong = |_| HostKeysError::Key { path: path.to_owned(), fault: KeyFault::Malformed };
    serde_json::from_slice(&text).map_err(wrong)
}

/// Writes a file that must not exist yet; when it appeared meanwhile, that one stays.
fn create(path: &Path, text: &str, entropy: &dyn Entropy) -> Result<(), HostKeysError> {
    let draft = write_draft(path, text, entropy)?;
    let linked = fs::hard_link(&draft, path);
    let removed = fs::remove_file(&draft);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(HostKeysError::Io { path: path.to_owned(), error })
        }
        _ => removed.map_err(|error| HostKeysError::Io { path: draft, error }),
    }
}

/// Replaces a file in one step.
fn replace(path: &Path, text: &str, entropy: &dyn Entropy) -> Result<(), HostKeysError> {
    let draft = write_draft(path, text, entropy)?;
    fs::rename(&draft, path).map_err(|error| HostKeysError::Io { path: path.to_owned(), error })
}

/// Writes a file beside `path` that only its owner can read, and makes it durable.
fn write_draft(path: &Path, text: &str, entropy: &dyn Entropy) -> Result<PathBuf, HostKeysError> {
    let draft = path.with_extension(format!("{}.tmp", &forecourt_core::ids::mint(entropy)[..16]));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&draft).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    match written {
        Ok(()) => Ok(draft),
        Err(error) => Err(HostKeysError::Io { path: draft, error }),
    }
}
