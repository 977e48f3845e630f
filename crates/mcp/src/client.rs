//! Talking to other MCP servers over HTTP: the client of the SDK on our guarded way out.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use forecourt_agents::declined::UpstreamError;
use forecourt_egress::{Egress, EgressError, Purpose, UpstreamRequest, UpstreamResponse, hops};
use futures::StreamExt;
use futures::stream::BoxStream;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse,
};
use rmcp::transport::worker::WorkerQuitReason;
use serde_json::Value;
use sse_stream::{Sse, SseStream};

use crate::limits::CALLS_PER_SESSION_MAX;
use crate::trace;

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
/// Where a request over HTTP names its session.
pub(crate) const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
/// Where a request says, in its metadata, how many agents stand in line before it.
pub(crate) const HOPS: &str = "forecourt/hops";

/// A way out for the SDK. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Out {
    egress: Egress,
    purpose: Purpose,
    /// Fields of the operator's for each request.
    headers: Arc<HeaderMap>,
    /// Where what servers tell without being asked is heard, and what is noted of the connection. `None`: it is of no
    /// use to whoever connects.
    notes: Option<Arc<ConnectionNotes>>,
}

/// What is noted of a connection while it is used.
#[derive(Debug, Default)]
pub(crate) struct ConnectionNotes {
    /// Whether the server has given out a session.
    has_session: AtomicBool,
    /// The last challenge that it sent with 401.
    challenge: Mutex<Option<String>>,
}

impl ConnectionNotes {
    /// Whether the server has given out a session: it may keep something for whoever has it.
    pub(crate) fn has_session(&self) -> bool {
        self.has_session.load(Ordering::Relaxed)
    }

    /// The last challenge of the server, as it came.
    pub(crate) fn challenge(&self) -> Option<String> {
        self.challenge.lock().clone()
    }
}

/// The connection of the SDK on our way out.
pub(crate) type Connection = StreamableHttpClientTransport<Out>;
/// Why a request came to nothing.
pub(crate) type TransportError = StreamableHttpError<OutError>;

/// Why our way out gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutError {
    /// The way itself.
    #[error(transparent)]
    Egress(#[from] EgressError),
    /// The server said with its status that we are not served, or not now; and in its own words, if any.
    #[error("the server {declined}")]
    Declined {
        /// Why not.
        declined: UpstreamError,
        /// What it said about it.
        message: String,
    },
}

/// A connection to the server at `url`. Connects to nothing yet.
pub(crate) fn connection(egress: Egress, purpose: Purpose, url: &str, headers: HeaderMap) -> Connection {
    let out = Out { egress, purpose, headers: Arc::new(headers), notes: None };
    StreamableHttpClientTransport::with_client(out, StreamableHttpClientTransportConfig::with_uri(url))
}

/// The same that hears what the server tells without being asked, and whose `notes` are kept.
pub(crate) fn listening_connection(
    egress: Egress,
    url: &str,
    headers: HeaderMap,
    notes: Arc<ConnectionNotes>,
) -> Connection {
    let out = Out { egress, purpose: Purpose::Upstream, headers: Arc::new(headers), notes: Some(notes) };
    // Answers that take long are waited for each on a connection of its own.
    let config = StreamableHttpClientTransportConfig::with_uri(url).max_concurrent_requests(CALLS_PER_SESSION_MAX);
    StreamableHttpClientTransport::with_client(out, config)
}

/// What went wrong on our way out, behind an error of the SDK.
pub(crate) fn http_error<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a TransportError> {
    match error.downcast_ref::<WorkerQuitReason<TransportError>>() {
        Some(WorkerQuitReason::Fatal { error, .. }) => Some(error),
        _ => error.downcast_ref(),
    }
}

