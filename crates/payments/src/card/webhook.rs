//! What the provider sends by itself: signed with a secret and the time, over the bytes as they came. It is believed to
//! say that something happened, and nothing else.

use forecourt_core::policy::{PaymentError, PaymentNotice};
use forecourt_core::{Timestamp, json};
use forecourt_egress::signature;
use serde_json::Value;

use super::wire::is_id;
use crate::limits::{NOTICE_BYTES_MAX, NOTICE_SIGNATURES_MAX, NOTICE_TOLERANCE_SECONDS};

/// The field that carries the time and the signatures: `t=…,v1=…,v1=…`.
pub const SIGNATURE: &str = "stripe-signature";

/// What the names of notices begin with that may be about a payment of ours.
const KINDS: [&str; 3] = ["checkout.session.", "payment_intent.", "charge."];

/// Reads a notice.
///
/// # Errors
/// When it is not from the provider, or not from now. Nobody is told which secret would have been right.
pub(super) fn read(
    secrets: &[String],
    now: Timestamp,
    field: Option<&str>,
    body: &[u8],
) -> Result<PaymentNotice, PaymentError> {
    if body.len() > NOTICE_BYTES_MAX {
        return Err(refused(&format!("it has more than {NOTICE_BYTES_MAX} bytes")));
    }
    let field = field.ok_or_else(|| refused("it has no signature"))?;
    let time = time_of(field).ok_or_else(|| refused("its signature has no time"))?;
    // Before anything is computed over what a stranger may have sent.
    if now.as_second().abs_diff(time) > NOTICE_TOLERANCE_SECONDS.unsigned_abs() {
        return Err(refused(&format!("it was signed more than {NOTICE_TOLERANCE_SECONDS} s from now")));
    }
    let signed = [time.to_string().as_bytes(), b".", body].concat();
    // One signature for each secret, with which all that are given are compared in constant time.
    let right: Vec<String> = secrets.iter().map(|secret| signature::sign(secret.as_bytes(), &signed)).collect();
    let is_right = |given: &str| {
        let value = format!("sha256={given}");
        let is = |right: &String| signature::is_same(right, &value);
        right.iter().fold(false, |found, right| is(right) | found)
    };
    if !signatures(field).take(NOTICE_SIGNATURES_MAX).fold(false, |found, given| is_right(given) | found) {
        return Err(refused("its signature is not the provider's"));
    }
    let event = json::parse(body).map_err(|_| refused("it is not JSON"))?;
    let id = event["id"].as_str().filter(|id| is_id(id)).ok_or_else(|| refused("it has no name"))?;
    let is_known = event["type"].as_str().is_some_and(|kind| KINDS.iter().any(|known| kind.starts_with(known)));
    let reference = is_known.then(|| reference_of(&event["data"]["object"])).flatten();
    Ok(PaymentNotice { id: id.to_owned(), reference })
}

/// What an object of the provider's is about.
fn reference_of(object: &Value) -> Option<String> {
    let reference = object["client_reference_id"].as_str().or_else(|| object["metadata"]["reference"].as_str());
    reference.map(str::to_owned)
}

fn time_of(field: &str) -> Option<i64> {
    let digits = parts(field).find_map(|(name, value)| (name == "t").then_some(value))?;
    // One spelling, since it is signed as it is written.
    digits.parse().ok().filter(|time: &i64| time.to_string() == digits)
}

fn signatures(field: &str) -> impl Iterator<Item = &str> {
    parts(field).filter(|(name, _)| *name == "v1").map(|(_, value)| value)
}

fn parts(field: &str) -> impl Iterator<Item = (&str, &str)> {
    field.split(',').filter_map(|part| part.trim().split_once('='))
}

