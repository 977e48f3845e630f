//! What signs our own messages. RFC 6376, RFC 8463.

use std::path::Path;

use mail_auth::common::crypto::{DkimKey, Ed25519Key, RsaKey, Sha256};
use mail_auth::common::headers::HeaderWriter;
use mail_auth::dkim::{DkimSigner, Done};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;

use crate::inbound::{LOOP_FIELD, POLICY_FIELD};

/// The fields that are signed where they are there.
const FIELDS: [&str; 13] = [
    "From",
    "To",
    "Subject",
    "Date",
    "Message-ID",
    "In-Reply-To",
    "References",
    "Auto-Submitted",
    "MIME-Version",
    "Content-Type",
    "Content-Transfer-Encoding",
    POLICY_FIELD,
    LOOP_FIELD,
];

/// The key of this domain, at its selector.
pub(crate) struct Signature(DkimSigner<DkimKey, Done>);

impl Signature {
    /// Reads the key.
    ///
    /// # Errors
    /// The file can't be read, or holds no key that can sign.
    pub(crate) fn open(file: &Path, selector: &str, domain: &str) -> Result<Self, String> {
        let pem = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let key = key(&pem).ok_or_else(|| {
            let file = file.display();
            format!("{file} holds no private key in PEM: PKCS #8 with RSA of 2048 bits or more, or Ed25519")
        })?;
        Ok(Self(DkimSigner::from_key(key).domain(domain).selector(selector).headers(FIELDS)))
    }

    /// The message, with its signature before it. `None` when it can't be signed.
    pub(crate) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let signature = self.0.sign(message).ok()?;
        let mut signed = signature.to_header().into_bytes();
        signed.extend_from_slice(message);
        Some(signed)
    }
}

fn key(pem: &[u8]) -> Option<DkimKey> {
    let der = PrivateKeyDer::from_pem_slice(pem).ok()?;
    if let PrivateKeyDer::Pkcs8(pkcs8) = &der
        && let Ok(key) = Ed25519Key::from_pkcs8_maybe_unchecked_der(pkcs8.secret_pkcs8_der())
    {
        return Some(key.into());
    }
    RsaKey::<Sha256>::from_key_der(der).ok().map(Into::into)
}
