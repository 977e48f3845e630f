//! This module keeps requests as they came, so that the last message can be sent again. They are in memory only, and are
//! shown to nobody: their fields may open something.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use forecourt_telemetry::current_trace;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};
use http_body::Body as _;
use parking_lot::Mutex;

/// Requests that are kept. The oldest one goes first.
const REQUESTS_MAX: usize = 16;
/// Bytes of the body of one that is kept. What is longer, or of unknown length, passes and is not kept.
const BODY_BYTES_MAX: u64 = 1024 * 1024;

/// A request as it came.
#[derive(Clone)]
pub struct KeptRequest {
    /// Its method.
    pub method: Method,
    /// Its path with its query.
    pub path: String,
    /// Its header fields.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

/// The requests that came last, by their traces.
#[derive(Default)]
pub(super) struct RecentRequests(VecDeque<(String, KeptRequest)>);

impl RecentRequests {
    fn push(&mut self, trace: String, request: KeptRequest) {
        if self.0.len() >= REQUESTS_MAX {
            self.0.pop_front();
        }
        self.0.push_back((trace, request));
    }

    /// The request of a trace; of several, the last one.
    pub(super) fn of_trace(&self, trace: &str) -> Option<KeptRequest> {
        self.0.iter().rev().find(|(known, _)| known == trace).map(|(_, request)| request.clone())
    }
}

/// Hands a request on, and keeps it if it is short.
pub(super) async fn keep(State(recent): State<Arc<Mutex<RecentRequests>>>, request: Request, next: Next) -> Response {
    let is_short = request.body().size_hint().exact().is_some_and(|bytes| bytes <= BODY_BYTES_MAX);
    let Some(trace) = current_trace().filter(|_| is_short) else { return next.run(request).await };
    let (head, body) = request.into_parts();
    let body = match to_bytes(body, usize::MAX).await {
        Ok(body) => body,
        // Who sent it went away in the middle.
        Err(_) => return StatusCode::BAD_REQUEST.into_response(),
    };
    recent.lock().push(trace, kept(&head, body.clone()));
    next.run(Request::from_parts(head, Body::from(body))).await
}

fn kept(head: &Parts, body: Bytes) -> KeptRequest {
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    KeptRequest { method: head.method.clone(), path, headers: head.headers.clone(), body }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str) -> KeptRequest {
        let (head, ()) = http::Request::get(path).body(()).unwrap().into_parts();
        kept(&head, Bytes::new())
    }

    #[test]
    fn so_many_requests_are_kept_and_the_oldest_goes() {
        let mut recent = RecentRequests::default();
        (0..REQUESTS_MAX).for_each(|n| recent.push(n.to_string(), request(&format!("/{n}?q=1"))));
        assert_eq!(recent.of_trace("0").unwrap().path, "/0?q=1");
        recent.push("more".to_owned(), request("/more"));
        assert!(recent.of_trace("0").is_none() && recent.of_trace("1").is_some());
        recent.push("more".to_owned(), request("/again"));
        assert_eq!(recent.of_trace("more").unwrap().path, "/again", "a trace may have several requests");
    }
}
