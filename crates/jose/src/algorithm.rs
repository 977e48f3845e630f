//! Signature algorithms: their names in JOSE and in HTTP signatures, and how they verify.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ECDSA_P521_SHA512_FIXED, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384,
    RSA_PSS_2048_8192_SHA512, RsaParameters, VerificationAlgorithm,
};
use aws_lc_rs::{digest, hmac};

/// A signature algorithm. A key has exactly one; what a token says only has to agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// EdDSA over edwards25519.
    Ed25519,
    /// ECDSA over P-256 with SHA-256.
    Es256,
    /// ECDSA over P-384 with SHA-384.
    Es384,
    /// ECDSA over P-521 with SHA-512.
    Es512,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
    /// HMAC with SHA-256.
    Hs256,
    /// HMAC with SHA-384.
    Hs384,
    /// HMAC with SHA-512.
    Hs512,
}

/// What kind of key an algorithm works with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Edwards,
    /// The curve, as in `crv`, and the bytes of one coordinate.
    Curve(&'static str, usize),
    Rsa,
    /// A shared secret of at least so many bytes (RFC 7518 3.2).
    Secret(usize),
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 13] = [
        Self::Ed25519,
        Self::Es256,
        Self::Es384,
        Self::Es512,
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Hs256,
        Self::Hs384,
        Self::Hs512,
    ];

    /// Reads a JOSE name; `Ed25519` (RFC 9864) is the same as `EdDSA`. `none` is not one.
    pub fn from_jose(name: &str) -> Option<Self> {
        match name {
            "Ed25519" => Some(Self::Ed25519),
            _ => Self::ALL.into_iter().find(|algorithm| algorithm.jose_name() == name),
        }
    }

    /// The name in JOSE. RFC 7518 3.1, RFC 8037 3.1.
    pub(crate) fn jose_name(self) -> &'static str {
        match self {
            Self::Ed25519 => "EdDSA",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Es512 => "ES512",
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Hs256 => "HS256",
            Self::Hs384 => "HS384",
            Self::Hs512 => "HS512",
        }
    }

    /// The name in HTTP signatures, if it has one. RFC 9421 6.2.2.
    pub fn http_name(self) -> Option<&'static str> {
        match self {
            Self::Ed25519 => Some("ed25519"),
            Self::Es256 => Some("ecdsa-p256-sha256"),
            Self::Es384 => Some("ecdsa-p384-sha384"),
            Self::Rs256 => Some("rsa-v1_5-sha256"),
            Self::Ps512 => Some("rsa-pss-sha512"),
            Self::Hs256 => Some("hmac-sha256"),
            Self::Es512 | Self::Rs384 | Self::Rs512 | Self::Ps256 | Self::Ps384 | Self::Hs384 | Self::Hs512 => None,
        }
    }

    /// Reads the name in HTTP signatures.
    pub fn from_http(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.http_name() == Some(name))
    }

    pub(crate) fn family(self) -> Family {
        match self {
            Self::Ed25519 => Family::Edwards,
            Self::Es256 => Family::Curve("P-256", 32),
            Self::Es384 => Family::Curve("P-384", 48),
            Self::Es512 => Family::Curve("P-521", 66),
            Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps256 | Self::Ps384 | Self::Ps512 => Family::Rsa,
            Self::Hs256 => Family::Secret(digest::SHA256_OUTPUT_LEN),
            Self::Hs384 => Family::Secret(digest::SHA384_OUTPUT_LEN),
            Self::Hs512 => Family::Secret(digest::SHA512_OUTPUT_LEN),
        }
    }

    pub(crate) fn rsa(self) -> Option<&'static RsaParameters> {
        match self {
            Self::Rs256 => Some(&RSA_PKCS1_2048_8192_SHA256),
            Self::Rs384 => Some(&RSA_PKCS1_2048_8192_SHA384),
            Self::Rs512 => Some(&RSA_PKCS1_2048_8192_SHA512),
            Self::Ps256 => Some(&RSA_PSS_2048_8192_SHA256),
            Self::Ps384 => Some(&RSA_PSS_2048_8192_SHA384),
            Self::Ps512 => Some(&RSA_PSS_2048_8192_SHA512),
            _ => None,
        }
    }

    pub(crate) fn curve(self) -> Option<&'static dyn VerificationAlgorithm> {
        match self {
            Self::Es256 => Some(&ECDSA_P256_SHA256_FIXED),
            Self::Es384 => Some(&ECDSA_P384_SHA384_FIXED),
            Self::Es512 => Some(&ECDSA_P521_SHA512_FIXED),
            _ => None,
        }
    }

    pub(crate) fn hmac(self) -> Option<hmac::Algorithm> {
        match self {
            Self::Hs256 => Some(hmac::HMAC_SHA256),
            Self::Hs384 => Some(hmac::HMAC_SHA384),
            Self::Hs512 => Some(hmac::HMAC_SHA512),
            _ => None,
        }
    }
}
