//! Calls of a server's tools that go without the SDK's machinery: the server is told the same and the client is answered
//! alike, whatever the server says, and nothing is sent twice.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::scripted_server::{host, listed, listen, server};
use crate::support::{Answer, modern};

const MODERN: &str = "2026-07-28";
const OLDER: &str = "2025-11-25";

/// What a server answers a call with. `@ID@` stands for the number of the request.
#[derive(Clone)]
struct Script {
    status: u16,
    head: Vec<(&'static str, &'static str)>,
    body: String,
    /// How long its server may take, in seconds.
    time_max: u32,
}

fn answers(kind: &'static str, body: impl Into<String>) -> Script {
    Script { status: 200, head: vec![("content-type", kind)], body: body.into(), time_max: 5 }
}

fn json_of(body: impl Into<String>) -> Script {
    answers("application/json", body)
}

fn events(body: impl Into<String>) -> Script {
    answers("text/event-stream", body)
}

/// The message that answers a call with a result.
fn with(result: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":@ID@,"result":{result}}}"#)
}

fn failing(code: i32) -> String {
    let error = json!({"code": code, "message": "No.", "data": {"own": [1, null]}});
    format!(r#"{{"jsonrpc":"2.0","id":@ID@,"error":{error}}}"#)
}

fn text() -> Value {
    json!({"content": [{"type": "text", "text": "7"}]})
}

/// A server that plays a script, and the calls that it heard.
struct Played {
    url: String,
    calls: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
    begun: Arc<Mutex<usize>>,
}

/// Plays `script` for each call, in a session where it gives them out.
async fn playing(revision: &'static str, script: Script, gives_session: bool) -> Played {
    let (calls, begun) = (Arc::<Mutex<Vec<_>>>::default(), Arc::<Mutex<usize>>::default());
    let (heard, begins) = (calls.clone(), begun.clone());
    let router = axum::Router::new().fallback(move |head: HeaderMap, body: Bytes| {
        let Ok(asked) = serde_json::from_slice::<Value>(&body) else {
            return std::future::ready(StatusCode::METHOD_NOT_ALLOWED.into_response());
        };
        let answered = match asked["method"].as_str().unwrap_or_default() {
            "tools/call" => {
                heard.lock().push((head, asked.clone()));
                played(&script, &asked["id"])
            }
            "initialize" if revision == OLDER => {
                *begins.lock() += 1;
                let about = json!({"protocolVersion": OLDER, "capabilities": {"tools": {}},
                    "serverInfo": {"name": "played", "version": "1"}});
                let mut answer = said(&asked, about);
                if gives_session {
                    answer.headers_mut().insert("mcp-session-id", "one".parse().unwrap());
                }
                answer
            }
            "server/discover" if revision == MODERN => said(
                &asked,
                json!({"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}},
                    "ttlMs": 0, "cacheScope": "private"}),
            ),
            "tools/list" => said(&asked, json!({"tools": [{"name": "get", "inputSchema": {"type": "object"}}]})),
            _ if asked["id"].is_null() => StatusCode::ACCEPTED.into_response(),
            _ => {
                let error = json!({"code": -32601, "message": "no such method"});
                axum::Json(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error})).into_response()
            }
        };
        std::future::ready(answered)
    });
    Played { url: listen(router).await, calls, begun }
}

fn said(asked: &Value, result: Value) -> Response {
    axum::Json(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result})).into_response()
}

fn played(script: &Script, id: &Value) -> Response {
    let mut answer = Response::builder().status(script.status);
    for (name, value) in &script.head {
        answer = answer.header(*name, *value);
    }
    answer.body(Body::from(script.body.replace("@ID@", &id.to_string()))).unwrap()
}

/// What came of one call, by the way that it takes when its client hears of progress, or does not.
struct Outcome {
    answer: Answer,
    calls: Vec<(HeaderMap, Value)>,
    begun: usize,
}

async fn outcome(revision: &'static str, script: &Script, gives_session: bool, hears_progress: bool) -> Outcome {
    let played = playing(revision, script.clone(), gives_session).await;
    let place =
        host(vec![server(&played.url, &format!("revision = \"{revision}\"\ntotal_seconds = {}\n", script.time_max))])
            .await;
    listed(&place, "far_get").await;
    let mut params = json!({"name": "far_get", "arguments": {"n": [1, "ü"]}, "_meta": {"vendor/x": {"y": 1}}});
    if hears_progress {
        params["_meta"]["progressToken"] = json!("mine");
    }
    let call = place.send(modern("/mcp", "tools/call", params, json!({"elicitation": {"form": {}}})));
    let answer = tokio::time::timeout(Duration::from_secs(60), call).await.expect("it ends");
    let (calls, begun) = (played.calls.lock().clone(), *played.begun.lock());
    Outcome { answer, calls, begun }
}

