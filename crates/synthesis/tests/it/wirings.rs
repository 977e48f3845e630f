//! Which things a plan is about, where several are at hand: it is the proposal that says it. Section 10.7.

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
