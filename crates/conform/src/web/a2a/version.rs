//! This module is what the versions of A2A differ in, and the checks of each.

use serde_json::{Value, json};

use super::interface;
use super::requests::*;
use super::rpc::Rpc;
use super::sending::*;
use super::streams::*;
use crate::check::{Check, check};

/// How a version calls its methods, and how it writes what they take and give.
pub(crate) trait Version: Sized + Send + Sync + 'static {
    /// What its JSON-RPC is called in reports.
    const NAME: &'static str;
    /// The version as the header has it.
    const NUMBER: &'static str;
    /// The names of its methods.
    const METHODS: Methods;
    /// Codes of a method that the card says is not there: streams, and the extended card.
    const UNSUPPORTED: [&'static [i64]; 2];
    /// Its checks.
    const CHECKS: &'static [&'static [Check<Rpc<Self>>]];

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
    const NAME: &'static str = "A2A 1.0";
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
    const CHECKS: &'static [&'static [Check<Rpc<Self>>]] = &[V1_0_CHECKS];
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
    const NAME: &'static str = "A2A 0.3";
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
    const CHECKS: &'static [&'static [Check<Rpc<Self>>]] = &[V0_3_CHECKS];
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

const V1_0_CHECKS: &[Check<Rpc<V1_0>>] = &[
    check!("a2a-4-parse", "A2A 4", Must, "what is no JSON is answered with -32700", no_json),
    check!("a2a-4-request", "A2A 4", Must, "a request without a method is answered with -32600", no_method),
    check!("a2a-4-jsonrpc", "A2A 4", Must, "a request that is not of JSON-RPC 2.0 is answered with -32600", other_rpc),
    check!("a2a-4-method", "A2A 4", Must, "a method that there is not is answered with -32601", unknown_method),
    check!("a2a-4-params", "A2A 4", Must, "a message without parts is answered with -32602", no_parts),
    check!("a2a-4-no-message", "A2A 4", Must, "a request to send no message is answered with -32602", no_message),
    check!("a2a-4-message-id", "A2A 4", Must, "a message without messageId is answered with -32602", no_message_id),
    check!(
        "a2a-4-params-kind",
        "A2A 4",
        Must,
        "params that are no object are answered with -32602 or -32600",
        text_params
    ),
    check!("a2a-4-task", "A2A 4", Must, "a task that is not there is answered with -32001", unknown_task),
    check!(
        "a2a-4-cancel",
        "A2A 4",
        Must,
        "cancelling a task that is not there is answered with -32001",
        cancel_unknown
    ),
    check!(
        "a2a-4-subscribe",
        "A2A 4",
        Must,
        "a stream of a task that is not there is answered with -32001",
        subscribe_unknown
    ),
    check!("a2a-4-list", "A2A 4", Must, "ListTasks gives tasks, nextPageToken, pageSize and totalSize", list),
    check!("a2a-4-list-size", "A2A 4", Must, "a page of 0 or of 101 tasks is answered with -32602", list_sizes),
    check!("a2a-4-no-push", "A2A 4", Must, "without push notifications, a webhook is answered with -32003", no_push),
    check!("a2a-4-no-stream", "A2A 4", Must, "without streams, a streamed message is answered with -32004", no_stream),
    check!(
        "a2a-4-no-extended-card",
        "A2A 4",
        Must,
        "without an extended card, asking for it is answered with -32004 or -32007",
        no_extended_card
    ),
    check!("a2a-2-version", "A2A 2", Must, "a version that there is not is answered with -32009", unknown_version),
    check!("a2a-6-id", "A2A 6", Must, "the id of a request comes back as it was sent", id_echoed),
    check!("a2a-6-error", "A2A 6", Must, "an error has a code and a message", error_shape),
    check!("a2a-6-http", "A2A 6", Should, "errors of JSON-RPC come with HTTP 200, as application/json", over_http),
    check!(
        "a2a-6-details",
        "A2A 6",
        Should,
        "errors of A2A have details: an ErrorInfo of a2a-protocol.org",
        error_info
    ),
    check!("a2a-3-send", "A2A 3, hub card 7", Must, "a message is answered with a task or a message", send),
    check!("a2a-3-answer", "A2A 3", Must, "what answers a message is whole", answer),
    check!("a2a-3-get", "A2A 3", Must, "a task that was begun can be asked for, and is the same", get),
    check!("a2a-3-history", "A2A 3", Must, "a task comes without its history where none is wanted", no_history),
    check!("a2a-3-context", "A2A 3", Must, "the context of a message is kept or refused, and never replaced", context),
    check!(
        "a2a-3-unknown-task",
        "A2A 3",
        Must,
        "a message to a task that is not there is answered with -32001",
        to_unknown
    ),
    check!("a2a-3-over", "A2A 3", Must, "a message to a task that is over is refused", to_finished),
    check!(
        "a2a-3-cancel-over",
        "A2A 3",
        Must,
        "cancelling a task that is over is answered with -32002",
        cancel_finished
    ),
    check!("a2a-3-listed", "A2A 3", Must, "a task is in the list of its context", listed),
    check!("a2a-4-stream", "A2A 4", Must, "a streamed message begins with a task or a message", stream),
    check!(
        "a2a-4-stream-items",
        "A2A 4",
        Must,
        "each item of a stream is a response to the request, with one of the four kinds",
        stream_items
    ),
    check!(
        "a2a-4-stream-end",
        "A2A 4",
        Must,
        "a stream ends with a message, or where its task is over or waits",
        stream_end
    ),
];

