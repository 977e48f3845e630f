//! What the provider's interface says, as far as it is read. Unknown members are passed over, unknown words mean
//! nothing that is good.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::limits::PROVIDER_ID_CHARS_MAX;

/// A Checkout Session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Session {
    pub(super) id: String,
    /// When it was created, in seconds of Unix time.
    pub(super) created: i64,
    #[serde(default)]
    pub(super) url: Option<String>,
    /// `open`, `complete` or `expired`.
    #[serde(default)]
    pub(super) status: Option<String>,
    #[serde(default)]
    pub(super) client_reference_id: Option<String>,
    /// Its PaymentIntent, by name; none before it is confirmed.
    #[serde(default)]
    pub(super) payment_intent: Option<String>,
    #[serde(default)]
    pub(super) amount_total: Option<u64>,
    #[serde(default)]
    pub(super) currency: Option<String>,
}

/// A PaymentIntent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Intent {
    pub(super) id: String,
    pub(super) amount: u64,
    #[serde(default)]
    pub(super) amount_capturable: u64,
    #[serde(default)]
    pub(super) amount_received: u64,
    pub(super) currency: String,
    pub(super) status: IntentStatus,
    #[serde(default)]
    pub(super) metadata: Map<String, Value>,
}

/// Where a PaymentIntent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum IntentStatus {
    RequiresCapture,
    Succeeded,
    Canceled,
    Processing,
    /// Nothing is authorised: its payer has not come to an end with it.
    #[serde(other)]
    Unpaid,
}

/// A Refund.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Refund {
    pub(super) id: String,
    pub(super) amount: u64,
    /// `pending`, `succeeded`, `requires_action`, `failed` or `canceled`.
    #[serde(default)]
    pub(super) status: Option<String>,
}

impl Intent {
    /// What it pays for, as this host named it.
    pub(super) fn reference(&self) -> Option<&str> {
        self.metadata.get("reference").and_then(Value::as_str)
    }
}

/// Whether a text can be a provider's name for something: it becomes a part of a path.
pub(super) fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=PROVIDER_ID_CHARS_MAX).contains(&text.len()) && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_else() {
        assert!(is_id("cs_test_a1") && is_id(&"a".repeat(PROVIDER_ID_CHARS_MAX)));
        for wrong in ["", "../refunds", "pi_1/capture", "pi_1?a=b", "pi 1", &"a".repeat(PROVIDER_ID_CHARS_MAX + 1)] {
            assert!(!is_id(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_status_that_is_not_known_is_no_payment() {
        let intent = |status: &str| {
            let json = format!(r#"{{"id":"pi_1","amount":5,"currency":"eur","status":"{status}","more":1}}"#);
            serde_json::from_str::<Intent>(&json).unwrap().status
        };
        assert_eq!(intent("requires_capture"), IntentStatus::RequiresCapture);
        assert_eq!((intent("requires_action"), intent("magic")), (IntentStatus::Unpaid, IntentStatus::Unpaid));
    }
}
