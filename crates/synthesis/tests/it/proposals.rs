//! Proposals, read and evaluated. Sections 10.3, 10.4, 10.6, 10.7, 16.2; base protocol, PROPOSE.

use forecourt_contract::refusal::{IdentityRefusal, Refusal};
use forecourt_contract::semantic::Impact;
use forecourt_contract::{Method, Scope};
use forecourt_synthesis::limits::{COUNTER_PROPOSALS_MAX, PROPOSAL_BYTES_MAX, SENTENCE_CHARS_MAX};
use forecourt_synthesis::proposal::{ProposalRefusal, RejectionReason};
use serde_json::{Value, json};

use crate::planning::{
    caller, closed, evaluate, host, host_with, looks, malformed, open, proposal, read, rejection, semantic, with,
};

const LEDGER: &str = r#"
[[recipe]]
name = "reconcile"
version = "3"
pattern = { name_exact = "RECONCILE", path_exact = "/ledger" }
steps = [{ method = "FETCH", path = "/entries", parameters = { account = { kind = "proposal", value = "account_id" } } }]
"#;

fn entries() -> forecourt_contract::endpoint::Definition {
    let input = closed(json!({"account": {"type": "string"}}), &["account"]);
    looks("FETCH", "/entries", input, open(json!({"total": {"type": "number"}}), &["total"]))
}

fn ledger() -> Value {
    let input = closed(json!({"account_id": {"type": "string"}}), &["account_id"]);
    let proposal = proposal("RECONCILE", "/ledger", input, open(json!({}), &[]));
    with(proposal, "semantic", semantic("informational"))
}

#[test]
fn s10_4_1_the_wrapped_form_is_read() {
    let mut parameters = ledger();
    parameters["persistent"] = json!(true);
    parameters["requested_duration"] = json!("24h");
    parameters["scope_requested"] = json!("booking:room, calendar:write");
    parameters["x_later_draft"] = json!({"any": 1});
    let proposal = read(parameters).unwrap();
    assert_eq!((proposal.method.as_str(), proposal.path.as_str()), ("RECONCILE", "/ledger"));
    assert!(proposal.persistent && !proposal.is_legacy);
    assert_eq!(proposal.duration_seconds, Some(86_400));
    assert_eq!(proposal.scopes.iter().map(Scope::as_str).collect::<Vec<_>>(), ["booking:room", "calendar:write"]);
}

#[test]
fn s10_4_2_the_legacy_form_is_read() {
    let labelled = read(json!({"name": "book-room", "method": "BOOK", "path": "/room"})).unwrap();
    assert_eq!((labelled.method.as_str(), labelled.path.as_str(), labelled.is_legacy), ("BOOK", "/room", true));
    let named = read(json!({"name": "RECONCILE", "endpoint": null})).unwrap();
    assert_eq!((named.method.as_str(), named.path.as_str()), ("RECONCILE", "/"));
}

#[test]
fn s10_4_2_both_forms_at_once_are_ambiguous() {
    let mut both = ledger();
    both["name"] = json!("book-room");
    assert_eq!(malformed(read(both)).0, "ambiguous-body");
}

#[test]
fn s10_4_what_can_not_be_read_is_named() {
    let set = |member: &str, value: Value| {
        let mut parameters = ledger();
        parameters[member] = value;
        malformed(read(parameters))
    };
    assert_eq!(malformed(read(json!({}))), ("missing-required-field", "/endpoint".to_owned()));
    assert_eq!(malformed(read(json!({"endpoint": {}}))), ("missing-required-field", "/endpoint/method".to_owned()));
    assert_eq!(malformed(read(json!({"endpoint": []}))), ("malformed-field", "/endpoint".to_owned()));
    assert_eq!(malformed(read(json!({"name": 7}))), ("malformed-field", "/name".to_owned()));
    assert_eq!(malformed(read(with(ledger(), "method", json!(7)))), ("malformed-field", "/endpoint/method".to_owned()));
    assert_eq!(set("persistent", json!("yes")), ("malformed-field", "/persistent".to_owned()));
    for wrong in [json!("soon"), json!(24), json!("0h"), json!("P1M")] {
        assert_eq!(set("requested_duration", wrong), ("malformed-duration", "/requested_duration".to_owned()));
    }
    for wrong in [json!(7), json!([7]), json!("booking"), json!(["a:b", "Å:b"])] {
        assert_eq!(set("scope_requested", wrong), ("malformed-scope", "/scope_requested".to_owned()));
    }
}

#[test]
fn s10_4_a_proposal_has_a_bound() {
    let of = |bytes: usize| read(json!({"name": "RECONCILE", "filler": "x".repeat(bytes)}));
    // What the names, and marks around them, come to.
    let around = "name".len() + 3 + "RECONCILE".len() + 3 + "filler".len() + 3 + 3;
    assert!(of(PROPOSAL_BYTES_MAX - around).is_ok());
    assert_eq!(malformed(of(PROPOSAL_BYTES_MAX - around + 1)).0, "proposal-too-large");
}