const V0_3_CHECKS: &[Check<Rpc<V0_3>>] = &[
    check!("a2a-0.3-4-parse", "A2A 0.3 8", Must, "what is no JSON is answered with -32700", no_json),
    check!("a2a-0.3-4-request", "A2A 0.3 8", Must, "a request without a method is answered with -32600", no_method),
    check!(
        "a2a-0.3-4-jsonrpc",
        "A2A 0.3 6.11",
        Must,
        "a request that is not of JSON-RPC 2.0 is answered with -32600",
        other_rpc
    ),
    check!("a2a-0.3-4-method", "A2A 0.3 8", Must, "a method that there is not is answered with -32601", unknown_method),
    check!("a2a-0.3-4-params", "A2A 0.3 8", Must, "a message without parts is answered with -32602", no_parts),
    check!(
        "a2a-0.3-4-no-message",
        "A2A 0.3 8",
        Must,
        "a request to send no message is answered with -32602",
        no_message
    ),
    check!(
        "a2a-0.3-4-message-id",
        "A2A 0.3 8",
        Must,
        "a message without messageId is answered with -32602",
        no_message_id
    ),
    check!(
        "a2a-0.3-4-params-kind",
        "A2A 0.3 8",
        Must,
        "params that are no object are answered with -32602 or -32600",
        text_params
    ),
    check!("a2a-0.3-4-task", "A2A 0.3 7.3", Must, "a task that is not there is answered with -32001", unknown_task),
    check!(
        "a2a-0.3-4-cancel",
        "A2A 0.3 7.4",
        Must,
        "cancelling a task that is not there is answered with -32001",
        cancel_unknown
    ),
    check!(
        "a2a-0.3-4-subscribe",
        "A2A 0.3 7.9",
        Must,
        "a stream of a task that is not there is answered with -32001",
        subscribe_unknown
    ),
    check!(
        "a2a-0.3-4-no-push",
        "A2A 0.3 7.5",
        Must,
        "without push notifications, a webhook is answered with -32003",
        no_push
    ),
    check!("a2a-0.3-4-no-stream", "A2A 0.3 7.2", Must, "without streams, a streamed message is refused", no_stream),
    check!(
        "a2a-0.3-4-no-extended-card",
        "A2A 0.3 7.10",
        Must,
        "without an extended card, asking for it is refused",
        no_extended_card
    ),
    check!("a2a-0.3-6-id", "A2A 0.3 6.11", Must, "the id of a request comes back as it was sent", id_echoed),
    check!("a2a-0.3-6-error", "A2A 0.3 6.12", Must, "an error has a code and a message", error_shape),
    check!(
        "a2a-0.3-6-http",
        "A2A 0.3 6.11",
        Should,
        "errors of JSON-RPC come with HTTP 200, as application/json",
        over_http
    ),
    check!("a2a-0.3-3-send", "A2A 0.3 7.1", Must, "a message is answered with a task or a message", send),
    check!("a2a-0.3-3-answer", "A2A 0.3 6", Must, "what answers a message is whole", answer),
    check!("a2a-0.3-3-get", "A2A 0.3 7.3", Must, "a task that was begun can be asked for, and is the same", get),
    check!(
        "a2a-0.3-3-history",
        "A2A 0.3 7.3",
        Should,
        "a task comes without its history where none is wanted",
        no_history
    ),
    check!(
        "a2a-0.3-3-context",
        "A2A 0.3 6",
        Must,
        "the context of a message is kept or refused, and never replaced",
        context
    ),
    check!(
        "a2a-0.3-3-unknown-task",
        "A2A 0.3 7.1",
        Must,
        "a message to a task that is not there is answered with -32001",
        to_unknown
    ),
    check!("a2a-0.3-3-over", "A2A 0.3 7.1", Must, "a message to a task that is over is refused", to_finished),
    check!(
        "a2a-0.3-3-cancel-over",
        "A2A 0.3 7.4",
        Must,
        "cancelling a task that is over is answered with -32002",
        cancel_finished
    ),
    check!("a2a-0.3-4-stream", "A2A 0.3 7.2", Must, "a streamed message begins with a task or a message", stream),
    check!(
        "a2a-0.3-4-stream-items",
        "A2A 0.3 7.2",
        Must,
        "each item of a stream is a response to the request, with one of the four kinds",
        stream_items
    ),
    check!(
        "a2a-0.3-4-stream-end",
        "A2A 0.3 7.2",
        Must,
        "a stream ends with a message, or with a status that is final",
        stream_end
    ),
];