fn refused(why: &str) -> PaymentError {
    PaymentError {
        code: "not_from_provider".to_owned(),
        message: format!("This notice is not taken: {why}."),
        is_passing: false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn field(secret: &str, time: i64, body: &str) -> String {
        let signed = signature::sign(secret.as_bytes(), format!("{time}.{body}").as_bytes());
        format!("t={time},v1={}", signed.trim_start_matches("sha256="))
    }

    fn event(kind: &str) -> String {
        json!({"id": "evt_1", "type": kind, "data": {"object": {"client_reference_id": "abc"}}}).to_string()
    }

    fn take(secrets: &[&str], field: &str, body: &str) -> Result<PaymentNotice, String> {
        let secrets: Vec<String> = secrets.iter().map(|secret| (*secret).to_owned()).collect();
        let now = Timestamp::from_second(NOW).unwrap();
        read(&secrets, now, Some(field), body.as_bytes()).map_err(|error| error.message)
    }

    #[test]
    fn a_notice_says_where_to_look() {
        let body = event("checkout.session.completed");
        let notice = take(&["a"], &field("a", NOW, &body), &body).unwrap();
        assert_eq!((notice.id.as_str(), notice.reference.as_deref()), ("evt_1", Some("abc")));
        let intent = json!({"id": "evt_2", "type": "payment_intent.canceled",
            "data": {"object": {"metadata": {"reference": "def"}}}});
        let body = intent.to_string();
        assert_eq!(take(&["a"], &field("a", NOW, &body), &body).unwrap().reference.as_deref(), Some("def"));
        // Whatever else the provider tells is taken, and means nothing.
        let body = event("customer.created");
        assert_eq!(take(&["a"], &field("a", NOW, &body), &body).unwrap().reference, None);
    }

    #[test]
    fn a_notice_is_from_now_and_the_provider() {
        let body = event("charge.refunded");
        let at = |time| take(&["a"], &field("a", time, &body), &body);
        for within in [NOW - NOTICE_TOLERANCE_SECONDS, NOW, NOW + NOTICE_TOLERANCE_SECONDS] {
            assert!(at(within).is_ok(), "{within}");
        }
        for beyond in [NOW - NOTICE_TOLERANCE_SECONDS - 1, NOW + NOTICE_TOLERANCE_SECONDS + 1, i64::MIN, i64::MAX] {
            assert!(at(beyond).unwrap_err().contains("300 s"), "{beyond}");
        }
        let good = field("a", NOW, &body);
        assert!(take(&["b"], &good, &body).is_err(), "another secret");
        assert!(take(&[], &good, &body).is_err(), "no secret");
        assert!(take(&["a"], &good, &format!("{body} ")).is_err(), "other bytes");
        assert!(take(&["a"], &good.replace("t=18", "t=019"), &body).is_err());
        assert!(take(&["a"], &good.to_uppercase(), &body).is_err());
        for wrong in ["", "t=1", "v1=00", "t=x,v1=00", &format!("t={NOW}"), &format!("t={NOW},v1="), "t=,v1="] {
            assert!(take(&["a"], wrong, &body).is_err(), "{wrong}");
        }
        assert!(read(&["a".to_owned()], Timestamp::UNIX_EPOCH, None, body.as_bytes()).is_err());
    }

    #[test]
    fn secrets_are_replaced_one_by_the_other() {
        let body = event("charge.refunded");
        let (old, new) = (field("old", NOW, &body), field("new", NOW, &body));
        let both = format!("{old},{}", new.split_once(',').unwrap().1);
        for (secrets, given) in [(&["old", "new"][..], &old), (&["old", "new"], &new), (&["new"], &both)] {
            assert!(take(secrets, given, &body).is_ok());
        }
        // What is looked at is bounded.
        let padded = |count: usize| {
            let (time, last) = new.split_once(',').unwrap();
            format!("{time}{},{last}", ",v1=00".repeat(count - 1))
        };
        assert!(take(&["new"], &padded(NOTICE_SIGNATURES_MAX), &body).is_ok());
        assert!(take(&["new"], &padded(NOTICE_SIGNATURES_MAX + 1), &body).is_err());
    }

    #[test]
    fn a_notice_is_bounded() {
        let sized = |bytes: usize| {
            let frame = r#"{"id":"evt_1","type":"x"}"#;
            format!("{frame}{}", " ".repeat(bytes - frame.len()))
        };
        let (most, over) = (sized(NOTICE_BYTES_MAX), sized(NOTICE_BYTES_MAX + 1));
        assert!(take(&["a"], &field("a", NOW, &most), &most).is_ok());
        assert!(take(&["a"], &field("a", NOW, &over), &over).unwrap_err().contains("262144"));
    }

    proptest! {
        #[test]
        fn nothing_that_is_not_signed_is_taken(field in "(t=[0-9]{0,12}|v1=[0-9a-f]{0,70}|[,=a-z0-9 ]{0,8}){0,4}", body in "\\PC{0,80}") {
            prop_assert!(take(&["a"], &field, &body).is_err());
        }

        #[test]
        fn whatever_is_signed_is_read_without_harm(body in "\\PC{0,80}|\\{\"id\":\"[a-z_]{0,4}\",\"type\":\"charge\\.\",\"data\":\\PC{0,20}\\}") {
            let _ = take(&["a"], &field("a", NOW, &body), &body);
        }
    }
}
