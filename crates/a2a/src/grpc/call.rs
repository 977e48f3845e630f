//! One call, from its head to its trailers.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use forecourt_surface::body::{BodyLimits, read_limited};
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use tonic::metadata::MetadataMap;
use tonic::server::{Grpc, ServerStreamingService};
use tonic::{Request as Received, Response as Sent, Status};

use super::schema::{Rpc, dialect};
use super::transcode::Transcoder;
use super::{Carry, GrpcAnswer, GrpcCall, GrpcReply, card, deadline, status};
use crate::codec::{DialectValue, Files};
use crate::model::{Item, OperationError, OperationOutcome, Version};
use crate::version;

/// The messages of an answer, as JSON.
type Messages = BoxStream<'static, Result<Value, Status>>;

/// One package and what carries its calls.
pub(super) struct Service {
    pub(super) version: Version,
    pub(super) carry: Arc<dyn Carry>,
    pub(super) limits: BodyLimits,
}

/// Answers one request. Every method is served as if it gave a stream: on the wire an answer of one
/// message and a stream of one message are the same.
pub(super) async fn answer(
    State(service): State<Arc<Service>>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Response {
    if !is_grpc(request.headers()) {
        return StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response();
    }
    match prepare(service, &name, request).await {
        Ok((mut framing, handler, request)) => framing.server_streaming(handler, request).await.map(Body::new),
        Err(status) => status.into_http::<Body>(),
    }
}

async fn prepare(
    service: Arc<Service>,
    name: &str,
    request: Request<Body>,
) -> Result<(Grpc<Transcoder>, Handler, Request<Body>), Status> {
    // From the head on: the time for the body is the client's, too.
    let until = deadline::timeout(request.headers()).and_then(|time| Instant::now().checked_add(time));
    let version = service.version;
    let rpc =
        Rpc::find(version, name).ok_or_else(|| status::of_fault(&OperationError::MethodNotFound(name.to_owned())))?;
    let (head, body) = request.into_parts();
    check_version(version, &head).map_err(|fault| status::of_fault(&fault))?;
    let bytes = read_limited(body, &service.limits).await.map_err(status::of_body)?;
    let framing = Grpc::new(Transcoder { input: rpc.input.clone(), output: rpc.output.clone() })
        .max_decoding_message_size(service.limits.bytes_max);
    // The framing takes its own copy: signatures of requests cover the raw body, which goes on beside the message.
    let request = Request::from_parts(head.clone(), Body::from(bytes.clone()));
    Ok((framing, Handler { service, rpc, until, arrived: Some((head, bytes)) }, request))
}

/// `application/grpc`, bare or with a format or parameters behind it; other formats and gRPC-Web
/// are none of it.
fn is_grpc(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/grpc") || kind.eq_ignore_ascii_case("application/grpc+proto")
}

/// The package says the version. A client that says another one in words is not understood; one
/// that says nothing is.
fn check_version(version: Version, head: &Parts) -> Result<(), OperationError> {
    match version::asked(head)? {
        Some(other) if other != version => {
            Err(OperationError::VersionNotSupported("a2a-version names another version than the service".to_owned()))
        }
        Some(_) | None => Ok(()),
    }
}

/// What happens between the request's message and those of the answer.
struct Handler {
    service: Arc<Service>,
    rpc: Rpc,
    until: Option<Instant>,
    /// The head and the body; taken by the one call there is.
    arrived: Option<(Parts, Bytes)>,
}

impl ServerStreamingService<Value> for Handler {
    type Response = Value;
    type ResponseStream = Messages;
    type Future = BoxFuture<'static, Result<Sent<Messages>, Status>>;

    fn call(&mut self, request: Received<Value>) -> Self::Future {
        let (service, rpc, until) = (Arc::clone(&self.service), self.rpc.clone(), self.until);
        let arrived = self.arrived.take();
        Box::pin(async move {
            let (head, body) = arrived.ok_or_else(|| status::of_fault(&OperationError::Internal))?;
            let spelling = Spelling::of(service.version, &head.headers);
            let call = understand(spelling, &rpc, request.into_inner(), head, body)
                .map_err(|fault| status::of_fault(&fault))?;
            let reply = match until {
                None => service.carry.carry(call).await,
                Some(until) => timeout_at(until, service.carry.carry(call)).await.map_err(|_| too_late())?,
            };
            Ok(respond(spelling, reply?, until))
        })
    }
}

fn too_late() -> Status {
    Status::deadline_exceeded("the time that the client gave is over; what it asked for goes on")
}

/// How one client writes and reads messages.
#[derive(Clone, Copy)]
struct Spelling {
    version: Version,
    files: Files,
}

impl Spelling {
    fn of(version: Version, head: &HeaderMap) -> Self {
        Self { version, files: Files::of(version, head) }
    }

    fn item(self, item: &Item) -> Value {
        self.files.write(DialectValue(dialect(self.version), item).to_value())
    }

    fn outcome(self, outcome: OperationOutcome) -> Value {
        match (self.version, outcome) {
            (Version::V0_3, OperationOutcome::Card(card)) => card::to_proto(card),
            (version, outcome) => self.files.write(DialectValue(dialect(version), &outcome).to_value()),
        }
    }
}

/// From a message to a call.
fn understand(
    spelling: Spelling,
    rpc: &Rpc,
    message: Value,
    head: Parts,
    body: Bytes,
) -> Result<GrpcCall, OperationError> {
    let version = spelling.version;
    let tenant = message.get("tenant").and_then(Value::as_str).map(str::to_owned);
    let operation = dialect(version).read_params(rpc.method, spelling.files.read(message))?;
    Ok(GrpcCall { version, operation, tenant, head, body })
}

/// From a reply to what is sent.
fn respond(spelling: Spelling, reply: GrpcReply, until: Option<Instant>) -> Sent<Messages> {
    let messages = match reply.answer {
        GrpcAnswer::Once(outcome) => stream::iter([Ok(spelling.outcome(*outcome))]).boxed(),
        GrpcAnswer::Stream(items) => within(items.map(move |item| spelling.item(&item)).boxed(), until),
    };
    Sent::from_parts(metadata(spelling.version, &reply.extensions), messages, Default::default())
}

/// `messages`, with an error in place of those that come too late.
fn within(mut messages: BoxStream<'static, Value>, until: Option<Instant>) -> Messages {
    let Some(until) = until else { return messages.map(Ok).boxed() };
    let in_time = async_stream::stream! {
        loop {
            match timeout_at(until, messages.next()).await {
                Ok(Some(message)) => yield Ok(message),
                Ok(None) => break,
                Err(_) => {
                    yield Err(too_late());
                    break;
                }
            }
        }
    };
    in_time.boxed()
}

/// The metadata before the first message: the extensions that were at work, a value each.
fn metadata(version: Version, extensions: &[&str]) -> MetadataMap {
    let name = HeaderName::from_static(match version {
        Version::V0_3 => "x-a2a-extensions",
        Version::V1_0 => "a2a-extensions",
    });
    let values = extensions.iter().filter_map(|uri| HeaderValue::from_str(uri).ok());
    MetadataMap::from_headers(values.map(|value| (name.clone(), value)).collect())
}
