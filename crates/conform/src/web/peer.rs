//! This module is the host under test: requests to it one at a time, and what was learnt of it on the way.

use std::time::Duration;

use bytes::Bytes;
use forecourt_core::json;
use forecourt_egress::{Deadlines, Egress, EgressError, Purpose, UpstreamRequest};
use futures::StreamExt;
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;
use tokio::sync::OnceCell;
use url::Url;

use super::raw;
use crate::check::{Shortfall, Verdict};
use crate::limits::{BODY_BYTES_MAX, SHOWN_CHARS_MAX};
use crate::shown::Secrets;

/// Whom a host is asked for, and in whose name.
#[derive(Default)]
pub struct HostQuery {
    /// The agent, by its handle; else the first that the host lists.
    pub handle: Option<String>,
    /// A bearer token, which is never shown.
    pub token: Option<String>,
    /// Whether requests that change something are sent too.
    pub with_effects: bool,
}

/// The host under test.
pub struct Peer {
    egress: Egress,
    base: Url,
    patience: Duration,
    asked: HostQuery,
    secrets: Secrets,
    pub(crate) learnt: Learnt,
}

/// What was learnt of the host, each asked for once.
#[derive(Default)]
pub(crate) struct Learnt {
    pub(crate) directory: OnceCell<Option<Value>>,
    pub(crate) card: OnceCell<Option<Value>>,
    pub(crate) hub: OnceCell<Option<Value>>,
    pub(crate) session: OnceCell<Option<String>>,
}

/// A request in the making.
#[derive(Clone)]
pub(crate) struct Draft {
    method: Method,
    url: String,
    fields: Vec<(&'static str, String)>,
    body: Bytes,
}

/// One request and its answer.
pub(crate) struct Exchange {
    sent: String,
    secrets: Secrets,
    status: u16,
    headers: HeaderMap,
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

    /// Another field, in place of one of that name.
    pub(crate) fn field(mut self, name: &'static str, value: &str) -> Self {
        self.fields.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.fields.push((name, value.to_owned()));
        self
    }
}

impl Peer {
    /// The host at `base`.
    pub fn new(egress: Egress, base: Url, patience: Duration, asked: HostQuery) -> Self {
        let secrets = Secrets::new(asked.token.clone());
        Self { egress, base, patience, asked, secrets, learnt: Learnt::default() }
    }

    /// Whether anybody answers there.
    ///
    /// # Errors
    /// Nobody does, or there is no way.
    pub fn reach(&self) -> BoxFuture<'_, Result<(), EgressError>> {
        Box::pin(async move {
            let request = UpstreamRequest::get(self.base.as_str()).within(self.deadlines());
            match self.egress.send(Purpose::Upstream, request).await {
                Err(EgressError::Unconnected(reason)) => Err(EgressError::Unconnected(reason)),
                Err(EgressError::Refused(refusal)) => Err(EgressError::Refused(refusal)),
                // Whatever it says is for the checks to judge.
                _ => Ok(()),
            }
        })
    }

    fn deadlines(&self) -> Deadlines {
        let time = self.patience;
        Deadlines { connect: time, first_byte: time, total: time, body_bytes_max: BODY_BYTES_MAX }
    }

    /// Where the host is.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// The agent that is asked for by name.
    pub(crate) fn handle(&self) -> Option<&str> {
        self.asked.handle.as_deref()
    }

    /// Whether something may be changed.
    pub(crate) fn effects(&self) -> Verdict {
        match self.asked.with_effects {
            true => Ok(()),
            false => Err(Shortfall::skip("may change something at the host: give --with-effects")),
        }
    }

    /// A URL on this host out of one that a document named. Others are not asked: nobody ordered that.
    pub(crate) fn own(&self, url: &str) -> Result<String, Shortfall> {
        let url = self.base.join(url).map_err(|error| Shortfall::broken(format!("`{url}` is no URL: {error}")))?;
        match url.origin() == self.base.origin() {
            true => Ok(url.into()),
            false => Err(Shortfall::skip(format!("{url} is not on the host under test"))),
        }
    }

    /// Sends a request in the name of the caller, and reads its answer.
    pub(crate) async fn ask(&self, draft: Draft) -> Result<Exchange, Shortfall> {
        match &self.asked.token {
            Some(token) if !draft.fields.iter().any(|(name, _)| *name == "Authorization") => {
                let bearer = format!("Bearer {token}");
                self.anonymous(draft.field("Authorization", &bearer)).await
            }
            _ => self.anonymous(draft).await,
        }
    }

    /// Sends a request that says no more than stands in it.
    pub(crate) async fn anonymous(&self, draft: Draft) -> Result<Exchange, Shortfall> {
        let sent = self.shown(&draft);
        let silent = |what: String| Shortfall::Silent { what, sent: sent.clone() };
        // Here and not only in the checks, since a token may go along.
        let url = self.own(&draft.url)?;
        let mut request = UpstreamRequest::get(url).within(self.deadlines());
        request.method = draft.method.clone();
        request.body = draft.body.clone();
        for (name, value) in &draft.fields {
            let name = HeaderName::try_from(*name).map_err(|error| Shortfall::skip(error.to_string()))?;
            let value = HeaderValue::try_from(value).map_err(|error| Shortfall::skip(error.to_string()))?;
            request.headers.insert(name, value);
        }
        let answer = self.egress.send(Purpose::Upstream, request).await;
        let mut answer = answer.map_err(|error| silent(format!("no answer: {}", error.log_reason())))?;
        let mut body = Vec::new();
        while let Some(chunk) = answer.body.next().await {
            match chunk {
                Ok(chunk) => body.extend_from_slice(&chunk),
                Err(error) => return Err(silent(format!("no whole answer: {}", error.log_reason()))),
            }
        }
        let (status, headers, secrets) = (answer.status.as_u16(), answer.headers, self.secrets.clone());
        Ok(Exchange { sent, secrets, status, headers, body: body.into() })
    }

    /// Sends a GET by hand, with whatever stands in `target`. Only the status of the answer is read for sure.
    pub(crate) async fn by_hand(&self, target: &str) -> Result<Exchange, Shortfall> {
        let sent = self.shown(&Draft::get(target));
        let answer = raw::get(&self.egress, &self.base, target, self.patience).await;
        let (status, bytes) = answer.map_err(|what| Shortfall::Silent { what, sent: sent.clone() })?;
        Ok(Exchange { sent, secrets: self.secrets.clone(), status, headers: HeaderMap::new(), body: bytes.into() })
    }

    fn shown(&self, draft: &Draft) -> String {
        let mut text = format!("{} {}\n", draft.method, draft.url);
        for (name, value) in &draft.fields {
            text.push_str(&format!("{name}: {value}\n"));
        }
        text.push('\n');
        let bytes = [text.as_bytes(), &draft.body].concat();
        self.secrets.shown(&bytes, SHOWN_CHARS_MAX)
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

    /// That this exchange shows a rule broken.
    pub(crate) fn wrong(&self, what: impl Into<String>) -> Shortfall {
        let mut came = format!("HTTP {}\n", self.status);
        for (name, value) in &self.headers {
            came.push_str(&format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())));
        }
        came.push('\n');
        let came = self.secrets.shown(&[came.as_bytes(), &self.body].concat(), SHOWN_CHARS_MAX);
        Shortfall::Broken { what: what.into(), sent: Some(self.sent.clone()), came: Some(came) }
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
