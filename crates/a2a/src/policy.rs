//! Refusals on A2A: the envelope, and the carriers of payment protocols beside it. PolicyPart 4.1, 4.2.

use forecourt_core::PolicyPart;
use forecourt_core::policy::{AcceptedPayment, RefusalKind};
use serde_json::{Map, Value, json};

use crate::model::{Artifact, Metadata, Part};

/// The version of the envelope.
pub(crate) const VERSION: &str = "v0.1";
/// Flat keys of x402 over A2A.
pub(crate) const X402_STATUS: &str = "x402.payment.status";
pub(crate) const X402_REQUIRED: &str = "x402.payment.required";
pub(crate) const PAYMENT_REQUIRED: &str = "payment-required";
/// How keys of AP2 mandates begin.
pub(crate) const MANDATE: &str = "ap2.mandates.";
/// Mandates that a server may send, by a word in the scheme. PolicyPart 4.2: an intent mandate is
/// the buyer's and never ours.
const MANDATES: [(&str, &str); 2] = [("payment", "PaymentMandate"), ("cart", "CartMandate")];
const INTENT: &str = "intent";

/// The metadata of the status message that carries a refusal.
pub(crate) fn metadata(part: &PolicyPart) -> Metadata {
    let mut metadata = Metadata::new();
    metadata.insert("mentionable".to_owned(), json!({"policy": {"v": VERSION, "part": part}}));
    if let Some(payment) = payments(part).iter().find(|payment| payment.scheme.starts_with("x402.")) {
        metadata.insert(X402_STATUS.to_owned(), PAYMENT_REQUIRED.into());
        metadata.insert(X402_REQUIRED.to_owned(), Value::Object(payment.payload.clone()));
    }
    metadata
}

/// The mandates that go with a refusal, an artifact each.
pub(crate) fn mandates(part: &PolicyPart) -> Vec<Artifact> {
    let offered = payments(part).iter().filter(|payment| payment.scheme.starts_with("ap2."));
    offered.enumerate().filter_map(|(index, payment)| mandate(index, payment)).collect()
}

fn payments(part: &PolicyPart) -> &[AcceptedPayment] {
    match &part.kind {
        RefusalKind::PaymentRequired { accepted_payments } => accepted_payments,
        _ => &[],
    }
}

fn mandate(index: usize, payment: &AcceptedPayment) -> Option<Artifact> {
    let data = match keyed(&payment.payload) {
        Some(key) if key.to_ascii_lowercase().contains(INTENT) => return None,
        Some(_) => payment.payload.clone(),
        None => Map::from_iter([(mandate_key(&payment.scheme)?, Value::Object(payment.payload.clone()))]),
    };
    let name = data.keys().next().cloned();
    Some(Artifact {
        id: format!("mandate-{}", index + 1),
        name,
        description: None,
        parts: vec![Part::data(Value::Object(data))],
        extensions: Vec::new(),
        metadata: Metadata::new(),
    })
}

/// The key of a payload that is already keyed by its mandate.
fn keyed(payload: &Map<String, Value>) -> Option<&String> {
    let mut keys = payload.keys();
    keys.next().filter(|key| key.starts_with(MANDATE) && keys.next().is_none())
}

/// The key for the mandate of a scheme such as `ap2.cart_mandate`. A scheme that names no mandate
/// offers a cart.
fn mandate_key(scheme: &str) -> Option<String> {
    let scheme = scheme.to_ascii_lowercase();
    let named = MANDATES.iter().find(|(word, _)| scheme.contains(word)).map_or("CartMandate", |(_, mandate)| mandate);
    (!scheme.contains(INTENT)).then(|| format!("{MANDATE}{named}"))
}

#[cfg(test)]
mod tests {
    use forecourt_core::json::canonical;

    use super::*;

    fn payable(payments: Value) -> PolicyPart {
        let part = json!({"kind": "payment_required", "message": "Pay.", "accepted_payments": payments});
        serde_json::from_value(part).expect("the part is valid")
    }

    #[test]
    fn s4_1_the_envelope_holds_version_and_part() {
        let part = PolicyPart::new(RefusalKind::Forbidden, "No.");
        let metadata = metadata(&part);
        assert_eq!(
            metadata["mentionable"],
            json!({"policy": {"v": "v0.1", "part": {"kind": "forbidden", "message": "No."}}})
        );
        assert_eq!(metadata.len(), 1);
    }

    #[test]
    fn s4_2_the_first_x402_payload_is_mirrored_in_flat_keys() {
        let part = payable(json!([
            {"scheme": "ln.invoice", "payload": {}},
            {"scheme": "x402.exact", "payload": {"x402Version": 1, "accepts": [{"b": 1.0, "a": 2}]}},
            {"scheme": "x402.other", "payload": {"x402Version": 2}},
        ]));
        let metadata = metadata(&part);
        assert_eq!(metadata[X402_STATUS], "payment-required");
        let normalized = &metadata["mentionable"]["policy"]["part"]["accepted_payments"][1]["payload"];
        assert_eq!(canonical(&metadata[X402_REQUIRED]), canonical(normalized));
    }

    #[test]
    fn s4_2_each_ap2_mandate_is_an_artifact_of_its_own() {
        let part = payable(json!([
            {"scheme": "ap2.cart_mandate", "payload": {"contents": {"id": "1"}}},
            {"scheme": "ap2.PaymentMandate", "payload": {"ap2.mandates.PaymentMandate": {"total": 2}}},
        ]));
        let artifacts = mandates(&part);
        let data: Vec<_> = artifacts.iter().map(|artifact| artifact.parts[0].content.clone()).collect();
        use crate::model::Content::Data;
        assert_eq!(
            data,
            [
                Data(json!({"ap2.mandates.CartMandate": {"contents": {"id": "1"}}})),
                Data(json!({"ap2.mandates.PaymentMandate": {"total": 2}})),
            ]
        );
        assert_ne!(artifacts[0].id, artifacts[1].id);
    }

    #[test]
    fn s4_2_an_intent_mandate_is_never_sent() {
        let part = payable(json!([
            {"scheme": "ap2.intent_mandate", "payload": {"a": 1}},
            {"scheme": "ap2.x", "payload": {"ap2.mandates.IntentMandate": {}}},
        ]));
        assert!(mandates(&part).is_empty());
    }
}
