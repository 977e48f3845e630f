//! AP2 mandates beside a refusal: under which key a payload stands among the data of a task. PolicyPart 4.2; AP2 v0.1.

use forecourt_core::json::canonical;
use forecourt_core::policy::AcceptedPayment;
use serde_json::{Map, Value};

/// What the schemes of AP2 begin with.
const SCHEME: &str = "ap2.";
/// How the keys of mandates begin.
pub(crate) const KEY: &str = "ap2.mandates.";
/// The key of a mandate that pays: a bearer of money.
pub(crate) const PAYMENT: &str = "ap2.mandates.PaymentMandate";

/// The mandates of AP2 v0.1: a word in the scheme that means it, its key, and whether a server may send it. A later
/// version of AP2 is other rows.
const MANDATES: [(&str, &str, bool); 3] = [
    ("intent", "ap2.mandates.IntentMandate", false),
    ("payment", PAYMENT, true),
    ("cart", "ap2.mandates.CartMandate", true),
];
/// What a scheme offers that names no mandate.
const USUAL: &str = "ap2.mandates.CartMandate";

/// An offer as the data of an artifact.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mandate<'a> {
    /// The key that says what it is.
    pub(crate) key: &'a str,
    payload: &'a Map<String, Value>,
    /// Whether the payload brings its key itself.
    is_keyed: bool,
}

impl<'a> Mandate<'a> {
    /// The mandate of an offer; `None` for offers of other schemes. A payload with one key of a mandate is the data
    /// itself, any other one is put under the key that the scheme names.
    pub(crate) fn of(offer: &'a AcceptedPayment) -> Option<Self> {
        let scheme = offer.scheme.to_ascii_lowercase();
        if !scheme.starts_with(SCHEME) {
            return None;
        }
        let mut keys = offer.payload.keys().filter(|key| key.starts_with(KEY));
        let (key, is_keyed) = match (keys.next(), keys.next()) {
            (Some(key), None) => (key.as_str(), true),
            _ => (MANDATES.iter().find(|(word, ..)| scheme.contains(word)).map_or(USUAL, |(_, key, _)| *key), false),
        };
        Some(Self { key, payload: &offer.payload, is_keyed })
    }

    /// Whether a server may send it: an intent is its buyer's.
    pub(crate) fn is_servers(&self) -> bool {
        MANDATES.iter().all(|(_, key, is_servers)| *key != self.key || *is_servers)
    }

    /// The data of its artifact.
    pub(crate) fn data(&self) -> Map<String, Value> {
        match self.is_keyed {
            true => self.payload.clone(),
            false => Map::from_iter([(self.key.to_owned(), Value::Object(self.payload.clone()))]),
        }
    }

    /// Whether the data of an artifact says the same, after RFC 8785. Beside a key that the payload does not bring
    /// itself other data may stand.
    pub(crate) fn is_said_by(&self, data: &Value) -> bool {
        let said = if self.is_keyed { data } else { &data[self.key] };
        is_same(said, &Value::Object(self.payload.clone()))
    }

    /// Whether it can be paid by x402, so that its offer is within it. x402 over A2A v0.2, 4.2.
    pub(crate) fn embeds_x402(&self) -> bool {
        let mandate = match self.is_keyed {
            true => self.payload.get(self.key).and_then(Value::as_object),
            false => Some(self.payload),
        };
        let Some(mandate) = mandate else { return false };
        let contents = mandate.get("contents").and_then(Value::as_object).unwrap_or(mandate);
        let methods = contents.get("payment_request").and_then(|request| request["method_data"].as_array());
        methods.into_iter().flatten().any(|method| method["supported_methods"].to_string().contains("x402"))
    }
}

/// Equal after RFC 8785. What has no canonical form equals nothing.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    matches!((canonical(one), canonical(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn offer(scheme: &str, payload: Value) -> AcceptedPayment {
        let Value::Object(payload) = payload else { panic!("an object") };
        AcceptedPayment { scheme: scheme.to_owned(), payload }
    }

    #[test]
    fn s4_2_each_scheme_has_its_key() {
        for (scheme, payload, key) in [
            ("ap2.cart_mandate", json!({}), "ap2.mandates.CartMandate"),
            ("ap2.CartMandate", json!({}), "ap2.mandates.CartMandate"),
            ("ap2.payment_mandate", json!({}), "ap2.mandates.PaymentMandate"),
            ("ap2.intent", json!({}), "ap2.mandates.IntentMandate"),
            ("ap2.x", json!({"ap2.mandates.PaymentMandate": {}, "signature": "s"}), "ap2.mandates.PaymentMandate"),
            ("ap2.x", json!({"ap2.mandates.CheckoutMandateSdJwt": "a"}), "ap2.mandates.CheckoutMandateSdJwt"),
            ("ap2.x", json!({"ap2.mandates.CartMandate": 1, "ap2.mandates.PaymentMandate": 2}), USUAL),
        ] {
            let offer = offer(scheme, payload);
            assert_eq!(Mandate::of(&offer).expect("ap2").key, key, "{offer:?}");
        }
        assert_eq!(Mandate::of(&offer("x402.exact", json!({}))), None);
    }

    #[test]
    fn s4_2_a_payload_that_brings_its_key_is_the_data() {
        let keyed = offer("ap2.cart_mandate", json!({"ap2.mandates.CartMandate": {"a": 1}, "risk_data": "r"}));
        assert_eq!(Mandate::of(&keyed).expect("ap2").data(), keyed.payload);
        let bare = offer("ap2.cart_mandate", json!({"a": 1}));
        let data = json!({"ap2.mandates.CartMandate": {"a": 1.0}});
        let mandate = Mandate::of(&bare).expect("ap2");
        assert!(mandate.is_said_by(&data), "equal after RFC 8785");
        assert!(!mandate.is_said_by(&json!({"ap2.mandates.CartMandate": {"a": 2}})));
    }

    #[test]
    fn ax4_2_an_x402_offer_within_a_cart_is_seen() {
        let request = json!({"method_data": [{"supported_methods": "https://www.x402.org/", "data": {}}]});
        for payload in [
            json!({"contents": {"payment_request": request}}),
            json!({"payment_request": request}),
            json!({"ap2.mandates.CartMandate": {"contents": {"payment_request": request}}}),
        ] {
            assert!(Mandate::of(&offer("ap2.cart_mandate", payload)).expect("ap2").embeds_x402());
        }
        let card = json!({"payment_request": {"method_data": [{"supported_methods": "CARD"}]}});
        assert!(!Mandate::of(&offer("ap2.cart_mandate", card)).expect("ap2").embeds_x402());
    }
}
