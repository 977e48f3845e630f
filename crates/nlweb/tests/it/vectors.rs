//! Pairs of requests and responses, as data: one file each in `tests/vectors`, named by its section.
//!
//! A file holds what the agent does (`agent`, the host's events), the `request` (method, path, fields,
//! body) and the `response` (status, fields, and the body or the events of the stream, in full).

use std::fs;
use std::path::{Path, PathBuf};

use forecourt_core::Event;
use serde_json::{Value, json};

use crate::support::*;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test(start_paused = true)]
async fn every_request_gets_its_response() {
    for file in files() {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let case: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
        check(&name, &case).await;
    }
}

async fn check(name: &str, case: &Value) {
    let events: Vec<Event> = serde_json::from_value(case["agent"].clone()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let asked = &case["request"];
    let mut request = request(asked["method"].as_str().unwrap(), asked["path"].as_str().unwrap());
    for (field, value) in asked["fields"].as_object().into_iter().flatten() {
        request = request.header(field, value.as_str().unwrap());
    }
    let body = match &asked["body"] {
        Value::Null => String::new(),
        Value::String(raw) => raw.clone(),
        body => body.to_string(),
    };
    let answer = bot(events).await.send(request, body).await;
    let wanted = &case["response"];
    assert_eq!(json!(answer.status.as_u16()), wanted["status"], "{name}: {}", answer.text);
    for (field, value) in wanted["fields"].as_object().into_iter().flatten() {
        assert_eq!(answer.field(field), value.as_str().unwrap(), "{name}: {field}");
    }
    match wanted.get("events") {
        Some(events) => {
            let given: Vec<Value> = answer.events().into_iter().map(|(name, data)| json!([name, data])).collect();
            assert_eq!(json!(given), *events, "{name}");
        }
        None => assert_eq!(answer.json(), wanted["body"], "{name}"),
    }
}