impl Out {
    async fn send(
        &self,
        request: UpstreamRequest,
        session: Option<Arc<str>>,
        token: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<UpstreamResponse, TransportError> {
        let mut request = request.header(ACCEPT, BOTH);
        request.headers.extend(more);
        let unfit = |_| StreamableHttpError::UnexpectedServerResponse(Cow::from("a field that can't be sent back"));
        if let Some(session) = session {
            request.headers.insert(SESSION, HeaderValue::from_str(&session).map_err(unfit)?);
        }
        if let Some(token) = token {
            request.headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {token}")).map_err(unfit)?);
        }
        // Last, so that the operator's fields count before those of the SDK.
        for (name, value) in self.headers.iter() {
            request.headers.insert(name, value.clone());
        }
        self.egress.send(self.purpose, request).await.map_err(|error| StreamableHttpError::Client(error.into()))
    }
}

impl Out {
    /// Notes what an answer says of the connection.
    fn note(&self, answer: &Result<StreamableHttpPostResponse, TransportError>) {
        let Some(notes) = &self.notes else { return };
        match answer {
            Ok(StreamableHttpPostResponse::Json(_, Some(_)) | StreamableHttpPostResponse::Sse(_, Some(_))) => {
                notes.has_session.store(true, Ordering::Relaxed)
            }
            Err(StreamableHttpError::AuthRequired(required)) => {
                *notes.challenge.lock() = Some(required.www_authenticate_header.clone());
            }
            _ => {}
        }
    }
}

impl StreamableHttpClient for Out {
    type Error = OutError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, TransportError> {
        let value = serde_json::to_value(&message)?;
        let mut request = UpstreamRequest::post(uri.as_ref(), value.to_string());
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // The SDK sends on a task of its own, where only the message says how many agents stand before it.
        if let Some(hop) = value["params"]["_meta"][HOPS].as_u64() {
            hops::write(&mut request.headers, u32::try_from(hop).unwrap_or(u32::MAX));
        }
        trace::repeat(&value, &mut request.headers);
        let in_session = session_id.is_some();
        let answer = self.send(request, session_id, auth_header, custom_headers).await?;
        let read = read(answer, matches!(message, ClientJsonRpcMessage::Request(_)), in_session).await;
        self.note(&read);
        read
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), TransportError> {
        let request = UpstreamRequest { method: Method::DELETE, ..UpstreamRequest::post(uri.as_ref(), Bytes::new()) };
        self.send(request, Some(session_id), auth_header, custom_headers).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        mut custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, TransportError> {
        if self.notes.is_none() {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let seen = last_event_id.and_then(|id| HeaderValue::try_from(id).ok());
        custom_headers.extend(seen.map(|id| (HeaderName::from_static(LAST_EVENT), id)));
        let request = UpstreamRequest { method: Method::GET, ..UpstreamRequest::post(uri.as_ref(), Bytes::new()) };
        let answer = self.send(request, session_id, auth_header, custom_headers).await?;
        let kind = answer.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !answer.status.is_success() || !kind.starts_with("text/event-stream") {
            // Many servers have none, and some say so with another status than 405.
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let bytes = answer.body.map(|chunk| chunk.map_err(std::io::Error::other));
        Ok(SseStream::from_bytes_stream(bytes).boxed())
    }
}

/// The answer to a post.
async fn read(
    answer: UpstreamResponse,
    is_request: bool,
    in_session: bool,
) -> Result<StreamableHttpPostResponse, TransportError> {
    let text = |name: HeaderName| answer.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (status, kind) = (answer.status, text(CONTENT_TYPE).unwrap_or_default());
    let session = text(HeaderName::from_static(SESSION));
    if let (StatusCode::UNAUTHORIZED, Some(challenge)) = (status, text(WWW_AUTHENTICATE)) {
        return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)));
    }
    // MCP 2025-11-25, transports: the session is gone, and the client begins another.
    if status == StatusCode::NOT_FOUND && in_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) || (status.is_success() && !is_request) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if kind.starts_with("text/event-stream") && status.is_success() {
        let bytes = answer.body.map(|chunk| chunk.map_err(std::io::Error::other));
        return Ok(StreamableHttpPostResponse::Sse(SseStream::from_bytes_stream(bytes).boxed(), session));
    }
    let declined = UpstreamError::of(status, &answer.headers);
    let body = answer.body.collect().await.map_err(|error| StreamableHttpError::Client(error.into()))?;
    if let Some(declined) = declined {
        return Err(StreamableHttpError::Client(OutError::Declined { declined, message: error_words(&body) }));
    }
    match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(message) if is_answer(&body, status) => Ok(StreamableHttpPostResponse::Json(message, session)),
        _ if !status.is_success() => Err(StreamableHttpError::HttpStatus(HttpStatusError::new(status.as_u16(), None))),
        _ => Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!("HTTP {status}")))),
    }
}

/// What the error in a body says.
fn error_words(body: &[u8]) -> String {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = &value["error"];
    error["message"].as_str().or(error.as_str()).unwrap_or_default().to_owned()
}

/// Whether a body answers a request: any, when all is well, and an error that names its request
/// otherwise.
fn is_answer(body: &[u8], status: StatusCode) -> bool {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    status.is_success() || (value["error"].is_object() && !value["id"].is_null())
}
