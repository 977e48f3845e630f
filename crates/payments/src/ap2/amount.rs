//! Amounts in mandates: a currency and a value, which AP2 v0.1 writes as a number and the W3C as text.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// Characters of a value.
const VALUE_CHARS_MAX: usize = 40;

/// An amount of money. W3C Payment Request 1.1, `PaymentCurrencyAmount`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Amount {
    /// By ISO 4217.
    pub(crate) currency: String,
    /// What of it: a number, or the same as text.
    pub(crate) value: Value,
}

/// What is paid for, or the total.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Item {
    /// What it is, for people.
    pub(crate) label: String,
    /// What it costs.
    pub(crate) amount: Amount,
    /// Whether that may still change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pending: Option<bool>,
    /// Days within which it is refunded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refund_period: Option<u32>,
    /// The name of what is sold, of which an intent may allow some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sku: Option<String>,
}

impl Amount {
    /// An amount that is written in digits, such as `0.05`. `None` where it is none, or no number says it.
    pub(crate) fn of(currency: &str, digits: &str) -> Option<Self> {
        let value = Number::from_f64(digits.parse().ok()?).map(Value::Number)?;
        let made = Self { currency: currency.to_owned(), value };
        // More digits than a double has would become another price.
        (made.digits() == decimal(digits)).then_some(made)
    }

    /// The value in decimal digits: no sign, exponent or zeros to spare. `None` where it is no such value.
    pub(crate) fn digits(&self) -> Option<String> {
        match &self.value {
            Value::Number(number) => decimal(&number.to_string()),
            Value::String(text) => decimal(text),
            _ => None,
        }
    }
}

/// Digits with or without a point, in the one form that each value has.
fn decimal(text: &str) -> Option<String> {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    if text.len() > VALUE_CHARS_MAX || !is_digits(whole) || !is_digits(part) {
        return None;
    }
    let (whole, part) = (whole.trim_start_matches('0'), part.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn digits(value: Value) -> Option<String> {
        Amount { currency: "EUR".to_owned(), value }.digits()
    }

    #[test]
    fn a_number_and_a_text_say_the_same() {
        for (value, said) in [
            (json!(120.0), Some("120")),
            (json!(120), Some("120")),
            (json!("120.00"), Some("120")),
            (json!(0.05), Some("0.05")),
            (json!("00.050"), Some("0.05")),
            (json!(-1), None),
            (json!(1e-7), None),
            (json!("1e2"), None),
            (json!("."), None),
            (json!("1."), None),
            (json!(null), None),
            (json!("1".repeat(VALUE_CHARS_MAX)), Some("1".repeat(VALUE_CHARS_MAX)).as_deref()),
            (json!("1".repeat(VALUE_CHARS_MAX + 1)), None),
        ] {
            assert_eq!(digits(value.clone()).as_deref(), said, "{value}");
        }
    }

    #[test]
    fn what_no_number_says_is_no_amount() {
        assert_eq!(Amount::of("USD", "0.05").unwrap().value, json!(0.05));
        assert_eq!(Amount::of("USD", "0.123456789012345678901"), None);
    }
}
