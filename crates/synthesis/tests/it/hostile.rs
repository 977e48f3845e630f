//! Proposals that were written to do harm.

use std::time::{Duration, Instant};

use forecourt_synthesis::proposal::ProposalRefusal;
use forecourt_testkit::vectors;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::planning::{caller, evaluate, host, malformed, object, open, proposal, read, semantic};

fn of_schema(schema: Value) -> Result<forecourt_synthesis::Synthesis, ProposalRefusal> {
    let input = json!({"type": "object", "properties": {"a": schema}, "additionalProperties": false});
    evaluate(&host(vec![], ""), proposal("RECONCILE", "/ledger", input, open(json!({}), &[])), &caller(""))
}

#[test]
fn s10_6_4_hostile_schemas_are_refused_or_bounded() {
    let Some(bytes) = vectors("json-schema/hostile.json") else { return };
    for case in serde_json::from_slice::<Vec<Value>>(&bytes).unwrap() {
        let (id, expect) = (case["id"].as_str().unwrap(), case["expect"].as_str().unwrap());
        // As the output, which stands alone: a reference to the whole document means the same there.
        let input = json!({"type": "object", "additionalProperties": false});
        let parameters = proposal("RECONCILE", "/ledger", input, case["schema"].clone());
        let started = Instant::now();
        let found = evaluate(&host(vec![], ""), parameters, &caller(""));
        assert!(started.elapsed() < Duration::from_secs(5), "{id} took {:?}", started.elapsed());
        if expect.starts_with("rejected") && !expect.contains(" or ") {
            assert!(matches!(found, Err(ProposalRefusal::Malformed { .. })), "{id}: {found:?}");
        }
    }
}

#[test]
fn s10_6_4_a_schema_with_an_exploding_pattern_is_refused() {
    for pattern in ["a{1000}{1000}", "((a{0,100}){0,100}){0,100}", "(a)\\1", "(?=a)a"] {
        assert_eq!(
            malformed(of_schema(json!({"type": "string", "pattern": pattern}))).0,
            "malformed-schema",
            "{pattern}"
        );
    }
}

#[test]
fn s10_4_hostile_json_is_read_or_refused() {
    let Some(bytes) = vectors("json-hostile/cases.json") else { return };
    for case in serde_json::from_slice::<Vec<Value>>(&bytes).unwrap() {
        let Ok(value) = serde_json::from_str::<Value>(case["json"].as_str().unwrap_or_default()) else { continue };
        for member in ["endpoint", "name", "scope_requested", "parameters"] {
            let _ = read(json!({ "name": "RECONCILE", member: value.clone() }));
        }
        let _ = of_schema(value);
    }
}

#[test]
fn s10_4_a_proposal_of_ten_megabytes_is_refused_at_once() {
    let started = Instant::now();
    let large = read(json!({"name": "RECONCILE", "input_schema": {"description": "x".repeat(10 << 20)}}));
    assert_eq!(malformed(large).0, "proposal-too-large");
    let many: Map<String, Value> = (0..200_000).map(|at| (format!("p{at}"), json!(null))).collect();
    assert_eq!(malformed(read(json!({"name": "RECONCILE", "semantic": many}))).0, "proposal-too-large");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn s10_4_a_proposal_that_is_nested_too_deep_is_refused() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    // The parameters are a level themselves.
    assert!(read(json!({"name": "RECONCILE", "x": nested(63)})).is_ok());
    assert_eq!(malformed(read(json!({"name": "RECONCILE", "x": nested(64)}))).0, "proposal-too-large");
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["object", "string", "#", "#/$defs/a", "24h", "BOOK", "/a/{b}", "a:b"])
            .prop_map(Value::from),
    ];
    let key = prop_oneof![
        3 => prop::sample::select(vec![
            "endpoint", "name", "method", "path", "semantic", "input_schema", "output_schema", "parameters", "type",
            "properties", "required", "additionalProperties", "$ref", "$defs", "allOf", "anyOf", "items", "enum",
            "const", "errors", "required_scopes", "scope_requested", "requested_duration", "persistent", "pattern",
            "intent", "impact", "description",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,8}",
    ];
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

const ANY: &str = "[[recipe]]\nname = \"any\"\npattern = { path_regex = \".*\" }\nsteps = [{ method = \"FETCH\", path = \
                   \"/entries\", parameters = { account = { kind = \"proposal\", value = \"a\" } } }]\naggregation = \
                   { mode = \"merge\" }\n";

proptest! {
    #[test]
    fn reading_and_evaluating_never_panics(value in json_value()) {
        let Value::Object(parameters) = value else { return Ok(()) };
        let entries = crate::planning::looks("FETCH", "/entries",
            crate::planning::closed(json!({"account": {"type": "string"}}), &[]), open(json!({"n": {}}), &[]));
        let host = host(vec![entries], ANY);
        if let Ok(proposal) = forecourt_synthesis::proposal::Proposal::read(&parameters) {
            let settings = forecourt_synthesis::settings::SynthesisSettings::default();
            let _ = proposal.evaluate(&host, &settings, 8, &caller(""));
        }
    }

    #[test]
    fn whatever_the_schemas_are_what_is_made_is_whole(input in json_value(), output in json_value(), wrapped: bool) {
        let entries = crate::planning::looks("FETCH", "/entries",
            crate::planning::closed(json!({"account": {"type": "string"}}), &[]), open(json!({"n": {}}), &[]));
        let host = host(vec![entries], ANY);
        let closed = json!({"type": "object", "additionalProperties": false, "properties": {"a": input}});
        let mut parameters = proposal("RECONCILE", "/ledger", closed, output);
        parameters["endpoint"]["semantic"] = semantic("informational");
        if !wrapped {
            let mut legacy = object(parameters["endpoint"].clone());
            legacy.insert("name".into(), json!("label"));
            parameters = Value::Object(legacy);
        }
        if let Ok(made) = evaluate(&host, parameters, &caller("")) {
            prop_assert!(made.endpoint.declares_error("composition_failed"));
            prop_assert_eq!(made.endpoint.path.as_str(), "/ledger");
        }
    }
}
