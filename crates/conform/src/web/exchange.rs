//! This module is one request over HTTP and its answer, and what may be said of them.

use std::time::Duration;

use bytes::Bytes;
use forecourt_core::json;
use http::{HeaderMap, Method};
use serde_json::Value;

use super::sse::events;
use crate::check::{Shortfall, ShownExchange, Verdict};
use crate::document::Document;
use crate::evidence::Evidence;
use crate::limits::RETRY_AFTER_MAX;
use crate::shown::Secrets;

/// A request in the making.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) body: Bytes,
}

/// One request and its answer.
pub(crate) struct Exchange {
    pub(super) sent: String,
    pub(super) secrets: Secrets,
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Draft {
    /// A GET of a path of the host, or of a URL on it.
    pub(crate) fn get(url: &str) -> Self {
        Self::new(Method::GET, url)
    }

    /// Another method.
    pub(crate) fn new(method: Method, url: &str) -> Self {
        Self { method, url: url.to_owned(), fields: Vec::new(), body: Bytes::new() }
    }

    /// A POST of JSON.
    pub(crate) fn json(url: &str, body: &Value) -> Self {
        Self::new(Method::POST, url).body("application/json", body.to_string())
    }

    /// A body of a media type.
    pub(crate) fn body(self, media_type: &str, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self.field("Content-Type", media_type) }
    }

    /// The same without a field.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.fields.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Another field, in place of one of that name.
    pub(crate) fn field(self, name: &'static str, value: &str) -> Self {
        let mut draft = self.without(name);
        draft.fields.push((name, value.to_owned()));
        draft
    }
}

impl Exchange {
    /// The status.
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// The value of a field of the answer.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The media type, without its parameters.
    pub(crate) fn media_type(&self) -> &str {
        self.field("Content-Type").and_then(|value| value.split(';').next()).unwrap_or_default().trim()
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Result<Value, Shortfall> {
        json::parse(&self.body).map_err(|fault| self.wrong(format!("the body is no JSON: {fault}")))
    }

    /// The data of the first event, if the answer is a stream.
    pub(crate) fn first_event(&self) -> Result<Option<Value>, Shortfall> {
        if self.media_type() != "text/event-stream" {
            return Ok(None);
        }
        let first = events(&self.text()).into_iter().next().ok_or_else(|| self.wrong("the stream has no event"))?;
        let read = serde_json::from_str(&first.data).map(Some);
        read.map_err(|fault| self.wrong(format!("the first event is no JSON: {fault}")))
    }

    /// The body as a JSON document, together with where it is from.
    pub(crate) fn document(&self, body: Value) -> Document {
        Document::new(body, self.shown())
    }

    /// How long a busy host wants to be left alone, if that is not too long to wait.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        let seconds = self.field("Retry-After").filter(|_| matches!(self.status, 429 | 503))?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds)).filter(|wait| *wait <= RETRY_AFTER_MAX)
    }

    /// Itself, unless it is about who may ask or how often: that is settled before a request is read.
    pub(crate) fn allowed(self) -> Result<Self, Shortfall> {
        match self.status {
            401 | 402 | 403 | 429 | 503 => self.expect(&[200]).map(|()| self),
            _ => Ok(self),
        }
    }

    /// Fine with one of these statuses. What stands before the rule, such as who calls or how often, leaves it
    /// untold.
    pub(crate) fn expect(&self, statuses: &[u16]) -> Verdict {
        match self.status {
            status if statuses.contains(&status) => Ok(()),
            401 => Err(Shortfall::skip("the host wants to know who calls (401): give --token")),
            status @ (402 | 403) => Err(Shortfall::skip(format!("the host refuses this caller ({status})"))),
            status @ (429 | 503) => Err(Shortfall::skip(format!("the host is busy ({status})"))),
            status => {
                let wanted = statuses.iter().map(u16::to_string).collect::<Vec<_>>().join(" or ");
                Err(self.wrong(format!("the status is {status} where {wanted} belongs")))
            }
        }
    }
}

impl Evidence for Exchange {
    fn shown(&self) -> ShownExchange {
        let mut head = format!("HTTP {}\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())));
        }
        ShownExchange { sent: self.sent.clone(), came: self.secrets.shown(&head, &self.body) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, wait: &str) -> Exchange {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", wait.parse().unwrap());
        Exchange { sent: String::new(), secrets: Secrets::default(), status, headers, body: Bytes::new() }
    }

    #[test]
    fn a_busy_host_is_waited_for_within_a_bound() {
        let bound = RETRY_AFTER_MAX.as_secs();
        assert_eq!(answer(429, "1").retry_after(), Some(Duration::from_secs(1)));
        assert_eq!(answer(503, &bound.to_string()).retry_after(), Some(RETRY_AFTER_MAX));
        for (status, wait) in [(429, (bound + 1).to_string()), (200, "1".to_owned()), (429, "soon".to_owned())] {
            assert_eq!(answer(status, &wait).retry_after(), None, "{status} {wait}");
        }
    }
}
