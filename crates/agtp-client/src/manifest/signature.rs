//! The signature of a manifest. AGTP-API 8.8; base 6.6 and 11.
//!
//! A detached JWS over the canonical form (RFC 8785) of everything else, by one of the keys in
//! `server.signing_keys`. It says that nobody changed the document on its way; whose keys they are is
//! told by the connection that it came over.

use forecourt_core::{Timestamp, json};
use forecourt_identity::KeySet;
use forecourt_identity::jws::Jws;
use serde::Serialize;
use serde_json::Value;

use super::FindingList;

/// Where the signature is.
const FIELD: &str = "manifest_signature";
const AT: &str = "/manifest_signature";

/// The result of verifying a manifest's signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Signature {
    /// There is none.
    Absent,
    /// It was made over this document by the published key of this name.
    Valid {
        /// The name of the key.
        kid: Option<String>,
    },
    /// It was not, or it is none.
    Invalid {
        /// Why.
        reason: String,
    },
}

/// Verifies the signature with the keys that the manifest publishes.
pub(super) fn verify(manifest: &Value, now: Timestamp) -> Signature {
    let compact = match manifest.get(FIELD) {
        None | Some(Value::Null) => return Signature::Absent,
        Some(Value::String(compact)) => compact,
        Some(_) => return invalid("it is a JWS in its compact form"),
    };
    match verified(manifest, compact, now) {
        Ok(kid) => Signature::Valid { kid },
        Err(reason) => Signature::Invalid { reason },
    }
}

fn verified(manifest: &Value, compact: &str, now: Timestamp) -> Result<Option<String>, String> {
    let mut body = manifest.clone();
    // The signature is over everything but itself. AGTP-API 8.8.
    body.as_object_mut().map(|fields| fields.remove(FIELD));
    let bytes = json::canonical(&body)?;
    let parts: Vec<&str> = compact.split('.').collect();
    let [protected, "", signature] = parts[..] else {
        return Err("it has three parts, the middle one empty: the payload is the manifest".to_owned());
    };
    let jws = Jws::detached(protected, &bytes, signature).map_err(|error| error.to_string())?;
    let jwks = manifest["server"].get("signing_keys").ok_or("the manifest has no `server.signing_keys`")?;
    // A symmetric key that is published lets anybody sign.
    let has_secret = jwks["keys"].as_array().is_some_and(|keys| keys.iter().any(|key| key["kty"] == "oct"));
    if has_secret {
        return Err("a secret is published among the keys".to_owned());
    }
    let keys = KeySet::from_jwks(jwks).map_err(|error| format!("`server.signing_keys`: {error}"))?;
    jws.verify(&keys, now).map_err(|error| error.to_string())?;
    Ok(jws.kid().map(str::to_owned))
}

fn invalid(reason: &str) -> Signature {
    Signature::Invalid { reason: reason.to_owned() }
}

impl Signature {
    /// What is to be said about it: a manifest without one is as good as allowed.
    pub(super) fn tell(&self, found: &mut FindingList) {
        match self {
            Self::Valid { .. } => {}
            Self::Absent => found.advice("8.8", AT, "the manifest is not signed"),
            Self::Invalid { reason } => found.wrong("8.8", AT, format!("the signature does not hold: {reason}")),
        }
    }
}
