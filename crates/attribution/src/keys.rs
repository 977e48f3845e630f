//! The public keys that records were signed with, kept beside them: keys of the host are published for a day after
//! they were replaced, and records are kept for longer.

use std::fs;
use std::path::{Path, PathBuf};

use forecourt_identity::{PublicKey, VerifyKey};
use serde_json::{Value, json};

use crate::error::LogError;
use crate::limits::KEYS_MAX;
use crate::segment::replace;
use crate::signer::RecordSigner;

/// The public keys of a folder.
#[derive(Debug)]
pub(crate) struct KnownSigners {
    path: PathBuf,
    keys: Vec<Value>,
    /// The name of the last key that was looked up here.
    last: Option<String>,
}

/// The file of the keys of a folder.
pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join("keys.json")
}

impl KnownSigners {
    /// Those of a folder; none when there is no file that can be read.
    pub(crate) fn read(folder: &Path) -> Self {
        let path = path(folder);
        let keys = listed(&path);
        Self { path, keys, last: None }
    }

    /// Whether [`KnownSigners::keep`] has nothing to do for a signer.
    pub(crate) fn knows(&self, signer: &RecordSigner) -> bool {
        signer.public().is_none_or(|public| self.last.as_deref() == Some(&public.kid))
    }

    /// Keeps the key of a signer before it signs. With the lock of the folder.
    pub(crate) fn keep(&mut self, signer: &RecordSigner) -> Result<(), LogError> {
        let Some(public) = signer.public().filter(|_| !self.knows(signer)) else {
            return Ok(());
        };
        // The name alone does not do: an operator may give two keys one name.
        let is_same = |key: &Value| key["kid"] == public.kid && key["x"] == public.x;
        if !self.keys.iter().any(is_same) {
            // Another process may have kept it, or one of its own.
            self.keys = listed(&self.path);
        }
        if !self.keys.iter().any(is_same) {
            if self.keys.len() >= KEYS_MAX {
                // The oldest key goes: its records are the likeliest to be gone by age as well.
                self.keys.remove(0);
            }
            self.keys.push(public.to_jwk());
            replace(&self.path, &serde_json::to_vec_pretty(&json!({"keys": self.keys})).unwrap_or_default())?;
        }
        self.last = Some(public.kid.clone());
        Ok(())
    }
}

fn listed(path: &Path) -> Vec<Value> {
    let set: Option<Value> = fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    set.and_then(|set| set["keys"].as_array().cloned()).unwrap_or_default()
}

/// Keys to verify records with.
#[derive(Debug, Clone, Default)]
pub struct RecordKeys {
    keys: Vec<(String, VerifyKey)>,
}

impl RecordKeys {
    /// Those of a key set, or of a manifest that lists them under `server.signing_keys`. Base 6.6.
    ///
    /// # Errors
    /// There is no Ed25519 key in it.
    pub fn read(document: &Value) -> Result<Self, String> {
        let set = document.pointer("/server/signing_keys").unwrap_or(document);
        let listed = set["keys"].as_array().ok_or("it is neither a key set nor a manifest with server.signing_keys")?;
        let read = |jwk: &Value| {
            let kid = jwk["kid"].as_str()?.to_owned();
            let object = jwk.as_object().filter(|jwk| jwk.get("crv").is_some_and(|crv| crv == "Ed25519"))?;
            Some((kid, VerifyKey::from_jwk(object).ok()?))
        };
        let keys: Vec<_> = listed.iter().filter_map(read).collect();
        if keys.is_empty() { Err("it holds no Ed25519 key".to_owned()) } else { Ok(Self { keys }) }
    }

    /// Those that were kept beside the records.
    ///
    /// # Errors
    /// There are none.
    pub fn beside(folder: &Path) -> Result<Self, String> {
        let path = path(folder);
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let document = serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::read(&document)
    }

    /// Adds the key of a signer.
    pub(crate) fn extend(&mut self, public: Option<&PublicKey>) {
        let read = |public: &PublicKey| {
            let jwk = public.to_jwk();
            Some((public.kid.clone(), VerifyKey::from_jwk(jwk.as_object()?).ok()?))
        };
        self.keys.extend(public.and_then(read));
    }

    /// The keys under a name; several when a name was used twice.
    pub(crate) fn named(&self, kid: &str) -> Vec<&VerifyKey> {
        self.keys.iter().filter(|(name, _)| name == kid).map(|(_, key)| key).collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}
