//! What happens to every request on its way in and to every answer on its way out.

use std::fmt;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use forecourt_core::Entropy;
use forecourt_telemetry::spans::{self, Origin};
use forecourt_telemetry::{RemoteParent, RequestLines, RequestTrace, policy};
use futures::FutureExt;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode, Version};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::access_log::{AccessEntry, AccessLog};
use crate::client::TrustedProxies;
use crate::compression::CompressedService;
use crate::connections::Connections;
use crate::hosts::{AllowedHosts, PlainOrigin, PlainOrigins};
use crate::leaving::Leaving;
use crate::limits::HttpLimits;
use crate::metrics::{Arriving, DomainLabel, GaugeGuard, LastSeries, Metrics, method_label};
use crate::plain::PlainRules;
use crate::request_id::{RequestId, X_REQUEST_ID};
use crate::route_class::{RouteClass, RouteClasses};
use crate::strict::{Refusal, check_for, host};
use crate::wire::Traffic;

/// Set on every answer that has none of its own. Mentionable REST 8.3 wants the first one even on
/// errors; session tokens ride in query links, hence the last.
const DEFAULT_HEADERS: [(HeaderName, HeaderValue); 3] = [
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex, nofollow, noarchive")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

/// The settings that all HTTP listeners share.
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
    /// The routes of all protocols, by which requests are classed for metrics and spans.
    pub classes: RouteClasses,
    /// What the ids of requests are made from.
    pub entropy: Arc<dyn Entropy>,
    /// For how many seconds answers over TLS tell browsers to come back over TLS only. Not in development.
    pub hsts: Option<u32>,
    /// Whether the process is about to go: then each answer of HTTP/1 ends its connection.
    pub leaving: Leaving,
}

/// What all listeners share: settings, counters and the caps on connections.
pub struct ListenerContext {
    pub(crate) settings: FrontSettings,
    pub(crate) connections: Arc<Connections>,
    /// `Strict-Transport-Security` of answers over TLS.
    hsts: Option<HeaderValue>,
}

impl ListenerContext {
    /// Listeners that are given the same front share its caps.
    pub fn new(settings: FrontSettings) -> Arc<ListenerContext> {
        let limits = &settings.limits;
        let connections = Connections::new(limits.connections_max, limits.connections_per_address_max);
        Self::with(settings, connections)
    }

    fn with(settings: FrontSettings, connections: Arc<Connections>) -> Arc<ListenerContext> {
        let hsts = settings.hsts.and_then(|seconds| HeaderValue::try_from(format!("max-age={seconds}")).ok());
        Arc::new(ListenerContext { settings, connections, hsts })
    }

