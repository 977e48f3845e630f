//! x402 over plain HTTP, both versions: a payment in a header of a POST, an offer beside a 402, a receipt beside an
//! answer. PolicyResolution 5.3, pattern 1.
//!
//! | | version 1 | version 2 |
//! |---|---|---|
//! | offer | `x402Version`, `error`, `accepts` in the JSON body | `PAYMENT-REQUIRED` |
//! | payment | `X-PAYMENT` | `PAYMENT-SIGNATURE` |
//! | receipt | `X-PAYMENT-RESPONSE` | `PAYMENT-RESPONSE` |
//!
//! Each header is JSON in base64. What an offer or a payment says is for its scheme to read; nothing is looked at
//! here but the version.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use forecourt_core::PolicyPart;
use forecourt_core::json;
use forecourt_core::policy::{PaymentSubmission, RefusalKind, sanitize_map};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::errors::Failure;
use super::limits::{PAYMENT_BYTES_MAX, POLICY_FIELD_BYTES_MAX};

/// What the schemes and submissions of x402 begin with.
const FAMILY: &str = "x402";
static X_PAYMENT: HeaderName = HeaderName::from_static("x-payment");
static PAYMENT_SIGNATURE: HeaderName = HeaderName::from_static("payment-signature");
static X_PAYMENT_RESPONSE: HeaderName = HeaderName::from_static("x-payment-response");
static PAYMENT_RESPONSE: HeaderName = HeaderName::from_static("payment-response");
static PAYMENT_REQUIRED: HeaderName = HeaderName::from_static("payment-required");

/// Members of an envelope of version 1 that stand in the body of a 402 beside ours.
const BODY_MEMBERS: [&str; 3] = ["x402Version", "error", "accepts"];

/// The payment that a POST carries, if it carries one. Fails when it is not base64 of a JSON object, is longer than
/// [`PAYMENT_BYTES_MAX`], or is not the only one.
pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Option<PaymentSubmission>, Failure> {
    let mut fields = headers.get_all(&X_PAYMENT).iter().chain(headers.get_all(&PAYMENT_SIGNATURE));
    let Some(field) = fields.next() else { return Ok(None) };
    if fields.next().is_some() {
        return Err(Failure::bad_request("a request carries one payment at most"));
    }
    of_text(field.to_str().unwrap_or_default()).map(Some)
}

/// Whether a request comes from a program that pays with x402.
pub(crate) fn is_x402(headers: &HeaderMap) -> bool {
    headers.contains_key(&X_PAYMENT) || headers.contains_key(&PAYMENT_SIGNATURE)
}

/// A payment as text: JSON, or JSON in base64.
pub(crate) fn of_text(text: &str) -> Result<PaymentSubmission, Failure> {
    let text = text.trim();
    if text.len() > PAYMENT_BYTES_MAX {
        return Err(Failure::bad_request(format!("the payment is longer than {PAYMENT_BYTES_MAX} bytes")));
    }
    let bytes = match text.starts_with('{') {
        true => Some(text.as_bytes().to_vec()),
        false => [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD].iter().find_map(|form| form.decode(text).ok()),
    };
    match bytes.and_then(|bytes| json::parse(&bytes).ok()) {
        Some(Value::Object(payload)) => of_payload(payload),
        _ => Err(Failure::bad_request("the payment must be a JSON object in base64")),
    }
}

/// A payment as an object, which must say its version.
pub(crate) fn of_payload(mut payload: Map<String, Value>) -> Result<PaymentSubmission, Failure> {
    sanitize_map(&mut payload);
    match payload.get("x402Version").is_some_and(Value::is_u64) {
        true => Ok(PaymentSubmission { family: FAMILY, payload }),
        false => Err(Failure::bad_request("the payment has no `x402Version`")),
    }
}

/// The first offer of a refusal in this version of x402.
fn offer(part: &PolicyPart, version: u64) -> Option<&Map<String, Value>> {
    let RefusalKind::PaymentRequired { accepted_payments } = &part.kind else { return None };
    let x402 = accepted_payments.iter().filter(|offer| offer.scheme.split('.').next() == Some(FAMILY));
    x402.map(|offer| &offer.payload).find(|payload| payload.get("x402Version").and_then(Value::as_u64) == Some(version))
}

/// What the JSON body of a 402 has beside our own members, for clients of version 1: the offer's, to the byte.
pub(crate) fn body_members(part: &PolicyPart) -> Map<String, Value> {
    let Some(offer) = offer(part, 1) else { return Map::new() };
    let member = |name: &&str| Some(((*name).to_owned(), offer.get(*name)?.clone()));
    BODY_MEMBERS.iter().filter_map(member).collect()
}

/// Adds the offer for clients of version 2. One longer than [`POLICY_FIELD_BYTES_MAX`] is in the body alone.
pub(crate) fn add_offer(head: &mut HeaderMap, part: &PolicyPart) {
    if let Some(value) = offer(part, 2).and_then(packed) {
        head.insert(&PAYMENT_REQUIRED, value);
    }
}

