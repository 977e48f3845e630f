//! An RSA key of ours, for receivers that know no other kind.

use std::sync::Arc;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256};
use base64::{Engine, engine::general_purpose::STANDARD};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject;

use crate::algorithm::Algorithm;
use crate::signing_key::MessageSigner;
use crate::verify_key::KeyError;

/// Characters of a line of PEM. RFC 7468 2.
const LINE_CHARS: usize = 64;

/// An RSA key of 2048 bits with its private half, which signs by RSASSA-PKCS1-v1_5 with SHA-256. Never prints it.
#[derive(Clone)]
pub struct RsaSigningKey {
    key: Arc<KeyPair>,
    public_pem: String,
}

impl RsaSigningKey {
    /// A fresh key. Its primes come from the randomness of the library that looks for them, and from no argument. Fails
    /// with [`KeyError::Unsupported`] where it finds none.
    pub fn generate() -> Result<Self, KeyError> {
        Self::of(KeyPair::generate(KeySize::Rsa2048).map_err(|_| KeyError::Unsupported)?)
    }

    /// Reads a PEM `PRIVATE KEY` (PKCS #8).
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| KeyError::Malformed)?;
        Self::of(KeyPair::from_pkcs8(der.secret_pkcs8_der()).map_err(|_| KeyError::Malformed)?)
    }

    fn of(key: KeyPair) -> Result<Self, KeyError> {
        let der: PublicKeyX509Der<'_> = key.public_key().as_der().map_err(|_| KeyError::Malformed)?;
        let public_pem = pem("PUBLIC KEY", der.as_ref());
        Ok(Self { key: Arc::new(key), public_pem })
    }

    /// The key with its private half, as PEM `PRIVATE KEY`. For where it is kept and nothing else.
    pub fn to_private_pem(&self) -> Result<String, KeyError> {
        let der: Pkcs8V1Der<'_> = self.key.as_der().map_err(|_| KeyError::Malformed)?;
        Ok(pem("PRIVATE KEY", der.as_ref()))
    }

    /// The public half as PEM `PUBLIC KEY`.
    pub fn public_pem(&self) -> &str {
        &self.public_pem
    }
}

impl MessageSigner for RsaSigningKey {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Rs256
    }

    fn signature(&self, message: &[u8]) -> Option<Vec<u8>> {
        let mut signature = vec![0; self.key.public_modulus_len()];
        self.key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).ok()?;
        Some(signature)
    }
}

impl std::fmt::Debug for RsaSigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RsaSigningKey([redacted])")
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(LINE_CHARS).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify_key::VerifyKey;

    #[test]
    fn what_a_kept_key_signs_its_public_half_verifies() {
        let key = RsaSigningKey::generate().unwrap();
        let kept = RsaSigningKey::from_pem(&key.to_private_pem().unwrap()).unwrap();
        assert_eq!(kept.public_pem(), key.public_pem());
        let public = VerifyKey::from_pem(key.public_pem(), None).unwrap();
        let signature = kept.signature(b"words").unwrap();
        assert!(public.verify(b"words", &signature) && !public.verify(b"other words", &signature));
        assert_eq!(format!("{key:?}"), "RsaSigningKey([redacted])");
        assert!(RsaSigningKey::from_pem(key.public_pem()).is_err());
    }
}
