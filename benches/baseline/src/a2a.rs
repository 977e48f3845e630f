//! An agent of A2A that repeats what it is told, and nothing else: JSON-RPC of 1.0 and 0.3, read into
//! structs and written from structs.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The agent, and its card for who finds it by that.
pub fn router(port: u16) -> Router {
    Router::new()
        .route("/.well-known/agent-card.json", get(move || async move { Json(card(port)) }))
        .route("/a2a/{agent}", post(send))
        .with_state(&COUNT)
}

/// Answers given so far: what ids are made of.
static COUNT: AtomicU64 = AtomicU64::new(0);

#[derive(Deserialize)]
struct Request {
    jsonrpc: String,
    id: Value,
    method: String,
    params: Params,
}

#[derive(Deserialize)]
struct Params {
    message: Asked,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    message_id: String,
    role: String,
    parts: Vec<Part>,
    context_id: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    text: String,
}

#[derive(Serialize)]
struct Answer {
    jsonrpc: &'static str,
    id: Value,
    result: Result,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Result {
    Wrapped { message: Message },
    Bare(Message),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    message_id: String,
    role: &'static str,
    parts: Vec<Part>,
    context_id: String,
}

async fn send(
    State(count): State<&'static AtomicU64>,
    Path(agent): Path<String>,
    headers: HeaderMap,
    Json(request): Json<Request>,
) -> Response {
    let Request { jsonrpc, id, method, params: Params { message } } = request;
    let version = headers.get("a2a-version").and_then(|version| version.to_str().ok()).unwrap_or("0.3");
    let (user, agents, old) = match (method.as_str(), version) {
        ("SendMessage", "1.0") => ("ROLE_USER", "ROLE_AGENT", None),
        ("message/send", "0.3") => ("user", "agent", Some("message")),
        _ => return StatusCode::BAD_REQUEST.into_response(),
    };
    let understood = jsonrpc == "2.0" && message.role == user && !message.message_id.is_empty() && !agent.is_empty();
    if !understood || message.parts.is_empty() {
        return StatusCode::BAD_REQUEST.into_response();
    }
    // What is repeated is markdown, which 1.0 says of each part.
    let said = |part| Part { media_type: old.is_none().then(|| "text/markdown".to_owned()), ..part };
    let parts = message.parts.into_iter().map(said).collect();
    let number = count.fetch_add(1, Ordering::Relaxed);
    let answer = Message {
        kind: old,
        message_id: format!("{number:043}"),
        role: agents,
        parts,
        context_id: message.context_id.unwrap_or_else(|| format!("ctx-{number:043}")),
    };
    let result = if old.is_some() { Result::Bare(answer) } else { Result::Wrapped { message: answer } };
    let headers = [
        ("cache-control", "no-store"),
        ("x-robots-tag", "noindex, nofollow, noarchive"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
    ];
    (headers, Json(Answer { jsonrpc: "2.0", id, result })).into_response()
}

fn card(port: u16) -> Value {
    json!({
        "name": "Remote",
        "description": "Repeats what it is told.",
        "version": "1.0.0",
        "supportedInterfaces": [
            {"url": format!("http://127.0.0.1:{port}/a2a/remote"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
        "capabilities": {"streaming": false, "pushNotifications": false},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "echo", "name": "Echo", "description": "Repeats.", "tags": ["echo"]}],
    })
}