    /// The same listeners with other settings. Connections that are open count on, unless their caps are others.
    #[must_use]
    pub fn replaced_by(&self, settings: FrontSettings) -> Arc<ListenerContext> {
        let caps = |limits: &HttpLimits| (limits.connections_max, limits.connections_per_address_max);
        // With other caps the old counts would be compared with new bounds; connections that are open then count no
        // more.
        if caps(&self.settings.limits) != caps(&settings.limits) {
            return Self::new(settings);
        }
        Self::with(settings, Arc::clone(&self.connections))
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

/// Who answers the requests of a listener.
pub trait Route: Send + Sync + 'static {
    /// The router that answers `request`, which may be given another address for it; or the answer, where there is
    /// none.
    fn route(&self, request: &mut Request<Body>) -> Result<Router, Box<Response<Body>>>;

    /// Whether answers are made smaller for clients that can read that.
    fn compresses(&self) -> bool {
        false
    }
}

impl Route for Router {
    fn route(&self, _: &mut Request<Body>) -> Result<Router, Box<Response<Body>>> {
        Ok(self.clone())
    }
}

/// The name that a client asked for when it opened its connection (SNI), attached to each request on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerName(pub Arc<str>);

/// What the requests of one connection share.
pub(crate) struct Peer {
    pub(crate) front: Arc<ListenerContext>,
    pub(crate) address: IpAddr,
    pub(crate) tls: bool,
    /// The name that the client asked for in the handshake.
    pub(crate) server_name: Option<ServerName>,
    /// What documents name that are fetched here without TLS.
    pub(crate) origins: Arc<PlainOrigins>,
    /// What is answered here without TLS before anything else.
    pub(crate) plain: Arc<PlainRules>,
    pub(crate) traffic: Arc<Traffic>,
    /// Where its last answer was counted.
    pub(crate) last: LastSeries,
}

/// Checks the request, has it answered, and completes the answer. Never fails and never panics.
pub(crate) async fn answer(routes: Arc<dyn Route>, peer: Arc<Peer>, request: Request<Incoming>) -> Response<Answer> {
    let begun = Instant::now();
    let class = peer.front.settings.classes.of(request.method(), request.uri().path());
    let (in_flight, ambiguous) = InFlight::begin(peer, class.protocol);
    let peer = &in_flight.peer;
    let settings = &peer.front.settings;
    let (method, is_http1) = (request.method().clone(), request.version() <= Version::HTTP_11);
    let host = host(&request);
    let domain = host.map_or_else(|_| DomainLabel::none(), |host| settings.hosts.label_of(host));
    let origin = host.ok().and_then(|host| peer.origins.of(host));
    let id = request_id(settings, peer.address, request.headers());
    let lines = lines(class, &method, &id);
    let trace = trace(peer, class, &request, &lines);
    let access = settings.metrics.access().map(|log| access(log, peer, class, &request, &id, &trace, begun));
    let refused = if ambiguous {
        Err(Refusal::Malformed("The end of this request is ambiguous."))
    } else {
        check_for(&request, host, &settings.hosts, &settings.limits)
    };
    // Authorities ask for a name before it is served, so this comes before the look at whom a request is for.
    let instead = match peer.plain.concerns(request.uri().path()) && !ambiguous {
        false => None,
        true => Box::pin(peer.plain.answer(&request, &settings.hosts, &settings.limits)).await,
    };
    let mut response = match refused {
        _ if instead.is_some() => instead.unwrap_or_default(),
        Ok(()) => lines.carry(trace.carry(hand_over(&*routes, peer, request, (origin, domain), &id))).await,
        Err(refusal) => refusal.into_response(request.version()),
    };
    let headers = response.headers_mut();
    complete(headers, peer.front.hsts.as_ref().filter(|_| peer.tls));
    // Not over HTTP/2, which has no such field and says GOAWAY.
    if settings.leaving.is_begun() && is_http1 {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    // Replaced, not added: an answer that was passed on from elsewhere may carry an id, which is not in this log.
    headers.insert(X_REQUEST_ID, id.to_header());
    let (status, seconds) = (response.status(), begun.elapsed());
    settings.metrics.answered(&peer.last, class, &method, status, domain, seconds);
    lines.record_status(status.as_u16());
    spans::record_answer(&trace, status.as_u16());
    tracing::debug!(parent: lines.span(), seconds = seconds.as_secs_f32(), "the head of the answer is ready");
    // A HEAD's body is never polled to its end, and would be logged as cut off.
    let is_without_body = method == Method::HEAD;
    response.map(|body| {
        let is_whole = is_without_body || body.is_end_stream();
        let access = access.map(|access| access.answered(status, is_whole));
        Answer { body, in_flight, lines, trace, access }
    })
}

/// The id that a trusted proxy gave, so that its log and ours name the request alike; else a fresh one.
fn request_id(settings: &FrontSettings, peer: IpAddr, headers: &HeaderMap) -> RequestId {
    let given = settings.proxies.contains(peer).then(|| RequestId::of(headers)).flatten();
    given.unwrap_or_else(|| RequestId::mint(&*settings.entropy))
}

/// What lines of the log say of a request. The path is not in it: it may hold a question, or an id that opens something.
fn lines(class: RouteClass, method: &Method, id: &RequestId) -> RequestLines {
    let RouteClass { protocol, route } = class;
    let (method, id) = (method_label(method), id.clone());
    RequestLines::new(
        move || tracing::info_span!("request", %id, protocol, route, method, status = tracing::field::Empty),
    )
}

/// What the request is traced by.
fn trace(peer: &Peer, class: RouteClass, request: &Request<Incoming>, within: &RequestLines) -> RequestTrace {
    let Some(policy) = policy() else { return RequestTrace::off() };
    let settings = &peer.front.settings;
    let parent = RemoteParent::of(request.headers());
    // A caller's `sampled` flag would otherwise let anybody fill the collector.
    let is_from_proxy = settings.proxies.contains(peer.address);
    let random = random(&*settings.entropy);
    let is_sampled = policy.is_sampled(parent.as_ref(), is_from_proxy, || random);
    let scheme = if peer.tls { "https" } else { "http" };
    let origin = Origin { parent, is_sampled, random, within };
    spans::http_request(origin, class.protocol, method_label(request.method()), class.route, scheme)
}

pub(crate) fn random(entropy: &dyn Entropy) -> u64 {
    let mut bytes = [0; 8];
    entropy.fill(&mut bytes);
    u64::from_be_bytes(bytes)
}

/// What the access log will say of a request.
fn access(
    log: &AccessLog,
    peer: &Peer,
    class: RouteClass,
    request: &Request<Incoming>,
    id: &RequestId,
    trace: &RequestTrace,
    begun: Instant,
) -> Box<AccessGuard> {
    let (settings, headers) = (&peer.front.settings, request.headers());
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let query = if request.uri().query().is_some() { "?" } else { "" };
    // Whoever does not trace may still find the caller's trace in it.
    let trace = trace.trace_id().or_else(|| RemoteParent::of(headers).map(|parent| parent.trace_id()));
    let entry = AccessEntry {
        client: Some(settings.proxies.client(peer.address, headers).0),
        protocol: class.protocol,
        route: format!("{}{query}", class.route),
        agent: settings.classes.agent(request.uri().path()).map(str::to_owned),
        method: method_label(request.method()),
        version: version(request.version()),
        request_id: id.to_string(),
        trace_id: trace,
        referer: text(header::REFERER).map(AccessEntry::referer_of),
        user_agent: text(header::USER_AGENT).map(AccessEntry::agent_of),
        ..AccessEntry::default()
    };
    Box::new(AccessGuard { log: log.clone(), entry, begun, is_whole: false })
}

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        _ => "HTTP/1.1",
    }
}

