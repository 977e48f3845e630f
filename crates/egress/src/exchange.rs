//! One exchange: guard, connection, redirects, deadlines.

use bytes::Bytes;
use forecourt_telemetry::spans;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, LOCATION, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use tokio::time::{Instant, timeout_at};
use tracing::{Instrument, Span};

use crate::body::{BodyStream, Turn};
use crate::coding;
use crate::error::{EgressError, Refusal};
use crate::inner::Inner;
use crate::limits::HEAD_BYTES_MAX;
use crate::purpose::{Deadlines, Purpose};
use crate::recordings::{OwnPlaces, Play, SentRequest, Tape, TapeLabel};
use crate::target::CheckedUrl;

/// Why nothing was sent while a deployment is tested, for the log.
const NOT_RECORDED: &str = "the request is not recorded, and nothing is sent in a test";

/// A request to send.
#[derive(Clone)]
pub struct UpstreamRequest {
    /// The method. Only a GET follows redirects.
    pub method: Method,
    /// The target, checked when the request is sent, or before.
    pub url: RequestUrl,
    /// The HTTP headers. `Host`, `Accept-Encoding`, the framing and, but for [`Purpose::Platform`], `User-Agent` are set by
    /// the client.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// Other bounds than those of its purpose.
    pub deadlines: Option<Deadlines>,
}

/// Where a request goes.
#[derive(Clone)]
pub enum RequestUrl {
    /// A text, which is checked when the request is sent.
    Text(String),
    /// What was checked before, for requests that go there again and again.
    Checked(CheckedUrl),
}

impl From<&CheckedUrl> for RequestUrl {
    fn from(url: &CheckedUrl) -> Self {
        Self::Checked(url.clone())
    }
}

impl From<&str> for RequestUrl {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for RequestUrl {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for RequestUrl {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// The head of an answer, and its body on the way.
#[derive(Debug)]
pub struct UpstreamResponse {
    /// The HTTP status, of the last answer where redirects were followed.
    pub status: StatusCode,
    /// The HTTP headers, at most [`HEAD_BYTES_MAX`] bytes.
    pub headers: HeaderMap,
    /// Its body.
    pub body: BodyStream,
}

/// A whole document.
#[derive(Debug, Clone)]
pub struct FetchedBody {
    /// The media type as the server declared it; `application/octet-stream` when it did not.
    pub mime: String,
    /// The body, within the bound of its purpose.
    pub bytes: Bytes,
    /// The fields of its head.
    pub headers: HeaderMap,
}

/// What became of a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryOutcome {
    /// What the receiver answered.
    pub status: StatusCode,
}

impl UpstreamRequest {
    /// A GET of `url`.
    pub fn get(url: impl Into<RequestUrl>) -> Self {
        Self::new(Method::GET, url, Bytes::new())
    }

    /// A POST of `body` to `url`.
    pub fn post(url: impl Into<RequestUrl>, body: impl Into<Bytes>) -> Self {
        Self::new(Method::POST, url, body.into())
    }

    fn new(method: Method, url: impl Into<RequestUrl>, body: Bytes) -> Self {
        Self { method, url: url.into(), headers: HeaderMap::new(), body, deadlines: None }
    }

    /// The same with a field set.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// The same within other bounds.
    #[must_use]
    pub fn within(mut self, deadlines: Deadlines) -> Self {
        self.deadlines = Some(deadlines);
        self
    }
}

/// Never prints the URL, the fields or the body: each may hold a secret.
impl std::fmt::Debug for UpstreamRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outgoing").field("method", &self.method).finish_non_exhaustive()
    }
}

impl DeliveryOutcome {
    /// Whether the receiver took it: any 2xx.
    pub fn is_success(self) -> bool {
        self.status.is_success()
    }
}