/// An answer without what differs from call to call.
fn comparable(answer: &Answer) -> Value {
    let mut message = answer.last().clone();
    message["result"]["requestState"].take();
    json!([answer.status.as_u16(), answer.field("www-authenticate"), message])
}

/// Both ways come to the same, after as many calls of the server.
async fn assert_alike(revision: &'static str, what: &str, script: &Script, gives_session: bool) -> Answer {
    let direct = outcome(revision, script, gives_session, false);
    let sdk = outcome(revision, script, gives_session, true);
    let (direct, sdk) = tokio::join!(direct, sdk);
    assert_eq!(comparable(&direct.answer), comparable(&sdk.answer), "{revision} {what}");
    assert_eq!(direct.calls.len(), sdk.calls.len(), "{revision} {what}");
    assert_eq!(direct.begun, sdk.begun, "{revision} {what}");
    let number = direct.calls[0].1["id"].as_i64().unwrap();
    assert!(number >= 1_000_000_000, "{what} went by the SDK: {number}");
    direct.answer
}

async fn all_alike(scripts: Vec<(&'static str, Script)>) {
    for revision in [MODERN, OLDER] {
        for (what, script) in &scripts {
            assert_alike(revision, what, script, false).await;
        }
    }
}

#[tokio::test]
async fn the_server_is_told_the_same_either_way() {
    for (revision, gives_session) in [(MODERN, false), (OLDER, false), (OLDER, true)] {
        let script = json_of(with(&text()));
        let told = async |hears_progress| {
            let outcome = outcome(revision, &script, gives_session, hears_progress).await;
            let [(head, mut message)] = <[_; 1]>::try_from(outcome.calls).expect("one call");
            assert_ne!(message["id"].take(), Value::Null);
            message["params"]["_meta"].as_object_mut().unwrap().remove("progressToken");
            let mut fields: Vec<(String, String)> =
                head.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
            // The number and the token in it have another length, and each server a port of its own.
            fields.retain(|(name, _)| !["content-length", "host"].contains(&name.as_str()));
            fields.sort();
            (fields, message)
        };
        let (direct, sdk) = (told(false).await, told(true).await);
        assert_eq!(direct, sdk, "{revision}");
        assert_eq!(direct.0.iter().any(|(name, _)| name == "mcp-session-id"), gives_session);
        assert_eq!(direct.1["params"]["_meta"]["vendor/x"], json!({"y": 1}));
        assert_eq!(direct.1["params"]["_meta"]["forecourt/hops"], 1);
    }
}

#[tokio::test]
async fn results_are_alike_either_way() {
    let whole = json!({
        "content": [
            {"type": "text", "text": "sieben \u{fc} \u{2028}", "annotations": {"audience": ["user"], "priority": 0.5},
                "_meta": {"far/y": [1]}},
            {"type": "image", "data": "cG5n", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "far://one", "name": "one"},
            {"type": "resource", "resource": {"uri": "far://two", "text": "two"}},
        ],
        "structuredContent": {"n": 7, "big": 12345678901234567890_u64, "f": 0.1, "deep": [[{"a": null}]]},
        "isError": false, "_meta": {"far/x": 1}, "resultType": "complete",
    });
    let error = json!({"content": [{"type": "text", "text": "It broke."}], "isError": true});
    all_alike(vec![
        ("whole", json_of(with(&whole))),
        ("whole as an event", events(format!("data: {}\n\n", with(&whole)))),
        ("after an event that says nothing", events(format!("id: 1\ndata:\n\nid: 2\ndata: {}\n\n", with(&whole)))),
        ("with more after it", events(format!("data: {}\n\ndata: {{}}\n\n", with(&whole)))),
        ("in two lines", events(format!("data: {}\n\n", with(&text()).replacen(',', ",\ndata:", 1)))),
        ("with a charset", answers("application/json; charset=utf-8", with(&text()))),
        ("an error of the tool", json_of(with(&error))),
        ("structure alone", json_of(with(&json!({"structuredContent": null})))),
        ("a field that nobody knows", json_of(with(&json!({"content": [], "colour": "red"})))),
    ])
    .await;
}

#[tokio::test]
async fn what_is_said_before_a_result_is_heard_either_way() {
    let note = |method: &str, params: Value| {
        format!("data: {}\n\n", json!({"jsonrpc": "2.0", "method": method, "params": params}))
    };
    let end = format!("data: {}\n\n", with(&text()));
    let logged = note("notifications/message", json!({"level": "warning", "data": "low"}));
    let progress = note("notifications/progress", json!({"progressToken": 77, "progress": 1}));
    let changed = note("notifications/tools/list_changed", json!({}));
    let asked = format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": 1_000_000_000, "method": "ping"}));
    all_alike(vec![
        ("a message", events(format!("{logged}{end}"))),
        ("progress of nothing", events(format!("{progress}{end}"))),
        ("a change", events(format!("{changed}{end}"))),
        ("a request", events(format!("{asked}{end}"))),
        ("nonsense", events(format!("data: nonsense\n\n{end}"))),
        ("an error at the end", events(format!("{logged}data: {}\n\n", failing(-32000)))),
    ])
    .await;
}

#[tokio::test]
async fn errors_are_alike_either_way() {
    let mut scripts: Vec<_> = [-32600, -32601, -32602, -32603, -32020, -32021, -32022, -32042, -1]
        .into_iter()
        .map(|code| ("an error", json_of(failing(code))))
        .collect();
    let status = |status, head: &[(&'static str, &'static str)], body: &str| Script {
        status,
        head: head.to_vec(),
        ..json_of(body)
    };
    let metadata = "Bearer resource_metadata=\"https://far.example/metadata\"";
    scripts.extend([
        ("a challenge", status(401, &[("www-authenticate", metadata)], "")),
        ("no challenge", status(401, &[], "")),
        ("forbidden", status(403, &[], "no")),
        ("gone", status(410, &[], "")),
        ("later", status(429, &[("retry-after", "9")], "")),
        ("broken", status(500, &[], "panicked")),
        ("broken in JSON", status(500, &[("content-type", "application/json")], &failing(-32603))),
        ("unfit in JSON", status(400, &[("content-type", "application/json")], &failing(-32602))),
        ("elsewhere", status(302, &[("location", "https://far.example/")], "")),
        ("an error as an event", events(format!("data: {}\n\n", failing(-32602)))),
    ]);
    all_alike(scripts).await;
}

#[tokio::test]
async fn nonsense_is_alike_either_way() {
    let both = r#"{"jsonrpc":"2.0","id":@ID@,"result":{"content":[]},"error":{"code":-1,"message":"no"}}"#;
    all_alike(vec![
        ("no JSON", json_of("<html>")),
        ("nothing", json_of("")),
        ("no form", Script { head: Vec::new(), ..json_of(with(&text())) }),
        ("another form", answers("text/html", with(&text()))),
        ("both", json_of(both)),
        ("another version", json_of(with(&text()).replacen("2.0", "1.0", 1))),
        ("no result", json_of(with(&json!({})))),
        ("a list", json_of(with(&json!([1])))),
        ("unknown content", json_of(with(&json!({"content": [{"type": "smell"}]})))),
        ("half a text", json_of(with(&json!({"content": [{"type": "text"}]})))),
        ("another type", json_of(with(&json!({"content": [], "resultType": "task"})))),
    ])
    .await;
}

#[tokio::test]
async fn a_question_is_put_either_way() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let asked = json!({"method": "elicitation/create", "params":
        {"mode": "form", "message": "Which?", "requestedSchema": schema}});
    let script = json_of(with(&json!({"resultType": "input_required", "inputRequests": {"a": asked}})));
    let answer = assert_alike(MODERN, "a question", &script, false).await;
    assert_eq!(answer.last()["result"]["resultType"], "input_required", "{:?}", answer.last());
}

