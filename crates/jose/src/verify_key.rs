//! Keys of others: read from JWK or PEM, bound to one algorithm each.

use aws_lc_rs::hmac;
use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::UnparsedPublicKey;
use ed25519_dalek::pkcs8::DecodePublicKey;
use ed25519_dalek::{Signature, VerifyingKey};
use forecourt_core::Timestamp;
use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_pki_types::pem::PemObject;
use serde_json::{Map, Value};

use crate::algorithm::{Algorithm, Family};
use crate::encoding::{from_base64url, thumbprint, to_base64url};

/// A key that verifies signatures of one algorithm. Never prints what it holds, it may be a secret.
#[derive(Clone)]
pub struct VerifyKey {
    kid: Option<String>,
    algorithm: Algorithm,
    material: Material,
    not_after: Option<Timestamp>,
}

#[derive(Clone)]
enum Material {
    Edwards(VerifyingKey),
    /// An uncompressed point, or a SubjectPublicKeyInfo.
    Curve(Vec<u8>),
    RsaComponents {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    RsaInfo(Vec<u8>),
    // Boxed: it is a kilobyte of prepared state.
    Secret(Box<hmac::Key>),
}

/// Why something is no key that we use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It can't be read.
    #[error("the key can't be read")]
    Malformed,
    /// It is of a kind or for an algorithm that is not supported, or the two do not fit.
    #[error("the key is of a kind that is not supported, or does not fit its algorithm")]
    Unsupported,
    /// It is not for verifying signatures.
    #[error("the key is not meant for signatures")]
    WrongUse,
    /// It is too short.
    #[error("the key is too short for its algorithm")]
    TooShort,
    /// The set has too many keys, two of one name, or secrets beside public keys.
    #[error("the set of keys is ambiguous or too large")]
    Ambiguous,
}