impl Inner {
    /// Sends a request and follows redirects as far as its purpose goes; the last answer is given
    /// whatever its status. Security sheet, section 6, steps 1 to 6.
    pub(crate) async fn exchange(
        &self,
        purpose: Purpose,
        mut request: UpstreamRequest,
    ) -> Result<UpstreamResponse, EgressError> {
        let bounds = request.deadlines.unwrap_or_else(|| purpose.deadlines(&self.guard.config));
        let deadline = Instant::now() + bounds.total;
        request.headers.entry(ACCEPT).or_insert(HeaderValue::from_static(purpose.accept()));
        let mut target = match &request.url {
            RequestUrl::Text(text) => CheckedUrl::parse_within(text, purpose.url_bytes_max())?,
            RequestUrl::Checked(url) => url.clone(),
        };
        // Most purposes follow none; they move the request on instead of keeping a copy of method and `Accept`.
        if purpose.redirects_max() == 0 {
            return self.step(purpose, &target, request, bounds, deadline).await;
        }
        let mut redirects_left = purpose.redirects_max();
        let (method, accept) = (request.method.clone(), request.headers.get(ACCEPT).cloned());
        loop {
            let answer = self.step(purpose, &target, request, bounds, deadline).await?;
            let Some(location) = redirect_of(&method, &answer) else { return Ok(answer) };
            redirects_left = redirects_left.checked_sub(1).ok_or(Refusal::Redirects)?;
            let next = target.join(location)?;
            // A server must not send a request that was encrypted on in plain text (security sheet 6, step 5).
            if target.is_https() && !next.is_https() {
                return Err(Refusal::Scheme.into());
            }
            // Nothing that was meant for the first server goes to the next one.
            request = UpstreamRequest::get(&next);
            request.headers.extend(accept.clone().map(|accept| (ACCEPT, accept)));
            target = next;
        }
    }

    /// One request to one target, without redirects: traced and counted, with the trace that it belongs to in its
    /// head. The one place in which that is written.
    async fn step(
        &self,
        purpose: Purpose,
        target: &CheckedUrl,
        mut request: UpstreamRequest,
        bounds: Deadlines,
        deadline: Instant,
    ) -> Result<UpstreamResponse, EgressError> {
        if purpose != Purpose::Platform {
            // Never a caller's: only platforms insist on one of their own form.
            request.headers.remove(USER_AGENT);
        }
        let (begun, _counted) = (Instant::now(), self.metrics.begin(purpose));
        let span = span(purpose, target, &request.method);
        // What tells the collector of traces must not be part of one: each export would begin the next.
        if purpose != Purpose::Telemetry {
            span.in_scope(|| forecourt_telemetry::inject(&mut request.headers));
        }
        let answer = self.unobserved(purpose, target, request, bounds, deadline).instrument(span.clone()).await;
        match &answer {
            Ok(answer) => spans::record_reply(&span, answer.status.as_u16()),
            Err(error) => spans::record_error(&span, error.kind(), true),
        }
        self.metrics.ended(purpose, outcome(&answer), begun.elapsed());
        answer
    }

    async fn unobserved(
        &self,
        purpose: Purpose,
        target: &CheckedUrl,
        request: UpstreamRequest,
        bounds: Deadlines,
        deadline: Instant,
    ) -> Result<UpstreamResponse, EgressError> {
        let late = |_| EgressError::timed_out("the connection");
        let label = match self.play(purpose, target, &request) {
            None => None,
            Some(Play::Send(label)) => Some(label),
            Some(Play::Answer(status, headers, chunks)) => {
                return Ok(UpstreamResponse { status, headers, body: BodyStream::replayed(chunks) });
            }
            Some(Play::Nothing) => return Err(EgressError::Unconnected(NOT_RECORDED.to_owned())),
        };
        let turn = self.turn_by(purpose, target, deadline).await?;
        let UpstreamRequest { method, headers, body, .. } = request;
        let mut sent = Request::new(Full::new(body));
        *sent.method_mut() = method;
        *sent.headers_mut() = headers;
        sent.headers_mut().insert(ACCEPT_ENCODING, coding::accepted(purpose));
        // Measured from the moment of sending, not from the wait for a turn, and never past the whole.
        let head_by = |now: Instant| deadline.min(now + bounds.connect.saturating_add(bounds.first_byte));
        let (response, connection) = match purpose.is_trusted(target) {
            true => {
                let answer = timeout_at(head_by(Instant::now()), self.dialer.send_upstream(target, sent)).await;
                (answer.map_err(late)??, None)
            }
            false => {
                let admitted = timeout_at(deadline, self.guard.admit(purpose, target)).await.map_err(late)??;
                let answer = self.dialer.send_pinned(target, &admitted, bounds.connect, sent);
                let (answer, connection) = timeout_at(head_by(Instant::now()), answer).await.map_err(late)??;
                (answer, Some(connection))
            }
        };
        check_head(response.headers(), purpose)?;
        let (head, body) = response.into_parts();
        let body = BodyStream::new(body, bounds.body_bytes_max, deadline, turn, connection);
        let body = taped(body, label, head.status, &head.headers);
        Ok(UpstreamResponse { status: head.status, headers: head.headers, body })
    }

