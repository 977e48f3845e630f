//! This module reads the directory of a signature agent: its keys, of which each has signed the answer that it came
//! in. HTTP Message Signatures Directory.

use forecourt_core::{Timestamp, json};
use forecourt_jose::{Algorithm, VerifyKey};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde_json::{Map, Value};

use crate::http_signature::{CoveredMessage, SignatureInput};
use crate::limits::{BOT_SIGNATURE_LIFETIME_MAX, KEYS_MAX, SKEW};

/// Where a host publishes it.
pub const DIRECTORY_PATH: &str = "/.well-known/http-message-signatures-directory";
/// Its media type.
pub const DIRECTORY_TYPE: &str = "application/http-message-signatures-directory+json";
/// What its signatures are for.
const TAG: &str = "http-message-signatures-directory";
/// From here on a number of seconds is one of milliseconds, which some directories write.
const MILLISECONDS_FROM: i64 = 100_000_000_000;

/// Why a directory is of no use. For the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DirectoryError {
    /// It is of another media type.
    #[error("the directory is not of the type {DIRECTORY_TYPE}")]
    Type,
    /// It is no set of keys.
    #[error("the directory is not a set of keys")]
    Malformed,
    /// None of its keys has signed it.
    #[error("no key of the directory has signed it for this host")]
    Unsigned,
}

/// The keys of the directory that `authority` answered with, each named by its thumbprint: those that have signed it
/// for that host, which shows that who publishes them has them.
pub(crate) fn keys_of(
    authority: &str,
    headers: &HeaderMap,
    bytes: &[u8],
    now: Timestamp,
) -> Result<Vec<VerifyKey>, DirectoryError> {
    let is_type =
        |value: &str| value.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(DIRECTORY_TYPE));
    if !headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(is_type) {
        return Err(DirectoryError::Type);
    }
    let document = json::parse(bytes).map_err(|_| DirectoryError::Malformed)?;
    let entries = document.get("keys").and_then(Value::as_array).ok_or(DirectoryError::Malformed)?;
    if entries.len() > KEYS_MAX {
        return Err(DirectoryError::Malformed);
    }
    let signatures = SignatureInput::read_of_answer(headers).map_err(|_| DirectoryError::Unsigned)?;
    let keys = entries.iter().filter_map(|entry| key(entry.as_object()?, now));
    let signed: Vec<_> =
        keys.filter(|key| signatures.iter().any(|one| holds(one, key, authority, headers, now))).collect();
    if signed.is_empty() { Err(DirectoryError::Unsigned) } else { Ok(signed) }
}

/// A key that is good now, named by its thumbprint.
fn key(jwk: &Map<String, Value>, now: Timestamp) -> Option<VerifyKey> {
    let moment = |name: &str| jwk.get(name).map(|value| value.as_i64().and_then(timestamp));
    let (from, until) = (moment("nbf"), moment("exp"));
    // What can't be read drops the key: it must not become one without an end.
    if from == Some(None) || until == Some(None) || from.flatten().is_some_and(|from| now < from) {
        return None;
    }
    let key = VerifyKey::from_jwk(jwk).ok().filter(|key| key.algorithm() == Algorithm::Ed25519)?;
    let thumbprint = key.thumbprint()?;
    Some(key.with_kid(Some(thumbprint)).until(until.flatten())).filter(|key| key.is_good_at(now))
}

fn timestamp(number: i64) -> Option<Timestamp> {
    let seconds = if number >= MILLISECONDS_FROM { number / 1_000 } else { number };
    Timestamp::from_second(seconds).ok()
}

/// Whether a signature of the answer is one of this key, for the host that was asked.
fn holds(one: &SignatureInput, key: &VerifyKey, authority: &str, headers: &HeaderMap, now: Timestamp) -> bool {
    let is_now = one.created.zip(one.expires).is_some_and(|(created, expires)| {
        let soonest = now.checked_add(SKEW).unwrap_or(now);
        created <= soonest
            && now < expires
            && created.checked_add(BOT_SIGNATURE_LIFETIME_MAX).is_ok_and(|end| now < end)
    });
    let is_bound = one.components.iter().any(|component| component.name == "@authority" && component.is_of_request);
    if one.tag.as_deref() != Some(TAG) || one.keyid.as_deref() != key.kid() || !is_now || !is_bound {
        return false;
    }
    let algorithm = key.algorithm();
    if one.alg.as_deref().is_some_and(|alg| Some(alg) != algorithm.http_name()) {
        return false;
    }
    base(one, authority, headers).is_some_and(|base| key.verify(base.as_bytes(), &one.signature))
}

/// The text that a signature of the answer signs. RFC 9421 2.4, 2.5.
fn base(one: &SignatureInput, authority: &str, headers: &HeaderMap) -> Option<String> {
    let answer = CoveredMessage { method: "", target_uri: "", authority, path: "", query: None, headers };
    let mut base = String::new();
    for component in &one.components {
        let value = match (component.name.as_str(), component.is_of_request) {
            ("@authority", true) => authority.to_owned(),
            // Only what was answered well is read.
            ("@status", false) => "200".to_owned(),
            (name, false) if !name.starts_with('@') => answer.value(component)?,
            _ => return None,
        };
        base.push_str(&format!("{}: {value}\n", component.identifier));
    }
    base.push_str("\"@signature-params\": ");
    base.push_str(&one.parameters);
    Some(base)
}
