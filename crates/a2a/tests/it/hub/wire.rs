//! The four spellings of a request: JSON-RPC and HTTP+JSON, each of 0.3 and 1.0.

use http::request::Builder;
use serde_json::{Value, json};

use crate::hub::answer::{Answer, Frames};
use crate::hub::support::{Place, request};

/// The id of every call over JSON-RPC.
pub(crate) const ID: &str = "call-1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Rpc03,
    Rpc10,
    Rest03,
    Rest10,
}

/// What may be asked, in the order of the table of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
    PushSet,
    PushGet,
    PushList,
    PushDelete,
    Extended,
}

/// One request in the making.
pub(crate) struct Call<'a> {
    place: &'a Place,
    wire: Wire,
    base: &'static str,
    token: Option<String>,
    fields: Vec<(&'static str, String)>,
    address: Option<std::net::IpAddr>,
}

impl Wire {
    pub(crate) const ALL: [Self; 4] = [Self::Rpc03, Self::Rpc10, Self::Rest03, Self::Rest10];
    pub(crate) const RPC: [Self; 2] = [Self::Rpc03, Self::Rpc10];
    pub(crate) const V1_0: [Self; 2] = [Self::Rpc10, Self::Rest10];

    pub(crate) fn is_rpc(self) -> bool {
        matches!(self, Self::Rpc03 | Self::Rpc10)
    }

    pub(crate) fn is_1_0(self) -> bool {
        matches!(self, Self::Rpc10 | Self::Rest10)
    }

    /// A call at the hub.
    pub(crate) fn at(self, place: &Place) -> Call<'_> {
        Call { place, wire: self, base: "/a2a", token: None, fields: Vec::new(), address: None }
    }

    /// A message of these words.
    pub(crate) fn said(self, words: &str) -> Value {
        self.saying(&[self.text(words)])
    }

    /// A message of these parts, which are in the spelling of this wire.
    pub(crate) fn saying(self, parts: &[Value]) -> Value {
        match self {
            Self::Rpc03 => json!({"kind": "message", "messageId": "m1", "role": "user", "parts": parts}),
            Self::Rest03 => json!({"messageId": "m1", "role": "ROLE_USER", "content": parts}),
            Self::Rpc10 | Self::Rest10 => json!({"messageId": "m1", "role": "ROLE_USER", "parts": parts}),
        }
    }

    pub(crate) fn text(self, words: &str) -> Value {
        match self {
            Self::Rpc03 => json!({"kind": "text", "text": words}),
            _ => json!({"text": words}),
        }
    }

    /// A file of these base64 bytes.
    pub(crate) fn file(self, base64: &str, media_type: &str) -> Value {
        match self {
            Self::Rpc03 => json!({"kind": "file", "file": {"bytes": base64, "mimeType": media_type, "name": "f"}}),
            Self::Rest03 => json!({"file": {"fileWithBytes": base64, "mimeType": media_type}}),
            Self::Rpc10 | Self::Rest10 => json!({"raw": base64, "mediaType": media_type, "filename": "f"}),
        }
    }

    /// The parameters of a call that sends a message and waits for its end.
    pub(crate) fn sending(self, message: Value) -> Value {
        match self {
            // Its clients say so; what they leave out is false to them.
            Self::Rest03 => json!({"message": message, "configuration": {"blocking": true}}),
            _ => json!({"message": message}),
        }
    }

    /// The configuration of a call that does not wait.
    pub(crate) fn at_once(self) -> Value {
        if self.is_1_0() { json!({"returnImmediately": true}) } else { json!({"blocking": false}) }
    }

    /// The configuration of a call with a push registration.
    pub(crate) fn pushing(self, push: Value) -> Value {
        match self {
            Self::Rpc03 => json!({"pushNotificationConfig": push}),
            Self::Rest03 => json!({"pushNotification": push}),
            Self::Rpc10 | Self::Rest10 => json!({"taskPushNotificationConfig": push}),
        }
    }

    fn method(self, op: Op) -> &'static str {
        let (v0_3, v1_0) = match op {
            Op::Send => ("message/send", "SendMessage"),
            Op::Stream => ("message/stream", "SendStreamingMessage"),
            Op::Get => ("tasks/get", "GetTask"),
            Op::List => ("tasks/list", "ListTasks"),
            Op::Cancel => ("tasks/cancel", "CancelTask"),
            Op::Subscribe => ("tasks/resubscribe", "SubscribeToTask"),
            Op::PushSet => ("tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"),
            Op::PushGet => ("tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig"),
            Op::PushList => ("tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"),
            Op::PushDelete => ("tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"),
            Op::Extended => ("agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"),
        };
        if self.is_1_0() { v1_0 } else { v0_3 }
    }

    /// The verb and the path below the endpoint.
    fn resource(self, op: Op, task: &str, config: &str) -> (&'static str, String) {
        let configs = format!("/tasks/{task}/pushNotificationConfigs");
        let (verb, path) = match op {
            Op::Send => ("POST", "/message:send".to_owned()),
            Op::Stream => ("POST", "/message:stream".to_owned()),
            Op::Get => ("GET", format!("/tasks/{task}")),
            Op::List => ("GET", "/tasks".to_owned()),
            Op::Cancel => ("POST", format!("/tasks/{task}:cancel")),
            Op::Subscribe => ("GET", format!("/tasks/{task}:subscribe")),
            Op::PushSet => ("POST", configs),
            Op::PushGet => ("GET", format!("{configs}/{config}")),
            Op::PushList => ("GET", configs),
            Op::PushDelete => ("DELETE", format!("{configs}/{config}")),
            Op::Extended if self.is_1_0() => ("GET", "/extendedAgentCard".to_owned()),
            Op::Extended => ("GET", "/card".to_owned()),
        };
        (verb, if self.is_1_0() { path } else { format!("/v1{path}") })
    }
}

