//! `X-Hub-Signature-256`: HMAC-SHA-256 over the exact bytes of a body. Mentionable REST 5.5.

use aws_lc_rs::{constant_time, hmac};
use http::HeaderName;

/// The field that carries the signature.
pub const HEADER: HeaderName = HeaderName::from_static("x-hub-signature-256");

const PREFIX: &str = "sha256=";

/// The value of the field: `sha256=` and 64 lower-case hex digits.
pub fn sign(secret: &[u8], body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let tag = hmac::sign(&key, body);
    tag.as_ref().iter().fold(PREFIX.to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

/// Whether a value is this signature, in constant time: for values of which several are given for one body.
pub fn is_same(signature: &str, value: &str) -> bool {
    constant_time::verify_slices_are_equal(signature.as_bytes(), value.as_bytes()).is_ok()
}

/// Whether `value` signs `body`, in constant time. Prefix and digits must be in lower case.
pub fn verify(secret: &[u8], body: &[u8], value: &str) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let tag = value.strip_prefix(PREFIX).and_then(from_hex);
    tag.is_some_and(|tag| hmac::verify(&key, body, &tag).is_ok())
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let pair = |pair: &[u8]| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?);
    text.as_bytes().chunks(2).map(pair).collect()
}
