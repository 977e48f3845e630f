//! A payment as JSON, by any wire: of which family it is.

use forecourt_core::policy::{PaymentError, PaymentSubmission};
use serde_json::Value;

use crate::{ap2, x402};

/// A payment that a wire read from its caller, ready for the host: of AP2 where it has a payment mandate, else of x402,
/// which says its version.
///
/// # Errors
/// When it is no payment of either.
pub fn submission(payload: Value) -> Result<PaymentSubmission, PaymentError> {
    match payload {
        Value::Object(payload) if payload.contains_key(ap2::PAYMENT_KEY) => Ok(ap2::submission(payload)),
        other => x402::submission(other).map(|(_, payment)| payment),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_payment_says_of_which_family_it_is() {
        let family = |payload: Value| submission(payload).map(|payment| payment.family).ok();
        assert_eq!(family(json!({"ap2.mandates.PaymentMandate": {}, "x402Version": 1})), Some("ap2"));
        assert_eq!(family(json!({"x402Version": 1})), Some("x402"));
        assert_eq!((family(json!({})), family(json!([]))), (None, None));
    }
}
