//! Sets of keys: JWKS, and those of Connector Cards.

use forecourt_core::{Timestamp, json};
use serde_json::{Map, Value};

use crate::algorithm::Algorithm;
use crate::encoding::from_any_base64;
use crate::limits::{KEYS_MAX, KEYS_TRIED_MAX};
use crate::verify_key::{KeyFault, VerifyKey};

/// The keys of one issuer, at most [`KEYS_MAX`].
#[derive(Debug, Clone, Default)]
pub struct KeySet {
    keys: Vec<VerifyKey>,
}

impl KeySet {
    /// Joins keys. Two of one name, or secrets beside public keys, are ambiguous.
    pub fn new(keys: Vec<VerifyKey>) -> Result<Self, KeyFault> {
        let twice = |(at, key): (usize, &VerifyKey)| {
            key.kid().is_some() && keys[..at].iter().any(|earlier| earlier.kid() == key.kid())
        };
        let secrets = keys.iter().filter(|key| key.is_secret()).count();
        let mixed = secrets > 0 && secrets < keys.len();
        match keys.len() > KEYS_MAX || mixed || keys.iter().enumerate().any(twice) {
            true => Err(KeyFault::Ambiguous),
            false => Ok(Self { keys }),
        }
    }

    /// Reads a JWKS (RFC 7517 5). Keys that are not for us (another use, an unknown kind) are left
    /// out; a set that is not one is refused whole.
    pub fn from_jwks(jwks: &Value) -> Result<Self, KeyFault> {
        let entries = jwks.get("keys").and_then(Value::as_array).ok_or(KeyFault::Malformed)?;
        let named =
            |kid: Option<&Value>| entries.iter().filter(|entry| kid.is_some() && entry.get("kid") == kid).count();
        // Before any are left out: a name that stands for two keys stands for none.
        if entries.len() > KEYS_MAX || entries.iter().any(|entry| named(entry.get("kid")) > 1) {
            return Err(KeyFault::Ambiguous);
        }
        let read = |entry: &Value| entry.as_object().and_then(|jwk| VerifyKey::from_jwk(jwk).ok());
        Self::new(entries.iter().filter_map(read).collect())
    }

    /// Reads a JWKS that came over the network: no secrets.
    pub(crate) fn from_public_jwks(bytes: &[u8]) -> Result<Self, KeyFault> {
        let jwks = json::parse(bytes).map_err(|_| KeyFault::Malformed)?;
        let mut set = Self::from_jwks(&jwks)?;
        set.keys.retain(|key| !key.is_secret());
        Ok(set)
    }

    /// Reads the keys of a Connector Card: `signing_key`, `signing_keys` and
    /// `previous_signing_keys`, each entry with `kid` and one of `pem`, `jwk`, `public_key`.
    pub(crate) fn from_card(bytes: &[u8]) -> Result<Self, KeyFault> {
        let card = json::parse(bytes).map_err(|_| KeyFault::Malformed)?;
        let one = card.get("signing_key").into_iter();
        let lists = ["signing_keys", "previous_signing_keys"].into_iter().filter_map(|name| card.get(name)?.as_array());
        let mut keys: Vec<VerifyKey> = Vec::new();
        for key in one.chain(lists.flatten()).take(KEYS_MAX).filter_map(|entry| card_key(entry.as_object()?)) {
            // A card may list its current key among the previous ones; the first mention counts.
            if key.kid().is_none() || keys.iter().all(|earlier| earlier.kid() != key.kid()) {
                keys.push(key);
            }
        }
        Self::new(keys)
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

/// One key of a card: Ed25519, in one of three forms.
fn card_key(entry: &Map<String, Value>) -> Option<VerifyKey> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    if text("alg").is_some_and(|name| Algorithm::from_jose(name) != Some(Algorithm::Ed25519)) {
        return None;
    }
    let key = match (text("pem"), entry.get("jwk").and_then(Value::as_object), text("public_key")) {
        (Some(pem), _, _) => VerifyKey::from_pem(pem, Some(Algorithm::Ed25519)).ok()?,
        (None, Some(jwk), _) => VerifyKey::from_jwk(jwk).ok().filter(|key| key.algorithm() == Algorithm::Ed25519)?,
        (None, None, Some(raw)) => VerifyKey::ed25519(&from_any_base64(raw)?).ok()?,
        (None, None, None) => return None,
    };
    let not_after = match text("not_after") {
        Some(end) => Some(end.parse().ok()?),
        None => None,
    };
    let kid = text("kid").map(str::to_owned).or_else(|| key.kid().map(str::to_owned));
    Some(key.with_kid(kid).until(not_after))
}
