//! Responses: what an operation came to, in an envelope of JSON-RPC or bare, in one piece or as server-sent events.

use bytes::Bytes;
use forecourt_core::PolicyPart;
use forecourt_core::policy::RefusalKind;
use forecourt_surface::answer::{Content, HttpAnswer};
use forecourt_surface::refusal::{self, add_fields};
use forecourt_surface::sse::{self, KeepAlive};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::codec::{Dialect, DialectValue, Files, Method};
use crate::model::{Item, OperationError, OperationOutcome, Version};
use crate::rpc;
use crate::service::{Caller, EXTENSION_FIELDS, OperationReply, Service, ServiceError};
use crate::version::A2A_VERSION;

const JSON: &str = "application/json";
const A2A_JSON: &str = "application/a2a+json";
/// The code of JSON-RPC for a server that can't answer at the moment: the first of those that JSON-RPC 2.0 5.1 leaves to
/// servers, and none of A2A's.
const SERVER_ERROR: i32 = -32000;
/// Bytes that are set aside for an answer at first.
const ANSWER_BYTES_USUAL: usize = 512;
static X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// How answers to one request are written.
#[derive(Debug, Clone)]
pub(crate) struct Binding {
    /// The id of JSON-RPC; `None` where answers are bare.
    rpc: Option<Value>,
    dialect: Dialect,
    files: Files,
    media_type: &'static str,
    /// Whether the answer is a stream of events.
    streams: bool,
}

impl Binding {
    /// JSON-RPC, of 0.3 until more is known.
    pub(crate) fn rpc(id: Value) -> Self {
        Self { rpc: Some(id), dialect: Dialect::Json03, files: Files::Bytes, media_type: JSON, streams: false }
    }

    /// Answers over HTTP+JSON: bare, in the media type of the version.
    pub(crate) fn rest(version: Version) -> Self {
        let media_type = if version == Version::V1_0 { A2A_JSON } else { JSON };
        Self { rpc: None, dialect: crate::rest::dialect(version), files: Files::Bytes, media_type, streams: false }
    }

    /// The same for one client: in plain JSON for who wants nothing else, and files as it has them.
    pub(crate) fn accepting(mut self, headers: &HeaderMap) -> Self {
        // 1.0 wants `application/a2a+json` (11.1), but clients of its SDKs may accept plain JSON alone.
        let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("*/*");
        if accept.contains(JSON) && !accept.contains(A2A_JSON) && !accept.contains("*/*") {
            self.media_type = JSON;
        }
        self.files = Files::of(self.version(), headers);
        self
    }

    /// The same, in the spelling and for the method of a request.
    pub(crate) fn spelled(mut self, dialect: Dialect, method: Method) -> Self {
        self.dialect = dialect;
        self.streams = matches!(method, Method::Stream | Method::Subscribe);
        self
    }

    /// The same, for a request that was not understood but asked for a stream.
    pub(crate) fn of_stream_in_03(mut self, method: Option<Method>, head: &http::request::Parts) -> Self {
        // The method's version may be what was not understood. Without the field a request is of 0.3, whose streaming
        // clients read an error from a frame only (design 20).
        let old = !head.headers.contains_key(A2A_VERSION);
        self.streams = old && matches!(method, Some(Method::Stream | Method::Subscribe));
        self
    }

    /// What the client takes the bytes of files for.
    pub(crate) fn files(&self) -> Files {
        self.files
    }

    /// The response to a request.
    pub(crate) fn answer(
        &self,
        service: &Service,
        caller: &Caller<'_>,
        carried: Result<OperationReply, ServiceError>,
    ) -> HttpAnswer {
        let host = service.host.site().canonical_host();
        let mut answer = match carried {
            Ok(OperationReply::Once(outcome)) => self.once(&outcome),
            Ok(OperationReply::Refused(item, part)) => {
                let mut answer = self.once(&OperationOutcome::Sent(item));
                if !self.streams {
                    add_fields(&mut answer.head, &part, host);
                }
                answer
            }
            Ok(OperationReply::Stream(items)) => self.streamed(items),
            Err(ServiceError::Fault(fault)) => self.fault(&fault),
            Err(ServiceError::Refused(part)) => self.turned_away(&part, host),
        };
        echo(&mut answer.head, service, caller);
        answer
    }

    /// One outcome. As the answer to a wish for a stream it is a stream of one.
    fn once(&self, outcome: &OperationOutcome) -> HttpAnswer {
        match (outcome, self.streams) {
            (OperationOutcome::Sent(item), true) => {
                let frame = self.frame(None, item);
                frames(futures::stream::iter([frame]))
            }
            _ => whole(StatusCode::OK, self.media_type, self.written(&DialectValue(self.dialect, outcome))),
        }
    }

    fn streamed(&self, items: BoxStream<'static, (Option<u64>, Item)>) -> HttpAnswer {
        let binding = self.clone();
        frames(items.map(move |(number, item)| binding.frame(number, &item)))
    }

    fn frame(&self, number: Option<u64>, item: &Item) -> Bytes {
        let bytes = self.written(&DialectValue(self.dialect, item));
        let text = str::from_utf8(&bytes).unwrap_or_default();
        match number {
            Some(number) => sse::message_with_id(number, text),
            None => sse::message(text),
        }
    }

    /// A result in its frame, if there is one, as bytes.
    fn written(&self, result: &impl Serialize) -> Vec<u8> {
        if self.files == Files::Text {
            // Bytes become other bytes in the whole of it, which takes a tree.
            let result = serde_json::to_value(result).unwrap_or_default();
            return self.framed(&self.files.write(result));
        }
        self.framed(result)
    }

