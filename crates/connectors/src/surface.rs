//! The path on which a platform tells of events, and that of files behind links.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use forecourt_core::{Error, Handle};
use forecourt_host::EventOutcome;
use forecourt_surface::HttpRoutes;
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::body::{BodyError, BodyLimits, read_limited};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use serde_json::Value;

use crate::connector::Connector;
use crate::files::on_file;
use crate::intake::Intake;
use crate::platform::{EventAnswer, EventError, EventRequest, Incoming, Platform, Reception};

/// The routes of a kind of platform.
pub(crate) fn routes<P: Platform>(intake: Arc<Intake<P>>) -> HttpRoutes {
    let (path, route) = match P::PATH_BELOW {
        Some(below) => (below, any(on_event::<P>)),
        None => (P::PATH, post(on_event::<P>)),
    };
    let router = Router::new().route(path, route).route(P::FILES_PATH, get(on_file::<P>)).with_state(intake);
    HttpRoutes { paths: vec![path, P::FILES_PATH], router }
}

async fn on_event<P: Platform>(
    State(intake): State<Arc<Intake<P>>>,
    path: RawPathParams,
    request: Request<Body>,
) -> Response {
    let param = |name: &str| path.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value);
    let (head, body) = request.into_parts();
    let connector = Handle::parse(param("name")).ok().and_then(|name| intake.connectors.get(&name));
    let Some(connector) = connector else { return answer::<P>(EventAnswer::NoConnector) };
    if let Err(error) = connector.platform.admit(&head.headers) {
        return refused(&intake, connector, error);
    }
    let body = match read_limited(body, &limits::<P>()).await {
        Ok(body) => body,
        Err(error) => {
            intake.count(connector, EventOutcome::Malformed);
            return answer::<P>(match error {
                BodyError::TooLarge { .. } => EventAnswer::TooLarge,
                _ => EventAnswer::Unreadable,
            });
        }
    };
    let Parts { method, headers, .. } = &head;
    let request = EventRequest { method, path: param("below"), headers, body: &body };
    match connector.platform.read(&request, intake.host.clock().now()) {
        Ok(Incoming::Reply(value)) => json(StatusCode::OK, &value),
        Ok(Incoming::Nothing) => {
            intake.count(connector, EventOutcome::Ignored);
            answer::<P>(EventAnswer::Taken)
        }
        Ok(incoming) => take(&intake, connector, incoming, &body).await,
        Err(error) => refused(&intake, connector, error),
    }
}

/// An event is short, and whoever sends it is in a hurry.
fn limits<P: Platform>() -> BodyLimits {
    BodyLimits { time_max: Duration::from_secs(10), ..BodyLimits::with_bytes_max(P::EVENT_BYTES_MAX) }
}

/// Does what a request asks for, and answers once that is durable.
async fn take<P: Platform>(
    intake: &Arc<Intake<P>>,
    connector: &Connector<P>,
    incoming: Incoming,
    body: &[u8],
) -> Response {
    let Ok(slot) = connector.slots.clone().try_acquire_owned() else {
        intake.count(connector, EventOutcome::TooMany);
        return answer::<P>(EventAnswer::Again("too many events at once"));
    };
    let (taking, name) = (intake.clone(), connector.name.clone());
    // On a task of its own: a platform that hangs up, or sends the event again, finds it done.
    let work = tokio::spawn(async move {
        let _slot = slot;
        match taking.connectors.get(&name) {
            Some(connector) => taking.take(connector, incoming).await,
            None => Ok(Reception::Taken),
        }
    });
    answer::<P>(match tokio::time::timeout(P::ACKNOWLEDGED_WITHIN, work).await {
        Ok(Ok(Ok(reception))) => match connector.platform.acknowledgement(body, reception) {
            Some(value) => return json(StatusCode::OK, &value),
            None => EventAnswer::Taken,
        },
        Ok(Ok(Err(error))) => put_off(&error),
        Ok(Err(_)) => EventAnswer::Again("the event was not taken"),
        Err(_) => EventAnswer::Again("the event is being worked on: send it again"),
    })
}

fn put_off(error: &Error) -> EventAnswer<'static> {
    tracing::warn!(%error, "an event was not taken");
    EventAnswer::Again("the event was not taken: send it again")
}

/// What is told of an event that is not taken for what it is.
fn refused<P: Platform>(intake: &Intake<P>, connector: &Connector<P>, error: EventError) -> Response {
    let (why, outcome) = match error {
        EventError::Unproven(why) => (why, EventOutcome::Forged),
        EventError::Malformed(why) | EventError::Unknown(why) => (why, EventOutcome::Malformed),
    };
    intake.count(connector, outcome);
    if let Some(events) = connector.refusals.note(intake.host.clock().now()) {
        tracing::warn!(connector = %connector.name, why, events, "events were refused");
    }
    answer::<P>(EventAnswer::Refused(error))
}

/// An answer as the platform wants it, else in words.
fn answer<P: Platform>(answer: EventAnswer<'_>) -> Response {
    let (status, words) = in_words(&answer);
    match (P::answer_body(&answer), answer) {
        (Some(value), _) => json(status, &value),
        (None, EventAnswer::Taken) => HttpAnswer::empty(status, HeaderMap::new()).into_response(),
        (None, _) => {
            HttpAnswer::whole(status, typed("text/plain; charset=utf-8"), format!("{words}\n")).into_response()
        }
    }
}

fn in_words<'a>(answer: &EventAnswer<'a>) -> (StatusCode, &'a str) {
    match answer {
        EventAnswer::Taken => (StatusCode::OK, ""),
        EventAnswer::Refused(EventError::Unproven(why)) => (StatusCode::UNAUTHORIZED, why),
        EventAnswer::Refused(EventError::Malformed(why)) => (StatusCode::BAD_REQUEST, why),
        EventAnswer::Refused(EventError::Unknown(why)) => (StatusCode::NOT_FOUND, why),
        EventAnswer::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "the event is too large"),
        EventAnswer::Unreadable => (StatusCode::BAD_REQUEST, "the event could not be read"),
        EventAnswer::NoConnector => (StatusCode::NOT_FOUND, "no such connector"),
        EventAnswer::Again(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
    }
}

fn json(status: StatusCode, value: &Value) -> Response {
    HttpAnswer::whole(status, typed("application/json"), value.to_string()).into_response()
}

fn typed(kind: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))])
}
