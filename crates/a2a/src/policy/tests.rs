use forecourt_core::json::canonical;

use super::*;
use crate::model::Content::Data;
use crate::payment::{REQUIRED, STATUS};

fn payable(payments: Value) -> PolicyPart {
    let part = json!({"kind": "payment_required", "message": "Pay.", "accepted_payments": payments});
    serde_json::from_value(part).expect("the part is valid")
}

fn schemes(part: &PolicyPart) -> Vec<&str> {
    payments(part).iter().map(|offer| offer.scheme.as_str()).collect()
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
    assert_eq!(metadata[STATUS], "payment-required");
    let normalized = &metadata["mentionable"]["policy"]["part"]["accepted_payments"][1]["payload"];
    assert_eq!(canonical(&metadata[REQUIRED]), canonical(normalized));
}

#[test]
fn s4_2_each_ap2_mandate_is_an_artifact_of_its_own() {
    let part = payable(json!([
        {"scheme": "ap2.cart_mandate", "payload": {"contents": {"id": "1"}}},
        {"scheme": "ap2.PaymentMandate", "payload": {"ap2.mandates.PaymentMandate": {"total": 2}}},
    ]));
    let artifacts = mandates(&part);
    let data: Vec<_> = artifacts.iter().map(|artifact| artifact.parts[0].content.clone()).collect();
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
    let intents = json!([
        {"scheme": "ap2.intent_mandate", "payload": {"a": 1}},
        {"scheme": "ap2.x", "payload": {"ap2.mandates.IntentMandate": {}}},
        {"scheme": "ln.invoice", "payload": {}},
    ]);
    let part = payable(intents);
    assert!(mandates(&part).is_empty());
    assert_eq!(schemes(&outgoing(&part, OfferOrder::AsMade)), ["ln.invoice"]);
}

#[test]
fn ax4_2_an_offer_within_a_mandate_is_not_listed_beside_it() {
    let request = json!({"method_data": [{"supported_methods": "https://www.x402.org/", "data": {"x402Version": 1}}]});
    let part = payable(json!([
        {"scheme": "x402.exact", "payload": {"x402Version": 1}},
        {"scheme": "ap2.cart_mandate", "payload": {"contents": {"payment_request": request}}},
    ]));
    let part = outgoing(&part, OfferOrder::AsMade);
    assert_eq!(schemes(&part), ["ap2.cart_mandate"]);
    let metadata = metadata(&part);
    assert_eq!(metadata[STATUS], "payment-required");
    assert_eq!(metadata.get(REQUIRED), None, "its presence would mean the standalone flow");
    assert_eq!(mandates(&part).len(), 1);
}

#[test]
fn ax2_who_knows_version_1_alone_is_offered_it_first() {
    let part = payable(json!([
        {"scheme": "x402.exact", "payload": {"x402Version": 2}},
        {"scheme": "ln.invoice", "payload": {}},
        {"scheme": "x402.exact", "payload": {"x402Version": 1}},
    ]));
    let uris = |uris: &[&str]| uris.iter().map(|uri| (*uri).to_owned()).collect::<Vec<_>>();
    let first = |extensions: &[&str]| {
        let part = outgoing(&part, OfferOrder::of(&uris(extensions))).into_owned();
        metadata(&part)[REQUIRED]["x402Version"].clone()
    };
    assert_eq!(first(&[names::X402]), 1);
    for extensions in [&[][..], &[names::X402_TRANSPORT], &[names::X402, names::X402_TRANSPORT]] {
        assert_eq!(first(extensions), 2, "{extensions:?}");
    }
}

#[test]
fn s4_1_an_envelope_of_another_version_survives_as_it_came() {
    let envelope = json!({"v": "v0.9", "part": {"kind": "x", "n": [1, {"z": null}]}, "later": true});
    let part = foreign(envelope.clone());
    let stored: CorePart = serde_json::from_value(json!(part)).expect("a part");
    assert_eq!(foreign_of(&stored), Some(&envelope));
    assert_eq!(foreign_metadata(&envelope)["mentionable"]["policy"], envelope);
    assert_eq!(foreign_of(&foreign(json!({"v": "v0.1", "part": {}}))), None, "ours is never said by an agent's part");
}
