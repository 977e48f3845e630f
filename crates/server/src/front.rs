//! What happens to every request on its way in and to every answer on its way out.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use forecourt_telemetry::RequestLines;
use futures::FutureExt;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode, Version};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::answer::{Answer, Exchange, InFlight};
use crate::compression::CompressedService;
use crate::head_facts::{access, trace};
use crate::hosts::PlainOrigin;
use crate::metrics::{Arriving, DomainLabel, Metrics, method_label};
use crate::peer::{FrontSettings, Peer};
use crate::request_id::{RequestId, X_REQUEST_ID};
use crate::route_class::RouteClass;
use crate::strict::{Refusal, check_for, host};

/// Set on every answer that has none of its own. Mentionable REST 8.3 wants the first one even on
/// errors; session tokens ride in query links, hence the last.
const DEFAULT_HEADERS: [(HeaderName, HeaderValue); 3] = [
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex, nofollow, noarchive")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

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

/// Checks the request, has it answered, and completes the answer. Never fails and never panics.
pub(crate) async fn answer(routes: Arc<dyn Route>, peer: Arc<Peer>, request: Request<Incoming>) -> Response<Answer> {
    let begun = Instant::now();
    let class = peer.front.settings.classes.of(request.method(), request.uri().path());
    let (in_flight, ambiguous) = InFlight::begin(peer, class.protocol);
    let id = request_id(&in_flight.peer.front.settings, in_flight.peer.address, request.headers());
    let lines = lines(class, request.method(), &id);
    let trace = trace(&in_flight.peer, class, &request, &lines);
    let is_written = in_flight.peer.front.settings.metrics.access().is_some();
    let access = is_written.then(|| access(&in_flight.peer, class, &request, &id, &trace));
    // From here on it is counted, whenever its caller leaves.
    let mut exchange = Exchange::new(in_flight, &request, class, begun, trace, access);
    let peer = exchange.peer();
    let settings = &peer.front.settings;
    let (method, is_http1) = (request.method().clone(), request.version() <= Version::HTTP_11);
    let host = host(&request);
    let domain = host.map_or_else(|_| DomainLabel::none(), |host| settings.hosts.label_of(host));
    let origin = host.ok().and_then(|host| peer.origins.of(host));
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
        Ok(()) => lines.carry(exchange.trace().carry(hand_over(&*routes, peer, request, (origin, domain), &id))).await,
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
    tracing::debug!(parent: lines.span(), seconds = seconds.as_secs_f32(), "the head of the answer is ready");
    let (head, body) = response.into_parts();
    exchange.answered(status, &head.headers, &body);
    Response::from_parts(head, Answer::new(body, lines, exchange))
}

/// The id that a trusted proxy gave, so that its log and ours name the request alike; else a fresh one.
fn request_id(settings: &FrontSettings, peer: IpAddr, headers: &HeaderMap) -> RequestId {
    let given = settings.proxies.contains(peer).then(|| RequestId::of(headers)).flatten();
    given.unwrap_or_else(|| RequestId::mint(&*settings.entropy))
}

/// What lines of the log say of a request. The path is not in it: it may hold a question, or an id that opens something.
fn lines(class: RouteClass, method: &Method, id: &RequestId) -> RequestLines {
    let RouteClass { protocol, route } = class;
    let method = method_label(method);
    RequestLines::new(
        id.clone(),
        move |id| tracing::info_span!("request", %id, protocol, route, method, status = tracing::field::Empty),
    )
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
