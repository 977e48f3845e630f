//! The schema of the worker protocol in the reference, and what real workers and the host exchange.

use jsonschema::Validator;
use serde_json::{Value, json};

fn validator(side: &str) -> Validator {
    let text = include_str!("../../../../docs/reference/worker.schema.json");
    let mut schema: Value = serde_json::from_str(text).unwrap();
    schema["$ref"] = format!("#/$defs/{side}").into();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// Checks a record of lines: those behind `<` went to a worker, those behind `>` came from it.
pub(crate) fn check_lines(trace: &str) {
    let (to_worker, from_worker) = (validator("to_worker"), validator("from_worker"));
    for line in trace.lines() {
        let (validator, line) = match (line.strip_prefix("< "), line.strip_prefix("> ")) {
            (Some(line), _) => (&to_worker, line),
            (_, Some(line)) => (&from_worker, line),
            _ => continue,
        };
        let value: Value = serde_json::from_str(line).unwrap();
        let wrong: Vec<String> =
            validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{line}\n{wrong:?}");
    }
}

#[test]
fn the_schema_takes_what_is_right_and_refuses_what_is_not() {
    let (to_worker, from_worker) = (validator("to_worker"), validator("from_worker"));
    for right in [
        json!({"hello": {"protocol": 2, "sdk": "x/1", "concurrency": 16}}),
        json!({"turn": 7, "text": "Hello.", "progress": 0.5, "note": "half", "later_key": true}),
        json!({"turn": 7, "usage": {"model": "m", "input_tokens": 1, "output_tokens": 2, "cost": 0.1}}),
        json!({"turn": 7, "state": null}),
        json!({"turn": 7, "end": null}),
        json!({"turn": 7, "call": {"id": "c1", "tool": "t", "arguments": {}}}),
        json!({"turn": 7, "artifact": {"id": "a", "data": "b25l", "append": true, "last": true}}),
        json!({"turn": 7, "log": {"level": "warn", "message": "m", "fields": {"a": 1}}}),
    ] {
        assert!(from_worker.is_valid(&right), "{right}");
    }
    for wrong in [
        json!({"hello": {"protocol": 3}}),
        json!({"hello": {"protocol": 2, "concurrency": 257}}),
        json!({"text": "no turn"}),
        json!({"turn": -1, "text": "a"}),
        json!({"turn": 7, "text": 1}),
        json!({"turn": 7, "call": {"id": "", "tool": "t"}}),
        json!({"turn": 7, "usage": {"input_tokens": 1}}),
        json!([]),
    ] {
        assert!(!from_worker.is_valid(&wrong), "{wrong}");
    }
    for right in [
        json!({"turn": 7, "cancel": {"reason": "caller_left", "grace_ms": 5000}}),
        json!({"turn": 7, "result": {"id": "c1", "content": [1]}}),
        json!({"turn": 7, "result": {"id": "c1", "error": {"message": "no"}}}),
        json!({"turn": 7, "journal": 3}),
    ] {
        assert!(to_worker.is_valid(&right), "{right}");
    }
    for wrong in [
        json!({"turn": 7}),
        json!({"cancel": {"reason": "caller_left", "grace_ms": 1}}),
        json!({"turn": 7, "result": {"id": "c1"}}),
    ] {
        assert!(!to_worker.is_valid(&wrong), "{wrong}");
    }
}
