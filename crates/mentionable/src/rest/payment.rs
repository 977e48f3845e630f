//! x402 over plain HTTP, both versions: a payment in a header of a POST, an offer beside a 402, a receipt beside an
//! answer. PolicyResolution 5.3, pattern 1.
//!
//! | | version 1 | version 2 |
//! |---|---|---|
//! | offer | `x402Version`, `error`, `accepts` in the JSON body | `PAYMENT-REQUIRED` |
//! | payment | `X-PAYMENT` | `PAYMENT-SIGNATURE` |
//! | receipt | `X-PAYMENT-RESPONSE` | `PAYMENT-RESPONSE` |
//!
//! What these hold is known to `forecourt-payments`; here is where they stand.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_core::json;
use forecourt_core::policy::{PaymentSubmission, RefusalKind};
use forecourt_core::{PolicyPart, Sender};
use forecourt_payments::crawl;
use forecourt_payments::x402::http::{self as x402, PAYMENT_REQUIRED};
use forecourt_payments::{receipt_field, submission};
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};

use super::errors::Failure;
use super::limits::{PAYMENT_BYTES_MAX, POLICY_FIELD_BYTES_MAX};

/// What the schemes of x402 begin with.
const SCHEME: &str = "x402.";
/// What the code of a refusal begins with whose payment was not taken; the scheme's own word follows.
const FAULT_CODE: &str = "payment:";
/// Members of an envelope of version 1 that stand in the body of a 402 beside ours.
const BODY_MEMBERS: [&str; 3] = ["x402Version", "error", "accepts"];

/// The payment that a POST carries, if it carries one. Fails when it can't be read or is not the only one.
pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Option<PaymentSubmission>, Failure> {
    let found = x402::from_headers(headers).map_err(|error| Failure::bad_request(error.message))?;
    Ok(found.map(|(_, payment)| payment))
}

/// What a verified crawler agrees to be charged for a request. Fails when that can't be read.
pub(crate) fn agreed(headers: &HeaderMap, sender: &Sender) -> Result<Option<PaymentSubmission>, Failure> {
    crawl::submission(headers, sender).map_err(|error| Failure::bad_request(error.to_string()))
}

/// A payment as text, at most [`PAYMENT_BYTES_MAX`] bytes: JSON, or JSON in base64.
pub(crate) fn of_text(text: &str) -> Result<PaymentSubmission, Failure> {
    let text = text.trim();
    if text.len() > PAYMENT_BYTES_MAX {
        return Err(Failure::bad_request(format!("the payment is longer than {PAYMENT_BYTES_MAX} bytes")));
    }
    let read = match text.starts_with('{') {
        true => json::parse(text.as_bytes()).ok(),
        false => HeaderValue::from_str(text).ok().and_then(|value| x402::decode(&value).ok()),
    };
    let read = read.ok_or_else(|| Failure::bad_request("the payment must be a JSON object, or the same in base64"))?;
    of_value(read)
}

/// A payment as JSON, which says of which family it is.
pub(crate) fn of_value(value: Value) -> Result<PaymentSubmission, Failure> {
    submission(value).map_err(|error| Failure::bad_request(error.message))
}

/// The first offer of a refusal in this version of x402, to the byte; of one whose payment was not taken, with why.
fn offer(part: &PolicyPart, version: u64) -> Option<Map<String, Value>> {
    let RefusalKind::PaymentRequired { accepted_payments } = &part.kind else { return None };
    let x402 = accepted_payments.iter().filter(|offer| offer.scheme.starts_with(SCHEME));
    let is_of = |payload: &&Map<String, Value>| payload.get("x402Version").and_then(Value::as_u64) == Some(version);
    let mut offer = x402.map(|offer| &offer.payload).find(is_of)?.clone();
    if let Some(code) = part.code.as_deref().and_then(|code| code.strip_prefix(FAULT_CODE)) {
        offer.insert("error".to_owned(), code.into());
    }
    Some(offer)
}

/// What the JSON body of a 402 has beside our own members, for clients of version 1: the offer's.
pub(crate) fn body_members(part: &PolicyPart) -> Map<String, Value> {
    let mut offer = offer(part, 1).unwrap_or_default();
    offer.retain(|name, _| BODY_MEMBERS.contains(&name.as_str()));
    offer
}

/// Adds the offer for clients of version 2, and the price for crawlers. One longer than [`POLICY_FIELD_BYTES_MAX`] is in the body alone.
pub(crate) fn add_offer(head: &mut HeaderMap, part: &PolicyPart) {
    if let RefusalKind::PaymentRequired { accepted_payments } = &part.kind {
        head.extend(crawl::price(accepted_payments).map(|price| (crawl::CRAWLER_PRICE, price.field())));
    }
    let text = offer(part, 2).and_then(|offer| serde_json::to_vec(&offer).ok()).map(|bytes| STANDARD.encode(bytes));
    let short = text.filter(|text| text.len() <= POLICY_FIELD_BYTES_MAX);
    head.extend(short.and_then(|text| HeaderValue::from_str(&text).ok()).map(|value| (PAYMENT_REQUIRED, value)));
}

/// Adds the receipt in the words of the version that was paid with; version 1 where no header paid.
pub(crate) fn add_receipt(head: &mut HeaderMap, asked: &HeaderMap, receipt: &Map<String, Value>) {
    let field = receipt_field(asked, receipt);
    head.extend(field.filter(|(_, value)| value.len() <= POLICY_FIELD_BYTES_MAX));
}

/// The transaction of a receipt, where it names one.
pub(crate) fn transaction(receipt: &Map<String, Value>) -> Option<&str> {
    forecourt_core::policy::transaction(receipt)
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD_NO_PAD;
    use forecourt_core::policy::AcceptedPayment;
    use http::HeaderName;
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
            for form in [STANDARD, STANDARD_NO_PAD] {
                let found = from_headers(&headers(&[(name, form.encode(payment.to_string()))])).unwrap().unwrap();
                assert_eq!((found.family, found.payload), ("x402", object(payment.clone())));
            }
        }
        assert!(matches!(from_headers(&HeaderMap::new()), Ok(None)));
    }

    #[test]
    fn ap2_a_mandate_is_a_payment_as_json() {
        let mandate = r#"{"ap2.mandates.PaymentMandate":{"user_authorization":"a.b.c"},"risk_data":"r"}"#;
        let found = of_text(mandate).unwrap();
        assert_eq!((found.family, found.payload.len()), ("ap2", 1));
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
        let refused = PolicyPart { code: Some("payment:INSUFFICIENT_FUNDS".into()), ..part };
        assert_eq!(body_members(&refused)["error"], "INSUFFICIENT_FUNDS");
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
