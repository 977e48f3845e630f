//! The gateway: HTTP clients such as curl call what is here, as requests of AGTP. Base 12.
//!
//! A request goes on under its own method, which the policy's aliases may stand in for another; its
//! path, query, body and those fields that this wire knows go along. The answer's code is kept in
//! `AGTP-Status-Code`, since HTTP has no word for some.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request as HttpRequest, State};
use axum::response::Response as HttpResponse;
use forecourt_agtp_wire::codec::HeadError;
use forecourt_agtp_wire::message::{Message, Request, RequestLine, Response};
use forecourt_agtp_wire::status::Status;
use forecourt_core::{ClientAddr, Error};
use forecourt_surface::body::{BodyError, BodyLimits, read_limited};
use forecourt_telemetry::going_on;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use serde_json::Value;

use crate::connection::ConnectionError;
use crate::problem::bad_field;
use crate::reply::Problem;
use crate::service::{ConnectionInfo, Service};

/// Names the code of the answer on the other wire.
const STATUS_CODE: HeaderName = HeaderName::from_static("agtp-status-code");
/// How the page that makes a request is related to us: browsers say it even where they leave `Origin` out.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Fields that go along, by the names that they have there; the second one of a pair is another name
/// for it here. `Allow-RCNS` is never among them. Base 12.
const FORWARDED: [(&str, &str); 16] = [
    ("Agent-ID", "x-agent-id"),
    ("Authority-Scope", "x-authority-scope"),
    ("Session-ID", "x-session-id"),
    ("Task-ID", "x-task-id"),
    ("Request-ID", "x-request-id"),
    ("Owner-ID", "x-owner-id"),
    ("Contract-Synthesized", "x-contract-synthesized"),
    ("Idempotency-Key", "x-idempotency-key"),
    ("Delegation-Chain", "x-delegation-chain"),
    ("AGTP-Zone-ID", "x-agtp-zone-id"),
    ("Authorization", "authorization"),
    ("Content-Type", "content-type"),
    ("Accept", "accept"),
    ("If-None-Match", "if-none-match"),
    ("Forecourt-Hops", "forecourt-hops"),
    ("Mentionable-State", "mentionable-state"),
];
/// Fields that HTTP's own layer writes.
const OURS: [&str; 1] = ["Content-Length"];

/// The routes of the gateway's listener: one handler for every path.
pub(crate) fn router(service: Arc<Service>) -> Router {
    Router::new().fallback(answer).with_state(service)
}

async fn answer(State(service): State<Arc<Service>>, request: HttpRequest) -> HttpResponse {
    let is_head = request.method() == Method::HEAD;
    // Nobody whose address is not known counts as this machine, which may do more.
    let peer = request.extensions().get::<ClientAddr>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |client| client.0);
    service.discovery.prepare().await;
    let response = match read(&service, request).await {
        Ok(request) => answered(service, request, ConnectionInfo::new(peer, None)).await,
        Err(problem) => service.responder().refusal(*problem, false).await,
    };
    written(response, is_head)
}

/// The answer to a request, which is made to its end though the client leaves, as on the other wire: what
/// came of a call with a key is there for whoever sends it again.
async fn answered(service: Arc<Service>, request: Request, line: ConnectionInfo) -> Response {
    let host = Arc::clone(&service);
    let answering = async move {
        let answered = service.answered(&request, &line).await;
        service.responder().response(&request, answered, false).await
    };
    let answering = tokio::spawn(going_on(answering));
    match answering.await {
        Ok(response) => response,
        Err(error) => host.responder().refusal(Error::internal(error).into(), false).await,
    }
}

