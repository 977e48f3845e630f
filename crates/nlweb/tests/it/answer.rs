//! An answer, read whole.

use axum::body::to_bytes;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

/// An answer of this protocol.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) async fn read(response: axum::response::Response) -> Self {
        let (head, body) = response.into_parts();
        let bytes = to_bytes(body, 64 * 1024 * 1024).await.unwrap();
        Self { status: head.status, headers: head.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    pub(crate) fn field(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Status, type and code of a response that is no stream.
    pub(crate) fn verdict(&self) -> (u16, String, String) {
        let body = self.json();
        let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        (self.status.as_u16(), text("/_meta/response_type"), text("/error/code"))
    }

    /// What failed, in words.
    pub(crate) fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }

    /// Names and data of the events of a stream; the name is `message` where none is given.
    pub(crate) fn events(&self) -> Vec<(String, Value)> {
        let frames = self.text.split("\n\n").filter(|frame| !frame.trim().is_empty() && !frame.starts_with(':'));
        let read = |frame: &str| {
            let field = |name: &str| {
                let lines = frame.lines().filter_map(|line| line.strip_prefix(name)).map(str::trim_start);
                lines.collect::<Vec<_>>().join("\n")
            };
            let name = Some(field("event:")).filter(|name| !name.is_empty()).unwrap_or_else(|| "message".to_owned());
            (name, serde_json::from_str(&field("data:")).unwrap_or_else(|error| panic!("{error}: {frame}")))
        };
        frames.map(read).collect()
    }

    /// The names of the events of a stream.
    pub(crate) fn names(&self) -> Vec<String> {
        self.events().into_iter().map(|(name, _)| name).collect()
    }
}
