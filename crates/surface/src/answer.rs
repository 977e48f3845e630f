//! A response before it meets the server: status, fields and content.

use std::convert::Infallible;
use std::pin::Pin;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::{Stream, StreamExt};
use http::{HeaderMap, StatusCode};

/// A response of some protocol over HTTP.
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its fields.
    pub head: HeaderMap,
    /// What it holds.
    pub content: Content,
}

/// What a response holds.
pub enum Content {
    /// Nothing, on purpose.
    Empty,
    /// All of it.
    Whole(Bytes),
    /// Frames as they come. They are dropped with the connection.
    Frames(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl Answer {
    /// A response that is ready as it is.
    pub fn whole(status: StatusCode, head: HeaderMap, content: impl Into<Bytes>) -> Self {
        Self { status, head, content: Content::Whole(content.into()) }
    }

    /// A response without content.
    pub fn empty(status: StatusCode, head: HeaderMap) -> Self {
        Self { status, head, content: Content::Empty }
    }
}

/// Hands an answer to the framework, which takes the content from answers to HEAD and leaves the
/// fields.
impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let body = match self.content {
            Content::Empty => Body::empty(),
            Content::Whole(bytes) => Body::from(bytes),
            Content::Frames(frames) => Body::from_stream(frames.map(Ok::<_, Infallible>)),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.head;
        response
    }
}
