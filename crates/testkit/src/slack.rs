//! Slack on loopback, after the public description of its Web API and of its events: strict about what it is sent, slow
//! or failing as it is told to. What people do there is for the test to say.

mod methods;

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use aws_lc_rs::hmac;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// The bot token that it takes.
pub const SLACK_TOKEN: &str = "xoxb-double";
/// What it signs events with.
pub const SLACK_SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";
/// The user that the app is.
pub const SLACK_BOT: &str = "UBOT";

/// A message that was sent by the app.
#[derive(Debug, Clone, PartialEq)]
pub struct SlackMessage {
    /// The method that sent it.
    pub method: String,
    /// Its id.
    pub ts: String,
    /// What was sent, as it is by now.
    pub fields: Value,
    /// How often it was edited.
    pub edits: usize,
    /// Whether it was deleted.
    pub is_deleted: bool,
}

/// What it knows.
#[derive(Debug, Default)]
pub struct SlackBooks {
    /// What the app sent, in order.
    pub messages: Vec<SlackMessage>,
    /// Files that were shared, by name, with the thread.
    pub files: Vec<(String, Bytes, Value)>,
    /// The methods that were called.
    pub called: Vec<String>,
    /// Methods that fail once, with the status of the answer; 429 comes with `Retry-After: 1`.
    pub faults: Vec<(String, u16)>,
    /// Files that people share, by path: their bytes.
    pub shared: HashMap<String, Bytes>,
    uploads: Vec<(String, String, usize, Bytes)>,
    origin: String,
    last: u64,
}

/// Slack. Clones share its books.
#[derive(Debug, Clone, Default)]
pub struct SlackDouble {
    /// What it knows.
    pub books: Arc<Mutex<SlackBooks>>,
}

impl SlackDouble {
    /// Listens on this machine, and gives the address.
    pub async fn start(&self) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        self.books.lock().origin = format!("http://{address}");
        let routes = Router::new()
            .route("/api/{method}", post(on_method))
            .route("/upload/{id}", post(on_upload))
            .route("/files/{name}", get(on_file))
            .with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        address
    }

    /// Has the next call of a method fail with this status.
    pub fn fail(&self, method: &str, status: u16) {
        self.books.lock().faults.push((method.to_owned(), status));
    }

    /// Messages that are there, in order.
    pub fn messages(&self) -> Vec<SlackMessage> {
        self.books.lock().messages.iter().filter(|message| !message.is_deleted).cloned().collect()
    }

    /// The address of a file that somebody shares.
    pub fn share(&self, name: &str, bytes: &'static [u8]) -> String {
        let mut books = self.books.lock();
        books.shared.insert(name.to_owned(), Bytes::from_static(bytes));
        format!("{}/files/{name}", books.origin)
    }
}

/// An event of this app, as it is sent. `event` is what happened.
pub fn slack_event(event: &Value) -> String {
    json!({
        "token": "deprecated", "team_id": "T1", "api_app_id": "A1", "type": "event_callback", "event_id": "Ev1",
        "event_time": 1, "event": event, "is_ext_shared_channel": false,
        "authorizations": [{"enterprise_id": null, "team_id": "T1", "user_id": SLACK_BOT, "is_bot": true}],
    })
    .to_string()
}

/// The signature of a body at a time, in seconds since 1970.
pub fn slack_signature(secret: &str, time: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("v0:{time}:{body}").as_bytes());
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("v0={hex}")
}

async fn on_method(
    State(slack): State<SlackDouble>,
    Path(method): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut books = slack.books.lock();
    books.called.push(method.clone());
    if let Some(at) = books.faults.iter().position(|(of, _)| *of == method) {
        let status = StatusCode::from_u16(books.faults.remove(at).1).unwrap();
        return (status, [("retry-after", "1")], "").into_response();
    }
    let field = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if field("authorization") != format!("Bearer {SLACK_TOKEN}") {
        return axum::Json(json!({"ok": false, "error": "invalid_auth"})).into_response();
    }
    let done = methods::call(&mut books, &method, field("content-type"), &body);
    let answer = match done {
        Ok(mut answer) => {
            answer["ok"] = json!(true);
            answer
        }
        Err(error) => json!({"ok": false, "error": error}),
    };
    let scopes =
        "app_mentions:read,channels:history,chat:write,files:read,files:write,groups:history,im:history,users:read";
    ([("x-oauth-scopes", scopes)], axum::Json(answer)).into_response()
}

async fn on_upload(State(slack): State<SlackDouble>, Path(id): Path<String>, body: Bytes) -> StatusCode {
    let mut books = slack.books.lock();
    match books.uploads.iter_mut().find(|(of, _, length, _)| *of == id && *length == body.len()) {
        Some((.., bytes)) => {
            *bytes = body;
            StatusCode::OK
        }
        None => StatusCode::BAD_REQUEST,
    }
}

async fn on_file(State(slack): State<SlackDouble>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    let is_ours = headers.get("authorization").is_some_and(|value| *value == *format!("Bearer {SLACK_TOKEN}"));
    match slack.books.lock().shared.get(&name).filter(|_| is_ours) {
        Some(bytes) => bytes.clone().into_response(),
        // Slack shows whoever may not read a file a page to sign in.
        None => axum::response::Html("<p>Sign in</p>").into_response(),
    }
}
