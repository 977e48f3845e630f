//! From an operation to a request, and from an answer to what it says, in both bindings.

use bytes::Bytes;
use forecourt_egress::{RequestUrl, UpstreamRequest};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Method as Verb, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};
use url::Url;

use super::endpoint::{Binding, Endpoint};
use super::error::{PeerError, of_rest, of_rpc};
use crate::codec::{DialectValue, Method};
use crate::model::{Item, Operation, OperationOutcome, Version};

/// The id of every request: each has a connection of its own, so none needs another.
const RPC_ID: u64 = 1;
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Streams may also be answered in one piece: with an error, or by an agent that does not stream.
const STREAM: HeaderValue = HeaderValue::from_static("text/event-stream, application/json;q=0.9");

/// The method that an operation calls.
pub(super) fn method_of(operation: &Operation) -> Method {
    match operation {
        Operation::Send(_) => Method::Send,
        Operation::Stream(_) => Method::Stream,
        Operation::Get { .. } => Method::Get,
        Operation::List(_) => Method::List,
        Operation::Cancel { .. } => Method::Cancel,
        Operation::Subscribe { .. } => Method::Subscribe,
        Operation::PushCreate(_) => Method::PushCreate,
        Operation::PushGet { .. } => Method::PushGet,
        Operation::PushList { .. } => Method::PushList,
        Operation::PushDelete { .. } => Method::PushDelete,
        Operation::ExtendedCard => Method::ExtendedCard,
    }
}

fn is_streamed(method: Method) -> bool {
    matches!(method, Method::Stream | Method::Subscribe)
}

/// The request for an operation, without the fields that all requests share.
pub(super) fn request(endpoint: &Endpoint, url: &RequestUrl, operation: &Operation) -> UpstreamRequest {
    let method = method_of(operation);
    let params = DialectValue(endpoint.dialect(), operation);
    let request = match (endpoint.binding, &endpoint.tenant) {
        (Binding::JsonRpc, None) => rpc(endpoint, url, method, params),
        (Binding::JsonRpc, Some(tenant)) => {
            let mut params = params.to_value();
            if let Some(fields) = params.as_object_mut() {
                fields.insert("tenant".to_owned(), tenant.as_str().into());
            }
            rpc(endpoint, url, method, params)
        }
        (Binding::Rest, _) => rest(endpoint, operation, params),
    };
    request.header(ACCEPT, if is_streamed(method) { STREAM } else { JSON })
}

/// A request of JSON-RPC.
#[derive(Serialize)]
struct RequestFrame<P> {
    id: u64,
    jsonrpc: &'static str,
    method: &'static str,
    params: P,
}

fn rpc(endpoint: &Endpoint, url: &RequestUrl, method: Method, params: impl Serialize) -> UpstreamRequest {
    let frame = RequestFrame { id: RPC_ID, jsonrpc: "2.0", method: method.rpc_name(endpoint.version), params };
    let body = serde_json::to_vec(&frame).unwrap_or_default();
    UpstreamRequest::post(url.clone(), body).header(CONTENT_TYPE, JSON)
}

fn rest(endpoint: &Endpoint, operation: &Operation, params: DialectValue<'_, Operation>) -> UpstreamRequest {
    let (verb, path) = route(endpoint.version, operation);
    let mut url = based(endpoint, &path);
    if let Operation::Send(_) | Operation::Stream(_) = operation {
        // Nothing of a message is in the path.
        return UpstreamRequest::post(url.as_str(), params.to_bytes()).header(CONTENT_TYPE, JSON);
    }
    let mut params = if let Value::Object(params) = params.to_value() { params } else { Map::new() };
    if !matches!(operation, Operation::PushCreate(_)) {
        // The path says it, each dialect by another name.
        IN_THE_PATH.iter().for_each(|key| drop(params.remove(*key)));
    }
    if verb == Verb::POST {
        return UpstreamRequest::post(url.as_str(), Value::Object(params).to_string()).header(CONTENT_TYPE, JSON);
    }
    if !params.is_empty() {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        url.query_pairs_mut().extend_pairs(params.iter().map(|(key, value)| (key, text(value))));
    }
    UpstreamRequest { method: verb, ..UpstreamRequest::get(url.as_str()) }
}

const IN_THE_PATH: [&str; 5] = ["id", "name", "taskId", "parent", "pushNotificationConfigId"];

