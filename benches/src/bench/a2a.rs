//! A2A: messages, forwarded messages, many agents, many streams, and push over a crash.

pub(super) mod many;
pub(super) mod proxy;
pub(super) mod push;
pub(super) mod send;
pub(super) mod streams;

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::arm::Arm;
use crate::load::{self, NUMBER};

/// Bytes by which the answers of two servers may differ, head and body each.
const DIFFER_MAX: usize = 64;

/// A POST of JSON to `path`, as a client of 1.0 makes it when `version` says so.
pub(super) fn post(port: u16, path: &str, version: &str, body: &Value) -> String {
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nHost: demo.localhost:{port}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nA2A-Version: {version}\r\nUser-Agent: bench\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// `SendMessage` of 1.0 with these words.
pub(super) fn send_message(text: &str, configuration: &Value) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": "7c0ffee0-0000-4000-8000-000000000001",
        "method": "SendMessage",
        "params": {
            "message": {
                "messageId": format!("9b2f0e1c-8e57-4b6c-9f0e-{NUMBER}"),
                "role": "ROLE_USER",
                "parts": [{"text": text}],
            },
            "configuration": configuration,
        },
    })
}

/// Fails unless two servers answer a request in about the same bytes.
fn alike(theirs: &Arm, ours: &Arm, request: impl Fn(u16) -> String) -> anyhow::Result<()> {
    let [one, other] = [theirs, ours].map(|arm| load::sample(arm.port, &request(arm.port)));
    let (one, other) = (one?, other?);
    let (head, body) = one.split_once("\r\n\r\n").unwrap_or_default();
    let (other_head, other_body) = other.split_once("\r\n\r\n").unwrap_or_default();
    let near =
        head.len().abs_diff(other_head.len()) <= DIFFER_MAX && body.len().abs_diff(other_body.len()) <= DIFFER_MAX;
    ensure!(near, "the answers differ too much:\n{one}\n\n{other}");
    Ok(())
}

/// Asks once on an open connection, and reads the answer.
async fn ask(stream: &mut TcpStream, request: &str) -> anyhow::Result<Value> {
    load::send(stream, request).await?;
    let text = load::answer(stream).await?;
    let (_, body) = text.split_once("\r\n\r\n").context("an answer has a body")?;
    Ok(serde_json::from_str(body)?)
}

/// Begins a task, which goes on in the background, and gives its id.
async fn begin(stream: &mut TcpStream, request: &str) -> anyhow::Result<String> {
    let answer = ask(stream, request).await?;
    let id = answer["result"]["task"]["id"].as_str();
    Ok(id.with_context(|| format!("no task came of a message: {answer}"))?.to_owned())
}
