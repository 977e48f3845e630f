//! This module reads the keys of Connector Cards.

use forecourt_core::json;
use forecourt_jose::encoding::from_any_base64;
use forecourt_jose::limits::KEYS_MAX;
use forecourt_jose::{Algorithm, KeyError, KeySet, VerifyKey};
use serde_json::{Map, Value};

/// Reads the keys of a Connector Card: `signing_key`, `signing_keys` and
/// `previous_signing_keys`, each entry with `kid` and one of `pem`, `jwk`, `public_key`.
pub(crate) fn from_card(bytes: &[u8]) -> Result<KeySet, KeyError> {
    let card = json::parse(bytes).map_err(|_| KeyError::Malformed)?;
    let one = card.get("signing_key").into_iter();
    let lists = ["signing_keys", "previous_signing_keys"].into_iter().filter_map(|name| card.get(name)?.as_array());
    let mut keys: Vec<VerifyKey> = Vec::new();
    for key in one.chain(lists.flatten()).take(KEYS_MAX).filter_map(|entry| card_key(entry.as_object()?)) {
        // A card may list its current key among the previous ones; the first mention counts.
        if key.kid().is_none() || keys.iter().all(|earlier| earlier.kid() != key.kid()) {
            keys.push(key);
        }
    }
    KeySet::new(keys)
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
        // An end that can't be read drops the key: it must not become one without an end.
        Some(end) => Some(end.parse().ok()?),
        None => None,
    };
    let kid = text("kid").map(str::to_owned).or_else(|| key.kid().map(str::to_owned));
    Some(key.with_kid(kid).until(not_after))
}
