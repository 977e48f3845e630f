//! This module has the HTTP response of any protocol, before the server writes it.

use std::convert::Infallible;
use std::pin::Pin;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use forecourt_core::clock::whole_seconds;
use forecourt_core::limits;
use futures::{Stream, StreamExt};
use http::header::{ALLOW, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};

/// A response over HTTP, whichever protocol made it.
pub struct HttpAnswer {
    /// Its status.
    pub status: StatusCode,
    /// Its fields.
    pub head: HeaderMap,
    /// Its content.
    pub content: Content,
}

/// The content of a response.
pub enum Content {
    /// No content.
    Empty,
    /// The whole content.
    Whole(Bytes),
    /// Frames as they come. The stream is dropped with the connection, which cancels the work behind it.
    Frames(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl HttpAnswer {
    /// A response that is ready as it is.
    pub fn whole(status: StatusCode, head: HeaderMap, content: impl Into<Bytes>) -> Self {
        Self { status, head, content: Content::Whole(content.into()) }
    }

    /// A response without content.
    pub fn empty(status: StatusCode, head: HeaderMap) -> Self {
        Self { status, head, content: Content::Empty }
    }

    /// The response to OPTIONS: 204 with the methods that the resource takes. RFC 9110 9.3.7.
    pub fn options(allow: &'static str) -> Self {
        Self::empty(StatusCode::NO_CONTENT, HeaderMap::new()).allowing(allow)
    }

    /// This response with `Allow`.
    #[must_use]
    pub fn allowing(mut self, allow: &'static str) -> Self {
        self.head.insert(ALLOW, HeaderValue::from_static(allow));
        self
    }
}

/// Hands an answer to the framework, which takes the content from answers to HEAD and leaves the
/// fields.
impl IntoResponse for HttpAnswer {
    fn into_response(self) -> Response {
        let body = match self.content {
            Content::Empty => Body::empty(),
            Content::Whole(bytes) => Body::from(bytes),
            Content::Frames(frames) => Body::from_stream(frames.map(Ok::<_, Infallible>)),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.head;
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            // At the one exit of all protocols: every 503 carries Retry-After (design 36).
            let wait = HeaderValue::from(whole_seconds(limits::RETRY_AFTER));
            response.headers_mut().entry(RETRY_AFTER).or_insert(wait);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_unavailable_says_when_to_come_back() {
        let field = |status, head: HeaderMap| {
            let response = HttpAnswer::empty(status, head).into_response();
            response.headers().get(RETRY_AFTER).cloned()
        };
        assert_eq!(field(StatusCode::SERVICE_UNAVAILABLE, HeaderMap::new()), Some(HeaderValue::from(5)));
        let own = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from(9))]);
        assert_eq!(field(StatusCode::SERVICE_UNAVAILABLE, own), Some(HeaderValue::from(9)));
        assert_eq!(field(StatusCode::OK, HeaderMap::new()), None);
    }
}
