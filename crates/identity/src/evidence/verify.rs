//! This module verifies one entry of evidence. Identity-evidence v0.1. Cheap checks come first, and trust before any
//! fetch (REST 7.3).

use forecourt_core::identity::BEARER_TOKEN;
use forecourt_core::{Address, IdentityEvidence, Timestamp, json};
use forecourt_jose::encoding::{from_any_base64, sha256, to_base64url};
use forecourt_jose::{Algorithm, ProofError};
use serde_json::Value;

use super::trust::{TrustedIssuer, TrustedIssuers};
use crate::limits::{EVIDENCE_LIFETIME_MAX, SKEW};

/// What of a proof that holds is kept: what it was, and not what proves it.
const KEPT_OF_PROOFS: [&str; 5] = ["alg", "kid", "key_id", "verified_by", "canonicalization"];
const MALFORMED: ProofError = ProofError::Malformed("evidence");

/// An entry that holds.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) evidence: IdentityEvidence,
    /// Names this very statement of this issuer, for single use.
    pub(crate) replay_key: String,
    /// When it ends.
    pub(crate) until: Timestamp,
}

/// Verifies one entry. `own` is the evidence of the request itself, which must be the Connector's
/// for proofs that prove nothing on their own.
pub(crate) async fn verify(
    issuers: &TrustedIssuers,
    entry: &Value,
    agent: &Address,
    own: &[IdentityEvidence],
    now: Timestamp,
) -> Result<Entry, ProofError> {
    let evidence: IdentityEvidence = serde_json::from_value(entry.clone()).map_err(|_| MALFORMED)?;
    let issuer = issuers.find(&evidence)?;
    check_audience(&evidence, agent)?;
    let until = check_times(&evidence, now)?;
    match evidence.proof.kind.as_str() {
        "signed-attestation" => check_attestation(issuer, &evidence, entry, now).await?,
        "transport" | BEARER_TOKEN if issuer.trusted.is_sender(own) => {}
        // Such a proof only says how the Connector knew the sender: from anybody but the Connector it proves nothing.
        "transport" | BEARER_TOKEN => return Err(ProofError::BadSignature),
        _ => return Err(MALFORMED),
    }
    let replay_key = replay_key(&evidence, entry)?;
    // The evidence goes to agents and into the store now: with its signature, whoever reads it there could present it
    // again (REST 7.3).
    let mut evidence = evidence;
    evidence.proof.fields.retain(|name, _| KEPT_OF_PROOFS.contains(&name.as_str()));
    Ok(Entry { replay_key, evidence, until })
}

/// The agent itself must be meant, in whatever spelling of its address.
fn check_audience(evidence: &IdentityEvidence, agent: &Address) -> Result<(), ProofError> {
    let is_agent = |audience: &str| Address::parse(audience).is_ok_and(|address| address == *agent);
    if evidence.audience.iter().any(is_agent) { Ok(()) } else { Err(ProofError::WrongAudience) }
}

fn check_times(evidence: &IdentityEvidence, now: Timestamp) -> Result<Timestamp, ProofError> {
    let soon = now.checked_add(SKEW).unwrap_or(now);
    let longest = evidence.issued_at.checked_add(EVIDENCE_LIFETIME_MAX).map_err(|_| MALFORMED)?;
    let until = evidence.expires_at.unwrap_or(longest);
    if evidence.issued_at > soon || evidence.not_before.is_some_and(|moment| moment > soon) {
        return Err(ProofError::NotYetValid);
    }
    if until > longest {
        return Err(ProofError::LivesTooLong);
    }
    if now < until { Ok(until) } else { Err(ProofError::Expired) }
}

/// `signed-attestation`: Ed25519 over the canonical form (RFC 8785) without `proof.value`.
async fn check_attestation(
    issuer: &TrustedIssuer,
    evidence: &IdentityEvidence,
    entry: &Value,
    now: Timestamp,
) -> Result<(), ProofError> {
    let field = |name: &str| evidence.proof.fields.get(name).and_then(Value::as_str);
    let (Some(alg), Some(kid), Some(value)) = (field("alg"), field("kid"), field("value")) else {
        return Err(MALFORMED);
    };
    if !matches!(alg, "Ed25519" | "EdDSA") {
        return Err(ProofError::WrongAlgorithm);
    }
    let canonicalization = evidence.proof.fields.get("canonicalization");
    if canonicalization.is_some_and(|name| name != "RFC8785" && name != "JCS") {
        return Err(MALFORMED);
    }
    let signature = from_any_base64(value).ok_or(MALFORMED)?;
    let message = signed_bytes(entry)?;
    let keys = issuer.keys(kid, now).await?;
    let mut named = keys.select(Some(kid), Algorithm::Ed25519, now).peekable();
    named.peek().ok_or(ProofError::UnknownKey)?;
    match named.any(|key| key.algorithm() == Algorithm::Ed25519 && key.verify(&message, &signature)) {
        true => Ok(()),
        false => Err(ProofError::BadSignature),
    }
}

/// The entry as it was parsed, unknown fields included, less the signature itself.
fn signed_bytes(entry: &Value) -> Result<Vec<u8>, ProofError> {
    let mut entry = entry.clone();
    if let Some(proof) = entry.get_mut("proof").and_then(Value::as_object_mut) {
        proof.remove("value");
    }
    json::canonical(&entry).map_err(|_| MALFORMED)
}

fn replay_key(evidence: &IdentityEvidence, entry: &Value) -> Result<String, ProofError> {
    let name = match &evidence.id {
        Some(id) => id.clone().into_bytes(),
        None => signed_bytes(entry)?,
    };
    Ok(to_base64url(&sha256(&[evidence.issuer.as_bytes(), b"\n", &name].concat())))
}
