//! This module is the checks of JSON-RPC in each version.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::requests::*;
use super::rpc::Rpc;
use super::sending::*;
use super::streams::*;
use super::version::{V0_3, V1_0};
use crate::check::{Check, check};
use crate::offer::{Absence, OfferedProtocol};
use crate::web::target::WebTarget;

impl OfferedProtocol for Rpc<V1_0> {
    type Target = WebTarget;
    const NAME: &'static str = "A2A 1.0";
    const CHECKS: &'static [&'static [Check<Self>]] = &[V1_0_CHECKS];

    fn find(host: Arc<WebTarget>) -> BoxFuture<'static, Result<Self, Absence>> {
        Box::pin(Self::look(host))
    }
}

impl OfferedProtocol for Rpc<V0_3> {
    type Target = WebTarget;
    const NAME: &'static str = "A2A 0.3";
    const CHECKS: &'static [&'static [Check<Self>]] = &[V0_3_CHECKS];

    fn find(host: Arc<WebTarget>) -> BoxFuture<'static, Result<Self, Absence>> {
        Box::pin(Self::look(host))
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
