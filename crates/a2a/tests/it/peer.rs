//! A scripted A2A agent on loopback, and an agent of ours in front of it.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use forecourt_agents::{BuiltAgent, Context, siblings::Siblings};
use forecourt_core::{
    Admitted, CollectedReply, Ending, Event, EventStream, Handle, Language, Message, MessageId, Part, Policy, ThreadId,
    Timestamp, reply,
};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_settings::{Problems, Section};
use forecourt_testkit::{CountedEntropy, HandClock, card};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

/// What the peer was asked.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Heard {
    /// The method of JSON-RPC, or the verb and the path of REST.
    pub(crate) fn method(&self) -> String {
        match self.body["method"].as_str() {
            Some(method) => method.to_owned(),
            None => format!("{} {}", self.verb, self.path),
        }
    }

    pub(crate) fn message(&self) -> &Value {
        self.body.pointer("/params/message").unwrap_or(&self.body["message"])
    }
}

pub(crate) struct FakePeer {
    pub(crate) base: String,
    pub(crate) heard: mpsc::UnboundedReceiver<Heard>,
}

impl FakePeer {
    /// The next request beside those for cards.
    pub(crate) async fn next(&mut self) -> Heard {
        self.heard.recv().await.expect("the peer goes on")
    }
}

/// A peer with the card that `describe` makes of its base, which answers as `answer` says. The
/// number is that of the request, those for cards not counted.
pub(crate) async fn peer<D, A>(describe: D, answer: A) -> FakePeer
where
    D: Fn(&str) -> Response + Send + Sync + 'static,
    A: Fn(usize, &Heard) -> Response + Send + Sync + 'static,
{
    let (sender, heard) = mpsc::unbounded_channel();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let shared = Arc::new((base.clone(), describe, answer, std::sync::atomic::AtomicUsize::new(0)));
    let app = Router::new().fallback(move |request: Request| {
        let (sender, shared) = (sender.clone(), shared.clone());
        async move {
            let (head, body) = request.into_parts();
            let path = head.uri.path().to_owned();
            if path == "/.well-known/agent-card.json" {
                return (shared.1)(&shared.0);
            }
            let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            let body = serde_json::from_slice(&body).unwrap_or_default();
            let path = head.uri.path_and_query().map(ToString::to_string).unwrap_or(path);
            let heard = Heard { verb: head.method.to_string(), path, headers: head.headers, body };
            let number = shared.3.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let response = (shared.2)(number, &heard);
            sender.send(heard).ok();
            response
        }
    });
    tokio::spawn(async { axum::serve(listener, app).await });
    FakePeer { base, heard }
}

/// A peer that tells its card, begins to answer the first message with `frames`, and is gone.
pub(crate) async fn dying_peer(frames: Vec<String>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let card = card_10(&base, "JSONRPC", true).to_string();
    tokio::spawn(async move {
        let frames = frames.concat();
        // Each has a connection of its own. Nobody listens any more before the second one breaks.
        let _ = spoken(&listener, "application/json", card.len(), &card).await;
        let late = spoken(&listener, "text/event-stream", frames.len() + 1, &frames).await;
        drop(listener);
        drop(late);
    });
    base
}

/// Answers a connection with the head of `length` bytes and the body, and gives the connection.
async fn spoken(
    listener: &tokio::net::TcpListener,
    mime: &str,
    length: usize,
    body: &str,
) -> std::io::Result<tokio::net::TcpStream> {
    let (mut stream, _) = listener.accept().await?;
    let mut heard = Vec::new();
    while !is_whole(&heard) {
        if stream.read_buf(&mut heard).await? == 0 {
            break;
        }
    }
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    Ok(stream)
}

/// Whether a request has its head and as many bytes behind it as that says.
fn is_whole(heard: &[u8]) -> bool {
    let text = String::from_utf8_lossy(heard).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    body.len() >= length.unwrap_or(0_usize)
}

pub(crate) fn json_answer(value: Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// A card of 1.0 with one interface.
pub(crate) fn card_10(base: &str, binding: &str, streaming: bool) -> Value {
    json!({
        "name": "Far", "description": "Far away.", "version": "1",
        "supportedInterfaces": [{"url": format!("{base}/a2a"), "protocolBinding": binding, "protocolVersion": "1.0"}],
        "capabilities": {"streaming": streaming, "extensions": [{"uri": "https://mentionable.dev/ns/policy/v0.1"}]},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [],
    })
}

/// A card of 0.3 with one interface.
pub(crate) fn card_03(base: &str, transport: &str, streaming: bool) -> Value {
    json!({
        "name": "Far", "description": "Far away.", "version": "1", "protocolVersion": "0.3.0",
        "url": format!("{base}/a2a"), "preferredTransport": transport, "capabilities": {"streaming": streaming},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [],
    })
}

/// How a stream goes on behind its frames.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    Close,
    Break,
    Hang,
}