impl VerifyKey {
    /// An Ed25519 key from its 32 bytes. Weak keys are refused.
    pub fn ed25519(bytes: &[u8]) -> Result<Self, KeyError> {
        let bytes = bytes.try_into().map_err(|_| KeyError::Malformed)?;
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::Malformed)?;
        Self::from_edwards(key)
    }

    /// An Ed25519 key from text: its 32 bytes in base64url, or PEM as the reference implementation of
    /// AGTP has it.
    pub fn ed25519_text(text: &str) -> Option<Self> {
        match text.contains("BEGIN") {
            true => Self::from_pem(text, None).ok().filter(|key| key.edwards_bytes().is_some()),
            false => Self::ed25519(&from_base64url(text)?).ok(),
        }
    }

    fn from_edwards(key: VerifyingKey) -> Result<Self, KeyError> {
        // A key of small order has signatures that hold for many messages.
        match key.is_weak() {
            true => Err(KeyError::Unsupported),
            false => Ok(Self::new(Algorithm::Ed25519, Material::Edwards(key))),
        }
    }

    fn new(algorithm: Algorithm, material: Material) -> Self {
        Self { kid: None, algorithm, material, not_after: None }
    }

    /// The same with a name.
    #[must_use]
    pub fn with_kid(mut self, kid: Option<String>) -> Self {
        self.kid = kid;
        self
    }

    /// The same, good until a moment.
    #[must_use]
    pub fn until(mut self, not_after: Option<Timestamp>) -> Self {
        self.not_after = not_after;
        self
    }

    /// A shared secret for `algorithm`, at least as long as its hash (RFC 7518 3.2).
    pub fn secret(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, KeyError> {
        match (algorithm.family(), algorithm.hmac()) {
            (Family::Secret(least), Some(_)) if bytes.len() < least => Err(KeyError::TooShort),
            (Family::Secret(_), Some(hmac)) => {
                Ok(Self::new(algorithm, Material::Secret(Box::new(hmac::Key::new(hmac, bytes)))))
            }
            _ => Err(KeyError::Unsupported),
        }
    }

    /// A public key from a PEM `PUBLIC KEY`. RSA keys verify `algorithm`, RS256 when it is absent;
    /// for others it must agree with the curve.
    pub fn from_pem(pem: &str, algorithm: Option<Algorithm>) -> Result<Self, KeyError> {
        let info = SubjectPublicKeyInfoDer::from_pem_slice(pem.as_bytes()).map_err(|_| KeyError::Malformed)?;
        let found = algorithm_of(info.as_ref()).ok_or(KeyError::Unsupported)?;
        let algorithm = algorithm.unwrap_or(found);
        if algorithm.family() != found.family() {
            return Err(KeyError::Unsupported);
        }
        match algorithm.family() {
            Family::Edwards => {
                Self::from_edwards(VerifyingKey::from_public_key_der(&info).map_err(|_| KeyError::Malformed)?)
            }
            Family::Curve(..) => Ok(Self::new(algorithm, Material::Curve(info.to_vec()))),
            Family::Rsa => Ok(Self::new(algorithm, Material::RsaInfo(info.to_vec()))),
            Family::Secret(_) => Err(KeyError::Unsupported),
        }
    }

    /// A key from a JWK. Its `alg` must fit its kind; RSA keys without one verify RS256. RFC 7517.
    pub fn from_jwk(jwk: &Map<String, Value>) -> Result<Self, KeyError> {
        Self::read(jwk, Algorithm::Rs256)
    }

    /// A key from a JWK that verifies `algorithm`; an RSA key without `alg` does for each of RSA's. RFC 7517 4.4.
    ///
    /// # Errors
    /// It is of another algorithm, or none that is supported.
    pub(crate) fn from_jwk_for(jwk: &Map<String, Value>, algorithm: Algorithm) -> Result<Self, KeyError> {
        let rsa = if algorithm.family() == Family::Rsa { algorithm } else { Algorithm::Rs256 };
        Self::read(jwk, rsa).and_then(|key| match key.algorithm == algorithm {
            true => Ok(key),
            false => Err(KeyError::Unsupported),
        })
    }

    /// A key from a JWK; `rsa` is the algorithm of an RSA key that names none.
    fn read(jwk: &Map<String, Value>, rsa: Algorithm) -> Result<Self, KeyError> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        let bytes = |name: &str| text(name).and_then(from_base64url).ok_or(KeyError::Malformed);
        check_use(jwk)?;
        let named = match text("alg") {
            Some(name) => Some(Algorithm::from_jose(name).ok_or(KeyError::Unsupported)?),
            None => None,
        };
        let fit = |family: Family| named.is_none_or(|algorithm| algorithm.family() == family);
        let key = match text("kty").ok_or(KeyError::Malformed)? {
            "OKP" if text("crv") == Some("Ed25519") && fit(Family::Edwards) => Self::ed25519(&bytes("x")?)?,
            "EC" => {
                let algorithm = curve_algorithm(text("crv").unwrap_or_default()).ok_or(KeyError::Unsupported)?;
                match fit(algorithm.family()) {
                    true => Self::new(algorithm, point(algorithm, &bytes("x")?, &bytes("y")?)?),
                    false => return Err(KeyError::Unsupported),
                }
            }
            "RSA" if fit(Family::Rsa) => {
                let material = Material::RsaComponents { n: bytes("n")?, e: bytes("e")? };
                Self::new(named.unwrap_or(rsa), material)
            }
            // Only with its algorithm: a secret of unknown use is not one to verify with.
            "oct" => Self::secret(named.ok_or(KeyError::Unsupported)?, &bytes("k")?)?,
            _ => return Err(KeyError::Unsupported),
        };
        Ok(key.with_kid(text("kid").map(str::to_owned)))
    }

    /// The key's name.
    pub fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// What it verifies.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The 32 bytes of an Ed25519 key.
    pub fn edwards_bytes(&self) -> Option<[u8; 32]> {
        match &self.material {
            Material::Edwards(key) => Some(key.to_bytes()),
            _ => None,
        }
    }

    /// The RFC 7638 thumbprint of an Ed25519 key; `None` for others.
    pub fn thumbprint(&self) -> Option<String> {
        self.edwards_bytes().map(|bytes| thumbprint(&to_base64url(&bytes)))
    }

    /// Whether it is a shared secret.
    pub fn is_secret(&self) -> bool {
        matches!(self.material, Material::Secret(_))
    }

    /// Whether it may still be used.
    pub fn is_good_at(&self, now: Timestamp) -> bool {
        self.not_after.is_none_or(|end| now < end)
    }

    /// Whether `signature` is one over `message` by this key. Ed25519 is verified strictly: no
    /// second form of a signature passes.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.material {
            Material::Edwards(key) => {
                Signature::from_slice(signature).is_ok_and(|signature| key.verify_strict(message, &signature).is_ok())
            }
            Material::Curve(point) => {
                let algorithm = self.algorithm.curve();
                algorithm.is_some_and(|a| UnparsedPublicKey::new(a, point).verify(message, signature).is_ok())
            }
            Material::RsaInfo(info) => {
                let parameters = self.algorithm.rsa();
                parameters.is_some_and(|p| UnparsedPublicKey::new(p, info).verify(message, signature).is_ok())
            }
            Material::RsaComponents { n, e } => {
                let parameters = self.algorithm.rsa();
                parameters.is_some_and(|p| PublicKeyComponents { n, e }.verify(p, message, signature).is_ok())
            }
            Material::Secret(key) => hmac::verify(key, message, signature).is_ok(),
        }
    }
}

