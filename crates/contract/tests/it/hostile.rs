//! Shared sets of schemas: those of the standard, and hostile ones.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use forecourt_contract::Schema;
use forecourt_testkit::{vector_files, vectors};
use serde_json::{Value, json};

/// What a case of the set stands for, where it is told in words.
fn schema_of(case: &Value) -> Value {
    match case["id"].as_str().unwrap() {
        "sch-huge-enum" => json!({ "enum": (0..100_000).collect::<Vec<_>>() }),
        "sch-deep" => (0..500).fold(json!({}), |inner, _| json!({ "properties": { "a": inner } })),
        _ => case["schema"].clone(),
    }
}

fn instance_of(case: &Value) -> Value {
    match case["id"].as_str().unwrap() {
        "sch-uniqueitems" => Value::from((0..=20_000).map(|at| json!([at])).collect::<Vec<_>>()),
        "sch-pattern-redos" => Value::from("a".repeat(50_000) + "!"),
        _ => case["instance"].clone(),
    }
}

#[test]
fn hostile_schemas_are_refused_or_bounded() {
    let Some(bytes) = vectors("json-schema/hostile.json") else { return };
    for case in serde_json::from_slice::<Vec<Value>>(&bytes).unwrap() {
        let (id, expect) = (case["id"].as_str().unwrap(), case["expect"].as_str().unwrap());
        let started = Instant::now();
        let compiled = Schema::compile(schema_of(&case));
        let checked = compiled.as_ref().ok().map(|schema| schema.check(&instance_of(&case)));
        assert!(started.elapsed() < Duration::from_secs(5), "{id} took {:?}", started.elapsed());
        let may_stand = expect.contains("accepted")
            || expect.contains("ignored")
            || expect.contains("bounded")
            || expect.contains("422")
            || expect.contains("decide");
        assert!(may_stand || compiled.is_err(), "{id}: {expect}");
        assert!(!expect.starts_with("accepted;") || compiled.is_ok(), "{id}: {expect}");
        if id == "sch-bool-false" {
            assert!(checked.unwrap().is_err(), "{id}");
        }
    }
}

#[test]
fn inputs_of_the_hostile_set_are_strict() {
    let open = json!({"type": "object", "properties": {"a": {}}, "additionalProperties": true});
    assert!(Schema::input(open.clone()).is_err(), "an endpoint can't be registered with it");
    let nested = json!({"type": "object", "additionalProperties": false,
        "properties": {"a": {"type": "object", "properties": {"x": {}}}}});
    assert!(Schema::input(nested).unwrap().check(&json!({"a": {"y": 1}})).is_err());
}

/// Files of the standard's tests of which some groups are refused here: their schemas name themselves
/// below the top, or lead to other documents.
const REFUSED: [&str; 7] = ["anchor", "defs", "dynamicRef", "ref", "refRemote", "unevaluatedProperties", "vocabulary"];

#[test]
fn the_tests_of_the_standard_hold() {
    let Some(files) = vector_files("json-schema/tests/draft2020-12") else { return };
    let (mut held, mut refused, mut wrong) = (0, BTreeSet::new(), Vec::new());
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let groups: Vec<Value> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for group in groups {
            let Ok(schema) = Schema::compile(group["schema"].clone()) else {
                refused.insert(name.clone());
                continue;
            };
            for test in group["tests"].as_array().unwrap() {
                let holds = schema.check(&test["data"]).is_ok() == test["valid"].as_bool().unwrap();
                held += usize::from(holds);
                wrong.extend((!holds).then(|| format!("{name}: {} / {}", group["description"], test["description"])));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(refused.iter().map(String::as_str).collect::<Vec<_>>(), REFUSED);
    assert!(held > 0, "nothing held");
}
