//! The host's keys as one document, for nodes that share them: private halves and all, so that it belongs into a
//! store that seals what it keeps, and nowhere else.

use std::fs;
use std::io;
use std::path::Path;

use aws_lc_rs::hmac;
use forecourt_core::{Entropy, Timestamp};
use forecourt_jose::encoding::{from_base64url, to_base64url};
use forecourt_jose::{KeyError, PublicKey, SigningKey};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{CURRENT, HostKeys, HostKeysError, PREVIOUS, read_previous};
use crate::limits::{KEYS_MAX, PREVIOUS_KEY_TTL};

/// Bytes of a [`StateSecret`].
const SECRET_BYTES: usize = 32;

/// The secret from which the keys for state that clients carry are derived. A rotation keeps it, so that such state
/// stays valid.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct StateSecret([u8; SECRET_BYTES]);

impl StateSecret {
    pub(super) fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; SECRET_BYTES];
        entropy.fill(&mut bytes);
        Self(bytes)
    }
}

/// Never prints it.
impl std::fmt::Debug for StateSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateSecret")
    }
}

/// The keys as they are written down.
#[derive(Serialize, Deserialize)]
struct Document {
    /// PEM, PKCS #8.
    current: String,
    previous: Vec<PublicKey>,
    /// Base64url.
    secret: String,
}

impl HostKeys {
    /// The keys in `dir`; `None` when it holds none.
    ///
    /// # Errors
    /// A file is there and can't be read.
    pub fn load(dir: &Path, entropy: &dyn Entropy) -> Result<Option<Self>, HostKeysError> {
        let path = dir.join(CURRENT);
        let pem = match fs::read_to_string(&path) {
            Ok(pem) => pem,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(HostKeysError::Io { path, error }),
        };
        let current = SigningKey::from_pem(&pem).map_err(|fault| HostKeysError::Key { path, fault })?;
        let previous = read_previous(&dir.join(PREVIOUS))?;
        Ok(Some(Self { current, previous, secret: StateSecret::generate(entropy) }))
    }

    /// The keys with another one that signs; the one before stays published for [`PREVIOUS_KEY_TTL`].
    #[must_use]
    pub fn rotated(&self, entropy: &dyn Entropy, now: Timestamp) -> Self {
        let old = self.current.public().clone().replaced(now, PREVIOUS_KEY_TTL);
        let mut previous: Vec<_> = self.previous.iter().filter(|key| key.is_good_at(now)).cloned().collect();
        // The newest first: of too many, the oldest are dropped.
        previous.insert(0, old);
        previous.truncate(KEYS_MAX);
        Self { current: SigningKey::generate(entropy), previous, secret: self.secret.clone() }
    }

    /// A secret for one purpose, the same on every node that has these keys, before and after a rotation. Keys of
    /// a data folder have another one in each process.
    pub fn secret(&self, purpose: &str) -> [u8; 32] {
        let mut secret = [0; SECRET_BYTES];
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.secret.0);
        secret.copy_from_slice(hmac::sign(&key, purpose.as_bytes()).as_ref());
        secret
    }

    /// All keys and the secret as JSON, with the private halves. For a store that encrypts.
    ///
    /// # Errors
    /// The key has no PEM form.
    pub fn to_document(&self) -> Result<Value, KeyError> {
        let document = Document {
            current: self.current.to_private_pem()?,
            previous: self.previous.clone(),
            secret: to_base64url(&self.secret.0),
        };
        Ok(json!(document))
    }

    /// Reads the keys from a document of [`HostKeys::to_document`].
    ///
    /// # Errors
    /// It is something else.
    pub fn from_document(document: &Value) -> Result<Self, KeyError> {
        let Document { current, previous, secret } =
            Document::deserialize(document).map_err(|_| KeyError::Malformed)?;
        let secret = from_base64url(&secret).and_then(|bytes| bytes.try_into().ok());
        let secret = StateSecret(secret.ok_or(KeyError::Malformed)?);
        Ok(Self { current: SigningKey::from_pem(&current)?, previous, secret })
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::Clock;
    use forecourt_testkit::{CountedEntropy, HandClock};

    use super::*;

    #[test]
    fn keys_are_read_back_as_they_were_written() {
        let (entropy, now) = (CountedEntropy::default(), HandClock::new().now());
        let keys = HostKeys::in_memory(&entropy).rotated(&entropy, now);
        let read = HostKeys::from_document(&keys.to_document().unwrap()).unwrap();
        assert_eq!(read.jwks(now), keys.jwks(now));
        assert_eq!(read.current().sign(b"x"), keys.current().sign(b"x"));
        assert_eq!(read.secret("a"), keys.secret("a"));
        assert_ne!(read.secret("a"), read.secret("b"));
        for broken in [json!({}), json!({"current": "", "previous": [], "secret": "AA"}), json!(null)] {
            assert!(HostKeys::from_document(&broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_rotation_keeps_the_old_key_published_and_the_secret_as_it_is() {
        let (entropy, now) = (CountedEntropy::default(), HandClock::new().now());
        let before = HostKeys::in_memory(&entropy);
        let after = before.rotated(&entropy, now);
        assert_ne!(after.current().kid(), before.current().kid());
        assert_eq!(after.previous(now).map(|key| key.kid.as_str()).collect::<Vec<_>>(), [before.current().kid()]);
        assert_eq!(after.secret("a"), before.secret("a"));
        let shown = format!("{after:?}");
        assert!(!shown.contains("PRIVATE") && shown.contains("StateSecret"), "{shown}");
    }

    #[test]
    fn a_folder_without_keys_has_none_and_stays_so() {
        let (dir, entropy) = (tempfile::tempdir().unwrap(), CountedEntropy::default());
        assert!(HostKeys::load(dir.path(), &entropy).unwrap().is_none());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        let made = HostKeys::load_or_create(dir.path(), &entropy).unwrap();
        let read = HostKeys::load(dir.path(), &entropy).unwrap().unwrap();
        assert_eq!(read.current().kid(), made.current().kid());
        fs::write(dir.path().join(HostKeys::FILE), "nonsense").unwrap();
        assert!(HostKeys::load(dir.path(), &entropy).is_err());
    }
}
