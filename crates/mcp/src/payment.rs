//! Payments of calls, as the MCP transport of x402 has them: an offer in the result that asks for one, the payment and
//! its receipt beside the call. x402, transports/mcp.

use forecourt_core::PolicyPart;
use forecourt_core::policy::{PaymentSubmission, RefusalKind};
use rmcp::RoleServer;
use rmcp::model::RequestMetaObject;
use rmcp::service::RequestContext;
use serde_json::{Map, Value};

/// The key of `_meta` with a signed payment.
pub(crate) const PAYMENT: &str = "x402/payment";
/// The key of `_meta` with the receipt.
const RECEIPT: &str = "x402/payment-response";
/// What the schemes of x402 begin with, and their family. `PaymentScheme::family`.
const SCHEME: &str = "x402.";
const FAMILY: &str = "x402";

/// The payment that came with a call.
pub(crate) fn submitted(
    meta: Option<&RequestMetaObject>,
    context: Option<&RequestContext<RoleServer>>,
) -> Option<PaymentSubmission> {
    let of = |meta: &RequestMetaObject| meta.0.0.get(PAYMENT).and_then(Value::as_object).cloned();
    let payload = meta.and_then(of).or_else(|| context.and_then(|context| of(&context.meta)))?;
    Some(PaymentSubmission { family: FAMILY, payload })
}

/// Puts the first offer of x402 where its payers look: at the top of the structured result of the refusal. What stands
/// there already stays.
pub(crate) fn offer(structured: &mut Value, part: &PolicyPart) {
    let RefusalKind::PaymentRequired { accepted_payments } = &part.kind else { return };
    let first = accepted_payments.iter().find(|offer| offer.scheme.starts_with(SCHEME));
    if let (Some(first), Value::Object(fields)) = (first, structured) {
        for (key, value) in &first.payload {
            fields.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

/// Puts a receipt of x402 beside a result; those of other schemes have no place there.
pub(crate) fn tell(meta: &mut Map<String, Value>, receipt: Map<String, Value>) {
    if receipt.contains_key("success") {
        meta.insert(RECEIPT.to_owned(), receipt.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn x402_the_first_offer_is_where_payers_look() {
        let part = json!({"kind": "payment_required", "message": "Pay.", "accepted_payments": [
            {"scheme": "ln.invoice", "payload": {"x402Version": 9}},
            {"scheme": "x402.exact", "payload": {"x402Version": 2, "accepts": [{"amount": "1"}], "state": "x"}},
        ]});
        let part: PolicyPart = serde_json::from_value(part).expect("the part is valid");
        let mut structured = json!({"state": "input_required", "text": ""});
        offer(&mut structured, &part);
        assert_eq!(structured["x402Version"], 2);
        assert_eq!(structured["accepts"][0]["amount"], "1");
        assert_eq!(structured["state"], "input_required", "our own fields stay");
        let mut nothing = Value::Null;
        offer(&mut nothing, &part);
        assert!(nothing.is_null());
    }
}