/// The verb and the path of an operation, by segments.
fn route(version: Version, operation: &Operation) -> (Verb, Vec<String>) {
    let one = |segment: &str| vec![segment.to_owned()];
    let task = |id: &str, verb: &str| vec!["tasks".to_owned(), format!("{id}{verb}")];
    let configs = |task: &str, id: Option<&String>| {
        let path = ["tasks".to_owned(), task.to_owned(), "pushNotificationConfigs".to_owned()];
        path.into_iter().chain(id.cloned()).collect()
    };
    match operation {
        Operation::Send(_) => (Verb::POST, one("message:send")),
        Operation::Stream(_) => (Verb::POST, one("message:stream")),
        Operation::Get { task: id, .. } => (Verb::GET, task(id, "")),
        Operation::List(_) => (Verb::GET, one("tasks")),
        Operation::Cancel { task: id, .. } => (Verb::POST, task(id, ":cancel")),
        Operation::Subscribe { task: id } => (Verb::GET, task(id, ":subscribe")),
        Operation::PushCreate(config) => (Verb::POST, configs(config.task.as_deref().unwrap_or_default(), None)),
        Operation::PushGet { task, id } => (Verb::GET, configs(task, id.as_ref())),
        Operation::PushList { task, .. } => (Verb::GET, configs(task, None)),
        Operation::PushDelete { task, id } => (Verb::DELETE, configs(task, Some(id))),
        Operation::ExtendedCard if version == Version::V0_3 => (Verb::GET, one("card")),
        Operation::ExtendedCard => (Verb::GET, one("extendedAgentCard")),
    }
}

/// A path below the base of an interface, each segment encoded.
fn based(endpoint: &Endpoint, path: &[String]) -> Url {
    let mut url = endpoint.url.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty();
        match endpoint.version {
            Version::V0_3 => segments.push("v1"),
            Version::V1_0 => segments.extend(&endpoint.tenant),
        };
        segments.extend(path);
    }
    url
}

/// How an answer was spelled: kept as it came, and read again by the few who want to see it.
#[derive(Debug, Clone, PartialEq)]
pub struct RawAnswer {
    binding: Binding,
    frame: Bytes,
}

impl RawAnswer {
    pub(super) fn new(binding: Binding, frame: Bytes) -> Self {
        Self { binding, frame }
    }
}

/// The result without its frame, as compact JSON; `null` when it can't be read.
impl std::fmt::Display for RawAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let body = forecourt_core::json::parse(&self.frame).unwrap_or_default();
        write!(f, "{}", result(self.binding, 200, body).unwrap_or_default())
    }
}

/// What an answer in one piece says if it is the usual one: a plain message.
pub(super) fn plain_outcome(
    endpoint: &Endpoint,
    method: Method,
    status: StatusCode,
    body: &[u8],
) -> Option<OperationOutcome> {
    if !status.is_success() || !matches!(method, Method::Send | Method::Stream) {
        return None;
    }
    let message = endpoint.dialect().read_plain_answer(endpoint.binding == Binding::JsonRpc, body)?;
    Some(OperationOutcome::Sent(Item::Message(message)))
}

/// What an answer in one piece says.
pub(super) fn outcome(
    endpoint: &Endpoint,
    method: Method,
    status: u16,
    body: Value,
) -> Result<OperationOutcome, PeerError> {
    let result = result(endpoint.binding, status, body)?;
    endpoint.dialect().read_outcome(method, result).map_err(PeerError::unreadable)
}

/// What one frame of a stream says.
pub(super) fn item(endpoint: &Endpoint, data: &[u8]) -> Result<Item, PeerError> {
    let body = forecourt_core::json::parse(data).map_err(PeerError::unreadable)?;
    let result = result(endpoint.binding, 200, body)?;
    endpoint.dialect().read_item(result).map_err(PeerError::unreadable)
}

/// The result in its frame, or the error in it.
fn result(binding: Binding, status: u16, mut body: Value) -> Result<Value, PeerError> {
    let is_success = (200..300).contains(&status);
    match binding {
        // Errors in a frame count whatever the status: servers send both 200 and others.
        Binding::JsonRpc if body.get("error").is_some_and(|error| !error.is_null()) => Err(of_rpc(&body["error"])),
        Binding::JsonRpc if is_success => match body.as_object_mut().and_then(|frame| frame.remove("result")) {
            Some(result) => Ok(result),
            None => Err(PeerError::unreadable("a frame with neither result nor error")),
        },
        Binding::JsonRpc => Err(PeerError::Status(status)),
        Binding::Rest if !is_success || is_error(&body) => Err(of_rest(status, &body)),
        Binding::Rest => Ok(body),
    }
}

/// Whether a frame of a stream over HTTP+JSON is an error: an item never has that member.
fn is_error(body: &Value) -> bool {
    body.get("error").is_some_and(Value::is_object)
}
