//! Which things a plan is about, where several are at hand: it is the proposal that says it, and never how sure an
//! endpoint is. Section 10.7.

use forecourt_contract::Dispatcher;
use forecourt_contract::endpoint::Definition;
use forecourt_synthesis::Synthesis;
use forecourt_synthesis::proposal::{ProposalRefusal, RejectionReason};
use forecourt_synthesis::settings::{PlanSource, SynthesisSettings};
use serde_json::{Value, json};

use crate::planning::{caller, closed, evaluate_with, host, looks, open, proposal, rejection, semantic, with};

fn text() -> Value {
    json!({"type": "string"})
}

fn settings() -> SynthesisSettings {
    SynthesisSettings { policies: vec![PlanSource::Schemas], ..SynthesisSettings::default() }
}

fn of(method: &str, path: &str, key: &str, gives: &[&str]) -> Definition {
    let members: serde_json::Map<String, Value> = gives.iter().map(|name| ((*name).to_owned(), text())).collect();
    looks(method, path, closed(json!({ key: text() }), &[key]), open(Value::Object(members), gives))
}

/// Orders that can be cancelled, and carts and returns, which have one each. Carts are surer than returns.
fn orders() -> Dispatcher {
    let mut cancel = of("CANCEL", "/orders/{order_id}", "order_id", &["status"]);
    cancel.semantic = semantic("irreversible");
    let mut cart = of("FETCH", "/carts/{cart_id}", "cart_id", &["order_id"]);
    cart.semantic["confidence"] = json!(0.99);
    host(vec![cancel, cart, of("FETCH", "/returns/{return_id}", "return_id", &["order_id"])], "")
}

/// A proposal to cancel an order, of what the caller gives.
fn cancel(host: &Dispatcher, given: &[&str], said: &str) -> Result<Synthesis, ProposalRefusal> {
    let members: serde_json::Map<String, Value> = given.iter().map(|name| ((*name).to_owned(), text())).collect();
    let input = closed(Value::Object(members), if given.len() == 1 { given } else { &[] });
    let proposed = proposal("CANCEL", "/cancellations", input, open(json!({"status": text()}), &["status"]));
    evaluate_with(host, with(proposed, "description", json!(said)), &caller(""), &settings())
}

#[test]
fn s10_7_how_sure_a_read_is_does_not_choose_what_is_acted_on() {
    let host = orders();
    for given in ["cart_id", "return_id"] {
        let made = cancel(&host, &[given], "Cancel the order of a cart or of a return.").unwrap();
        assert_eq!(made.plan.steps.len(), 2, "{given}");
    }
    let refused = cancel(&host, &["cart_id", "return_id"], "Cancel the order of a cart or a return.").unwrap_err();
    let ProposalRefusal::Rejected { reason, explanation: told, counter_proposal } = refused else { panic!() };
    assert_eq!(reason, RejectionReason::Ambiguous, "{told}");
    assert_eq!(counter_proposal, None, "both would be the same proposal");
    for way in ["FETCH /carts/{cart_id}", "FETCH /returns/{return_id}"] {
        assert!(told.contains(&format!("`order_id` (order.id) from `order_id` of {way}")), "{told}");
    }
}

#[test]
fn s10_7_ways_to_the_same_thing_are_told_apart_by_how_sure_they_are() {
    let mut store = of("FETCH", "/store/orders/{order_id}", "order_id", &["status"]);
    store.semantic["confidence"] = json!(0.95);
    let host = host(vec![of("FETCH", "/orders/{order_id}", "order_id", &["status"]), store], "");
    let input = closed(json!({"order_id": text()}), &["order_id"]);
    let proposed = proposal("ASSESS", "/standings", input, open(json!({"status": text()}), &["status"]));
    let said = with(proposed, "description", json!("Say the status of the order."));
    let said = with(said, "semantic", semantic("informational"));
    let made = evaluate_with(&host, said, &caller(""), &settings()).unwrap();
    assert_eq!(made.plan.steps[0].path.as_ref().unwrap().as_str(), "/store/orders/{order_id}", "the surer one");
}

/// A proposal to enter a patient, of what the caller gives.
fn register(given: &str, said: &str) -> Result<Synthesis, ProposalRefusal> {
    let members = ["name", "birth_date"];
    let mut register = of("REGISTER", "/patients", "name", &["patient_id"]);
    register.input_schema = Some(closed(json!({"name": text(), "birth_date": text()}), &members));
    register.semantic = semantic("reversible");
    let lookup = of("LOOKUP", "/patients", "insurance_number", &members);
    let host = host(vec![register, lookup, of("FETCH", "/patients/{patient_id}", "patient_id", &members)], "");
    let output = open(json!({"patient_id": text()}), &["patient_id"]);
    let proposed = proposal("REGISTER", "/insured", closed(json!({ given: text() }), &[given]), output);
    let proposed = with(with(proposed, "description", json!(said)), "semantic", semantic("reversible"));
    evaluate_with(&host, proposed, &caller(""), &settings())
}

#[test]
fn s10_7_what_is_new_is_not_made_of_another_of_its_kind() {
    let (reason, told) = rejection(register("insurance_number", "Enter a new patient by the insurance number."));
    assert_eq!(reason, RejectionReason::CompositionImpossible, "{told}");
    // Unless it is said which one it is to be like.
    assert!(register("patient_id", "Enter a patient once more.").is_ok());
}
