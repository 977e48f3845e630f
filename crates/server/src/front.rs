//! What happens to every request on its way in and to every answer on its way out.

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::Body;
use bytes::Bytes;
use forecourt_core::Entropy;
use futures::FutureExt;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode, Version};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use tower_service::Service;
use tracing::{Instrument, Span};

use crate::client::TrustedProxies;
use crate::connections::Connections;
use crate::hosts::{AllowedHosts, PlainOrigins};
use crate::limits::HttpLimits;
use crate::metrics::{Arriving, Metrics, method_label};
use crate::request_id::{RequestId, X_REQUEST_ID};
use crate::route_class::{RouteClass, RouteClasses};
use crate::strict::{Refusal, check, host};
use crate::wire::Traffic;

/// Set on every answer that has none of its own. Mentionable REST 8.3 wants the first one even on
/// errors; session tokens ride in query links, hence the last.
const DEFAULT_HEADERS: [(HeaderName, HeaderValue); 3] = [
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex, nofollow, noarchive")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// What the listeners are told at the start.
#[derive(Clone)]
pub struct FrontSettings {
    /// The names that are served.
    pub hosts: AllowedHosts,
    /// The proxies whose `X-Forwarded-For` and `X-Request-Id` are believed.
    pub proxies: TrustedProxies,
    /// What one client may use.
    pub limits: HttpLimits,
    /// Where things are counted.
    pub metrics: Arc<Metrics>,
    /// What is mounted where.
    pub classes: RouteClasses,
    /// What the ids of requests are made from.
    pub entropy: Arc<dyn Entropy>,
    /// Whether answers over TLS tell browsers to come back over TLS only. Not in development.
    pub hsts: bool,
}

/// What all listeners share: settings, counters and the caps on connections.
pub struct ListenerContext {
    pub(crate) settings: FrontSettings,
    pub(crate) connections: Arc<Connections>,
}

impl ListenerContext {
    /// Listeners that are given the same front share its caps.
    pub fn new(settings: FrontSettings) -> Arc<ListenerContext> {
        let limits = &settings.limits;
        let connections = Connections::new(limits.connections_max, limits.connections_per_address_max);
        Arc::new(ListenerContext { settings, connections })
    }
}

impl fmt::Debug for ListenerContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FrontSettings { hosts, proxies, limits, hsts, .. } = &self.settings;
        f.debug_struct("Front")
            .field("hosts", hosts)
            .field("proxies", proxies)
            .field("limits", limits)
            .field("hsts", hsts)
            .finish_non_exhaustive()
    }
}

/// What the requests of one connection share.
pub(crate) struct Peer {
    pub(crate) front: Arc<ListenerContext>,
    pub(crate) address: IpAddr,
    pub(crate) tls: bool,
    /// What documents name that are fetched here without TLS.
    pub(crate) origins: Arc<PlainOrigins>,
    pub(crate) traffic: Arc<Traffic>,
}

/// Checks the request, has it answered, and completes the answer. Never fails and never panics.
pub(crate) async fn answer<S>(service: S, peer: Arc<Peer>, request: Request<Incoming>) -> Response<Answer>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
{
    let begun = Instant::now();
    let (in_flight, ambiguous) = InFlight::begin(peer);
    let peer = &in_flight.0;
    let settings = &peer.front.settings;
    let method = request.method().clone();
    let class = settings.classes.of(&method, request.uri().path());
    let id = request_id(settings, peer.address, request.headers());
    let span = span(class, &method, &id);
    let refused = if ambiguous {
        Err(Refusal::Malformed("The end of this request is ambiguous."))
    } else {
        check(&request, &settings.hosts, &settings.limits)
    };
    let mut response = match refused {
        Ok(()) => hand_over(service, peer, request, &id).instrument(span.clone()).await,
        Err(refusal) => refusal.into_response(request.version()),
    };
    let headers = response.headers_mut();
    complete(headers, peer.tls && settings.hsts);
    headers.insert(X_REQUEST_ID, id.to_header());
    let (status, seconds) = (response.status(), begun.elapsed());
    settings.metrics.answered(class, &method, status, seconds);
    span.record("status", status.as_u16());
    tracing::debug!(parent: &span, seconds = seconds.as_secs_f32(), "the head of the answer is ready");
    response.map(|body| Answer { body, in_flight, span })
}

