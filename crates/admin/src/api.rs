//! The table of calls as JSON over HTTP.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{RawPathParams, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any, get, post};
use axum::{Json, Router};
use forecourt_surface::sse::KeepAlive;
use futures::StreamExt;
use http::{HeaderMap, HeaderValue, header};
use serde_json::Value;

use crate::access::{self, CSRF_HEADER, Command};
use crate::api_error::ApiError;
use crate::desk::{Ask, Desk};
use crate::limits::BODY_BYTES_MAX;
use crate::openapi;
use crate::routes::{BASE, Calls, Does, ROUTES, Route};

/// The routes of the API.
pub(crate) fn router(desk: Arc<Desk>) -> Router {
    let unknown = async || {
        let hint = format!("{BASE}/openapi.json names every path");
        ApiError::not_found("there is nothing at this path").hint(hint)
    };
    let mut router = Router::new()
        .route(&format!("{BASE}/openapi.json"), get(async || Json(openapi::document())))
        .route(&format!("{BASE}/{{*path}}"), any(unknown));
    for route in ROUTES {
        router = router.route(&format!("{BASE}{}", route.path), served(route));
    }
    router.with_state(desk)
}

fn served(route: &'static Route) -> MethodRouter<Arc<Desk>> {
    let answer = move |State(desk): State<Arc<Desk>>, path: RawPathParams, request: Request| async move {
        let path = path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        answered(&desk, route, path, request).await.unwrap_or_else(IntoResponse::into_response)
    };
    if route.acts() { post(answer) } else { get(answer) }
}

async fn answered(
    desk: &Arc<Desk>,
    route: &'static Route,
    path: BTreeMap<String, String>,
    request: Request,
) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let actor = access::actor(desk, &head.headers).await?;
    let query = |text: Option<&str>| query(route, text.unwrap_or_default());
    match &route.does {
        Does::Look(calls) => {
            let (desk, house, query) = (desk.clone(), desk.house()?, query(head.uri.query())?);
            let ask = Ask { desk, house, actor, path, query, body: Value::Null };
            called(calls, ask, &head.headers).await
        }
        Does::OperatorLook(calls) => {
            let (desk, house, query) = (desk.clone(), desk.house()?, query(head.uri.query())?);
            let ask = Ask { desk, house, actor, path, query, body: Value::Null };
            called(calls, access::for_operators(ask)?, &head.headers).await
        }
        Does::Act(calls) => {
            let given = head.headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok());
            // Before the body is read: whoever may not act does not make the host read one.
            let meant = access::meant(desk, &actor, &head.headers, given)?;
            let acting = access::permit(&actor, meant)?;
            let query = query(head.uri.query())?;
            let body = read(&head.headers, body).await?;
            let (desk, house) = (desk.clone(), desk.house()?);
            let ask = Ask { desk, house, actor, path, query, body };
            called(calls, Command::new(ask, acting), &head.headers).await
        }
    }
}

async fn called<A>(calls: &Calls<A>, call: A, headers: &HeaderMap) -> Result<Response, ApiError> {
    match calls.follow {
        Some(follow) if wants_events(headers) => Ok(events(follow(call).await?)),
        _ => Ok(([(header::CACHE_CONTROL, "no-store")], Json((calls.run)(call).await?)).into_response()),
    }
}

/// Frames as an answer that goes on.
fn events(frames: futures::stream::BoxStream<'static, bytes::Bytes>) -> Response {
    let frames = KeepAlive::new(frames).map(Ok::<_, std::convert::Infallible>);
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // nginx would hold the frames back until its buffer is full.
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(frames)).into_response()
}

fn wants_events(headers: &HeaderMap) -> bool {
    let wanted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    wanted.contains("text/event-stream")
}

/// The parameters of a query, of which the call must know each.
pub(crate) fn query(route: &Route, query: &str) -> Result<BTreeMap<String, String>, ApiError> {
    let mut read = BTreeMap::new();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        if !route.query.iter().any(|(known, _)| *known == name) {
            let known: Vec<&str> = route.query.iter().map(|(known, _)| *known).collect();
            let hint =
                if known.is_empty() { "it takes none".to_owned() } else { format!("there are {}", known.join(", ")) };
            return Err(ApiError::invalid(format!("there is no parameter `{name}` here")).hint(hint));
        }
        // Which of two values counts would be a guess.
        if read.insert(name.clone().into_owned(), value.into_owned()).is_some() {
            return Err(ApiError::invalid(format!("`{name}` is there twice")));
        }
    }
    Ok(read)
}

/// A body as JSON; nothing stands for an empty object. Another media type is refused: a form of another site can't
/// claim to be JSON without being asked about.
async fn read(headers: &HeaderMap, body: Body) -> Result<Value, ApiError> {
    let bytes = to_bytes(body, BODY_BYTES_MAX).await;
    let bytes = bytes.map_err(|_| ApiError::invalid(format!("a body has at most {BODY_BYTES_MAX} bytes")))?;
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !media.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json")) {
        return Err(ApiError::invalid("the body is to be application/json"));
    }
    serde_json::from_slice(&bytes).map_err(|error| ApiError::invalid(format!("the body is no JSON: {error}")))
}
