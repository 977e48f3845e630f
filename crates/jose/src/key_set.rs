//! Sets of keys.

use forecourt_core::{Timestamp, json};
use serde_json::Value;

use crate::algorithm::Algorithm;
use crate::limits::{KEYS_MAX, KEYS_TRIED_MAX};
use crate::verify_key::{KeyError, VerifyKey};

/// The keys of one issuer, at most [`KEYS_MAX`].
#[derive(Debug, Clone, Default)]
pub struct KeySet {
    keys: Vec<VerifyKey>,
}

impl KeySet {
    /// Joins keys into a set. Fails with [`KeyError::Ambiguous`] for two of one name, secrets beside public keys, or
    /// more than [`KEYS_MAX`].
    pub fn new(keys: Vec<VerifyKey>) -> Result<Self, KeyError> {
        let twice = |(at, key): (usize, &VerifyKey)| {
            key.kid().is_some() && keys[..at].iter().any(|earlier| earlier.kid() == key.kid())
        };
        let secrets = keys.iter().filter(|key| key.is_secret()).count();
        // A set with both lets a token choose which kind it is verified with.
        let mixed = secrets > 0 && secrets < keys.len();
        match keys.len() > KEYS_MAX || mixed || keys.iter().enumerate().any(twice) {
            true => Err(KeyError::Ambiguous),
            false => Ok(Self { keys }),
        }
    }

    /// Reads a JWKS (RFC 7517 5). Keys that are not for us (another use, an unknown kind) are left
    /// out; a set that is not one is refused whole.
    pub fn from_jwks(jwks: &Value) -> Result<Self, KeyError> {
        let entries = jwks.get("keys").and_then(Value::as_array).ok_or(KeyError::Malformed)?;
        let named =
            |kid: Option<&Value>| entries.iter().filter(|entry| kid.is_some() && entry.get("kid") == kid).count();
        // Before any are left out: a name that stands for two keys stands for none.
        if entries.len() > KEYS_MAX || entries.iter().any(|entry| named(entry.get("kid")) > 1) {
            return Err(KeyError::Ambiguous);
        }
        let read = |entry: &Value| entry.as_object().and_then(|jwk| VerifyKey::from_jwk(jwk).ok());
        Self::new(entries.iter().filter_map(read).collect())
    }

    /// Those keys of a JWKS that verify `algorithm`, whatever else is in it: RSA keys that name no algorithm do for each
    /// of RSA's, as RFC 7517 4.4 has it. For a caller who knows which algorithms count. No secrets.
    pub fn from_jwks_for(jwks: &Value, algorithm: Algorithm) -> Result<Self, KeyError> {
        let entries = jwks.get("keys").and_then(Value::as_array).ok_or(KeyError::Malformed)?;
        let read = |entry: &Value| entry.as_object().and_then(|jwk| VerifyKey::from_jwk_for(jwk, algorithm).ok());
        Self::new(entries.iter().filter_map(read).filter(|key| !key.is_secret()).collect())
    }

    /// Reads a JWKS that came over the network: no secrets.
    pub fn from_public_jwks(bytes: &[u8]) -> Result<Self, KeyError> {
        let jwks = json::parse(bytes).map_err(|_| KeyError::Malformed)?;
        let mut set = Self::from_jwks(&jwks)?;
        set.keys.retain(|key| !key.is_secret());
        Ok(set)
    }

    /// The keys that may have made a proof: those named `kid` and those without a name, or a few of
    /// the algorithm when the proof names none.
    pub fn select<'a>(
        &'a self,
        kid: Option<&'a str>,
        algorithm: Algorithm,
        now: Timestamp,
    ) -> impl Iterator<Item = &'a VerifyKey> {
        let named = move |key: &&VerifyKey| kid.is_none_or(|kid| key.kid().is_none_or(|own| own == kid));
        let fits = move |key: &&VerifyKey| (kid.is_some() && key.kid().is_some()) || key.algorithm() == algorithm;
        let good = move |key: &&VerifyKey| key.is_good_at(now);
        // Each try costs a verification, and a token from anybody starts them.
        self.keys.iter().filter(named).filter(fits).filter(good).take(KEYS_TRIED_MAX)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}
