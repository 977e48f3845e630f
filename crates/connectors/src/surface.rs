//! The path on which a platform tells of events.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use forecourt_core::{Error, Handle};
use forecourt_host::EventOutcome;
use forecourt_surface::HttpRoutes;
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::body::{BodyError, BodyLimits, read_limited};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use serde_json::Value;

use crate::connector::Connector;
use crate::intake::Intake;
use crate::limits::{ACKNOWLEDGED_WITHIN, EVENT_BYTES_MAX};
use crate::platform::{EventError, Incoming, Platform};

/// The route of a kind of platform.
pub(crate) fn routes<P: Platform>(intake: Arc<Intake<P>>) -> HttpRoutes {
    let router = Router::new().route(P::PATH, post(on_event::<P>)).with_state(intake);
    HttpRoutes { paths: vec![P::PATH], router }
}

async fn on_event<P: Platform>(
    State(intake): State<Arc<Intake<P>>>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Response {
    let connector = Handle::parse(&name).ok().and_then(|name| intake.connectors.get(&name));
    let Some(connector) = connector else { return words(StatusCode::NOT_FOUND, "no such connector") };
    let (head, body) = request.into_parts();
    let body = match read_limited(body, &limits()).await {
        Ok(body) => body,
        Err(error) => {
            intake.count(connector, EventOutcome::Malformed);
            let is_large = matches!(error, BodyError::TooLarge { .. });
            let status = if is_large { StatusCode::PAYLOAD_TOO_LARGE } else { StatusCode::BAD_REQUEST };
            return words(status, &error.to_string());
        }
    };
    let incoming = match connector.platform.read(&head.headers, &body, intake.host.clock().now()) {
        Ok(Incoming::Reply(value)) => return json(&value),
        Ok(incoming) => incoming,
        Err(error) => return refused(&intake, connector, error),
    };
    let name = connector.name.clone();
    work(intake, &name, incoming).await
}

/// An event is short, and whoever sends it is in a hurry.
fn limits() -> BodyLimits {
    BodyLimits { time_max: Duration::from_secs(10), ..BodyLimits::with_bytes_max(EVENT_BYTES_MAX) }
}

/// What is told of an event that is not taken for what it is.
fn refused<P: Platform>(intake: &Intake<P>, connector: &Connector<P>, error: EventError) -> Response {
    let (status, why, outcome) = match error {
        EventError::Unproven(why) => (StatusCode::UNAUTHORIZED, why, EventOutcome::Forged),
        EventError::Malformed(why) => (StatusCode::BAD_REQUEST, why, EventOutcome::Malformed),
    };
    intake.count(connector, outcome);
    if let Some(events) = connector.refusals.note(intake.host.clock().now()) {
        tracing::warn!(connector = %connector.name, why, events, "events were refused");
    }
    words(status, why)
}

/// Works on what an event tells, within the time that platforms wait for.
async fn work<P: Platform>(intake: Arc<Intake<P>>, name: &Handle, incoming: Incoming) -> Response {
    let Some(connector) = intake.connectors.get(name) else { return words(StatusCode::NOT_FOUND, "no such connector") };
    if incoming == Incoming::Nothing {
        intake.count(connector, EventOutcome::Ignored);
        return HttpAnswer::empty(StatusCode::OK, HeaderMap::new()).into_response();
    }
    let Ok(slot) = connector.slots.clone().try_acquire_owned() else {
        intake.count(connector, EventOutcome::TooMany);
        return words(StatusCode::SERVICE_UNAVAILABLE, "too many events at once");
    };
    let name = name.clone();
    // On a task of its own: a platform that hangs up, or sends the event again, finds it done.
    let work = tokio::spawn(async move {
        let _slot = slot;
        let Some(connector) = intake.connectors.get(&name) else { return Ok(()) };
        let taken = intake.take(connector, incoming).await;
        intake.count(connector, *taken.as_ref().unwrap_or(&EventOutcome::Failed));
        taken.map(drop)
    });
    match tokio::time::timeout(ACKNOWLEDGED_WITHIN, work).await {
        Ok(Ok(Ok(()))) => HttpAnswer::empty(StatusCode::OK, HeaderMap::new()).into_response(),
        Ok(Ok(Err(error))) => put_off(&error),
        Ok(Err(_)) => words(StatusCode::SERVICE_UNAVAILABLE, "the event was not taken"),
        Err(_) => words(StatusCode::SERVICE_UNAVAILABLE, "the event is being worked on: send it again"),
    }
}

fn put_off(error: &Error) -> Response {
    tracing::warn!(%error, "an event was not taken");
    words(StatusCode::SERVICE_UNAVAILABLE, "the event was not taken: send it again")
}

fn words(status: StatusCode, words: &str) -> Response {
    let head = typed("text/plain; charset=utf-8");
    HttpAnswer::whole(status, head, format!("{words}\n")).into_response()
}

fn json(value: &Value) -> Response {
    HttpAnswer::whole(StatusCode::OK, typed("application/json"), value.to_string()).into_response()
}

fn typed(kind: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))])
}