impl std::fmt::Debug for VerifyKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VerifyKey").field("kid", &self.kid).field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

/// `use` and `key_ops`, where present, must speak of signatures. RFC 7517 4.2, 4.3.
fn check_use(jwk: &Map<String, Value>) -> Result<(), KeyError> {
    let use_fits = jwk.get("use").is_none_or(|value| value == "sig");
    let ops_fit = match jwk.get("key_ops") {
        None => true,
        Some(Value::Array(ops)) => ops.iter().any(|op| op == "verify" || op == "sign"),
        Some(_) => false,
    };
    if use_fits && ops_fit { Ok(()) } else { Err(KeyError::WrongUse) }
}

fn curve_algorithm(curve: &str) -> Option<Algorithm> {
    let fits = |algorithm: &Algorithm| matches!(algorithm.family(), Family::Curve(name, _) if name == curve);
    Algorithm::ALL.into_iter().find(fits)
}

/// The uncompressed form of a point. SEC 1, 2.3.3.
fn point(algorithm: Algorithm, x: &[u8], y: &[u8]) -> Result<Material, KeyError> {
    match algorithm.family() {
        Family::Curve(_, length) if x.len() == length && y.len() == length => {
            Ok(Material::Curve([&[4], x, y].concat()))
        }
        _ => Err(KeyError::Malformed),
    }
}

/// Which algorithm a SubjectPublicKeyInfo is for, by the identifiers at its beginning.
fn algorithm_of(info: &[u8]) -> Option<Algorithm> {
    const IDENTIFIERS: [(&[u8], Algorithm); 5] = [
        (&[0x06, 0x03, 0x2b, 0x65, 0x70], Algorithm::Ed25519),
        (&[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07], Algorithm::Es256),
        (&[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22], Algorithm::Es384),
        (&[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23], Algorithm::Es512),
        (&[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01], Algorithm::Rs256),
    ];
    // Two sequences, and for curves the identifier of elliptic keys, stand before it.
    let head = info.get(..info.len().min(32))?;
    let holds = |identifier: &[u8]| head.windows(identifier.len()).any(|window| window == identifier);
    IDENTIFIERS.into_iter().find(|(identifier, _)| holds(identifier)).map(|(_, algorithm)| algorithm)
}
