//! One exchange: guard, connection, redirects, deadlines.

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use crate::body::{BodyStream, Turn};
use crate::egress::Inner;
use crate::error::{EgressError, Refusal};
use crate::limits::HEAD_BYTES_MAX;
use crate::purpose::{Deadlines, Purpose};
use crate::target::CheckedUrl;

/// A request to send.
#[derive(Clone)]
pub struct UpstreamRequest {
    /// GET or POST, usually.
    pub method: Method,
    /// Where to.
    pub url: String,
    /// Its fields. `Host`, `Accept-Encoding`, `User-Agent` and the framing are set for it.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// Other bounds than those of its purpose.
    pub deadlines: Option<Deadlines>,
}

/// The head of an answer, and its body on the way.
#[derive(Debug)]
pub struct UpstreamResponse {
    /// The status, whatever it is.
    pub status: StatusCode,
    /// Its fields, at most [`HEAD_BYTES_MAX`].
    pub headers: HeaderMap,
    /// Where it came from in the end.
    pub final_url: Url,
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
    /// Where it came from in the end.
    pub final_url: Url,
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
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url, Bytes::new())
    }

    /// A POST of `body` to `url`.
    pub fn post(url: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self::new(Method::POST, url, body.into())
    }

    fn new(method: Method, url: impl Into<String>, body: Bytes) -> Self {
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

    /// What is left of it behind a redirect: nothing that was meant for the first server.
    fn redirected(&self, target: &CheckedUrl) -> Self {
        let mut next = Self::get(target.url().as_str());
        if let Some(accept) = self.headers.get(ACCEPT) {
            next.headers.insert(ACCEPT, accept.clone());
        }
        next
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
        let mut target = CheckedUrl::parse(&request.url)?;
        let mut redirects_left = purpose.redirects_max();
        loop {
            let answer = self.step(purpose, &target, &request, bounds, deadline).await?;
            let Some(location) = redirect_of(&request, &answer) else { return Ok(answer) };
            if purpose.redirects_max() == 0 {
                return Ok(answer);
            }
            redirects_left = redirects_left.checked_sub(1).ok_or(Refusal::Redirects)?;
            let next = target.join(location)?;
            if target.is_https() && !next.is_https() {
                return Err(Refusal::Scheme.into());
            }
            request = request.redirected(&next);
            target = next;
        }
    }

    /// One request to one target, without redirects.
    async fn step(
        &self,
        purpose: Purpose,
        target: &CheckedUrl,
        request: &UpstreamRequest,
        bounds: Deadlines,
        deadline: Instant,
    ) -> Result<UpstreamResponse, EgressError> {
        let late = |_| EgressError::timed_out("the connection");
        let turn = self.turn_by(purpose, target, deadline).await?;
        let (client, pinned) = match purpose.is_trusted(target) {
            true => (self.dialer.upstream(), None),
            false => {
                let admitted = timeout_at(deadline, self.guard.admit(purpose, target)).await.map_err(late)??;
                (self.dialer.pinned(target, &admitted, bounds.connect)?, Some(admitted))
            }
        };
        let sent = client
            .request(request.method.clone(), target.url().clone())
            .headers(request.headers.clone())
            .header(ACCEPT_ENCODING, "identity")
            .body(request.body.clone())
            .send();
        let wait = timeout(bounds.connect.saturating_add(bounds.first_byte), sent);
        let response = timeout_at(deadline, wait).await.map_err(late)?.map_err(late)?;
        let response = response.map_err(EgressError::from_client)?;
        if let Some(admitted) = pinned {
            // The client had no other address to dial; this makes sure that it had not.
            let peer = response.remote_addr().map(|peer| peer.ip());
            if !peer.is_some_and(|peer| admitted.iter().any(|address| address.ip() == peer)) {
                return Err(Refusal::PrivateAddress.into());
            }
        }
        check_head(response.headers())?;
        Ok(UpstreamResponse {
            status: response.status(),
            headers: response.headers().clone(),
            final_url: target.url().clone(),
            body: BodyStream::new(response, bounds.body_bytes_max, deadline, turn),
        })
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
        if declared_length(&self.headers).is_some_and(|length| length > bytes_max as u64) {
            return Err(EgressError::TooLarge { bytes_max });
        }
        let mime = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        Ok(FetchedBody {
            mime: mime.unwrap_or("application/octet-stream").to_owned(),
            bytes: self.body.collect().await?,
            final_url: self.final_url,
            headers: self.headers,
        })
    }
}

fn redirect_of<'a>(request: &UpstreamRequest, answer: &'a UpstreamResponse) -> Option<&'a str> {
    let follows = request.method == Method::GET && matches!(answer.status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = follows.then(|| answer.headers.get(LOCATION))??;
    location.to_str().ok()
}

/// A head within its bound, and a body in no coding: none was asked for.
fn check_head(headers: &HeaderMap) -> Result<(), EgressError> {
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if bytes > HEAD_BYTES_MAX {
        return Err(EgressError::TooLarge { bytes_max: HEAD_BYTES_MAX });
    }
    let plain = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    match headers.get_all(CONTENT_ENCODING).iter().all(plain) {
        true => Ok(()),
        false => Err(EgressError::Failed("the answer has a content coding that was not asked for".to_owned())),
    }
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(http::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