impl Call<'_> {
    /// The same at the endpoint of an agent.
    pub(crate) fn to(mut self, base: &'static str) -> Self {
        self.base = base;
        self
    }

    /// The same as somebody who proves who they are; nobody for an empty name.
    pub(crate) fn by(mut self, name: &str) -> Self {
        self.token = (!name.is_empty()).then(|| self.place.token(name));
        self
    }

    /// The same from another network address.
    pub(crate) fn from(mut self, address: &str) -> Self {
        self.address = Some(address.parse().unwrap());
        self
    }

    /// The same with one more field.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// Sends a message with these words.
    pub(crate) async fn says(self, words: &str) -> Answer {
        self.says_with(words, json!({})).await
    }

    /// Sends a message with these words and other fields.
    pub(crate) async fn says_with(self, words: &str, fields: Value) -> Answer {
        let message = merged(self.wire.said(words), fields);
        let params = self.wire.sending(message);
        self.call(Op::Send, params).await
    }

    /// Asks something about a task.
    pub(crate) async fn about(self, op: Op, task: &str) -> Answer {
        let params = self.of_task(op, task);
        self.call(op, params).await
    }

    /// Follows a task.
    pub(crate) async fn follows(self, task: &str) -> Frames {
        let (wire, params) = (self.wire, self.of_task(Op::Subscribe, task));
        Frames::of(wire, self.open(Op::Subscribe, params).await)
    }

    /// Sends a message with these words and follows the answer.
    pub(crate) async fn streams(self, words: &str) -> Frames {
        let (wire, params) = (self.wire, json!({"message": self.wire.said(words)}));
        Frames::of(wire, self.open(Op::Stream, params).await)
    }

    fn of_task(&self, op: Op, task: &str) -> Value {
        match (op, self.wire) {
            (Op::PushList | Op::PushGet | Op::PushDelete, Wire::Rpc10 | Wire::Rest10) => json!({"taskId": task}),
            _ => json!({"id": task}),
        }
    }

    pub(crate) async fn call(self, op: Op, params: Value) -> Answer {
        Answer::read(self.open(op, params).await).await
    }

    /// Asks for `op`. `params` are those of JSON-RPC; over HTTP+JSON they go where they belong.
    pub(crate) async fn open(self, op: Op, params: Value) -> axum::response::Response {
        let (head, body) = match self.wire.is_rpc() {
            true => {
                let body = json!({"jsonrpc": "2.0", "id": ID, "method": self.wire.method(op), "params": params});
                (request("POST", self.base), body.to_string())
            }
            false => self.bare(op, params),
        };
        let mut head = head.header("content-type", "application/json");
        let names_version = self.fields.iter().any(|(name, _)| *name == "a2a-version");
        if self.wire.is_1_0() && !names_version {
            head = head.header("a2a-version", "1.0");
        }
        if let Some(token) = &self.token {
            head = head.header("authorization", token);
        }
        if let Some(address) = self.address {
            head.extensions_mut().unwrap().insert(forecourt_core::ClientAddr(address));
        }
        let head = self.fields.iter().fold(head, |head, (name, value)| head.header(*name, value));
        self.place.open(head, body).await
    }

    fn bare(&self, op: Op, params: Value) -> (Builder, String) {
        let text = |key: &str| params[key].as_str().unwrap_or_default().to_owned();
        let (task, config) = match op {
            Op::PushGet | Op::PushDelete | Op::PushSet | Op::PushList => {
                let task = if params.get("taskId").is_some() { text("taskId") } else { text("id") };
                let config = text("pushNotificationConfigId");
                (task, if config.is_empty() { text("id") } else { config })
            }
            _ => (text("id"), String::new()),
        };
        let (verb, path) = self.wire.resource(op, &task, &config);
        match verb {
            "POST" => (request(verb, &format!("{}{path}", self.base)), params.to_string()),
            _ => {
                let pairs = params.as_object().unwrap().iter().filter(|(key, _)| !key.ends_with("id"));
                let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let query: String = url::form_urlencoded::Serializer::new(String::new())
                    .extend_pairs(pairs.map(|(key, value)| (key.clone(), plain(value))))
                    .finish();
                (request(verb, &format!("{}{path}?{query}", self.base)), String::new())
            }
        }
    }
}

/// The same object with other fields.
pub(crate) fn merged(mut object: Value, fields: Value) -> Value {
    object.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    object
}