    fn framed(&self, result: &impl Serialize) -> Vec<u8> {
        match &self.rpc {
            Some(id) => written(&rpc::ResultFrame::new(id, result)),
            None => written(result),
        }
    }

    /// A fault. JSON-RPC errors ride on 200; a client of 0.3 that waits for a stream reads no other
    /// form (design 20).
    pub(crate) fn fault(&self, fault: &OperationError) -> HttpAnswer {
        match (&self.rpc, self.streams && self.dialect != Dialect::Json10) {
            (Some(id), true) => frames(futures::stream::iter([sse::message(&rpc::error(id, fault).to_string())])),
            (Some(_), false) => error(StatusCode::OK, self, fault),
            (None, _) => error(fault.row().http, self, fault),
        }
    }

    /// Who is turned away before anything was done learns it from the transport: refusals have no
    /// code of JSON-RPC (PolicyPart 4.2).
    fn turned_away(&self, part: &PolicyPart, canonical_host: &str) -> HttpAnswer {
        let status = refusal::status(&part.kind);
        // Neither code says which refusal it is, so that programs go by the reason.
        let reason = part.kind.name().to_ascii_uppercase();
        let info =
            json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "mentionable"}]);
        let body = match &self.rpc {
            Some(id) => {
                let mut body = rpc::error(id, &OperationError::InvalidRequest(part.message.clone()));
                // `Invalid Request` would tell its sender to change it, and nothing is wrong with it.
                if matches!(part.kind, RefusalKind::ServiceUnavailable { .. }) {
                    body["error"]["code"] = SERVER_ERROR.into();
                }
                body["error"]["data"] = info;
                body
            }
            None => {
                let (code, name) = (status.as_u16(), code_name(status));
                json!({"error": {"code": code, "status": name, "message": part.message, "details": info}})
            }
        };
        let mut answer = whole(status, JSON, written(&body));
        add_fields(&mut answer.head, part, canonical_host);
        answer
    }

    fn version(&self) -> Version {
        if self.dialect == Dialect::Json10 { Version::V1_0 } else { Version::V0_3 }
    }
}

fn whole(status: StatusCode, media_type: &'static str, body: Vec<u8>) -> HttpAnswer {
    let mut head = HeaderMap::new();
    head.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    HttpAnswer::whole(status, head, body)
}

/// JSON as bytes: what [`Value`] has for people goes through a formatter, which costs more than twice
/// as much. Everything here can be written.
fn written(value: &impl Serialize) -> Vec<u8> {
    // Most answers fit, so that the buffer does not grow step by step.
    let mut bytes = Vec::with_capacity(ANSWER_BYTES_USUAL);
    match serde_json::to_writer(&mut bytes, value) {
        Ok(()) => bytes,
        Err(_) => Vec::new(),
    }
}

/// The name of a status in the words of `google.rpc.Code`.
fn code_name(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "UNAUTHENTICATED",
        StatusCode::FORBIDDEN | StatusCode::PAYMENT_REQUIRED | StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS => {
            "PERMISSION_DENIED"
        }
        StatusCode::NOT_FOUND => "NOT_FOUND",
        StatusCode::METHOD_NOT_ALLOWED => "UNIMPLEMENTED",
        StatusCode::REQUEST_TIMEOUT => "DEADLINE_EXCEEDED",
        StatusCode::TOO_MANY_REQUESTS => "RESOURCE_EXHAUSTED",
        StatusCode::SERVICE_UNAVAILABLE => "UNAVAILABLE",
        _ => "INVALID_ARGUMENT",
    }
}

/// The body of a fault of HTTP+JSON, which says the same as the status that it goes under.
fn bare(status: StatusCode, version: Version, fault: &OperationError) -> Value {
    let mut body = fault.to_rest(version);
    // 405, 408 and 413 are the transport's and in no row of the table: the body must not contradict the status line.
    if status != fault.row().http {
        body["error"]["code"] = status.as_u16().into();
        body["error"]["status"] = code_name(status).into();
    }
    body
}

fn frames(frames: impl Stream<Item = Bytes> + Send + 'static) -> HttpAnswer {
    let mut head = HeaderMap::new();
    head.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // nginx would otherwise hold events back until its buffer is full.
    head.insert(&X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    let content = Content::Frames(Box::pin(KeepAlive::new(Box::pin(frames))));
    HttpAnswer { status: StatusCode::OK, head, content }
}

/// Says which of the extensions that were asked for are at work, under the name that was used.
fn echo(head: &mut HeaderMap, service: &Service, caller: &Caller<'_>) {
    let at_work = service.extensions_at_work(caller);
    if at_work.is_empty() {
        return;
    }
    let Ok(value) = HeaderValue::from_str(&at_work.join(", ")) else { return };
    for name in EXTENSION_FIELDS.iter().filter(|name| caller.head.headers.contains_key(*name)) {
        head.insert(name, value.clone());
    }
}

/// A fault under `status`: in plain JSON whatever the binding, as AIP-193 has it. A2A 1.0 11.6.
pub(crate) fn error(status: StatusCode, binding: &Binding, fault: &OperationError) -> HttpAnswer {
    let body = match &binding.rpc {
        Some(id) => rpc::error(id, fault),
        None => bare(status, binding.version(), fault),
    };
    whole(status, JSON, written(&body))
}