/// The id that a trusted proxy gave, so that its log and ours name the request alike; else a fresh one.
fn request_id(settings: &FrontSettings, peer: IpAddr, headers: &HeaderMap) -> RequestId {
    let given = settings.proxies.contains(peer).then(|| RequestId::of(headers)).flatten();
    given.unwrap_or_else(|| RequestId::mint(&*settings.entropy))
}

/// The span of a request. The path is not in it: it may hold a question, or an id that opens something.
fn span(class: RouteClass, method: &Method, id: &RequestId) -> Span {
    let RouteClass { protocol, route } = class;
    let method = method_label(method);
    tracing::info_span!("request", %id, protocol, route, method, status = tracing::field::Empty)
}

async fn hand_over<S>(mut service: S, peer: &Peer, mut request: Request<Incoming>, id: &RequestId) -> Response<Body>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
{
    let client = peer.front.settings.proxies.client(peer.address, request.headers());
    request.extensions_mut().insert(client);
    request.extensions_mut().insert(id.clone());
    if let Some(origin) = host(&request).ok().and_then(|host| peer.origins.of(host)).cloned() {
        request.extensions_mut().insert(origin);
    }
    let metrics = &peer.front.settings.metrics;
    let answer = async move {
        match poll_fn(|cx| service.poll_ready(cx)).await {
            Ok(()) => {
                let is_http2 = request.version() == Version::HTTP_2;
                service.call(request.map(|body| incoming(body, is_http2, metrics))).await
            }
            Err(never) => Err(never),
        }
    };
    match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(Ok(response)) => response,
        Ok(Err(never)) => match never {},
        Err(_panic) => {
            peer.front.settings.metrics.panics.inc();
            tracing::error!("a request ended in a panic");
            internal_error(id)
        }
    }
}

/// The body of a request, counted while more of it is to come: over HTTP/2 nothing else sees that, and of
/// HTTP/1 the connection knows.
fn incoming(body: Incoming, is_http2: bool, metrics: &Arc<Metrics>) -> Body {
    if !is_http2 || body.is_end_stream() {
        return Body::new(body);
    }
    Body::new(ArrivingBody { body, arriving: Some(Arriving::new(metrics)) })
}

pin_project! {
    /// The body of a request of which more is to come.
    struct ArrivingBody {
        #[pin]
        body: Incoming,
        arriving: Option<Arriving>,
    }
}

impl http_body::Body for ArrivingBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let mut this = self.project();
        let frame = this.body.as_mut().poll_frame(cx);
        if matches!(frame, Poll::Ready(None | Some(Err(_)))) || this.body.is_end_stream() {
            *this.arriving = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn internal_error(id: &RequestId) -> Response<Body> {
    let mut response = Response::new(Body::from(format!("Something went wrong here. Request id: {id}")));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static("en"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn complete(headers: &mut HeaderMap, hsts: bool) {
    for (name, value) in &DEFAULT_HEADERS {
        headers.entry(name).or_insert_with(|| value.clone());
    }
    if hsts {
        headers.entry(header::STRICT_TRANSPORT_SECURITY).or_insert(HSTS);
    }
}

/// A request in flight: until its answer is written or given up.
pub(crate) struct InFlight(Arc<Peer>);

impl InFlight {
    /// Counts one more. True: its framing is refused.
    fn begin(peer: Arc<Peer>) -> (InFlight, bool) {
        peer.front.settings.metrics.in_flight.inc();
        let ambiguous = peer.traffic.begin();
        (InFlight(peer), ambiguous)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.front.settings.metrics.in_flight.dec();
        self.0.traffic.end();
    }
}

pin_project! {
    /// The body of an answer, which keeps its request in flight.
    pub(crate) struct Answer {
        #[pin]
        body: Body,
        in_flight: InFlight,
        span: Span,
    }
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.project();
        // What is said while an answer streams belongs to its request, too.
        let _entered = this.span.enter();
        let body = this.body;
        catch_unwind(AssertUnwindSafe(|| body.poll_frame(cx))).unwrap_or_else(|_panic| {
            this.in_flight.0.front.settings.metrics.panics.inc();
            tracing::error!("an answer ended in a panic");
            Poll::Ready(Some(Err(axum::Error::new("the answer broke off"))))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
