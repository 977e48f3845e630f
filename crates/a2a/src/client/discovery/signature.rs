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

/// Whether `card` carries a signature by a key that its own origin publishes. A key set anywhere else
/// proves nothing about this origin, so such a signature counts as none. Fails when the keys can't be
/// read, or when no signature holds.
pub(super) async fn check(
    egress: &Egress,
    purpose: Purpose,
    url: &Url,
    value: &Value,
    card: &RemoteCard,
    now: Timestamp,
) -> Result<bool, DiscoveryError> {
    let sets = card.signatures.iter().filter_map(|signature| signature.jku.as_deref());
    let own = sets.filter_map(|jku| Url::parse(jku).ok()).find(|jku| jku.origin() == url.origin());
    let Some(jku) = own else { return Ok(false) };
    let wrong = |reason: String| DiscoveryError::Signature(reason);
    let keys = match look(egress, purpose, &HeaderMap::new(), &jku, None).await? {
        CardResponse::Document(document) => document.value,
        _ => return Err(wrong("its keys are not where it says".to_owned())),
    };
    let keys = KeySet::from_jwks(&keys).map_err(|_| wrong("its keys can't be read".to_owned()))?;
    verify_signature(value, &keys, now).map(|_| true).map_err(|fault| wrong(fault.to_string()))
}