    /// What recordings make of a request; `None`: there are none, as everywhere but in a test of a deployment.
    fn play(&self, purpose: Purpose, target: &CheckedUrl, request: &UpstreamRequest) -> Option<Play> {
        let recordings = self.recordings.as_ref()?;
        let own = OwnPlaces { origins: &self.guard.own.origins, addresses: &self.guard.own.addresses };
        let UpstreamRequest { method, headers, body, .. } = request;
        Some(recordings.play(purpose, &SentRequest { method, url: target.url(), headers, body, own }))
    }

    /// A turn, if one comes free by `deadline`.
    pub(crate) async fn turn_by(
        &self,
        purpose: Purpose,
        target: &CheckedUrl,
        deadline: Instant,
    ) -> Result<Turn, EgressError> {
        timeout_at(deadline, self.turn(purpose, target)).await.map_err(|_| EgressError::Busy)?
    }

    async fn turn(&self, purpose: Purpose, target: &CheckedUrl) -> Result<Turn, EgressError> {
        if purpose.is_trusted(target) {
            // No queue for the operator's backends: the host's own bounds on work hold their callers back before.
            let permit = self.upstream_turns.clone().try_acquire_owned().map_err(|_| EgressError::Busy)?;
            return Ok(Turn::Upstream { _permit: permit });
        }
        Ok(Turn::Guarded { _slot: self.slots.take(&target.host()).await? })
    }
}

impl UpstreamResponse {
    /// The whole body of a successful answer.
    pub(crate) async fn fetched(self, bytes_max: usize) -> Result<FetchedBody, EgressError> {
        if !self.status.is_success() {
            return Err(EgressError::Status(self.status));
        }
        // A declared length saves reading what is refused anyway; the body is counted all the same, since it may lie.
        if declared_length(&self.headers).is_some_and(|length| length > bytes_max as u64) {
            return Err(EgressError::TooLarge { bytes_max });
        }
        let mime = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        Ok(FetchedBody {
            mime: mime.unwrap_or("application/octet-stream").to_owned(),
            bytes: self.body.collect().await?,
            headers: self.headers,
        })
    }
}

/// A body that is taken down while it is read, where it is to be recorded.
fn taped(body: BodyStream, label: Option<Box<TapeLabel>>, status: StatusCode, headers: &HeaderMap) -> BodyStream {
    match label {
        Some(label) => body.on_tape(Tape::new(label, status, headers.clone())),
        None => body,
    }
}

/// What an exchange is traced by. A span that does nothing for what tells of traces, and while nobody traces.
fn span(purpose: Purpose, target: &CheckedUrl, method: &Method) -> Span {
    if purpose == Purpose::Telemetry || !forecourt_telemetry::is_on() {
        return Span::none();
    }
    let method = match *method {
        Method::GET | Method::POST | Method::PUT | Method::DELETE | Method::HEAD | Method::PATCH => method.as_str(),
        // OpenTelemetry's word for a method outside its list: a span attribute of strangers' words has no bound.
        _ => "_OTHER",
    };
    let scheme = if target.is_https() { "https" } else { "http" };
    spans::http_client(method, &target.host(), target.port(), scheme, purpose.name())
}

/// What became of a request, in a word.
fn outcome(answer: &Result<UpstreamResponse, EgressError>) -> &'static str {
    match answer {
        Ok(answer) => match answer.status.as_u16() / 100 {
            1 | 2 => "2xx",
            3 => "3xx",
            4 => "4xx",
            _ => "5xx",
        },
        Err(error) => error.kind(),
    }
}

fn redirect_of<'a>(method: &Method, answer: &'a UpstreamResponse) -> Option<&'a str> {
    let follows = *method == Method::GET && matches!(answer.status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = follows.then(|| answer.headers.get(LOCATION))??;
    location.to_str().ok()
}

/// A head within its bound, and a body in no coding but those that were asked for.
fn check_head(headers: &HeaderMap, purpose: Purpose) -> Result<(), EgressError> {
    // Name and value, with the colon, the space and the line end: what the field took on the wire of HTTP/1.1.
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if bytes > HEAD_BYTES_MAX {
        return Err(EgressError::TooLarge { bytes_max: HEAD_BYTES_MAX });
    }
    match coding::is_accepted(headers, purpose) {
        true => Ok(()),
        false => Err(EgressError::Failed("the answer has a content coding that was not asked for".to_owned())),
    }
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(http::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
