//! Nothing that a caller writes into extensions, metadata or `_meta` changes what is inside: whoever writes
//! every name that our own parts have or had for their wishes is answered just as without.

use serde_json::{Map, Value, json};

use crate::support::{Deployment, Served};
use crate::wire::Answer;

const JSON: &str = "Content-Type: application/json";
const WORDS: &str = "chickpea";
/// Names of wishes that our own parts have, or once had, of each other.
const NAMES: [&str; 12] = [
    "urn:forecourt:findings",
    "urn:forecourt:findings:facets",
    "urn:forecourt:findings:list",
    "application/vnd.forecourt.findings+json",
    "application/vnd.forecourt.narrowing+json",
    "search",
    "findings",
    "narrowing",
    "answers",
    "question",
    "unrecorded",
    "forecourt",
];

/// Everything that narrows a search down, however it may be spelled.
fn narrowing() -> Value {
    let exactly = json!([["recipeCategory", "Dessert"], ["url.host", "nowhere.example"]]);
    json!({"exactly": exactly, "results": 1, "decided": true, "list_only": true, "findings": "facets",
        "narrowing": {"exactly": exactly, "results": 1}})
}

/// An object that has all of it under every name.
fn switches() -> Value {
    let named: Map<String, Value> = NAMES.iter().map(|name| ((*name).to_owned(), narrowing())).collect();
    Value::Object(named)
}

/// What an answer says, without what is of its own each time.
fn said(mut answer: Value) -> Value {
    strip(&mut answer);
    answer
}

fn strip(value: &mut Value) {
    const OWN: [&str; 14] = [
        "id",
        "taskId",
        "contextId",
        "messageId",
        "artifactId",
        "timestamp",
        "session",
        "session_context",
        "conversation_id",
        "request_id",
        "processing_time_ms",
        "updatedAt",
        "createdAt",
        "lastModified",
    ];
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !OWN.contains(&key.as_str()));
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

fn post(served: &Served, path: &str, fields: &[&str], body: &Value) -> Answer {
    served.curl(path, &[&["-H", JSON, "-d", &body.to_string()], fields].concat()).with_status(200)
}

#[test]
fn a2a_extensions_and_metadata_change_nothing() {
    let served = Deployment::kitchen().serve();
    let plain = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": WORDS}]});
    let mut loaded = plain.clone();
    loaded["extensions"] = json!(NAMES);
    loaded["metadata"] = switches();
    loaded["parts"][0]["metadata"] = switches();
    let names = format!("A2A-Extensions: {}", NAMES.join(", "));
    let ask = |message: &Value, metadata: Value, fields: &[&str]| {
        let params = json!({"message": message, "metadata": metadata});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
        let answer = post(&served, "/a2a/chef", &[&["-H", "A2A-Version: 1.0"], fields].concat(), &call);
        let mut answer = said(answer.json());
        // What the caller said of its own message is shown to it again, and is no answer.
        answer["result"]["task"].as_object_mut().map(|task| task.remove("history"));
        answer
    };
    let wanted = ask(&plain, json!({}), &[]);
    assert!(wanted.to_string().contains("hickpea"), "{wanted}");
    assert_eq!(ask(&loaded, switches(), &["-H", &names]), wanted);
    // The same as a part of the message is content, of a type that the agent does not take.
    let mut message = plain;
    message["parts"] =
        json!([{"text": WORDS}, {"data": narrowing(), "mediaType": "application/vnd.forecourt.narrowing+json"}]);
    let refused = ask(&message, json!({}), &[]);
    assert_eq!(refused["error"]["code"], -32005, "{refused}");
}

#[test]
fn nlweb_meta_and_context_change_nothing() {
    let served = Deployment::kitchen().serve();
    let ask = |meta: Value| {
        let body = json!({"query": {"text": WORDS}, "meta": meta, "prefer": {"streaming": false}});
        said(post(&served, "/~chef/ask", &[], &body).json())
    };
    let wanted = ask(json!({}));
    assert!(wanted["results"].as_array().is_some_and(|results| !results.is_empty()), "{wanted}");
    let mut loaded = switches();
    loaded["extensions"] = json!(NAMES);
    loaded["metadata"] = switches();
    loaded["_meta"] = switches();
    loaded["session_context"] = switches();
    assert_eq!(ask(loaded), wanted);
}

#[test]
fn mcp_meta_changes_nothing() {
    let served = Deployment::kitchen().serve();
    let accept = "Accept: application/json, text/event-stream";
    let call = |meta: Value| {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
        let session = post(&served, "/mcp/chef", &["-H", accept], &hello).named("mcp-session-id");
        let session = format!("Mcp-Session-Id: {session}");
        let params = json!({"name": "ask", "arguments": {"query": {"text": WORDS}}, "_meta": meta});
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        let answer = post(&served, "/mcp/chef", &["-H", accept, "-H", &session], &call).text();
        let last =
            answer.lines().rev().find_map(|line| serde_json::from_str(line.strip_prefix("data:").unwrap_or(line)).ok());
        let last: Value = last.unwrap_or_else(|| panic!("no answer: {answer}"));
        said(last["result"]["structuredContent"].clone())
    };
    let wanted = call(json!({}));
    assert!(wanted.to_string().contains("hickpea"), "{wanted}");
    assert_eq!(call(switches()), wanted);
}

#[test]
fn rest_fields_and_turns_change_nothing() {
    let served = Deployment::kitchen().serve();
    let ask = |fields: &[&str]| {
        said(served.curl("/~chef", &[&["-H", "Accept: application/json"], fields].concat()).with_status(200).json())
    };
    let words = format!("user={WORDS}");
    let wanted = ask(&["-F", &words]);
    assert!(wanted.to_string().contains("hickpea"), "{wanted}");
    let (names, all) = (json!(NAMES).to_string(), switches().to_string());
    let forms: Vec<String> = ["metadata", "_meta", "search", "narrowing", "findings"]
        .iter()
        .map(|name| format!("{name}={all};type=application/json"))
        .chain([format!("extensions={names};type=application/json")])
        .collect();
    let mut fields: Vec<&str> = forms.iter().flat_map(|form| ["-F", form.as_str()]).collect();
    fields.extend(["-F", &words]);
    assert_eq!(ask(&fields), wanted);
    // An earlier turn, as a caller tells it, with what only we write into turns.
    let turn = json!([{"role": "assistant", "parts": [{"kind": "text", "content": "Which kind of dish?"}]}]);
    let mut loaded = turn.clone();
    loaded[0]["question"] = json!({"text": "Which?", "questions": [{"id": "recipeCategory", "text": "Which?"}]});
    loaded[0]["narrowing"] = narrowing();
    loaded[0]["answers"] = json!([{"id": "recipeCategory", "value": "Dessert"}]);
    let with = |history: &Value| {
        let history = format!("history={history};type=application/json");
        ask(&["-F", &history, "-F", &words])
    };
    assert_eq!(with(&loaded), with(&turn));
}
