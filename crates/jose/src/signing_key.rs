//! An Ed25519 key of ours.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::signature::Ed25519KeyPair;
use ed25519_dalek::Signer;
use ed25519_dalek::pkcs8::spki::EncodePublicKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey, EncodePrivateKey, KeypairBytes};
use forecourt_core::{Entropy, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::algorithm::Algorithm;
use crate::encoding::{thumbprint, to_base64url};
use crate::verify_key::{KeyError, VerifyKey};

/// A key that signs what we send, whatever its kind.
pub trait MessageSigner {
    /// The algorithm of its signatures.
    fn algorithm(&self) -> Algorithm;

    /// A signature over `message`. `None` when it can't be made.
    fn signature(&self, message: &[u8]) -> Option<Vec<u8>>;
}

/// An Ed25519 key with its private half. Never prints it.
#[derive(Clone)]
pub struct SigningKey {
    key: ed25519_dalek::SigningKey,
    /// The same, with what each signature needs of it worked out once.
    signer: Option<Arc<Ed25519KeyPair>>,
    public: PublicKey,
}

/// The public half of one of our keys, as cards and key sets show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicKey {
    /// Its RFC 7638 thumbprint.
    pub kid: String,
    /// The 32 bytes in base64url.
    pub x: String,
    /// The same as PEM `PUBLIC KEY`.
    pub pem: String,
    /// When it stops being good; absent for the current key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<Timestamp>,
}

impl SigningKey {
    /// A fresh key.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut seed = [0u8; 32];
        entropy.fill(&mut seed);
        Self::from_dalek(ed25519_dalek::SigningKey::from_bytes(&seed))
    }

    /// Reads a PEM `PRIVATE KEY` (PKCS #8).
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let key = ed25519_dalek::SigningKey::from_pkcs8_pem(pem).map_err(|_| KeyError::Malformed)?;
        Ok(Self::from_dalek(key))
    }

    /// The key with its private half, as PEM `PRIVATE KEY`. For the key file and nothing else.
    pub fn to_private_pem(&self) -> Result<String, KeyError> {
        // Without the public half: that would be version 2 of the form (RFC 5958), which OpenSSL 3.0 does not read.
        let private = KeypairBytes { secret_key: self.key.to_bytes(), public_key: None };
        let pem = private.to_pkcs8_pem(LineEnding::LF).map_err(|_| KeyError::Malformed)?;
        Ok(pem.to_string())
    }

    fn from_dalek(key: ed25519_dalek::SigningKey) -> Self {
        let verifying = key.verifying_key();
        let x = to_base64url(verifying.as_bytes());
        // Encoding 32 bytes can't fail; an empty PEM would be refused by every reader.
        let pem = verifying.to_public_key_pem(LineEnding::LF).unwrap_or_default();
        let public = PublicKey { kid: thumbprint(&x), x, pem, not_after: None };
        let signer = Ed25519KeyPair::from_seed_unchecked(key.as_bytes()).ok().map(Arc::new);
        Self { key, signer, public }
    }

    /// The name of the key: the RFC 7638 thumbprint.
    pub fn kid(&self) -> &str {
        &self.public.kid
    }

    /// The public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The 32 bytes of the public half.
    pub fn verifying_bytes(&self) -> [u8; 32] {
        self.key.verifying_key().to_bytes()
    }

    /// The 64 bytes of a signature over `message`.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        let signed = self.signer.as_ref().map(|signer| signer.sign(message));
        // Both make the same bytes (RFC 8032); the first one in half the time.
        let bytes = signed.and_then(|signature| signature.as_ref().try_into().ok());
        bytes.unwrap_or_else(|| self.key.sign(message).to_bytes())
    }

    /// The key with which others verify what this one signs.
    pub fn verify_key(&self) -> Result<VerifyKey, KeyError> {
        Ok(VerifyKey::ed25519(self.key.verifying_key().as_bytes())?.with_kid(Some(self.public.kid.clone())))
    }
}

impl MessageSigner for SigningKey {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Ed25519
    }

    fn signature(&self, message: &[u8]) -> Option<Vec<u8>> {
        Some(self.sign(message).to_vec())
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.public.kid).finish_non_exhaustive()
    }
}

impl PublicKey {
    /// The key as a JWK. RFC 8037 2.
    pub fn to_jwk(&self) -> Value {
        json!({"kty": "OKP", "crv": "Ed25519", "x": self.x, "kid": self.kid, "use": "sig", "alg": "EdDSA"})
    }

    /// The key as an agent card shows it: `kid`, `alg` and `pem`, with `not_after` once replaced.
    pub fn to_card(&self) -> Value {
        let mut card = json!({"kid": self.kid, "alg": "Ed25519", "pem": self.pem});
        if let Some(not_after) = self.not_after {
            card["not_after"] = json!(not_after);
        }
        card
    }

    /// The same for a key that another one took the place of at `now`: good for `ttl` more.
    #[must_use]
    pub fn replaced(mut self, now: Timestamp, ttl: Duration) -> Self {
        self.not_after = now.checked_add(ttl).ok();
        self
    }

    /// Whether it may still be used.
    pub fn is_good_at(&self, now: Timestamp) -> bool {
        self.not_after.is_none_or(|end| now < end)
    }
}
