//! Where payments stand in requests and answers over HTTP.

use ::http::{HeaderMap, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_core::policy::AcceptedPayment;
use forecourt_payments::limits::PAYMENT_HEADER_BYTES_MAX;
use forecourt_payments::x402::http::{self, decode, from_headers, receipt, required};
use forecourt_payments::x402::{PaymentRequired, SignedPayment, Version};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn header(value: &Value) -> HeaderValue {
    HeaderValue::from_str(&STANDARD.encode(value.to_string())).unwrap()
}

fn payment(version: u64) -> Value {
    let authorization = json!({
        "from": "0x857b06519E91e3A54538791bDbb0E22373e36b66",
        "to": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
        "value": "10000",
        "validAfter": "1740672089",
        "validBefore": "1740672154",
        "nonce": "0xf3746613c2d920b5fdabc0856f2aeb2d4f88ee6037b8cc5d04a71a4462f13480",
    });
    let exact = json!({"signature": "0x2d6a75", "authorization": authorization});
    match version {
        1 => json!({"x402Version": 1, "scheme": "exact", "network": "base-sepolia", "payload": exact}),
        _ => json!({"x402Version": 2, "accepted": requirements(2), "payload": exact}),
    }
}

fn requirements(version: u64) -> Value {
    let asset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
    let pay_to = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
    match version {
        1 => json!({
            "scheme": "exact", "network": "base-sepolia", "maxAmountRequired": "10000", "asset": asset,
            "payTo": pay_to, "resource": "https://shop.example/~chef", "description": "", "maxTimeoutSeconds": 60,
            "outputSchema": null, "later": {"kept": true},
        }),
        _ => json!({
            "scheme": "exact", "network": "eip155:84532", "amount": "10000", "asset": asset, "payTo": pay_to,
            "maxTimeoutSeconds": 60, "extra": {"name": "USDC", "version": "2"}, "later": 1,
        }),
    }
}

fn offers() -> Vec<AcceptedPayment> {
    let envelope = |version: u64| {
        let payload = object(json!({"x402Version": version, "accepts": [requirements(version)]}));
        AcceptedPayment { scheme: "x402.exact".to_owned(), payload }
    };
    let stripe = AcceptedPayment { scheme: "stripe.intent".to_owned(), payload: object(json!({"x402Version": 2})) };
    vec![stripe, envelope(1), envelope(2)]
}

#[test]
fn x402_transports_each_version_has_its_header() {
    for (version, name) in [(Version::V1, "X-PAYMENT"), (Version::V2, "PAYMENT-SIGNATURE")] {
        let mut headers = HeaderMap::new();
        headers.insert(::http::HeaderName::try_from(name).unwrap(), header(&payment(version.into())));
        let (found, submitted) = from_headers(&headers).unwrap().unwrap();
        assert_eq!(found, version);
        assert_eq!(Value::Object(submitted.payload.clone()), payment(version.into()));
        let signed = SignedPayment::read(&submitted.payload).unwrap();
        assert_eq!(signed.exact.authorization.value.0, 10_000);
        assert!(!format!("{submitted:?} {signed:?}").contains("2d6a75"), "a signature is money");
    }
    assert_eq!(from_headers(&HeaderMap::new()), Ok(None));
}

#[test]
fn nobody_guesses_which_of_two_payments_is_meant() {
    for names in [["x-payment", "payment-signature"], ["x-payment", "x-payment"]] {
        let mut headers = HeaderMap::new();
        for name in names {
            headers.append(name, header(&payment(1)));
        }
        assert_eq!(from_headers(&headers).unwrap_err().code, "INVALID_PAYLOAD");
    }
}

#[test]
fn a_header_has_a_bound() {
    let fill = |bytes: usize| HeaderValue::from_str(&STANDARD.encode(format!("{:1$}", 1, bytes / 4 * 3))).unwrap();
    let most = fill(PAYMENT_HEADER_BYTES_MAX);
    assert_eq!(most.len(), PAYMENT_HEADER_BYTES_MAX);
    assert_eq!(decode(&most), Ok(json!(1)));
    let over = decode(&fill(PAYMENT_HEADER_BYTES_MAX + 4)).unwrap_err();
    assert!(over.message.contains(&PAYMENT_HEADER_BYTES_MAX.to_string()), "{}", over.message);
}

#[test]
fn broken_payments_are_refused_by_code() {
    for (value, code) in [
        (json!([]), "INVALID_PAYLOAD"),
        (json!({}), "invalid_x402_version"),
        (json!({"x402Version": 3}), "invalid_x402_version"),
        (json!({"x402Version": "1"}), "invalid_x402_version"),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert("x-payment", header(&value));
        assert_eq!(from_headers(&headers).unwrap_err().code, code, "{value}");
    }
    for (at, wrong) in [("value", json!(10_000)), ("value", json!("1.5")), ("nonce", json!("0x1")), ("from", json!(""))]
    {
        let mut broken = payment(1);
        broken["payload"]["authorization"][at] = wrong;
        assert_eq!(SignedPayment::read(&object(broken)).unwrap_err().code, "INVALID_PAYLOAD");
    }
    let mut other = payment(1);
    other["scheme"] = json!("upto");
    assert_eq!(SignedPayment::read(&object(other)).unwrap_err().code, "UNSUPPORTED_SCHEME");
}

#[test]
fn policy3_3_3_poison_is_taken_out_of_payments() {
    let mut poisoned = payment(1);
    poisoned["payload"]["__proto__"] = json!({"isAdmin": true});
    let (_, submitted) = forecourt_payments::x402::submission(poisoned).unwrap();
    assert_eq!(Value::Object(submitted.payload), payment(1));
}

#[test]
fn a_402_tells_both_versions() {
    let prompt = required(&offers(), "Payment required");
    let body = prompt.body.unwrap();
    assert_eq!((&body["x402Version"], &body["error"]), (&json!(1), &json!("Payment required")));
    assert_eq!(body["accepts"], json!([requirements(1)]));
    let two = decode(&prompt.header.unwrap()).unwrap();
    assert_eq!((&two["x402Version"], &two["accepts"]), (&json!(2), &json!([requirements(2)])));
    assert_eq!(required(&offers()[..1], ""), http::PaymentPrompt::default());
}

#[test]
fn unknown_members_are_kept() {
    for offer in &offers()[1..] {
        let read = PaymentRequired::read(&offer.payload).unwrap();
        let (raw, requirements) = &read.accepts[0];
        let mut written = requirements.to_value();
        assert_eq!(written["later"], raw["later"]);
        // Texts that the version requires, written when they were left out, and addresses in one case.
        written.as_object_mut().unwrap().retain(|key, _| raw.get(key).is_some());
        assert_eq!(written.to_string().to_lowercase(), raw.to_string().to_lowercase());
    }
}

#[test]
fn receipts_go_back_in_the_header_of_their_version() {
    let details = object(json!({"success": true, "transaction": "0xabc", "network": "base-sepolia"}));
    for (version, name) in [(Version::V1, "x-payment-response"), (Version::V2, "payment-response")] {
        let (found, value) = receipt(version, &details).unwrap();
        assert_eq!(found, name);
        assert_eq!(decode(&value), Ok(Value::Object(details.clone())));
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from)
    ];
    let key = prop_oneof![
        "[a-z]{1,6}",
        Just("x402Version".to_owned()),
        Just("accepts".to_owned()),
        Just("payload".to_owned()),
        Just("accepted".to_owned())
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_in_a_header_are_a_payment_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(value) = HeaderValue::from_bytes(&bytes) {
            let mut headers = HeaderMap::new();
            headers.insert("x-payment", value);
            let _ = from_headers(&headers);
        }
    }

    #[test]
    fn any_json_is_a_payment_or_an_error(value in json_value()) {
        if let Ok((_, submitted)) = forecourt_payments::x402::submission(value.clone()) {
            let _ = SignedPayment::read(&submitted.payload);
        }
        if let Value::Object(fields) = &value {
            let _ = PaymentRequired::read(fields);
        }
    }

    /// A payment that is changed in one place is read as what it is, or refused; never a panic.
    #[test]
    fn a_payment_changed_in_one_place(at in 0_usize..6, with in json_value(), version in 1_u64..3) {
        let mut changed = payment(version);
        let keys = ["from", "to", "value", "validAfter", "validBefore", "nonce"];
        changed["payload"]["authorization"][keys[at]] = with;
        let _ = SignedPayment::read(&object(changed));
    }
}
