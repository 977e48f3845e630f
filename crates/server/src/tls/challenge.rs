//! What a certificate authority asks before it signs: whether a name is ours, over plain HTTP (RFC 8555 8.3) or
//! within TLS (RFC 8737).

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use parking_lot::RwLock;
use rcgen::{CertificateParams, CustomExtension, KeyPair, PKCS_ECDSA_P256_SHA256};
use rustls::crypto::aws_lc_rs;
use rustls::sign::CertifiedKey;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::error::TlsError;

/// The protocol that authorities name. RFC 8737 section 6.2.
pub const ACME_ALPN: &[u8] = b"acme-tls/1";

/// Below this path authorities ask over plain HTTP. RFC 8555 section 8.3.
pub const CHALLENGE_PATH: &str = "/.well-known/acme-challenge/";

/// Names that are being proven at once.
pub const CHALLENGES_MAX: usize = 100;

/// Answers what authorities ask over plain HTTP, before it is looked at whom a request is for.
pub trait HttpChallenges: Send + Sync + 'static {
    /// The answer for a token; `None` when nobody here knows it. Tokens come from anybody.
    fn answer<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Option<String>>;
}

/// What authorities are shown that ask within TLS: a certificate for each name that is being proven.
#[derive(Default)]
pub struct AlpnChallenges(RwLock<HashMap<String, Arc<CertifiedKey>>>);

impl AlpnChallenges {
    /// Shows the digest of a key authorization to whoever asks for `name`, until it is removed.
    ///
    /// # Errors
    /// `name` is none for a certificate, or [`CHALLENGES_MAX`] names are being proven already.
    pub fn insert(&self, name: &str, digest: &[u8]) -> Result<(), TlsError> {
        let certified = Arc::new(certified(name, digest)?);
        let mut shown = self.0.write();
        if shown.len() >= CHALLENGES_MAX && !shown.contains_key(name) {
            return Err(TlsError::Making(format!("{CHALLENGES_MAX} names are being proven already")));
        }
        shown.insert(name.to_ascii_lowercase(), certified);
        Ok(())
    }

    /// The name is proven, or was given up.
    pub fn remove(&self, name: &str) {
        self.0.write().remove(&name.to_ascii_lowercase());
    }

    pub(super) fn of(&self, name: &str) -> Option<Arc<CertifiedKey>> {
        self.0.read().get(&name.to_ascii_lowercase()).cloned()
    }
}

impl fmt::Debug for AlpnChallenges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.read().keys()).finish()
    }
}

/// A certificate signed by itself, for one name, with the digest in it. RFC 8737 section 3.
fn certified(name: &str, digest: &[u8]) -> Result<CertifiedKey, TlsError> {
    let making = |error: &dyn fmt::Display| TlsError::Making(error.to_string());
    let mut params = CertificateParams::new(vec![name.to_owned()]).map_err(|error| making(&error))?;
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|error| making(&error))?;
    let certificate = params.self_signed(&key).map_err(|error| making(&error))?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    // Not `from_der`, which refuses the one critical extension that this is about.
    let key = aws_lc_rs::default_provider().key_provider.load_private_key(key).map_err(|error| making(&error))?;
    Ok(CertifiedKey::new(vec![certificate.der().clone()], key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_proven_at_once_have_a_bound() {
        let challenges = AlpnChallenges::default();
        let one = |n: usize| challenges.insert(&format!("n{n}.example.com"), &[7; 32]);
        assert!((0..CHALLENGES_MAX).all(|n| one(n).is_ok()));
        assert!(one(CHALLENGES_MAX).is_err());
        assert!(one(0).is_ok(), "a name may be asked for again");
        challenges.remove("N1.example.com");
        assert!(one(CHALLENGES_MAX).is_ok());
        assert!(challenges.of("N2.EXAMPLE.com").is_some() && challenges.of("n1.example.com").is_none());
    }
}
