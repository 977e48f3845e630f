//! Answers as they are read, whatever the wire spells.

use axum::body::to_bytes;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;

use crate::hub::wire::Wire;

const BYTES_MAX: usize = 64 * 1024 * 1024;

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// What a frame of a stream says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    /// What to go on after.
    pub(crate) number: Option<u64>,
    /// `task`, `message`, `statusUpdate` or `artifactUpdate`.
    pub(crate) kind: &'static str,
    pub(crate) value: Value,
}

impl Answer {
    pub(crate) async fn read(response: Response) -> Self {
        let (head, body) = response.into_parts();
        Self { status: head.status, headers: head.headers, body: to_bytes(body, BYTES_MAX).await.unwrap() }
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {} {:?}", self.status, self.text()))
    }

    /// Checks the status, showing the answer when it is another.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{:?} {:?}", self.headers, self.text());
        self
    }

    /// What was asked for, which must have been given.
    #[track_caller]
    pub(crate) fn result(&self, wire: Wire) -> Value {
        assert_eq!(self.status.as_u16(), 200, "{}", self.text());
        let json = self.json();
        assert!(json.get("error").is_none(), "{json}");
        if !wire.is_rpc() {
            return json;
        }
        assert_eq!((&json["jsonrpc"], &json["id"]), (&"2.0".into(), &crate::hub::wire::ID.into()), "{json}");
        json["result"].clone()
    }

    /// The task that was given.
    #[track_caller]
    pub(crate) fn task(&self, wire: Wire) -> Value {
        let (kind, value) = item(wire, self.result(wire));
        assert_eq!(kind, "task", "{value}");
        value
    }

    /// The message that was given.
    #[track_caller]
    pub(crate) fn message(&self, wire: Wire) -> Value {
        let (kind, value) = item(wire, self.result(wire));
        assert_eq!(kind, "message", "{value}");
        value
    }

    /// Checks that this is the fault with a code of JSON-RPC, as `wire` tells it.
    #[track_caller]
    pub(crate) fn is_fault(&self, wire: Wire, code: i64) {
        let error = match wire.is_rpc() {
            true => {
                assert_eq!(self.status.as_u16(), 200, "{}", self.text());
                let json = if self.is_stream() { frames_of(self.text()).remove(0).1 } else { self.json() };
                assert_eq!(json.get("result"), None, "{json}");
                assert_eq!(json["error"]["code"], code, "{json}");
                json["error"].clone()
            }
            false => {
                assert_eq!(self.field("content-type"), Some("application/json"), "A2A 1.0 11.6, AIP-193");
                let error = self.json()["error"].clone();
                assert_eq!(self.status.as_u16(), http_of(code), "{error}");
                assert_eq!(error["code"], http_of(code), "{error}");
                error
            }
        };
        let details = if wire.is_rpc() { &error["data"] } else { &error["details"] };
        assert_eq!(reason_in(details), reason_of(code), "{error}");
        assert!(error["message"].as_str().is_some_and(|words| !words.is_empty()), "{error}");
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.field("content-type") == Some("text/event-stream")
    }

    /// The frames of a stream.
    #[track_caller]
    pub(crate) fn frames(&self, wire: Wire) -> Vec<Frame> {
        assert!(self.is_stream(), "{} {:?} {}", self.status, self.headers, self.text());
        frames_of(self.text()).into_iter().map(|(number, data)| frame(wire, number, data)).collect()
    }
}

/// A stream that is read frame by frame.
pub(crate) struct Frames {
    wire: Wire,
    body: axum::body::Body,
    waiting: std::collections::VecDeque<Frame>,
}

impl Frames {
    #[track_caller]
    pub(crate) fn of(wire: Wire, response: Response) -> Self {
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { wire, body: response.into_body(), waiting: Default::default() }
    }

    /// The next frame; `None` at the end. Every chunk holds whole frames.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        while self.waiting.is_empty() {
            let bytes = self.body.frame().await?.unwrap().into_data().unwrap();
            let text = std::str::from_utf8(&bytes).unwrap();
            self.waiting.extend(frames_of(text).into_iter().map(|(number, data)| frame(self.wire, number, data)));
        }
        self.waiting.pop_front()
    }

    /// All that is left.
    pub(crate) async fn rest(mut self) -> Vec<Frame> {
        let mut all = Vec::new();
        while let Some(frame) = self.next().await {
            all.push(frame);
        }
        all
    }
}

