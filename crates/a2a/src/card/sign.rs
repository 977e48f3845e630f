//! Signatures of cards: detached JWS over the canonical form of what a version knows of the card.

use forecourt_core::Timestamp;
use forecourt_identity::jws::{Jws, sign_detached_with_keys_at};
use forecourt_identity::{HostKeys, KeySet, ProofError};
use serde_json::{Value, json};

use super::limits::SIGNATURES_MAX;
use super::shape::SignatureScope;

/// The type of a signature; the verifier of one SDK insists on it.
const TYP: &str = "JOSE";

/// Why a card is not known to come from who it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// It carries no signature.
    #[error("the card is not signed")]
    Unsigned,
    /// None of its signatures holds; the reason of the last one that was tried.
    #[error("no signature of the card holds: {0}")]
    Invalid(ProofError),
}

/// The signature of `card`, as an entry of its `signatures`. `None` when nothing of it is covered.
pub(crate) fn sign(card: &Value, covered: SignatureScope, keys: &HostKeys, jku: &str) -> Option<Value> {
    let signed = sign_detached_with_keys_at(keys.current(), TYP, jku, &covered.payload(card)?);
    Some(json!({"protected": signed.protected, "signature": signed.signature}))
}

/// Verifies that one of the first [`SIGNATURES_MAX`] signatures of `card` was made with one of
/// `keys`, and says which version's fields it covers. Fields of neither version, Mentionable's among
/// them, are never covered: they are as good as the connection that they came over.
pub fn verify_signature(card: &Value, keys: &KeySet, now: Timestamp) -> Result<SignatureScope, SignatureError> {
    let signatures = card.get("signatures").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let payloads = [SignatureScope::V1_0, SignatureScope::V0_3].map(|covered| (covered, covered.payload(card)));
    let mut fault = SignatureError::Unsigned;
    for signature in signatures.iter().take(SIGNATURES_MAX) {
        let text = |name: &str| signature.get(name).and_then(Value::as_str).unwrap_or_default();
        // A signature does not say which version's fields it covers.
        for (covered, payload) in &payloads {
            let Some(payload) = payload else { continue };
            let verified = Jws::detached(text("protected"), payload, text("signature"))
                .and_then(|jws| jws.verify(keys, now).map(|_| ()));
            match verified {
                Ok(()) => return Ok(*covered),
                Err(other) => fault = SignatureError::Invalid(other),
            }
        }
    }
    Err(fault)
}
