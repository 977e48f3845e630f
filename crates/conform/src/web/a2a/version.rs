//! This module is what the versions of A2A differ in.

use serde_json::{Value, json};

use super::interface;

/// How a version calls its methods, and how it writes what they take and give.
pub(crate) trait Version: Sized + Send + Sync + 'static {
    /// The version as the header has it.
    const NUMBER: &'static str;
    /// The names of its methods.
    const METHODS: Methods;
    /// Codes of a method that the card says is not there: streams, and the extended card.
    const UNSUPPORTED: [&'static [i64]; 2];

    /// Where the card says that it is spoken as JSON-RPC.
    fn url(card: &Value) -> Option<&str>;
    /// A message of one text.
    fn message(id: &str, text: &str) -> Value;
    /// What was sent back: a task, a message, or an event, without its wrapper.
    fn unwrap(result: &Value) -> Option<(ItemKind, &Value)>;
    /// Whether a task is over in this state.
    fn is_over(state: &str) -> bool;
    /// All states.
    fn is_state(state: &str) -> bool;
    /// How a role of agents is called.
    const AGENT: &'static str;
    /// The parameters by which a webhook is given to a task.
    fn webhook(task: &str) -> Value;
}

/// What an answer or an item of a stream is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemKind {
    Task,
    Message,
    Status,
    Artifact,
}

/// Names of methods.
pub(crate) struct Methods {
    pub(crate) send: &'static str,
    pub(crate) stream: &'static str,
    pub(crate) get: &'static str,
    pub(crate) cancel: &'static str,
    pub(crate) subscribe: &'static str,
    pub(crate) set_webhook: &'static str,
    pub(crate) extended_card: &'static str,
}

/// A2A 1.0.
pub(crate) enum V1_0 {}

/// A2A 0.3.
pub(crate) enum V0_3 {}

impl Version for V1_0 {
    const NUMBER: &'static str = "1.0";
    const METHODS: Methods = Methods {
        send: "SendMessage",
        stream: "SendStreamingMessage",
        get: "GetTask",
        cancel: "CancelTask",
        subscribe: "SubscribeToTask",
        set_webhook: "CreateTaskPushNotificationConfig",
        extended_card: "GetExtendedAgentCard",
    };
    const UNSUPPORTED: [&'static [i64]; 2] = [&[-32004], &[-32004, -32007]];
    const AGENT: &'static str = "ROLE_AGENT";

    fn url(card: &Value) -> Option<&str> {
        interface(card, "JSONRPC", "1.0")
    }

    fn message(id: &str, text: &str) -> Value {
        json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]})
    }

    fn unwrap(result: &Value) -> Option<(ItemKind, &Value)> {
        let kinds = [
            ("task", ItemKind::Task),
            ("message", ItemKind::Message),
            ("statusUpdate", ItemKind::Status),
            ("artifactUpdate", ItemKind::Artifact),
        ];
        kinds.into_iter().find_map(|(name, kind)| Some((kind, result.get(name).filter(|item| item.is_object())?)))
    }

    fn is_over(state: &str) -> bool {
        ["COMPLETED", "CANCELED", "FAILED", "REJECTED"].iter().any(|name| state.strip_prefix(PREFIX) == Some(name))
    }

    fn is_state(state: &str) -> bool {
        let going = ["SUBMITTED", "WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED"];
        Self::is_over(state) || going.iter().any(|name| state.strip_prefix(PREFIX) == Some(name))
    }

    fn webhook(task: &str) -> Value {
        json!({"taskId": task, "id": "conform", "url": "https://conform.invalid/hook"})
    }
}

/// How states of 1.0 begin.
const PREFIX: &str = "TASK_STATE_";

impl Version for V0_3 {
    const NUMBER: &'static str = "0.3";
    const METHODS: Methods = Methods {
        send: "message/send",
        stream: "message/stream",
        get: "tasks/get",
        cancel: "tasks/cancel",
        subscribe: "tasks/resubscribe",
        set_webhook: "tasks/pushNotificationConfig/set",
        extended_card: "agent/getAuthenticatedExtendedCard",
    };
    const UNSUPPORTED: [&'static [i64]; 2] = [&[-32004, -32601], &[-32004, -32007, -32601]];
    const AGENT: &'static str = "agent";

    fn url(card: &Value) -> Option<&str> {
        let is_json_rpc = card["preferredTransport"].as_str().is_none_or(|name| name == "JSONRPC");
        let is_0_3 = card["protocolVersion"].as_str().is_some_and(|version| version.starts_with("0.3"));
        match is_0_3 {
            true if is_json_rpc => card["url"].as_str(),
            true => {
                let mut others = card["additionalInterfaces"].as_array()?.iter();
                others.find(|one| one["transport"] == "JSONRPC")?["url"].as_str()
            }
            // A card of 1.0 may name the older version beside the newer one.
            false => interface(card, "JSONRPC", "0.3"),
        }
    }

    fn message(id: &str, text: &str) -> Value {
        json!({"kind": "message", "messageId": id, "role": "user", "parts": [{"kind": "text", "text": text}]})
    }

    fn unwrap(result: &Value) -> Option<(ItemKind, &Value)> {
        let kind = match result["kind"].as_str()? {
            "task" => ItemKind::Task,
            "message" => ItemKind::Message,
            "status-update" => ItemKind::Status,
            "artifact-update" => ItemKind::Artifact,
            _ => return None,
        };
        Some((kind, result))
    }

    fn is_over(state: &str) -> bool {
        ["completed", "canceled", "failed", "rejected"].contains(&state)
    }

    fn is_state(state: &str) -> bool {
        let going = ["submitted", "working", "input-required", "auth-required", "unknown"];
        Self::is_over(state) || going.contains(&state)
    }

    fn webhook(task: &str) -> Value {
        json!({"taskId": task, "pushNotificationConfig": {"id": "conform", "url": "https://conform.invalid/hook"}})
    }
}
