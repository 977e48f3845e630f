//! Who signed a request. The draft that all servers speak, and RFC 9421.
//!
//! | file | holds |
//! |---|---|
//! | `cavage.rs` | draft-cavage-http-signatures-12, in and out |
//! | `message.rs` | RFC 9421, in |
//!
//! Everything that needs no key comes first, so that nobody has us fetch keys for nothing.

mod cavage;
mod message;

use forecourt_core::Timestamp;
use forecourt_jose::{Algorithm, ProofError, VerifyKey};
use http::HeaderMap;
use http::header::HOST;

use crate::iri::Iri;
use crate::limits::{CLOCK_SKEW_MAX, SIGNATURE_AGE_MAX};

pub(crate) use cavage::sign;

/// A request as it arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArrivedRequest<'a> {
    /// `GET` or `POST`.
    pub(crate) method: &'a str,
    /// Scheme, host and port at which it arrived, from the settings.
    pub(crate) origin: &'a str,
    /// Path and query as its sender wrote them.
    pub(crate) target: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
    pub(crate) now: Timestamp,
}

/// A signature of which all was checked that needs no key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnprovenSignature {
    /// Who claims to have signed.
    pub(crate) key_id: Iri,
    /// The algorithm, where the signature names one.
    algorithm: Option<Algorithm>,
    /// The text that was signed.
    base: String,
    signature: Vec<u8>,
}

impl UnprovenSignature {
    /// The signatures of a request, in either form. Fails with [`ProofError::Missing`] when there is none.
    pub(crate) fn read(request: &ArrivedRequest<'_>) -> Result<Vec<Self>, ProofError> {
        match request.headers.contains_key(message::SIGNATURE_INPUT) {
            true => message::read(request),
            false => Ok(vec![cavage::read(request)?]),
        }
    }

    /// Whether this key made it.
    pub(crate) fn verify(&self, key: &VerifyKey) -> Result<(), ProofError> {
        // What a signature says of its algorithm must agree with the key (RFC 9421 3.2.1).
        if self.algorithm.is_some_and(|algorithm| algorithm != key.algorithm()) {
            return Err(ProofError::WrongAlgorithm);
        }
        key.verify(self.base.as_bytes(), &self.signature).then_some(()).ok_or(ProofError::BadSignature)
    }
}

impl ArrivedRequest<'_> {
    /// Host and port as the sender wrote them: over HTTP/2 no field has them.
    fn host(&self) -> &str {
        let own = self.origin.split_once("://").map_or(self.origin, |(_, authority)| authority);
        self.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or(own)
    }

    /// Whether something was signed neither too long ago nor in the future.
    fn check_age(&self, signed_at: i64) -> Result<(), ProofError> {
        let age = self.now.as_second().saturating_sub(signed_at);
        if age < -CLOCK_SKEW_MAX.as_secs().cast_signed() {
            return Err(ProofError::NotYetValid);
        }
        match age <= SIGNATURE_AGE_MAX.as_secs().cast_signed() {
            true => Ok(()),
            false => Err(ProofError::Expired),
        }
    }
}

#[cfg(test)]
mod tests;
