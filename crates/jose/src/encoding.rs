//! base64url, as strict as each place needs it, and SHA-256.

use base64::alphabet;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};

const EITHER_PADDING: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const URL_SAFE_LENIENT: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, EITHER_PADDING);
const STANDARD_LENIENT: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, EITHER_PADDING);

/// Writes base64url without padding.
pub fn to_base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Writes base64 with padding.
pub fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Reads base64url without padding and with nothing to spare. RFC 7515 2.
pub fn from_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Reads base64url with or without padding, and no other alphabet.
pub fn from_base64url_lenient(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_LENIENT.decode(text).ok()
}

/// Reads base64url or base64, with or without padding.
pub fn from_any_base64(text: &str) -> Option<Vec<u8>> {
    from_base64url_lenient(text).or_else(|| STANDARD_LENIENT.decode(text).ok())
}

/// SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> Vec<u8> {
    aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes).as_ref().to_vec()
}

/// The thumbprint of an Ed25519 key. RFC 7638 3, RFC 8037 2.
pub(crate) fn thumbprint(x: &str) -> String {
    to_base64url(&sha256(format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#).as_bytes()))
}
