//! HTTP Message Signatures of other servers. RFC 9421, RFC 9530.

use forecourt_identity::http_signature::{CoveredMessage, SignatureInput, matches_digest, signature_base};
use forecourt_jose::{Algorithm, ProofError};
use http::{HeaderName, Method};

use super::{ArrivedRequest, UnprovenSignature};
use crate::iri::Iri;
use crate::limits::SIGNATURES_TRIED_MAX;

pub(super) const SIGNATURE_INPUT: HeaderName = HeaderName::from_static("signature-input");

/// Reads the signatures of a request; the first fault counts when none is left.
pub(super) fn read(request: &ArrivedRequest<'_>) -> Result<Vec<UnprovenSignature>, ProofError> {
    let inputs = SignatureInput::read(request.headers)?;
    let mut fault = ProofError::Missing("Signature");
    let mut read = Vec::new();
    for input in inputs.iter().take(SIGNATURES_TRIED_MAX) {
        match one(input, request) {
            Ok(signature) => read.push(signature),
            Err(other) => fault = other,
        }
    }
    if read.is_empty() { Err(fault) } else { Ok(read) }
}

fn one(input: &SignatureInput, request: &ArrivedRequest<'_>) -> Result<UnprovenSignature, ProofError> {
    check_coverage(input, request)?;
    request.check_age(input.created.ok_or(ProofError::Missing("created"))?.as_second())?;
    if input.expires.is_some_and(|expires| expires <= request.now) {
        return Err(ProofError::Expired);
    }
    if !request.body.is_empty() || covers(input, "content-digest") {
        matches_digest(request.headers, request.body)?;
    }
    let (path, query) = match request.target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (request.target, None),
    };
    let target_uri = format!("{}{}", request.origin, request.target);
    let authority = request.host();
    let headers = request.headers;
    let message = CoveredMessage { method: request.method, target_uri: &target_uri, authority, path, query, headers };
    Ok(UnprovenSignature {
        key_id: input.keyid.as_deref().and_then(Iri::parse).ok_or(ProofError::UnknownKey)?,
        algorithm: input
            .alg
            .as_deref()
            .map(|name| Algorithm::from_http(name).ok_or(ProofError::WrongAlgorithm))
            .transpose()?,
        base: signature_base(input, &message)?,
        signature: input.signature.clone(),
    })
}

fn covers(input: &SignatureInput, name: &str) -> bool {
    input.components.iter().any(|component| component.name == name)
}

/// A signature must cover the method, where the request goes, and its body.
fn check_coverage(input: &SignatureInput, request: &ArrivedRequest<'_>) -> Result<(), ProofError> {
    if !covers(input, "@method") {
        return Err(ProofError::Uncovered("@method"));
    }
    let path = covers(input, "@request-target")
        || covers(input, "@path") && (covers(input, "@query") || !request.target.contains('?'));
    let is_bound = covers(input, "@target-uri") || covers(input, "@authority") && path;
    if !is_bound {
        return Err(ProofError::Uncovered("@target-uri, or @authority with @path and @query"));
    }
    let has_body = request.method != Method::GET || !request.body.is_empty();
    match has_body && !covers(input, "content-digest") {
        true => Err(ProofError::Uncovered("content-digest")),
        false => Ok(()),
    }
}