/// The same request on the other wire.
async fn read(service: &Service, request: HttpRequest) -> Result<Request, Box<Problem>> {
    let (head, body) = request.into_parts();
    // A page in a visitor's browser reaches listeners on loopback, where a name counts without a proof.
    if is_of_a_page(&head.headers) {
        let message = "the gateway is not for pages of the web: it takes no request that they make";
        return Err(Box::new(Problem::new(Status::FORBIDDEN, "origin-refused", message)));
    }
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    // HEAD is GET whose body is left out as the response is written.
    let method = if head.method == Method::HEAD { Method::GET } else { head.method };
    let mut message = Message::new(RequestLine::new(method.as_str(), target));
    for (name, other) in FORWARDED {
        forward(&mut message, &head.headers, name, other)?;
    }
    let limits = &service.settings.limits;
    let limits =
        BodyLimits { time_max: limits.patience().body, ..BodyLimits::with_bytes_max(limits.bounds().body_bytes) };
    message.body = read_limited(body, &limits).await.map_err(|error| Box::new(unread(&error)))?;
    Ok(message)
}

/// Whether a page of the web made the request from a visitor's browser, as far as that tells. Whoever is no
/// browser sends neither field; `none` means that the visitor typed the address.
fn is_of_a_page(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ORIGIN) || headers.get(&FETCH_SITE).is_some_and(|site| site != "none")
}

fn forward(message: &mut Request, headers: &HeaderMap, name: &'static str, other: &str) -> Result<(), Box<Problem>> {
    let mut values =
        headers.get_all(name).iter().chain(headers.get_all(other).iter().filter(|_| !name.eq_ignore_ascii_case(other)));
    let Some(value) = values.next() else { return Ok(()) };
    if values.next().is_some_and(|second| second != value) {
        return Err(Box::new(bad_field(name, "is given twice")));
    }
    let text = value.to_str().map_err(|_| Box::new(bad_field(name, "must be printable ASCII")))?;
    message.fields.push(name, text).map_err(|error| Box::new(bad_field(name, &error.to_string())))
}

fn unread(error: &BodyError) -> Problem {
    match error {
        BodyError::TooLarge { .. } => HeadError::BodyTooLarge.into(),
        BodyError::TooSlow => ConnectionError::Late.into(),
        BodyError::Broken => ConnectionError::Cut.into(),
    }
}

/// The same response in HTTP.
fn written(response: Response, is_head: bool) -> HttpResponse {
    let code = response.start.code;
    let way_on = way_on(code, &response.body);
    let length = response.body.len();
    let mut out = HttpResponse::new(if is_head { Body::empty() } else { Body::from(response.body) });
    *out.status_mut() = status(code);
    let headers = out.headers_mut();
    for (name, value) in response.fields.iter().filter(|(name, _)| !OURS.contains(name)) {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
            headers.append(name, value);
        }
    }
    if is_head && code != Status::NOT_MODIFIED.code {
        // What GET would have, which is not known of what did not change. RFC 9110 section 8.6.
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    headers.insert(STATUS_CODE, HeaderValue::from(code));
    headers.extend(way_on);
    out
}

/// What HTTP wants to be said with some refusals. RFC 9110 sections 15.5.2, 15.5.6.
fn way_on(code: u16, body: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    match code {
        401 => Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
        405 => {
            let body: Value = serde_json::from_slice(body).unwrap_or_default();
            let allowed = body["allowed_methods_for_path"].as_array().map(Vec::as_slice).unwrap_or_default();
            let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
            Some((header::ALLOW, HeaderValue::from_str(&allowed.join(", ")).ok()?))
        }
        _ => None,
    }
}

/// The code of HTTP for one of here: the same, but that a refusal is never taken for success. Clients
/// take those that HTTP does not know for the first of their class.
fn status(code: u16) -> StatusCode {
    match code {
        262 => StatusCode::FORBIDDEN,
        same => StatusCode::from_u16(same).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forecourt_agtp_wire::message::StatusLine;

    #[test]
    fn head_of_what_did_not_change_has_no_length_but_that_of_get() {
        let answer = |code| Message::new(StatusLine::new(code, ""));
        let length = |code| written(answer(code), true).headers().get(header::CONTENT_LENGTH).cloned();
        assert_eq!((length(200), length(304)), (Some(HeaderValue::from(0)), None));
    }
}
