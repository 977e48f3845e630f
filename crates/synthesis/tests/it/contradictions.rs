//! What a proposal denies and says stays as it is, held against all that is said of an act. Section 10.7.

use forecourt_contract::Dispatcher;
use forecourt_contract::endpoint::Definition;
use forecourt_synthesis::proposal::RejectionReason;
use forecourt_synthesis::settings::{PlanSource, SynthesisSettings};
use serde_json::{Value, json};

use crate::deployments::deployment;
use crate::planning::{caller, closed, evaluate_with, host, looks, open, proposal, rejection, semantic, with};

fn text() -> Value {
    json!({"type": "string"})
}

/// A host that gives payments back, and says of that what is given.
fn refunds(outcome: &str) -> Dispatcher {
    let of = |method: &str, path: &str, key: &str, gives: &str| {
        let output = open(json!({ gives: text() }), &[gives]);
        looks(method, path, closed(json!({ key: text() }), &[key]), output)
    };
    let mut refund = of("REFUND", "/payments/{payment_id}", "payment_id", "refund_id");
    refund.semantic = json!({"outcome": outcome, "intent": "Give a payment back."});
    let defaults = semantic("irreversible");
    for (name, value) in defaults.as_object().unwrap() {
        refund.semantic.as_object_mut().unwrap().entry(name).or_insert(value.clone());
    }
    let reads = ["order", "invoice", "customer"]
        .map(|entity| of("FETCH", &format!("/{entity}s/{{{entity}_id}}"), &format!("{entity}_id"), "payment_id"));
    let all: Vec<Definition> = std::iter::once(refund).chain(reads).collect();
    host(all, "")
}

fn refund(host: &Dispatcher, said: &str) -> Result<(), String> {
    let input = closed(json!({"payment_id": text()}), &["payment_id"]);
    let proposed = proposal("REFUND", "/paybacks", input, open(json!({"refund_id": text()}), &["refund_id"]));
    made(host, with(proposed, "description", json!(said)))
}

fn made(host: &Dispatcher, proposed: Value) -> Result<(), String> {
    let settings = SynthesisSettings { policies: vec![PlanSource::Schemas], ..SynthesisSettings::default() };
    let caller = caller(&crate::deployments::all_scopes(host));
    let result = evaluate_with(host, proposed, &caller, &settings);
    result.map(drop).map_err(|refusal| {
        let (reason, explanation) = rejection(Err::<(), _>(refusal));
        assert_eq!(reason, RejectionReason::CompositionImpossible, "{explanation}");
        explanation
    })
}

#[test]
fn s10_7_what_stays_is_not_touched_by_an_act_on_something_else() {
    let cancel = |said: &str| {
        let input = closed(json!({"order_id": text()}), &["order_id"]);
        let output = open(json!({"status": text()}), &["status"]);
        let proposed = proposal("CANCEL", "/cancellations/{order_id}", input, output);
        made(&deployment("shop").unwrap(), with(proposed, "description", json!(said)))
    };
    assert_eq!(cancel("Cancel the order."), Ok(()));
    let why = cancel("Cancel the order. The payment stays untouched.").unwrap_err();
    assert!(why.contains("CANCEL /orders/{order_id}, since the proposal says that the payment stays"), "{why}");
}

#[test]
fn s10_7_what_an_endpoint_leaves_alone_may_stay() {
    for outcome in [
        "The customer has the money back, and the order stays.",
        "The money goes back while the order stays open.",
        "The money goes back but the order remains.",
    ] {
        assert_eq!(refund(&refunds(outcome), "Give the payment back. The order stays."), Ok(()), "{outcome}");
        let without = "Give the payment back without cancelling the order.";
        assert_eq!(refund(&refunds(outcome), without), Ok(()), "{outcome}");
    }
    for outcome in [
        "The money goes back and the order is called off.",
        "The money goes back, the order is cancelled and the invoice stays.",
        "It cancels the order and keeps the invoice.",
        "It cancels the order with its invoice unchanged.",
    ] {
        let why = refund(&refunds(outcome), "Give the payment back. The order stays.").unwrap_err();
        assert!(why.contains("the order stays as it is"), "{outcome}: {why}");
    }
}

#[test]
fn s10_7_each_denial_is_kept_whatever_else_is_denied() {
    let denials = "Give the payment back. The order must not be cancelled, the customer must not be emailed, the invoice \
                   must not be changed.";
    for outcome in [
        "It refunds the payment and cancels its order.",
        "The payment is back and the customer is emailed.",
        "It goes back, the invoice being changed.",
    ] {
        let why = refund(&refunds(outcome), denials).unwrap_err();
        assert!(why.contains("it would do what the proposal denies"), "{outcome}: {why}");
    }
    assert_eq!(refund(&refunds("The payment is given back."), denials), Ok(()));
    // A verb of change alone is enough, in however many words it is denied.
    let many = "Give the payment back without silently secretly unexpectedly or otherwise in any strange manner \
                whatsoever cancelling things.";
    assert!(refund(&refunds("The payment goes back and its order is cancelled."), many).is_err());
    assert!(refund(&refunds("The money is back."), "Give it back, neither cancelled nor archived.").is_ok());
    assert!(refund(&refunds("The order is archived."), "Give it back, neither sent nor made nor archived.").is_err());
}