#[tokio::test]
async fn a_session_that_is_gone_is_begun_again_and_the_call_is_put_once_more_as_the_sdk_does() {
    let script = Script { status: 404, ..json_of("") };
    assert_alike(OLDER, "no session", &script, true).await;
}

#[tokio::test]
async fn an_event_of_any_length_is_a_result() {
    // Up to this the first event is looked at without the SDK.
    let bound = 256 * 1024;
    for bytes in [bound - 1_000, bound - 1, bound, bound + 1, bound + 1_000] {
        let event = |words: usize| {
            let words = "x".repeat(words);
            format!("data: {}\n\n", with(&json!({"content": [{"type": "text", "text": words}]})))
        };
        let script = events(event(bytes - event(0).len()));
        let answer = assert_alike(MODERN, "long", &Script { time_max: 60, ..script }, false).await;
        assert_eq!(answer.last()["result"]["isError"], Value::Null, "{bytes}");
    }
}

#[tokio::test]
async fn ten_megabytes_are_a_result_and_seventeen_are_too_many() {
    for (bytes, is_error) in [(10, false), (17, true)] {
        let words = "x".repeat(bytes * 1024 * 1024);
        let large = with(&json!({"content": [{"type": "text", "text": words}], "isError": false}));
        for script in [json_of(large.clone()), events(format!("data: {large}\n\n"))] {
            let answer = assert_alike(MODERN, "large", &Script { time_max: 60, ..script }, false).await;
            assert_eq!(answer.last()["result"]["isError"], is_error);
        }
    }
}

#[tokio::test]
async fn a_stream_that_ends_too_soon_and_a_server_that_says_nothing_are_alike_either_way() {
    for revision in [MODERN, OLDER] {
        for (what, script) in [
            ("an end", events("data: {\"jsonrpc\"")),
            ("nothing", events("")),
            ("another number", json_of(with(&text()).replacen("@ID@", "5", 1))),
            ("taken", Script { status: 202, ..json_of("") }),
        ] {
            assert_alike(revision, what, &script, false).await;
        }
    }
}
