//! Whether an interaction is Discord's: Ed25519 over its time and its body.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use forecourt_connectors::EventError;
use forecourt_core::Timestamp;
use http::HeaderMap;

use crate::limits::SIGNATURE_AGE_MAX;

const SIGNATURE: &str = "x-signature-ed25519";
const TIME: &str = "x-signature-timestamp";

/// The key of an application, by which its interactions are signed.
pub(crate) struct PublicKey([u8; 32]);

impl PublicKey {
    /// A key in 64 hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        from_hex(text).map(Self)
    }

    /// Holds an interaction against the key. What was signed too long ago may be a copy that somebody sends.
    pub(crate) fn check(&self, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Result<(), EventError> {
        let unsigned = EventError::Unproven("the interaction is not signed");
        let field = |name: &str| {
            let mut all = headers.get_all(name).iter();
            all.next().filter(|_| all.next().is_none()).and_then(|value| value.to_str().ok())
        };
        let (signature, time) = (field(SIGNATURE).ok_or(unsigned)?, field(TIME).ok_or(unsigned)?);
        let is_number = !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit());
        let signed_at: i64 = time.parse().ok().filter(|_| is_number).ok_or(unsigned)?;
        let signature: [u8; 64] = from_hex(signature).ok_or(unsigned)?;
        let signed = [time.as_bytes(), body].concat();
        let key = UnparsedPublicKey::new(&ED25519, self.0.as_slice());
        key.verify(&signed, &signature)
            .map_err(|_| EventError::Unproven("the signature of the interaction is not that of the application"))?;
        match signed_at.abs_diff(now.as_second()) <= SIGNATURE_AGE_MAX.as_secs() {
            true => Ok(()),
            false => Err(EventError::Unproven(
                "the signature of the interaction is too old, or the clock of this host is wrong",
            )),
        }
    }
}

fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? * 16 + digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
    use proptest::prelude::*;

    use super::*;

    const AT: i64 = 1_700_000_000;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
    }

    fn pair() -> Ed25519KeyPair {
        Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap()
    }

    fn key() -> PublicKey {
        PublicKey::parse(&hex(pair().public_key().as_ref())).unwrap()
    }

    fn now(seconds: i64) -> Timestamp {
        Timestamp::from_second(AT + seconds).unwrap()
    }

    fn headers(time: &str, body: &[u8]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let signature = pair().sign(&[time.as_bytes(), body].concat());
        headers.insert(SIGNATURE, hex(signature.as_ref()).parse().unwrap());
        headers.insert(TIME, time.parse().unwrap());
        headers
    }

    #[test]
    fn a_signature_holds_for_five_minutes_either_way() {
        let headers = headers(&AT.to_string(), b"{}");
        for (seconds, is_fine) in [(0, true), (300, true), (301, false), (-300, true), (-301, false)] {
            assert_eq!(key().check(&headers, b"{}", now(seconds)).is_ok(), is_fine, "{seconds}");
        }
    }

    #[test]
    fn what_is_signed_by_nobody_or_by_somebody_else_is_refused() {
        let fine = headers(&AT.to_string(), b"{}");
        assert!(key().check(&fine, b"{ }", now(0)).is_err(), "another body");
        let other = Ed25519KeyPair::from_seed_unchecked(&[8; 32]).unwrap();
        let other = PublicKey::parse(&hex(other.public_key().as_ref())).unwrap();
        assert!(other.check(&fine, b"{}", now(0)).is_err(), "another key");
        let mut other_time = fine.clone();
        other_time.insert(TIME, (AT + 1).to_string().parse().unwrap());
        assert!(key().check(&other_time, b"{}", now(0)).is_err(), "another time");
        let zeros = "0".repeat(128);
        for (field, value) in
            [(SIGNATURE, ""), (SIGNATURE, "zz"), (SIGNATURE, zeros.as_str()), (TIME, "+1"), (TIME, "")]
        {
            let mut bad = fine.clone();
            bad.insert(field, value.parse().unwrap());
            assert!(key().check(&bad, b"{}", now(0)).is_err(), "{field} {value}");
        }
        for field in [SIGNATURE, TIME] {
            let mut twice = fine.clone();
            twice.append(field, fine[field].clone());
            assert!(key().check(&twice, b"{}", now(0)).is_err(), "two of {field}");
        }
        assert!(key().check(&HeaderMap::new(), b"{}", now(0)).is_err(), "none");
    }

    #[test]
    fn a_key_has_64_digits() {
        for (text, fits) in [("ab".repeat(32), true), ("ab".repeat(31), false), ("ag".repeat(32), false)] {
            assert_eq!(PublicKey::parse(&text).is_some(), fits, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_made_up_passes(signature in "[0-9a-f]{0,130}", time in "[0-9+ -]{0,12}", body in ".{0,40}") {
            let mut headers = HeaderMap::new();
            headers.insert(SIGNATURE, signature.parse().unwrap());
            headers.insert(TIME, time.parse().unwrap());
            prop_assert!(key().check(&headers, body.as_bytes(), now(0)).is_err());
        }
    }
}
