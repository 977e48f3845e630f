//! What of a token of the provider's must hold. OpenID Connect Core 3.1.3.6, 3.1.3.7.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{self, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_core::Timestamp;
use forecourt_jose::jws::Jws;
use forecourt_jose::{Algorithm, KeySet, ProofError, claims};
use serde_json::{Map, Value};

use crate::limits::ID_TOKEN_BYTES_MAX;

/// Signatures that count: by keys that the provider alone has. Neither `none` nor a secret that we have too.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::Rs256,
    Algorithm::Rs384,
    Algorithm::Rs512,
    Algorithm::Ps256,
    Algorithm::Ps384,
    Algorithm::Ps512,
    Algorithm::Es256,
    Algorithm::Es384,
    Algorithm::Ed25519,
];

/// Why a token of the provider's does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenError {
    /// Its signature, or its form.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// One of its claims.
    #[error("{0}")]
    Claim(&'static str),
}

/// A token of the provider's that was read and not yet verified.
pub(crate) struct ProviderToken(Jws);

/// What an ID token must agree with.
pub(crate) struct ExpectedClaims<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) client_id: &'a str,
    pub(crate) nonce: &'a str,
    pub(crate) access_token: &'a str,
    pub(crate) now: Timestamp,
}

impl ProviderToken {
    /// Reads one of at most [`ID_TOKEN_BYTES_MAX`].
    pub(crate) fn parse(text: &str) -> Result<Self, ProofError> {
        Jws::parse_within(text, ID_TOKEN_BYTES_MAX).map(Self)
    }

    /// The claims of an ID token that holds.
    pub(crate) fn id_claims(
        &self,
        jwks: &Value,
        expected: &ExpectedClaims<'_>,
    ) -> Result<Map<String, Value>, TokenError> {
        let claims = self.claims_of_provider(jwks, (expected.issuer, expected.client_id), expected.now)?;
        // Step 5.
        if claims.get("azp").is_some_and(|azp| *azp != *expected.client_id) {
            return Err(TokenError::Claim("it was issued for another client"));
        }
        // Steps 9 and 10. No difference of clocks is allowed for: the token was made a moment ago.
        let expires_at = claims::moment(&claims, "exp")?.ok_or(ProofError::Missing("exp"))?;
        claims::moment(&claims, "iat")?.ok_or(ProofError::Missing("iat"))?;
        claims::moment(&claims, "auth_time")?;
        if expected.now >= expires_at {
            return Err(ProofError::Expired.into());
        }
        // Step 11.
        let nonce = claims.get("nonce").and_then(Value::as_str).ok_or(ProofError::Missing("nonce"))?;
        // The nonce binds the token to the browser that began (Core 3.1.2.1): another person's token can't be slipped
        // in.
        if verify_slices_are_equal(nonce.as_bytes(), expected.nonce.as_bytes()).is_err() {
            return Err(TokenError::Claim("its nonce is another one"));
        }
        self.check_access_token(&claims, expected.access_token)?;
        claims.get("sub").and_then(Value::as_str).ok_or(ProofError::Missing("sub"))?;
        Ok(claims)
    }

    /// The claims of a token that the provider has signed for us, whatever it says.
    pub(crate) fn claims_of_provider(
        &self,
        jwks: &Value,
        (issuer, client_id): (&str, &str),
        now: Timestamp,
    ) -> Result<Map<String, Value>, TokenError> {
        // Before any key is read: with `HS256` the provider's public key could be used as the secret (RFC 8725 2.1).
        if !ALGORITHMS.contains(&self.0.algorithm()) {
            return Err(ProofError::WrongAlgorithm.into());
        }
        self.check_kind()?;
        let keys = KeySet::from_jwks_for(jwks, self.0.algorithm()).map_err(|_| ProofError::KeysUnavailable)?;
        let claims = claims::read(self.0.verify(&keys, now)?)?;
        // Step 2.
        if claims.get("iss").and_then(Value::as_str) != Some(issuer) {
            return Err(TokenError::Claim("its issuer is another one"));
        }
        // Step 3. Whoever else it is for could show it here.
        let is_ours = |audience: &Value| audience.as_str() == Some(client_id);
        match claims.get("aud") {
            Some(Value::Array(all)) if !all.is_empty() && all.iter().all(is_ours) => Ok(claims),
            Some(one) if is_ours(one) => Ok(claims),
            _ => Err(ProofError::WrongAudience.into()),
        }
    }

    /// Whether it is a JWT, and one whose payload are its claims. RFC 7515 4.1.9, 4.1.10.
    fn check_kind(&self) -> Result<(), TokenError> {
        let header = self.0.header();
        let fits = match header.get("typ") {
            None => true,
            Some(Value::String(name)) => {
                let name = name.to_ascii_lowercase();
                matches!(name.strip_prefix("application/").unwrap_or(&name), "jwt" | "jose")
            }
            Some(_) => false,
        };
        match fits && !header.contains_key("cty") {
            true => Ok(()),
            false => Err(ProofError::WrongKind.into()),
        }
    }

    /// Whether it belongs to the access token that came with it, where it says to which it does. 3.1.3.6.
    fn check_access_token(&self, claims: &Map<String, Value>, access_token: &str) -> Result<(), TokenError> {
        let Some(expected) = claims.get("at_hash") else { return Ok(()) };
        let own = token_hash(self.0.algorithm(), access_token);
        match expected.as_str() == own.as_deref() {
            true => Ok(()),
            false => Err(TokenError::Claim("it belongs to another access token")),
        }
    }
}

/// The left half of a token's hash, by the hash of the signature. 3.1.3.6; of Ed25519 it is SHA-512.
fn token_hash(algorithm: Algorithm, token: &str) -> Option<String> {
    let hash = match algorithm {
        Algorithm::Rs256 | Algorithm::Ps256 | Algorithm::Es256 => &digest::SHA256,
        Algorithm::Rs384 | Algorithm::Ps384 | Algorithm::Es384 => &digest::SHA384,
        Algorithm::Rs512 | Algorithm::Ps512 | Algorithm::Ed25519 => &digest::SHA512,
        _ => return None,
    };
    let whole = digest(hash, token.as_bytes());
    whole.as_ref().get(..whole.as_ref().len() / 2).map(|half| URL_SAFE_NO_PAD.encode(half))
}

#[cfg(test)]
#[path = "id_token/tests.rs"]
mod tests;
