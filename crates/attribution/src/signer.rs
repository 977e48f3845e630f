//! What signs records: a key under a name, or nothing. Base 8.1.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_identity::{PublicKey, SigningKey};
use serde_json::Value;

/// Signs payloads as compact JWS. Never prints its key.
#[derive(Debug)]
pub struct RecordSigner {
    /// The protected header in base64url, with the point behind it.
    protected: String,
    key: Option<SigningKey>,
    public: Option<PublicKey>,
}

/// Where the signer is that counts now: keys are rotated while records are written.
pub trait SignerSource: Send + Sync {
    /// The signer for the next record.
    fn signer(&self) -> Arc<RecordSigner>;

    /// The signer for statements on the log itself: how far it is, and where it begins. Statements are signed where
    /// records are not, too: one that is not signed proves nothing, so that a verification takes none.
    fn statement_signer(&self) -> Arc<RecordSigner> {
        self.signer()
    }
}

impl SignerSource for Arc<RecordSigner> {
    fn signer(&self) -> Arc<RecordSigner> {
        Arc::clone(self)
    }
}

impl RecordSigner {
    /// Signs with `key`, under its own name or under `kid`.
    pub fn ed25519(key: SigningKey, kid: Option<&str>) -> Self {
        let mut public = key.public().clone();
        public.kid = kid.unwrap_or(key.kid()).to_owned();
        let header = format!(r#"{{"alg":"EdDSA","kid":{},"typ":"JWT"}}"#, Value::from(public.kid.as_str()));
        Self { protected: protected(&header), key: Some(key), public: Some(public) }
    }

    /// Signs nothing: the third part of what it gives is empty, and readers take it for unverified.
    pub fn unsigned() -> Self {
        Self { protected: protected(r#"{"alg":"none","typ":"JWT"}"#), key: None, public: None }
    }

    /// The public half of the key, under the name that records give it.
    pub fn public(&self) -> Option<&PublicKey> {
        self.public.as_ref()
    }

    /// The compact JWS over `payload`. RFC 7515 7.1.
    pub fn compact(&self, payload: &[u8]) -> String {
        // Four for three, the header, 64 bytes of signature in 86 characters, two points.
        let mut jws = String::with_capacity(self.protected.len() + payload.len().div_ceil(3) * 4 + 88);
        jws.push_str(&self.protected);
        URL_SAFE_NO_PAD.encode_string(payload, &mut jws);
        let signature = self.key.as_ref().map(|key| key.sign(jws.as_bytes()));
        jws.push('.');
        if let Some(signature) = signature {
            URL_SAFE_NO_PAD.encode_string(signature, &mut jws);
        }
        jws
    }
}

fn protected(header: &str) -> String {
    let mut encoded = URL_SAFE_NO_PAD.encode(header);
    encoded.push('.');
    encoded
}
