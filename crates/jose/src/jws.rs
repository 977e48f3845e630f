//! JSON Web Signatures, compact and detached. RFC 7515.

use forecourt_core::{Timestamp, json};
use serde_json::{Map, Value, json};

use crate::algorithm::Algorithm;
use crate::encoding::{from_base64url, to_base64url};
use crate::error::ProofError;
use crate::key_set::KeySet;
use crate::limits::TOKEN_BYTES_MAX;
use crate::signing_key::SigningKey;
use crate::verify_key::VerifyKey;

/// A JWS that was read and not yet verified.
#[derive(Debug)]
pub struct Jws {
    kid: Option<String>,
    algorithm: Algorithm,
    header: Map<String, Value>,
    payload: Vec<u8>,
    signing_input: Vec<u8>,
    signature: Vec<u8>,
}

/// The two parts of a detached JWS that travel beside their payload. RFC 7515, appendix F.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetachedJws {
    /// The protected header, encoded.
    pub protected: String,
    /// The signature, encoded.
    pub signature: String,
}

impl Jws {
    /// Reads a compact JWS of at most [`TOKEN_BYTES_MAX`]. Refuses `none`, unknown algorithms and
    /// every critical extension (RFC 7515 4.1.11), `b64` (RFC 7797) among them.
    pub fn parse(compact: &str) -> Result<Self, ProofError> {
        Self::parse_within(compact, TOKEN_BYTES_MAX)
    }

    /// [`Jws::parse`] of at most `bytes_max`, for tokens that come with an answer whose bytes are bounded anyway.
    pub fn parse_within(compact: &str, bytes_max: usize) -> Result<Self, ProofError> {
        let mut segments = compact.split('.');
        let mut next = || segments.next().ok_or(ProofError::Malformed("token"));
        let (protected, payload, signature) = (next()?, next()?, next()?);
        // Before anything is decoded; a fourth segment would be an encrypted token (RFC 7516).
        if compact.len() > bytes_max || segments.next().is_some() {
            return Err(ProofError::Malformed("token"));
        }
        let payload_bytes = from_base64url(payload).ok_or(ProofError::Malformed("token"))?;
        Self::join(protected, payload, payload_bytes, signature)
    }

    /// Reads a detached JWS over `payload`, as agent cards carry them.
    pub fn detached(protected: &str, payload: &[u8], signature: &str) -> Result<Self, ProofError> {
        if protected.len() + signature.len() > TOKEN_BYTES_MAX {
            return Err(ProofError::Malformed("signature"));
        }
        Self::join(protected, &to_base64url(payload), payload.to_vec(), signature)
    }

    fn join(protected: &str, encoded: &str, payload: Vec<u8>, signature: &str) -> Result<Self, ProofError> {
        let malformed = ProofError::Malformed("token");
        let header = json::parse(&from_base64url(protected).ok_or(malformed)?).map_err(|_| malformed)?;
        let Value::Object(header) = header else { return Err(malformed) };
        // `b64` without `crit` is malformed (RFC 7797 6), and would have the payload read in another way than it was
        // signed.
        if header.contains_key("crit") || header.contains_key("b64") {
            return Err(ProofError::CriticalExtension);
        }
        let name = header.get("alg").and_then(Value::as_str).ok_or(malformed)?;
        let kid = match header.get("kid") {
            None => None,
            Some(Value::String(kid)) => Some(kid.clone()),
            Some(_) => return Err(malformed),
        };
        Ok(Self {
            kid,
            algorithm: Algorithm::from_jose(name).ok_or(ProofError::WrongAlgorithm)?,
            header,
            payload,
            // As it was sent, not encoded anew: the signature is over these very bytes.
            signing_input: format!("{protected}.{encoded}").into_bytes(),
            signature: from_base64url(signature).ok_or(malformed)?,
        })
    }

    /// Which key it says it was made with.
    pub fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// Which algorithm it says it was made with.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The protected header, to be believed only after [`Jws::verify`].
    pub fn header(&self) -> &Map<String, Value> {
        &self.header
    }

    /// The payload before anything was verified: good for finding the issuer, and nothing else.
    pub fn unverified_payload(&self) -> &[u8] {
        &self.payload
    }

    /// The payload, if one of `keys` made the signature. The key's algorithm counts; the header
    /// must agree with it.
    pub fn verify(&self, keys: &KeySet, now: Timestamp) -> Result<&[u8], ProofError> {
        let mut fault = ProofError::UnknownKey;
        for key in keys.select(self.kid(), self.algorithm, now) {
            match self.verify_with(key) {
                Ok(payload) => return Ok(payload),
                Err(other) => fault = other,
            }
        }
        Err(fault)
    }

    /// The payload, if `key` made the signature.
    pub fn verify_with(&self, key: &VerifyKey) -> Result<&[u8], ProofError> {
        // The key decides, not the token: otherwise a public RSA key could be used as an HMAC secret (RFC 8725 3.1).
        if key.algorithm() != self.algorithm {
            return Err(ProofError::WrongAlgorithm);
        }
        match key.verify(&self.signing_input, &self.signature) {
            true => Ok(&self.payload),
            false => Err(ProofError::BadSignature),
        }
    }
}

/// Signs `payload`; gives the compact form. The header holds `alg`, `kid` and `typ`.
pub fn sign(key: &SigningKey, typ: &str, payload: &[u8]) -> String {
    let DetachedJws { protected, signature } = sign_detached(key, typ, payload);
    format!("{protected}.{}.{signature}", to_base64url(payload))
}

/// Signs `payload`, which travels apart. For JSON, sign its canonical form (RFC 8785).
pub fn sign_detached(key: &SigningKey, typ: &str, payload: &[u8]) -> DetachedJws {
    detach(key, &json!({"alg": Algorithm::Ed25519.jose_name(), "kid": key.kid(), "typ": typ}), payload)
}

/// [`sign_detached`] with a header that also says where the key set of the signer is. RFC 7515 4.1.2.
pub fn sign_detached_with_keys_at(key: &SigningKey, typ: &str, jku: &str, payload: &[u8]) -> DetachedJws {
    detach(key, &json!({"alg": Algorithm::Ed25519.jose_name(), "kid": key.kid(), "typ": typ, "jku": jku}), payload)
}

fn detach(key: &SigningKey, header: &Value, payload: &[u8]) -> DetachedJws {
    let protected = to_base64url(header.to_string().as_bytes());
    let signature = key.sign(format!("{protected}.{}", to_base64url(payload)).as_bytes());
    DetachedJws { protected, signature: to_base64url(&signature) }
}
