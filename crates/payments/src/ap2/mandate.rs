//! What a payer sends: a payment mandate, and what may come with it.

use forecourt_core::policy::{PaymentSubmission, sanitize_map};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::amount::Item;
use super::code::MandateCode;
use super::{CART_KEY, FAMILY, INTENT_KEY, PAYMENT_KEY};

/// Characters of a name in a mandate.
const NAME_CHARS_MAX: usize = 256;

/// A payment mandate, and the copies that came with it.
#[derive(Debug, Clone)]
pub(crate) struct Mandates {
    /// What its payer agreed to, as it was read.
    pub(crate) contents: PaymentContents,
    /// The same as it came: that, and never what was made of it, is what was signed.
    pub(crate) signed: Value,
    /// The signature of its payer.
    pub(crate) authorization: String,
    /// Its payer's copy of the cart.
    pub(crate) cart: Option<Value>,
    /// What its payer wished for.
    pub(crate) intent: Option<Value>,
}

/// `PaymentMandateContents` of AP2 v0.1. Members that are not known are covered by the signature, and mean nothing here.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PaymentContents {
    /// Names the mandate.
    pub(crate) payment_mandate_id: String,
    /// Names the cart.
    pub(crate) payment_details_id: String,
    /// What is paid.
    pub(crate) payment_details_total: Item,
    /// How.
    pub(crate) payment_response: PaymentResponse,
    /// Who is paid.
    pub(crate) merchant_agent: String,
    /// When it was made, by ISO 8601.
    pub(crate) timestamp: String,
}

/// How it is paid. W3C Payment Request 1.1, `PaymentResponse`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PaymentResponse {
    /// Names the cart.
    pub(crate) request_id: String,
    /// By which of its methods.
    pub(crate) method_name: String,
    /// What that method needs: a payment of x402, say.
    #[serde(default)]
    pub(crate) details: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct WirePaymentMandate {
    payment_mandate_contents: Value,
    #[serde(default)]
    user_authorization: Option<String>,
}

impl Mandates {
    /// Reads what came.
    pub(crate) fn read(payload: &Map<String, Value>) -> Result<Self, MandateCode> {
        let unreadable = |_| MandateCode::Unreadable;
        let mandate = payload.get(PAYMENT_KEY).ok_or(MandateCode::Unreadable)?;
        let WirePaymentMandate { payment_mandate_contents: signed, user_authorization } =
            WirePaymentMandate::deserialize(mandate).map_err(unreadable)?;
        let contents = PaymentContents::deserialize(&signed).map_err(unreadable)?;
        let is_name = |name: &str| (1..=NAME_CHARS_MAX).contains(&name.chars().count());
        if !is_name(&contents.payment_mandate_id) || !is_name(&contents.payment_response.method_name) {
            return Err(MandateCode::Unreadable);
        }
        let authorization = user_authorization.filter(|text| !text.is_empty());
        let authorization = authorization.ok_or(MandateCode::AuthorizationMissing)?;
        // `null` is how some writers leave a member out.
        let copy = |key: &str| payload.get(key).filter(|value| !value.is_null()).cloned();
        Ok(Self { contents, signed, authorization, cart: copy(CART_KEY), intent: copy(INTENT_KEY) })
    }
}

/// Mandates that a wire read from its caller, ready for the host: the members of a JSON object. Whatever could reach
/// into a reader's prototypes is taken out, and nothing else is looked at yet.
pub fn submission(mut payload: Map<String, Value>) -> PaymentSubmission {
    payload.retain(|key, _| [PAYMENT_KEY, CART_KEY, INTENT_KEY].contains(&key.as_str()));
    sanitize_map(&mut payload);
    PaymentSubmission { family: FAMILY, payload }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    fn mandate() -> Value {
        json!({
            "payment_mandate_contents": {
                "payment_mandate_id": "pm-1", "payment_details_id": "c",
                "payment_details_total": {"label": "Total", "amount": {"currency": "EUR", "value": 0.5}},
                "payment_response": {"request_id": "c", "method_name": "CARD", "details": {"token": "t"}},
                "merchant_agent": "Demo", "timestamp": "2026-01-01T00:00:00Z", "risk_payload": {"a": 1},
            },
            "user_authorization": "a.b.c",
        })
    }

    fn read(mandate: Value) -> Result<Mandates, MandateCode> {
        Mandates::read(&object(json!({PAYMENT_KEY: mandate})))
    }

    #[test]
    fn what_can_not_be_read_is_told() {
        assert_eq!(read(mandate()).unwrap().contents.payment_mandate_id, "pm-1");
        for key in ["payment_mandate_id", "payment_details_total", "payment_response", "merchant_agent", "timestamp"] {
            let mut less = mandate();
            less["payment_mandate_contents"].as_object_mut().unwrap().remove(key);
            assert_eq!(read(less).unwrap_err(), MandateCode::Unreadable, "{key}");
        }
        let named = |count: usize| {
            let mut named = mandate();
            named["payment_mandate_contents"]["payment_mandate_id"] = "é".repeat(count).into();
            read(named).map(drop)
        };
        assert_eq!([named(NAME_CHARS_MAX), named(1)], [Ok(()), Ok(())]);
        assert_eq!([named(NAME_CHARS_MAX + 1), named(0)], [Err(MandateCode::Unreadable); 2]);
        for nothing in [json!(null), json!("")] {
            let mut unsigned = mandate();
            unsigned["user_authorization"] = nothing;
            assert_eq!(read(unsigned).unwrap_err(), MandateCode::AuthorizationMissing);
        }
    }

    #[test]
    fn a_submission_holds_mandates_alone() {
        let sent = json!({PAYMENT_KEY: {"__proto__": 1, "a": 1}, INTENT_KEY: null, "risk_data": "r"});
        let found = submission(object(sent));
        assert_eq!((found.family, found.payload), ("ap2", object(json!({PAYMENT_KEY: {"a": 1}, INTENT_KEY: null}))));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            let key = prop_oneof!["[a-z_]{1,8}", Just("amount".to_owned()), Just("details".to_owned())];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(key, inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Whatever stands in the place of a member, reading ends with a mandate or a code.
        #[test]
        fn no_mandate_breaks_its_reader(value in any_json(), at in 0_usize..7, copy in any_json()) {
            let mut sent = mandate();
            let keys = ["payment_mandate_id", "payment_details_id", "payment_details_total", "payment_response",
                "merchant_agent", "timestamp", "risk_payload"];
            sent["payment_mandate_contents"][keys[at]] = value;
            if let Ok(read) = Mandates::read(&object(json!({PAYMENT_KEY: sent, INTENT_KEY: copy.clone()}))) {
                prop_assert_eq!(read.intent, Some(copy).filter(|copy| !copy.is_null()));
            }
        }
    }
}