/// A request that is written down when its answer is at its end, or given up.
struct AccessGuard {
    log: AccessLog,
    entry: AccessEntry,
    begun: Instant,
    /// Whether all of the answer was handed to the connection.
    is_whole: bool,
}

impl AccessGuard {
    fn answered(mut self: Box<Self>, status: StatusCode, is_whole: bool) -> Box<Self> {
        (self.entry.status, self.is_whole) = (status.as_u16(), is_whole);
        self
    }
}

impl Drop for AccessGuard {
    fn drop(&mut self) {
        (self.entry.seconds, self.entry.is_cut) = (self.begun.elapsed(), !self.is_whole);
        self.log.write(&self.entry);
    }
}

async fn hand_over(
    routes: &dyn Route,
    peer: &Peer,
    mut request: Request<Incoming>,
    (origin, domain): (Option<&PlainOrigin>, &DomainLabel),
    id: &RequestId,
) -> Response<Body> {
    let proxies = &peer.front.settings.proxies;
    proxies.tell_if_silent(peer.address, request.headers(), domain);
    let client = proxies.client(peer.address, request.headers());
    request.extensions_mut().insert(client);
    if let Some(name) = &peer.server_name {
        request.extensions_mut().insert(name.clone());
    }
    if let Some(origin) = origin {
        request.extensions_mut().insert(origin.clone());
    }
    let metrics = &peer.front.settings.metrics;
    let answer = async move {
        let is_http2 = request.version() == Version::HTTP_2;
        let mut request = request.map(|body| incoming(body, is_http2, metrics));
        match routes.route(&mut request) {
            Ok(router) if routes.compresses() => CompressedService::new(router).call(request).await,
            Ok(mut router) => router.call(request).await,
            Err(answer) => Ok(*answer),
        }
    };
    // A panic would end the task of the whole connection, and over HTTP/2 that is every request on it.
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

fn complete(headers: &mut HeaderMap, hsts: Option<&HeaderValue>) {
    for (name, value) in &DEFAULT_HEADERS {
        headers.entry(name).or_insert_with(|| value.clone());
    }
    if let Some(hsts) = hsts {
        headers.entry(header::STRICT_TRANSPORT_SECURITY).or_insert_with(|| hsts.clone());
    }
}

/// A request in flight: until its answer is written or given up.
pub(crate) struct InFlight {
    peer: Arc<Peer>,
    _counted: GaugeGuard,
}

impl InFlight {
    /// Counts one more. True: its framing is refused.
    fn begin(peer: Arc<Peer>, protocol: &'static str) -> (InFlight, bool) {
        let counted = peer.front.settings.metrics.count_in_flight(&peer.last, protocol);
        let ambiguous = peer.traffic.begin();
        (InFlight { peer, _counted: counted }, ambiguous)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.peer.traffic.end();
    }
}

pin_project! {
    /// The body of an answer, which keeps its request in flight.
    pub(crate) struct Answer {
        #[pin]
        body: Body,
        in_flight: InFlight,
        lines: RequestLines,
        trace: RequestTrace,
        access: Option<Box<AccessGuard>>,
    }
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.project();
        // What is said while an answer streams belongs to its request, too.
        let (_entered, _traced) = (this.lines.enter(), this.trace.enter());
        let mut body = this.body;
        // Here too: a stream of events runs an agent's code long after `answer` has returned.
        let polled = catch_unwind(AssertUnwindSafe(|| body.as_mut().poll_frame(cx)));
        if let (Some(access), Ok(Poll::Ready(frame))) = (this.access, &polled) {
            let data = frame.as_ref().and_then(|frame| frame.as_ref().ok()).and_then(Frame::data_ref);
            access.entry.bytes += data.map_or(0, |data| data.len() as u64);
            access.is_whole |= frame.is_none() || body.is_end_stream();
        }
        polled.unwrap_or_else(|_panic| {
            this.in_flight.peer.front.settings.metrics.panics.inc();
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