#[test]
fn s10_6_1_an_unknown_method_is_459_with_suggestions() {
    for name in ["RECONCLE", "reconcile", "GET", "FROBNICATE"] {
        let refusal = evaluate(&host(vec![], ""), with(ledger(), "method", json!(name)), &caller("")).unwrap_err();
        let ProposalRefusal::Grammar(refusal) = refusal else { panic!("{name}: {refusal:?}") };
        let Refusal::Method { method, suggestions, .. } = *refusal else { panic!("{name}") };
        assert_eq!(method, name);
        assert!(name == "FROBNICATE" || !suggestions.is_empty(), "{name}");
    }
    let custom = host_with(
        vec![entries()],
        &LEDGER.replace("name_exact = \"RECONCILE\", ", ""),
        json!({"custom": ["FROBNICATE"]}),
    );
    assert!(evaluate(&custom, with(ledger(), "method", json!("FROBNICATE")), &caller("")).is_ok());
}

#[test]
fn s10_6_2_a_bad_path_is_460() {
    for path in ["/orders/fetch", "ledger", "/a//b", "/a/", "/{a}/{a}", "/a/..", "/a{b}"] {
        let refusal = evaluate(&host(vec![], ""), with(ledger(), "path", json!(path)), &caller("")).unwrap_err();
        let is_path =
            matches!(&refusal, ProposalRefusal::Grammar(refusal) if matches!(**refusal, Refusal::Path { .. }));
        assert!(is_path, "{path}: {refusal:?}");
    }
}

#[test]
fn s10_6_3_the_semantic_block_is_whole() {
    let host = host(vec![entries()], LEDGER);
    let of = |block: Value| malformed(evaluate(&host, with(ledger(), "semantic", block), &caller("")));
    for field in ["intent", "actor", "outcome", "capability", "confidence", "impact", "is_idempotent"] {
        let mut block = semantic("informational");
        block.as_object_mut().unwrap().remove(field);
        assert_eq!(of(block), ("malformed-semantic-block", "/endpoint/semantic".to_owned()), "{field}");
    }
    for wrong in [json!(null), json!({"intent": "x"}), json!("x")] {
        assert_eq!(of(wrong).0, "malformed-semantic-block");
    }
    let mut long = semantic("informational");
    long["intent"] = json!("x".repeat(SENTENCE_CHARS_MAX));
    assert!(evaluate(&host, with(ledger(), "semantic", long.clone()), &caller("")).is_ok());
    long["intent"] = json!("x".repeat(SENTENCE_CHARS_MAX + 1));
    assert_eq!(of(long), ("malformed-semantic-block", "/endpoint/semantic/intent".to_owned()));
}

#[test]
fn s10_6_4_the_schemas_are_schemas() {
    let host = host(vec![entries()], LEDGER);
    let of = |name: &str, schema: Value| malformed(evaluate(&host, with(ledger(), name, schema), &caller("")));
    for wrong in [
        json!({"type": "object"}),
        json!({"type": "string", "additionalProperties": false}),
        json!({"type": "object", "additionalProperties": false, "properties": 7}),
        json!({"type": "object", "additionalProperties": false, "properties": {"a": {"pattern": "("}}}),
        json!({"type": "object", "additionalProperties": false, "$ref": "https://evil.example/s.json"}),
        json!([]),
    ] {
        assert_eq!(of("input_schema", wrong), ("malformed-schema", "/endpoint/input_schema".to_owned()));
    }
    assert_eq!(of("output_schema", json!({"type": "strin"})).0, "malformed-schema");
    assert_eq!(of("output_schema", json!(null)), ("missing-required-field", "/endpoint/output_schema".to_owned()));
}

#[test]
fn s5_3_the_input_declares_what_the_path_takes() {
    let refused = evaluate(&host(vec![], ""), with(ledger(), "path", json!("/ledger/{id}")), &caller(""));
    assert_eq!(malformed(refused), ("malformed-schema", "/endpoint/input_schema/properties".to_owned()));
}

