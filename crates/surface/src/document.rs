//! This module serves public documents: readable from every origin, with an ETag, and cacheable. It knows none of them.

use std::time::Duration;

use aws_lc_rs::digest;
use axum::body::Body;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use forecourt_core::Timestamp;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE,
    ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, VARY,
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use serde::Serialize;
use serde_json::json;

/// How long caches may keep a 404: an agent that is added is found a minute later.
pub(crate) const ABSENCE_FRESH: Duration = Duration::from_secs(60);
/// The methods that documents take.
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");
const JSON: &str = "application/json";

/// A whole document. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ServedDocument {
    media_type: &'static str,
    fresh: Duration,
    body: Bytes,
    tag: String,
    vary: Option<&'static str>,
    /// When its content last changed, also as HTTP writes dates.
    modified: Option<(Timestamp, HeaderValue)>,
}

/// Why there is no document to serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentError {
    /// The question makes no sense: 400.
    Malformed(&'static str),
    /// There is nothing by that name: 404. Never echoes the name.
    Absent(&'static str),
    /// The host failed to make it: 500.
    Internal,
}

impl ServedDocument {
    /// `value` as JSON, which others may keep for `fresh`. Fails when it can't be written.
    pub fn json(media_type: &'static str, fresh: Duration, value: &impl Serialize) -> Result<Self, DocumentError> {
        let body = serde_json::to_vec(value).map_err(|error| {
            tracing::error!(%error, "a document can't be written");
            DocumentError::Internal
        })?;
        Ok(Self::new(media_type, fresh, body))
    }

    /// `body` as it is, which others may keep for `fresh`.
    pub fn new(media_type: &'static str, fresh: Duration, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self { media_type, fresh, tag: tag(&body), body, vary: None, modified: None }
    }

    /// This document with `Vary: {name}`, as another request may get other bytes.
    #[must_use]
    pub fn varying_by(mut self, name: &'static str) -> Self {
        self.vary = Some(name);
        self
    }

    /// This document with `Last-Modified`. RFC 9110 8.8.2.
    #[must_use]
    pub fn modified(mut self, at: Timestamp) -> Self {
        let text = at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        self.modified = HeaderValue::from_str(&text).ok().map(|text| (at, text));
        self
    }

    /// Its bytes.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Its strong tag, with the quotes: the same for the same bytes and for no others.
    pub fn tag(&self) -> &str {
        &self.tag
    }
}

/// The strong tag of these bytes, with the quotes.
pub fn tag(body: &[u8]) -> String {
    let hash = digest::digest(&digest::SHA256, body);
    // Half of the hash: 128 bits tell versions of one document apart, and the field stays short.
    format!("\"{}\"", URL_SAFE_NO_PAD.encode(&hash.as_ref()[..16]))
}

/// Answers a request for a document. Any page may read the answer, errors included. RFC 7033 5.
pub fn answer(
    method: &Method,
    asked: &HeaderMap,
    find: impl FnOnce() -> Result<ServedDocument, DocumentError>,
) -> Response<Body> {
    let mut response = match *method {
        Method::GET | Method::HEAD => match find() {
            Ok(document) => found(asked, document),
            Err(fault) => missing(fault),
        },
        Method::OPTIONS => options(asked),
        _ => refused(),
    };
    let head = response.headers_mut();
    head.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    head.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("ETag"));
    if *method == Method::HEAD {
        // RFC 9110 9.3.2: the same fields as for GET, the length included.
        *response.body_mut() = Body::empty();
    }
    response
}

fn found(asked: &HeaderMap, document: ServedDocument) -> Response<Body> {
    let tag = document.tag();
    let cache = format!("public, max-age={}", document.fresh.as_secs());
    // A 304 carries the same ETag, Cache-Control and Vary as the 200 would (RFC 9110 15.4.5), so they are set after
    // this for both.
    let known = is_known(asked, &document);
    let mut response = match known {
        true => empty(StatusCode::NOT_MODIFIED),
        false => whole(StatusCode::OK, document.media_type, document.body.clone()),
    };
    set(response.headers_mut(), ETAG, tag);
    set(response.headers_mut(), CACHE_CONTROL, &cache);
    if let Some((_, text)) = document.modified {
        response.headers_mut().insert(LAST_MODIFIED, text);
    }
    if let Some(name) = document.vary {
        response.headers_mut().insert(VARY, HeaderValue::from_static(name));
    }
    response
}

fn missing(fault: DocumentError) -> Response<Body> {
    let (status, words) = match fault {
        DocumentError::Malformed(words) => (StatusCode::BAD_REQUEST, words),
        DocumentError::Absent(words) => (StatusCode::NOT_FOUND, words),
        DocumentError::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "this host could not do it"),
    };
    let mut response = error(status, words);
    let cache = match fault {
        DocumentError::Absent(_) => format!("public, max-age={}", ABSENCE_FRESH.as_secs()),
        DocumentError::Malformed(_) | DocumentError::Internal => "no-store".to_owned(),
    };
    set(response.headers_mut(), CACHE_CONTROL, &cache);
    response
}

fn refused() -> Response<Body> {
    let mut response = error(StatusCode::METHOD_NOT_ALLOWED, "this resource takes GET, HEAD and OPTIONS");
    response.headers_mut().insert(ALLOW, METHODS);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The answer to a browser's preflight. It allows whatever fields the page names: the documents are public, and no
/// field changes them.
fn options(asked: &HeaderMap) -> Response<Body> {
    let mut response = empty(StatusCode::NO_CONTENT);
    let head = response.headers_mut();
    head.insert(ALLOW, METHODS);
    head.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    let usual = HeaderValue::from_static("Accept, If-None-Match");
    let fields = asked.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned().unwrap_or(usual);
    head.insert(ACCESS_CONTROL_ALLOW_HEADERS, fields);
    response
}

fn error(status: StatusCode, words: &str) -> Response<Body> {
    whole(status, JSON, json!({"error": words}).to_string().into())
}

fn whole(status: StatusCode, media_type: &'static str, body: Bytes) -> Response<Body> {
    let length = HeaderValue::from(body.len());
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response.headers_mut().insert(CONTENT_LENGTH, length);
    response
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

fn set(head: &mut HeaderMap, name: http::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        head.insert(name, value);
    }
}

/// Whether the caller has this version already. `If-Modified-Since` counts only without `If-None-Match`: its seconds
/// are too coarse for two changes in one. RFC 9110 13.2.2.
fn is_known(asked: &HeaderMap, document: &ServedDocument) -> bool {
    if asked.contains_key(IF_NONE_MATCH) {
        return matches(asked, document.tag());
    }
    let since = asked.get(IF_MODIFIED_SINCE).and_then(|text| text.to_str().ok());
    let since =
        since.and_then(|text| Timestamp::strptime("%a, %d %b %Y %H:%M:%S %z", text.replace("GMT", "+0000")).ok());
    let modified = document.modified.as_ref().map(|(at, _)| at.as_second());
    matches!((modified, since), (Some(modified), Some(since)) if modified <= since.as_second())
}

/// Whether the caller names the tag of what it has.
fn matches(asked: &HeaderMap, tag: &str) -> bool {
    asked.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok()).any(|line| is_listed(line, tag))
}

/// Whether one line of `If-None-Match` lists a tag. Compared weakly, as RFC 9110 13.1.2 wants it for GET.
pub fn is_listed(line: &str, tag: &str) -> bool {
    line.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}