#[track_caller]
fn frame(wire: Wire, number: Option<u64>, data: Value) -> Frame {
    let value = match wire.is_rpc() {
        true => {
            assert_eq!((&data["jsonrpc"], &data["id"]), (&"2.0".into(), &crate::hub::wire::ID.into()), "{data}");
            assert!(data.get("error").is_none(), "{data}");
            data["result"].clone()
        }
        false => data,
    };
    let (kind, value) = item(wire, value);
    Frame { number, kind, value }
}

/// The numbers and the data of events; comments are passed over.
fn frames_of(text: &str) -> Vec<(Option<u64>, Value)> {
    let blocks = text.split("\n\n").filter(|block| block.lines().any(|line| line.starts_with("data:")));
    let read = |block: &str| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        let number = field("id: ").map(|number| number.parse().unwrap());
        (number, serde_json::from_str(field("data: ").unwrap()).unwrap())
    };
    blocks.map(read).collect()
}

/// An item of a stream without what says which it is.
#[track_caller]
fn item(wire: Wire, value: Value) -> (&'static str, Value) {
    const KINDS: [(&str, &str); 4] = [
        ("task", "task"),
        ("message", "message"),
        ("status-update", "statusUpdate"),
        ("artifact-update", "artifactUpdate"),
    ];
    if wire == Wire::Rpc03 {
        let kind = KINDS.iter().find(|(kind, _)| value["kind"] == **kind);
        return (kind.unwrap_or_else(|| panic!("{value}")).1, value);
    }
    let members: Vec<_> = value.as_object().unwrap().iter().collect();
    match members[..] {
        [(name, held)] => {
            let kind = KINDS.iter().find(|(_, kind)| kind == name).unwrap_or_else(|| panic!("{value}"));
            (kind.1, held.clone())
        }
        // Reading and cancelling give the task itself.
        _ => ("task", value),
    }
}

/// The state of a task or of an update, as 0.3 spells it.
#[track_caller]
pub(crate) fn state(value: &Value) -> String {
    let state = value["status"]["state"].as_str().unwrap_or_else(|| panic!("{value}"));
    let plain = state.trim_start_matches("TASK_STATE_").to_lowercase().replace('_', "-");
    if plain == "cancelled" { "canceled".to_owned() } else { plain }
}

/// What the status says to a person.
pub(crate) fn status_text(value: &Value) -> String {
    parts_of(&value["status"]["message"]).iter().filter_map(|part| part["text"].as_str()).collect()
}

/// The parts of a message, whatever they are called.
pub(crate) fn parts_of(message: &Value) -> Vec<Value> {
    let parts = message.get("parts").or_else(|| message.get("content")).and_then(Value::as_array);
    parts.cloned().unwrap_or_default()
}

/// The words of all artifacts of a task.
pub(crate) fn artifact_text(task: &Value) -> String {
    let artifacts = task["artifacts"].as_array().cloned().unwrap_or_default();
    let parts = artifacts.iter().flat_map(|artifact| artifact["parts"].as_array().cloned().unwrap_or_default());
    parts.filter_map(|part| part["text"].as_str().map(str::to_owned)).collect()
}

/// The status that the table of errors gives a code on HTTP+JSON.
fn http_of(code: i64) -> u16 {
    match code {
        -32601 | -32001 => 404,
        -32603 | -32006 => 500,
        _ => 400,
    }
}

fn reason_of(code: i64) -> Option<&'static str> {
    Some(match code {
        -32001 => "TASK_NOT_FOUND",
        -32002 => "TASK_NOT_CANCELABLE",
        -32003 => "PUSH_NOTIFICATION_NOT_SUPPORTED",
        -32004 => "UNSUPPORTED_OPERATION",
        -32005 => "CONTENT_TYPE_NOT_SUPPORTED",
        -32009 => "VERSION_NOT_SUPPORTED",
        _ => return None,
    })
}

fn reason_in(details: &Value) -> Option<&str> {
    let info = details.as_array()?.iter().find(|one| one["@type"] == "type.googleapis.com/google.rpc.ErrorInfo")?;
    assert_eq!(info["domain"], "a2a-protocol.org");
    info["reason"].as_str()
}