pub(crate) fn sse(frames: Vec<String>, after: After) -> Response {
    let frames = stream::iter(frames.into_iter().map(|frame| Ok(Bytes::from(frame))));
    let body = match after {
        After::Close => Body::from_stream(frames),
        After::Break => {
            // The frames leave before the connection does.
            let late = stream::once(async {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                Err(std::io::Error::other("broken"))
            });
            Body::from_stream(frames.chain(late))
        }
        After::Hang => Body::from_stream(frames.chain(stream::pending::<Result<Bytes, std::io::Error>>())),
    };
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// Frames of JSON-RPC.
pub(crate) fn rpc_frames(items: &[Value]) -> Vec<String> {
    items.iter().map(|item| format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": 1, "result": item}))).collect()
}

/// Frames of HTTP+JSON.
pub(crate) fn bare_frames(items: &[Value]) -> Vec<String> {
    items.iter().map(|item| format!("data: {item}\n\n")).collect()
}

pub(crate) fn rpc_stream(items: &[Value], after: After) -> Response {
    sse(rpc_frames(items), after)
}

pub(crate) fn rpc_result(result: Value) -> Response {
    json_answer(json!({"jsonrpc": "2.0", "id": 1, "result": result}))
}

pub(crate) fn rpc_error(code: i64, message: &str) -> Response {
    json_answer(json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": message}}))
}

/// A task of 1.0.
pub(crate) fn task_10(state: &str, message: Value, artifacts: Value) -> Value {
    let mut status = json!({"state": format!("TASK_STATE_{state}"), "timestamp": "2026-01-01T00:00:00Z"});
    if !message.is_null() {
        status["message"] = message;
    }
    json!({"id": "t1", "contextId": "c1", "status": status, "artifacts": artifacts})
}

/// A status update of 1.0.
pub(crate) fn status_10(state: &str, message: Value) -> Value {
    let task = task_10(state, message, json!([]));
    json!({"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": task["status"]}})
}

pub(crate) fn said_10(text: &str, metadata: Value) -> Value {
    json!({"messageId": format!("m-{text}"), "role": "ROLE_AGENT", "parts": [{"text": text}], "metadata": metadata})
}

/// A piece of an artifact of 1.0.
pub(crate) fn piece_10(parts: Value, append: bool, last: bool) -> Value {
    let artifact = json!({"artifactId": "a1", "parts": parts});
    json!({"artifactUpdate": {
        "taskId": "t1", "contextId": "c1", "artifact": artifact, "append": append, "lastChunk": last,
    }})
}

pub(crate) fn text_10(text: &str, append: bool, last: bool) -> Value {
    piece_10(json!([{"text": text}]), append, last)
}

pub(crate) fn not_found() -> Response {
    StatusCode::NOT_FOUND.into_response()
}

// Our agent.

pub(crate) fn context() -> (Context, Arc<HandClock>) {
    let clock = Arc::new(HandClock::new());
    let context = Context {
        handle: Handle::parse("front").unwrap(),
        host: "near.example".to_owned(),
        language: Language::english(),
        folder: PathBuf::from("."),
        data_dir: PathBuf::from(".forecourt"),
        clock: clock.clone(),
        entropy: Arc::new(CountedEntropy::default()),
        egress: Egress::builder(EgressConfig::default()).build().unwrap(),
        path_variable: None,
        variable: |_| None,
        budget: forecourt_agents::budget::BudgetSettings::default(),
        usage: Arc::new(forecourt_agents::usage::NoUsage),
        endpoints: Vec::new(),
        siblings: Siblings::default(),
        goes_on: false,
        builtin: Vec::new(),
    };
    (context, clock)
}

pub(crate) fn try_build(toml: &str) -> Result<(BuiltAgent, Arc<HandClock>), Problems> {
    let environment = |name: &str| (name == "KEY").then(|| "sesame".to_owned());
    let mut root = Section::parse(&PathBuf::from("agents/front.toml"), toml, &environment)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let section = root.take("backend").expect("a [backend] section");
    let (context, clock) = context();
    Ok(((forecourt_a2a::BACKEND.build)(section, &context)?, clock))
}

pub(crate) fn settings(url: &str, more: &str) -> String {
    format!("[backend]\nkind = \"a2a\"\nurl = \"{url}\"\n{more}")
}

pub(crate) fn build(url: &str, more: &str) -> BuiltAgent {
    try_build(&settings(url, more)).unwrap_or_else(|problems| panic!("{problems}")).0
}

pub(crate) fn message(text: &str) -> Message {
    let at: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let (id, recipient) = (MessageId::parse("m1").unwrap(), Handle::parse("front").unwrap());
    let thread = Some(ThreadId::mint(&CountedEntropy::default()));
    Message { thread, ..Message::new(id, recipient, vec![Part::text(text)], "test", at) }
}

pub(crate) async fn admitted(message: Message) -> Admitted {
    Policy::new(Vec::new()).admit(Arc::new(card("front")), message, &[]).await.expect("a gate without rules")
}

pub(crate) async fn begin(built: &BuiltAgent, message: Message) -> EventStream {
    built.agent.handle(admitted(message).await)
}

pub(crate) async fn events(built: &BuiltAgent, text: &str) -> Vec<Event> {
    begin(built, message(text)).await.collect().await
}

pub(crate) async fn ask(built: &BuiltAgent, text: &str) -> CollectedReply {
    reply::collect(begin(built, message(text)).await).await
}

pub(crate) fn failure(answer: &CollectedReply) -> &str {
    match &answer.ending {
        Ending::Failed { reason, .. } => reason,
        other => panic!("not a failure: {other:?}"),
    }
}

/// The whole answer of an agent that speaks JSON-RPC of 1.0 and streams `items`.
pub(crate) async fn streamed(items: Vec<Value>) -> CollectedReply {
    let peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        move |number, _| match number {
            0 => rpc_stream(&items, After::Close),
            _ => rpc_error(-32601, "no"),
        },
    )
    .await;
    ask(&build(&peer.base, ""), "hi").await
}