/// Adds the receipt in the words of the version that was paid with.
pub(crate) fn add_receipt(head: &mut HeaderMap, asked: &HeaderMap, receipt: &Map<String, Value>) {
    let name = match asked.contains_key(&PAYMENT_SIGNATURE) {
        true => &PAYMENT_RESPONSE,
        false => &X_PAYMENT_RESPONSE,
    };
    if let Some(value) = packed(receipt) {
        head.insert(name, value);
    }
}

fn packed(value: &Map<String, Value>) -> Option<HeaderValue> {
    let text = STANDARD.encode(serde_json::to_vec(value).ok()?);
    if text.len() > POLICY_FIELD_BYTES_MAX { None } else { HeaderValue::from_str(&text).ok() }
}

#[cfg(test)]
mod tests {
    use forecourt_core::policy::AcceptedPayment;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn headers(fields: &[(&'static str, String)]) -> HeaderMap {
        let field = |(name, value): &(&'static str, String)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        fields.iter().map(field).collect()
    }

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn s9_4_both_headers_carry_a_payment() {
        let payment = json!({"x402Version": 1, "payload": {"a": "b"}});
        for name in ["x-payment", "payment-signature"] {
            for form in [STANDARD, URL_SAFE_NO_PAD] {
                let found = from_headers(&headers(&[(name, form.encode(payment.to_string()))])).unwrap().unwrap();
                assert_eq!((found.family, found.payload), ("x402", object(payment.clone())));
            }
        }
        assert_eq!(from_headers(&HeaderMap::new()), Ok(None));
    }

    #[test]
    fn s9_4_what_is_no_payment_is_told_so() {
        let bad = |text: &str| from_headers(&headers(&[("x-payment", text.to_owned())])).unwrap_err();
        for text in ["", "x", "e30", &STANDARD.encode("[1]"), &STANDARD.encode("{\"x402Version\":1"), "{\"a\":1}"] {
            assert_eq!(bad(text).status, 400, "{text}");
        }
        let one = STANDARD.encode(r#"{"x402Version":1}"#);
        let two = [("x-payment", one.clone()), ("payment-signature", one)];
        assert!(from_headers(&headers(&two)).is_err());
    }

    #[test]
    fn s9_4_a_payment_is_bounded() {
        let padded = |bytes: usize| format!("{{\"x402Version\":1{}}}", " ".repeat(bytes - 17));
        assert!(of_text(&padded(PAYMENT_BYTES_MAX)).is_ok());
        assert!(of_text(&padded(PAYMENT_BYTES_MAX + 1)).unwrap_err().message.contains("16384"));
    }

    #[test]
    fn policy5_2_a_payment_holds_no_keys_that_reach_behind_it() {
        let found = of_text(r#"{"x402Version":1,"__proto__":{"a":1},"payload":{"constructor":1,"b":2}}"#).unwrap();
        assert_eq!(found.payload, object(json!({"x402Version": 1, "payload": {"b": 2}})));
    }

    #[test]
    fn s9_4_an_offer_stands_where_its_version_looks_for_it() {
        let first = json!({"x402Version": 1, "error": "pay", "accepts": [{"payTo": "0x1"}]});
        let second = json!({"x402Version": 2, "resource": {"url": "u"}, "accepts": []});
        let accepted_payments = [&first, &second, &json!({"x402Version": 1, "accepts": []})]
            .map(|payload| AcceptedPayment { scheme: "x402.exact".into(), payload: object(payload.clone()) })
            .to_vec();
        let part = PolicyPart::new(RefusalKind::PaymentRequired { accepted_payments }, "m");
        assert_eq!(body_members(&part), object(first));
        let mut head = HeaderMap::new();
        add_offer(&mut head, &part);
        let packed = STANDARD.decode(head["payment-required"].as_bytes()).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&packed).unwrap(), second);
        assert!(body_members(&PolicyPart::new(RefusalKind::Forbidden, "m")).is_empty());
    }

    #[test]
    fn s9_4_an_offer_that_no_proxy_would_carry_is_in_the_body_alone() {
        let added = |bytes: usize| {
            // In base64 four characters for three bytes.
            let frame = serde_json::to_vec(&json!({"x402Version": 2, "e": ""})).unwrap().len();
            let payload = object(json!({"x402Version": 2, "e": "e".repeat(bytes / 4 * 3 - frame)}));
            let accepted_payments = vec![AcceptedPayment { scheme: "x402.exact".into(), payload }];
            let mut head = HeaderMap::new();
            add_offer(&mut head, &PolicyPart::new(RefusalKind::PaymentRequired { accepted_payments }, "m"));
            head.get("payment-required").map(HeaderValue::len)
        };
        assert_eq!(added(POLICY_FIELD_BYTES_MAX), Some(POLICY_FIELD_BYTES_MAX));
        assert_eq!(added(POLICY_FIELD_BYTES_MAX + 4), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "\\PC{0,60}|[A-Za-z0-9+/=]{0,60}") {
            let _ = of_text(&text);
        }
    }
}