#[test]
fn s10_6_5_what_the_proposal_needs_is_held() {
    let host = host(vec![entries()], LEDGER);
    let proposed = with(ledger(), "required_scopes", json!(["ledger:read"]));
    let missing = |parameters: Value, held: &str| match evaluate(&host, parameters, &caller(held)).unwrap_err() {
        ProposalRefusal::Scope { missing } => missing.iter().map(Scope::to_string).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(missing(proposed.clone(), "booking:room"), ["ledger:read"]);
    assert!(evaluate(&host, proposed, &caller("ledger:read")).is_ok());
    let mut asked = ledger();
    asked["scope_requested"] = json!(["booking:room"]);
    assert_eq!(missing(asked, ""), ["booking:room"]);
}

#[test]
fn s10_7_a_scope_that_a_step_needs_is_asked_for_before_anything_is_made() {
    let mut inner = entries();
    inner.required_scopes = vec!["ledger:read".into()];
    let mut other = entries();
    (other.path, other.input_schema) = (
        Some("/accounts/{account}/entries".into()),
        Some(closed(json!({"account": {"type": "string"}}), &["account"])),
    );
    other.required_scopes = vec!["accounts:read".into()];
    let steps = LEDGER.replace(
        "steps = [",
        "steps = [{ method = \"FETCH\", path = \"/accounts/{account}/entries\", parameters = { account = { kind = \
         \"proposal\", value = \"account_id\" } } }, ",
    );
    let host = host(vec![inner, other], &steps);
    let refused = evaluate(&host, ledger(), &caller("")).unwrap_err();
    let ProposalRefusal::Scope { missing } = refused else { panic!("{refused:?}") };
    let missing: Vec<&str> = missing.iter().map(Scope::as_str).collect();
    assert_eq!(missing, ["accounts:read", "ledger:read"], "also where the path of a step is made of its input");
    let made = evaluate(&host, ledger(), &caller("ledger:read, accounts:read")).unwrap();
    assert_eq!(made.endpoint.required_scopes.len(), 2);
    assert_eq!(made.needs.scopes.len(), 2);
}

#[test]
fn s10_7_a_token_that_a_step_needs_is_asked_for_before_anything_is_made() {
    let mut host = host(vec![entries()], LEDGER);
    host.rules.token_required = [Method::parse("FETCH").unwrap()].into();
    let refused = evaluate(&host, ledger(), &caller("")).unwrap_err();
    assert_eq!(refused, ProposalRefusal::Grammar(Box::new(Refusal::Identity(IdentityRefusal::NoToken))));
}

#[test]
fn s10_6_6_what_nothing_can_be_put_together_to_is_impossible() {
    let (reason, explanation) = rejection(evaluate(&host(vec![entries()], ""), ledger(), &caller("")));
    assert_eq!(reason, RejectionReason::CompositionImpossible);
    assert!(explanation.contains("RECONCILE /ledger"), "{explanation}");
}

#[test]
fn s10_6_7_what_the_policy_does_not_permit_is_refused_with_its_reason() {
    let refused = |policy: Value, parameters: Value| {
        let host = host_with(vec![entries()], LEDGER, policy);
        let (reason, explanation) = rejection(evaluate(&host, parameters, &caller("")));
        assert_eq!(reason, RejectionReason::PolicyRefused, "{explanation}");
        explanation
    };
    assert!(refused(json!({"disallow": ["RECONCILE"]}), ledger()).contains("does not let RECONCILE in"));
    let redirects = json!({"redirects": [{"from_method": "RECONCILE", "to_method": "AUDIT"}]});
    assert!(refused(redirects, ledger()).contains("AUDIT /ledger"));
    assert!(refused(json!({"aliases": {"RECONCILE": "AUDIT"}}), ledger()).contains("propose AUDIT"));
    let pair = |method: &str, path: &str| with(with(ledger(), "method", json!(method)), "path", json!(path));
    for path in ["/methods", "/toolset", "/patterns-v2", "/contracts/history"] {
        assert!(refused(json!({}), pair("DISCOVER", path)).contains("belongs to the host"), "{path}");
    }
    assert!(refused(json!({}), pair("QUERY", "/")).contains("belongs to the host"));
    assert!(refused(json!({}), pair("FETCH", "/entries")).contains("registered already"));
}

#[test]
fn s10_3_a_rejection_names_what_comes_near() {
    let taking = |method: &str, path: &str| looks(method, path, closed(json!({}), &[]), open(json!({}), &[]));
    let host = host(
        vec![
            taking("FETCH", "/ledger"),
            taking("RECONCILE", "/accounts"),
            taking("BOOK", "/rooms"),
            taking("AUDIT", "/ledgers/closed"),
            taking("LIST", "/ledger/entries"),
        ],
        "",
    );
    let refusal = evaluate(&host, ledger(), &caller("")).unwrap_err();
    let ProposalRefusal::Rejected { counter_proposal: Some(near), .. } = refusal else { panic!("{refusal:?}") };
    let near: Vec<&str> = near.as_array().unwrap().iter().map(|endpoint| endpoint["path"].as_str().unwrap()).collect();
    assert_eq!(near.len(), COUNTER_PROPOSALS_MAX);
    assert_eq!((near[0], near[1]), ("/ledger", "/accounts"), "the same path, then the same method");
    let refusal = evaluate(&self::host(vec![taking("BOOK", "/rooms")], ""), ledger(), &caller("")).unwrap_err();
    assert!(matches!(refusal, ProposalRefusal::Rejected { counter_proposal: None, .. }));
}

#[test]
fn s10_3_a_rejection_names_nothing_that_the_operator_refuses() {
    let taking = |method: &str, path: &str| looks(method, path, closed(json!({}), &[]), open(json!({}), &[]));
    let near = |policy: Value| {
        let host = host_with(vec![taking("FETCH", "/ledger"), taking("AUDIT", "/ledgers/closed")], "", policy);
        let refusal = evaluate(&host, ledger(), &caller("")).unwrap_err();
        let ProposalRefusal::Rejected { counter_proposal, .. } = refusal else { panic!("{refusal:?}") };
        let near = counter_proposal.unwrap_or_default().as_array().cloned().unwrap_or_default();
        near.iter().map(|endpoint| endpoint["method"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(near(json!({})), ["FETCH", "AUDIT"]);
    assert_eq!(near(json!({"disallow": ["FETCH"]})), ["AUDIT"]);
    assert!(near(json!({"disallow": ["FETCH", "AUDIT"]})).is_empty());
}

#[test]
fn s10_7_the_endpoint_is_the_one_that_was_proposed() {
    let proposed = with(with(ledger(), "errors", json!(["unbalanced"])), "namespace", json!("books"));
    let made = evaluate(&host(vec![entries()], LEDGER), proposed.clone(), &caller("")).unwrap();
    let shown = made.endpoint.projection();
    for member in ["method", "path", "description", "input_schema", "output_schema", "namespace"] {
        assert_eq!(shown[member], proposed["endpoint"][member], "{member}");
    }
    assert_eq!(shown["handler"], json!({"type": "composition"}));
    assert_eq!(shown["errors"], json!(["unbalanced", "composition_failed"]));
}

#[test]
fn s10_5_the_edition_of_the_recipe_is_taken_by_value() {
    let made = evaluate(&host(vec![entries()], LEDGER), ledger(), &caller("")).unwrap();
    let lineage = made.lineage.unwrap();
    assert_eq!((lineage.recipe_name.as_str(), lineage.recipe_version.as_str()), ("reconcile", "3"));
    assert_eq!((made.plan.steps.len(), made.plan.pattern.is_none()), (1, true));
    let kept = serde_json::to_value(&*made.plan).unwrap();
    assert_eq!(serde_json::from_value::<forecourt_contract::Recipe>(kept).unwrap(), *made.plan);
}

#[test]
fn s16_2_an_effect_is_never_declared_weaker_than_it_is() {
    let mut strong = entries();
    strong.semantic = semantic("irreversible");
    strong.semantic["confidence"] = json!(0.5);
    let made = evaluate(&host(vec![strong], LEDGER), ledger(), &caller("")).unwrap();
    let semantic = &made.endpoint.semantic;
    assert_eq!((semantic.impact, semantic.is_idempotent, semantic.confidence), (Impact::Irreversible, false, 0.5));
    let log = made.log.join(" ");
    assert!(log.contains("irreversible") && log.contains("idempotent") && log.contains("0.5"), "{log}");
    let careful = with(ledger(), "semantic", self::semantic("reversible"));
    let made = evaluate(&host(vec![entries()], LEDGER), careful, &caller("")).unwrap();
    assert_eq!(made.endpoint.semantic.impact, Impact::Reversible, "what was declared stronger stays so");
}

#[test]
fn s10_4_2_a_legacy_proposal_may_leave_its_schemas_to_the_steps() {
    let host = host(vec![entries()], LEDGER);
    let legacy = |more: Value| {
        let mut parameters = json!({"name": "RECONCILE", "path": "/ledger", "semantic": semantic("informational")});
        parameters.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        evaluate(&host, parameters, &caller(""))
    };
    let made = legacy(json!({})).unwrap();
    let input = json!({
        "type": "object", "properties": {"account_id": {"type": "string"}}, "required": ["account_id"],
        "additionalProperties": false,
    });
    assert_eq!(*made.endpoint.input.source(), input);
    let declared = legacy(json!({"parameters": {"account_id": "string", "note": {"type": "string"}}})).unwrap();
    assert!(declared.endpoint.input.declares("note"));
    assert_eq!(rejection(legacy(json!({"parameters": {"other": "string"}}))).0, RejectionReason::CompositionImpossible);
}

#[test]
fn s10_6_the_switch_comes_first() {
    let disabled = ProposalRefusal::disabled();
    assert!(matches!(disabled, ProposalRefusal::Rejected { reason: RejectionReason::SynthesisDisabled, .. }));
}
