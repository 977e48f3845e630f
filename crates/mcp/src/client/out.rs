//! The way out: posts of ours, and those of the SDK's client.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use forecourt_agents::declined::UpstreamError;
use forecourt_egress::{BodyStream, Egress, EgressError, Purpose, RequestUrl, UpstreamRequest, UpstreamResponse, hops};
use futures::StreamExt;
use futures::stream::BoxStream;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use serde_json::{Map, Value};
use sse_stream::{Sse, SseStream};

use super::{ConnectionNotes, EarlyAnswer, HOPS, OutError, PostOutcome, TransportError};
use crate::fields::SESSION;
use crate::trace;

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const LAST_EVENT: &str = "last-event-id";

/// A way out. Cheap to clone.
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

impl Out {
    /// The way to a server of which nothing is noted.
    pub(super) fn unnoted(egress: Egress, purpose: Purpose, headers: HeaderMap) -> Self {
        Self { egress, purpose, headers: Arc::new(headers), notes: None }
    }

    /// The way to a server behind this host, whose `notes` are kept.
    pub(crate) fn noted(egress: Egress, headers: HeaderMap, notes: Arc<ConnectionNotes>) -> Self {
        Self { egress, purpose: Purpose::Upstream, headers: Arc::new(headers), notes: Some(notes) }
    }

    /// Posts a message of JSON-RPC with these fields.
    pub(crate) async fn post(
        &self,
        url: impl Into<RequestUrl>,
        fields: HeaderMap,
        message: impl Into<Bytes>,
    ) -> Result<UpstreamResponse, EgressError> {
        let headers = fields;
        self.sent(of_json(UpstreamRequest { headers, ..UpstreamRequest::post(url, message) })).await
    }

    async fn sent(&self, request: UpstreamRequest) -> Result<UpstreamResponse, EgressError> {
        let mut request = request.header(ACCEPT, BOTH);
        // Last, so that the operator's fields count before those of the protocol.
        for (name, value) in self.headers.iter() {
            request.headers.insert(name, value.clone());
        }
        self.egress.send(self.purpose, request).await
    }

    async fn send(
        &self,
        mut request: UpstreamRequest,
        session: Option<Arc<str>>,
        token: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<UpstreamResponse, TransportError> {
        request.headers.extend(more);
        let unfit = |_| StreamableHttpError::UnexpectedServerResponse(Cow::from("a field that can't be sent back"));
        if let Some(session) = session {
            request.headers.insert(&SESSION, HeaderValue::from_str(&session).map_err(unfit)?);
        }
        if let Some(token) = token {
            request.headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {token}")).map_err(unfit)?);
        }
        self.sent(request).await.map_err(|error| StreamableHttpError::Client(error.into()))
    }

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

    /// The events of a stream, by the numbers that the SDK knows.
    fn events(&self, body: BodyStream) -> BoxStream<'static, Result<Sse, SseError>> {
        let events = SseStream::from_bytes_stream(body.map(|chunk| chunk.map_err(std::io::Error::other)));
        match self.notes.clone() {
            Some(notes) => events.map(move |event| event.map(|event| notes.renamed.event(event))).boxed(),
            None => events.boxed(),
        }
    }

    /// A message of the server, by the number that the SDK knows.
    fn message(&self, message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
        match &self.notes {
            Some(notes) => notes.renamed.message(message),
            None => message,
        }
    }

    /// What became of the post of a message: of one that was made before, if it brings that along.
    async fn outcome(
        &self,
        uri: &str,
        mut message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<PostOutcome, TransportError> {
        if let Some(notes) = &self.notes {
            if session.is_some() {
                notes.session.lock().clone_from(&session);
            }
            if let Some(early) = EarlyAnswer::take(&message, session.as_ref(), &notes.renamed) {
                return Ok(early);
            }
            notes.renamed.cancelled(&mut message);
        }
        let value = serde_json::to_value(&message)?;
        let mut request = of_json(UpstreamRequest::post(uri, value.to_string()));
        if let Some(meta) = value["params"]["_meta"].as_object() {
            repeat(meta, &mut request.headers);
        }
        Ok(PostOutcome::Begun(Box::new(self.send(request, session, token, more).await?)))
    }
}

/// A post of JSON.
fn of_json(request: UpstreamRequest) -> UpstreamRequest {
    request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
}

/// Says in the fields of a request what its metadata says: who sends it may know neither the trace nor how many agents
/// stand before it.
pub(crate) fn repeat(meta: &Map<String, Value>, headers: &mut HeaderMap) {
    if let Some(hop) = meta.get(HOPS).and_then(Value::as_u64) {
        hops::write(headers, u32::try_from(hop).unwrap_or(u32::MAX));
    }
    trace::repeat(meta, headers);
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
        let in_session = session_id.is_some();
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        let read = match self.outcome(&uri, message, session_id, auth_header, custom_headers).await? {
            PostOutcome::Failed(error) => Err(StreamableHttpError::Client(error.into())),
            PostOutcome::Whole(body) => self.answer(&body, StatusCode::OK, None),
            PostOutcome::Begun(answer) => self.read(*answer, is_request, in_session).await,
        };
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
        Ok(self.events(answer.body))
    }
}

impl Out {
    /// The answer to a post.
    async fn read(
        &self,
        answer: UpstreamResponse,
        is_request: bool,
        in_session: bool,
    ) -> Result<StreamableHttpPostResponse, TransportError> {
        let text =
            |name: &HeaderName| answer.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (status, kind) = (answer.status, text(&CONTENT_TYPE).unwrap_or_default());
        let session = text(&SESSION);
        if let (StatusCode::UNAUTHORIZED, Some(challenge)) = (status, text(&WWW_AUTHENTICATE)) {
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
            return Ok(StreamableHttpPostResponse::Sse(self.events(answer.body), session));
        }
        let declined = UpstreamError::of(status, &answer.headers);
        let body = answer.body.collect().await.map_err(|error| StreamableHttpError::Client(error.into()))?;
        if let Some(declined) = declined {
            return Err(StreamableHttpError::Client(OutError::Declined { declined, message: error_words(&body) }));
        }
        self.answer(&body, status, session)
    }

    /// The answer that a body is.
    fn answer(
        &self,
        body: &[u8],
        status: StatusCode,
        session: Option<String>,
    ) -> Result<StreamableHttpPostResponse, TransportError> {
        match serde_json::from_slice::<ServerJsonRpcMessage>(body) {
            Ok(message) if is_answer(body, status) => {
                Ok(StreamableHttpPostResponse::Json(self.message(message), session))
            }
            _ if !status.is_success() => {
                Err(StreamableHttpError::HttpStatus(HttpStatusError::new(status.as_u16(), None)))
            }
            _ => Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!("HTTP {status}")))),
        }
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
