//! A client of HTTP for these tests: hyper's own, with requests that are put together word by word.

use axum::body::Body;
use bytes::Bytes;
use http::request::Builder;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

/// What anything that fails here says.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Connections to servers, kept open.
#[derive(Clone)]
pub(crate) struct Client(Pool<HttpConnector, Body>);

impl Client {
    pub(crate) fn new() -> Self {
        Self(Pool::builder(TokioExecutor::new()).build_http())
    }

    pub(crate) fn get(&self, url: impl AsRef<str>) -> Request {
        self.request(Method::GET, url.as_ref())
    }

    pub(crate) fn post(&self, url: impl AsRef<str>) -> Request {
        self.request(Method::POST, url.as_ref())
    }

    fn request(&self, method: Method, url: &str) -> Request {
        Request { pool: self.0.clone(), head: http::Request::builder().method(method).uri(url), body: Body::empty() }
    }
}

/// A request that is being put together.
pub(crate) struct Request {
    pool: Pool<HttpConnector, Body>,
    head: Builder,
    body: Body,
}

impl Request {
    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        Self { head: self.head.header(name, value), ..self }
    }

    pub(crate) fn body(self, body: impl Into<Body>) -> Self {
        Self { body: body.into(), ..self }
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("Content-Type", "application/json").body(body.to_string())
    }

    pub(crate) async fn send(self) -> Result<Answer, Failure> {
        Ok(Answer(self.pool.request(self.head.body(self.body)?).await?))
    }
}

/// An answer of which the head is there.
pub(crate) struct Answer(http::Response<Incoming>);

impl Answer {
    pub(crate) fn status(&self) -> StatusCode {
        self.0.status()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.0.headers()
    }

    /// The next piece of the body; `None` after the last one.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        while let Some(frame) = self.0.body_mut().frame().await {
            if let Ok(data) = frame?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// The whole body.
    pub(crate) async fn text(self) -> Result<String, Failure> {
        let whole = self.0.into_body().collect().await?.to_bytes();
        Ok(String::from_utf8(whole.into())?)
    }
}
