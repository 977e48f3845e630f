//! The path on which a platform tells of events.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use forecourt_core::{Error, Handle};
use forecourt_surface::HttpRoutes;
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::body::{BodyError, BodyLimits, read_limited};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use serde_json::Value;

use crate::intake::Intake;
use crate::limits::{ACKNOWLEDGED_WITHIN, EVENT_BYTES_MAX};
use crate::platform::{EventError, Incoming, Platform, Reception};

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
    let (head, body) = request.into_parts();
    let body = match read_limited(body, &limits()).await {
        Ok(body) => body,
        Err(error @ BodyError::TooLarge { .. }) => return words(StatusCode::PAYLOAD_TOO_LARGE, &error.to_string()),
        Err(error) => return words(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    event(intake, &name, &head.headers, &body).await
}

/// An event is short, and whoever sends it is in a hurry.
fn limits() -> BodyLimits {
    BodyLimits { time_max: Duration::from_secs(10), ..BodyLimits::with_bytes_max(EVENT_BYTES_MAX) }
}

async fn event<P: Platform>(intake: Arc<Intake<P>>, name: &str, headers: &HeaderMap, body: &[u8]) -> Response {
    let connector = Handle::parse(name).ok().and_then(|name| intake.connectors.get(&name));
    let Some(connector) = connector else { return words(StatusCode::NOT_FOUND, "no such connector") };
    let incoming = match connector.platform.read(headers, body, intake.host.clock().now()) {
        Ok(Incoming::Reply(value)) => return json(&value),
        Ok(Incoming::Nothing) => return HttpAnswer::empty(StatusCode::OK, HeaderMap::new()).into_response(),
        Ok(incoming) => incoming,
        Err(EventError::Unproven(why)) => {
            tracing::warn!(connector = %connector.name, why, "an event was refused");
            return words(StatusCode::UNAUTHORIZED, why);
        }
        Err(EventError::Malformed(why)) => return words(StatusCode::BAD_REQUEST, why),
    };
    let Ok(slot) = connector.slots.clone().try_acquire_owned() else {
        return words(StatusCode::SERVICE_UNAVAILABLE, "too many events at once");
    };
    let (name, taking) = (connector.name.clone(), intake.clone());
    // On a task of its own: a platform that hangs up, or sends the event again, finds it done.
    let work = tokio::spawn(async move {
        let _slot = slot;
        match taking.connectors.get(&name) {
            Some(connector) => taking.take(connector, incoming).await,
            None => Ok(Reception::Taken),
        }
    });
    match tokio::time::timeout(ACKNOWLEDGED_WITHIN, work).await {
        Ok(Ok(Ok(reception))) => match connector.platform.acknowledgement(body, reception) {
            Some(value) => json(&value),
            None => HttpAnswer::empty(StatusCode::OK, HeaderMap::new()).into_response(),
        },
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
