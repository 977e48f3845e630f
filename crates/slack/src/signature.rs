//! Whether an event is Slack's: an HMAC over its time and its body, version `v0`.

use aws_lc_rs::hmac::{HMAC_SHA256, Key, verify};
use forecourt_connectors::EventError;
use forecourt_core::Timestamp;
use http::HeaderMap;

use crate::limits::SIGNATURE_AGE_MAX;

const SIGNATURE: &str = "x-slack-signature";
const TIME: &str = "x-slack-request-timestamp";
const VERSION: &str = "v0=";

/// Holds an event against the secret. What was signed too long ago may be a copy that somebody sends.
pub(crate) fn check(secret: &str, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Result<(), EventError> {
    let unsigned = EventError::Unproven("the event is not signed");
    let field = |name: &str| {
        let mut all = headers.get_all(name).iter();
        all.next().filter(|_| all.next().is_none()).and_then(|value| value.to_str().ok())
    };
    let (signature, time) = (field(SIGNATURE).ok_or(unsigned)?, field(TIME).ok_or(unsigned)?);
    let is_number = !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit());
    let signed_at: i64 = time.parse().ok().filter(|_| is_number).ok_or(unsigned)?;
    if signed_at.abs_diff(now.as_second()) > SIGNATURE_AGE_MAX.as_secs() {
        return Err(EventError::Unproven("the signature of the event is too old, or the clock of this host is wrong"));
    }
    let tag = signature.strip_prefix(VERSION).and_then(from_hex).ok_or(unsigned)?;
    let signed = [b"v0:", time.as_bytes(), b":", body].concat();
    verify(&Key::new(HMAC_SHA256, secret.as_bytes()), &signed, &tag)
        .map_err(|_| EventError::Unproven("the signature of the event is not that of the app"))
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| Some(digit(pair[0])? * 16 + digit(pair[1])?);
    (text.len() == 64).then(|| text.as_bytes().chunks_exact(2).map(pair).collect()).flatten()
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::hmac::sign;

    use super::*;

    const SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";
    const AT: i64 = 1_531_420_618;

    fn now(seconds: i64) -> Timestamp {
        Timestamp::from_second(AT + seconds).unwrap()
    }

    fn headers(time: &str, body: &[u8]) -> HeaderMap {
        let tag = sign(&Key::new(HMAC_SHA256, SECRET.as_bytes()), &[b"v0:", time.as_bytes(), b":", body].concat());
        let hex = tag.as_ref().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        let mut headers = HeaderMap::new();
        headers.insert(SIGNATURE, format!("v0={hex}").parse().unwrap());
        headers.insert(TIME, time.parse().unwrap());
        headers
    }

    #[test]
    fn a_signature_holds_for_five_minutes_either_way() {
        let headers = headers(&AT.to_string(), b"{}");
        for (seconds, is_fine) in [(0, true), (300, true), (301, false), (-300, true), (-301, false)] {
            assert_eq!(check(SECRET, &headers, b"{}", now(seconds)).is_ok(), is_fine, "{seconds}");
        }
    }

    #[test]
    fn what_is_signed_by_nobody_or_by_somebody_else_is_refused() {
        let fine = headers(&AT.to_string(), b"{}");
        assert!(check(SECRET, &fine, b"{ }", now(0)).is_err(), "another body");
        assert!(check("another", &fine, b"{}", now(0)).is_err(), "another secret");
        let mut other_time = fine.clone();
        other_time.insert(TIME, (AT + 1).to_string().parse().unwrap());
        assert!(check(SECRET, &other_time, b"{}", now(0)).is_err(), "another time");
        for (field, value) in [(SIGNATURE, ""), (SIGNATURE, "v0="), (SIGNATURE, "v1=00"), (TIME, "+1"), (TIME, "")] {
            let mut bad = fine.clone();
            bad.insert(field, value.parse().unwrap());
            assert!(check(SECRET, &bad, b"{}", now(0)).is_err(), "{field} {value}");
        }
        let mut twice = fine.clone();
        twice.append(SIGNATURE, fine[SIGNATURE].clone());
        assert!(check(SECRET, &twice, b"{}", now(0)).is_err(), "two signatures");
        assert!(check(SECRET, &HeaderMap::new(), b"{}", now(0)).is_err(), "none");
    }
}
