//! Whether a card is signed by a key of its own origin.

use forecourt_core::Timestamp;
use forecourt_egress::{Egress, Purpose};
use forecourt_identity::KeySet;
use http::HeaderMap;
use serde_json::Value;
use url::Url;

use super::DiscoveryError;
use super::fetch::{CardResponse, look};
use crate::card::{RemoteCard, verify_signature};
use crate::client::limits::CARD_BYTES_MAX;

/// Whether `card` carries a signature by a key that its own origin publishes. A key set anywhere else
/// proves nothing about this origin, so such a signature counts as none. Fails when the keys can't be
/// read, or when no signature holds.
pub(crate) async fn check(
    egress: &Egress,
    purpose: Purpose,
    url: &Url,
    value: &Value,
    card: &RemoteCard,
    now: Timestamp,
) -> Result<bool, DiscoveryError> {
    let Some(jku) = own_keys(url, card) else { return Ok(false) };
    let keys = keys_at(egress, purpose, &jku).await?;
    verify(value, &keys, now).map(|()| true)
}

/// Where the keys of a signature of `card` are, if that is on the origin that the card itself is on.
pub(crate) fn own_keys(url: &Url, card: &RemoteCard) -> Option<Url> {
    let sets = card.signatures.iter().filter_map(|signature| signature.jku.as_deref());
    sets.filter_map(|jku| Url::parse(jku).ok()).find(|jku| jku.origin() == url.origin())
}

/// Fetches a key set. Fails when it is not there, or can't be read.
pub(crate) async fn keys_at(egress: &Egress, purpose: Purpose, jku: &Url) -> Result<KeySet, DiscoveryError> {
    let keys = match look(egress, purpose, &HeaderMap::new(), jku, None, CARD_BYTES_MAX).await? {
        CardResponse::Document(document) => document.value,
        _ => return Err(wrong("its keys are not where it says")),
    };
    KeySet::from_jwks(&keys).map_err(|_| wrong("its keys can't be read"))
}

/// Fails when no signature of a card was made with one of `keys`.
pub(crate) fn verify(value: &Value, keys: &KeySet, now: Timestamp) -> Result<(), DiscoveryError> {
    verify_signature(value, keys, now).map(drop).map_err(|fault| wrong(fault.to_string()))
}

fn wrong(reason: impl Into<String>) -> DiscoveryError {
    DiscoveryError::Signature(reason.into())
}
