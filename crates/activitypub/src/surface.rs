//! The paths of this protocol, and its inboxes. What is published is in `surface/documents.rs`, and what is behind links
//! in `surface/files.rs`; no other file knows the
//! web framework.

mod documents;
mod files;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, post};
use forecourt_core::{ClientAddr, Handle};
use forecourt_host::{EventOutcome, HostedAgent};
use forecourt_pages::Pages;
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::body::{BodyError, BodyLimits, is_json, read_limited};
use forecourt_surface::{BaseUrl, HttpRoutes};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::json;

use crate::limits::ACTIVITY_BYTES_MAX;
use crate::names::routes;
use crate::service::{InboxError, Service};
use crate::signature::ArrivedRequest;

const JSON: &str = "application/json";
/// Seconds after which a server may send again what was put off.
const RETRY_SECONDS: u32 = 300;

/// What the handlers share.
#[derive(Clone)]
struct SurfaceState {
    service: Arc<Service>,
    pages: Arc<Pages>,
}

type On = State<SurfaceState>;

/// The routes of the protocol.
pub(crate) fn routes(service: Arc<Service>, pages: Arc<Pages>) -> HttpRoutes {
    let router = Router::new()
        .route(routes::ACTOR, any(documents::on_actor))
        .route(routes::INBOX, post(on_own_inbox))
        .route(routes::SHARED_INBOX, post(on_inbox))
        .route(routes::OUTBOX, any(documents::on_outbox))
        .route(routes::FEATURED, any(documents::on_featured))
        .route(routes::FOLLOWERS, any(documents::on_followers))
        .route(routes::FOLLOWING, any(documents::on_following))
        .route(routes::NOTE, any(documents::on_note))
        .route(routes::CREATE, any(documents::on_create))
        .route(routes::WHOLE, any(documents::on_whole))
        .route(routes::FILE, any(files::on_file))
        .route(routes::NODEINFO_LINKS, any(documents::on_nodeinfo_links))
        .route(routes::NODEINFO, any(documents::on_nodeinfo))
        .with_state(SurfaceState { service, pages });
    let paths = vec![
        routes::ACTOR,
        routes::INBOX,
        routes::SHARED_INBOX,
        routes::OUTBOX,
        routes::FEATURED,
        routes::FOLLOWERS,
        routes::FOLLOWING,
        routes::NOTE,
        routes::CREATE,
        routes::WHOLE,
        routes::FILE,
        routes::NODEINFO_LINKS,
        routes::NODEINFO,
    ];
    HttpRoutes { paths, router }
}

impl SurfaceState {
    fn resident(&self, handle: &str) -> Option<&Arc<HostedAgent>> {
        let agent = Handle::parse(handle).ok().filter(|_| !handle.starts_with('@'))?;
        self.service.resident(&agent)
    }
}

fn target(service: &Service, head: &Parts) -> String {
    let path = head.uri.path_and_query().map_or(head.uri.path(), http::uri::PathAndQuery::as_str);
    service.site().path(path).into_owned()
}

fn arrived<'a>(service: &'a Service, head: &'a Parts, target: &'a str, body: &'a [u8]) -> ArrivedRequest<'a> {
    ArrivedRequest {
        method: head.method.as_str(),
        origin: BaseUrl::of(service.site(), &head.extensions).origin(),
        target,
        headers: &head.headers,
        body,
        now: service.host().clock().now(),
    }
}

async fn on_own_inbox(State(shared): On, Path(handle): Path<String>, request: Request) -> Response {
    match shared.resident(&handle) {
        Some(_) => take(&shared.service, request).await,
        None => refusal(StatusCode::NOT_FOUND, "no actor of that name lives here"),
    }
}

async fn on_inbox(State(shared): On, request: Request) -> Response {
    take(&shared.service, request).await
}

/// Takes one activity. 202 says that it is kept, or that there is nothing to do.
async fn take(service: &Service, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let peer = head.extensions.get::<ClientAddr>().map(|client| client.0);
    if let Err(part) = service.host().meter(peer) {
        service.desk.count_event(EventOutcome::TooMany);
        return put_off(StatusCode::TOO_MANY_REQUESTS, &part.message, part.kind.retry_after_seconds());
    }
    if !is_json(&head.headers) {
        service.desk.count_event(EventOutcome::Malformed);
        return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "an activity is sent as application/activity+json");
    }
    let body = match read_limited(body, &BodyLimits::with_bytes_max(ACTIVITY_BYTES_MAX)).await {
        Ok(body) => body,
        Err(error) => {
            service.desk.count_event(EventOutcome::Malformed);
            return refusal(unread(&error), &error.to_string());
        }
    };
    let target = target(service, &head);
    let taken = service.take(&arrived(service, &head, &target, &body)).await;
    service.desk.count_event(taken.as_ref().map_or_else(InboxError::outcome, |outcome| *outcome));
    match taken {
        Ok(_) => HttpAnswer::empty(StatusCode::ACCEPTED, HeaderMap::new()).into_response(),
        Err(error) => failure(&error),
    }
}

/// The status of a body that was not read.
fn unread(error: &BodyError) -> StatusCode {
    match error {
        BodyError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
        BodyError::Broken => StatusCode::BAD_REQUEST,
    }
}

/// What a server is told of an activity that was not taken.
fn failure(error: &InboxError) -> Response {
    use forecourt_jose::ProofError;

    let words = error.to_string();
    match error {
        InboxError::Decode(_) => refusal(StatusCode::BAD_REQUEST, &words),
        InboxError::Unproven(ProofError::KeysUnavailable) => put_off(StatusCode::SERVICE_UNAVAILABLE, &words, None),
        InboxError::Unproven(_) | InboxError::OtherSigner => refusal(StatusCode::UNAUTHORIZED, &words),
        InboxError::TooMany => put_off(StatusCode::TOO_MANY_REQUESTS, &words, None),
        InboxError::Later(part) => put_off(StatusCode::SERVICE_UNAVAILABLE, &words, part.kind.retry_after_seconds()),
        InboxError::Host(error) => {
            tracing::warn!(%error, "an activity was not taken");
            match crate::status(error).0 {
                StatusCode::TOO_MANY_REQUESTS => put_off(StatusCode::TOO_MANY_REQUESTS, &words, None),
                status => refusal(status, &words),
            }
        }
    }
}

fn refusal(status: StatusCode, words: &str) -> Response {
    let mut head = HeaderMap::new();
    head.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    HttpAnswer::whole(status, head, json!({"error": words}).to_string()).into_response()
}

fn put_off(status: StatusCode, words: &str, seconds: Option<u64>) -> Response {
    let mut response = refusal(status, words);
    let seconds = seconds.map_or_else(|| HeaderValue::from(RETRY_SECONDS), HeaderValue::from);
    response.headers_mut().insert(RETRY_AFTER, seconds);
    response
}
