//! This module is the host under test, of which nothing is known yet: requests to it one at a time, what was learnt of it
//! on the way, and how a protocol is looked for.

use std::time::Duration;

use forecourt_egress::{Deadlines, Egress, EgressError, Purpose, UpstreamRequest};
use futures::StreamExt;
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::sync::OnceCell;
use url::Url;

use super::exchange::{Draft, Exchange};
use super::raw;
use crate::check::{Shortfall, Verdict};
use crate::document::Document;
use crate::limits::{BODY_BYTES_MAX, RETRIES_MAX};
use crate::offer::Absence;
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
    /// The path of the endpoint of MCP, if it is not the usual one.
    pub tools_path: Option<String>,
}

/// The host under test.
pub struct WebTarget {
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
    pub(crate) directory: OnceCell<Result<Document, Absence>>,
    pub(crate) card: OnceCell<Result<Document, Absence>>,
    pub(crate) a2a_card: OnceCell<Result<Document, Absence>>,
}

impl WebTarget {
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

    /// The path of the endpoint of MCP.
    pub(crate) fn mcp_path(&self) -> &str {
        self.asked.tools_path.as_deref().unwrap_or("/mcp")
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
        let url = self.base.join(url).map_err(|error| Shortfall::skip(format!("`{url}` is no URL: {error}")))?;
        match url.origin() == self.base.origin() {
            true => Ok(url.into()),
            false => Err(Shortfall::skip(format!("{url} is not on the host under test"))),
        }
    }

    /// Sends a request in the name of the caller, and reads its answer.
    pub(crate) async fn ask(&self, draft: Draft) -> Result<Exchange, Shortfall> {
        self.anonymous(self.named(draft)).await
    }

    /// The same request in the name of the caller.
    fn named(&self, draft: Draft) -> Draft {
        match &self.asked.token {
            Some(token) if !draft.fields.iter().any(|(name, _)| *name == "Authorization") => {
                draft.field("Authorization", &format!("Bearer {token}"))
            }
            _ => draft,
        }
    }

    /// Sends a request that says no more than stands in it.
    pub(crate) async fn anonymous(&self, draft: Draft) -> Result<Exchange, Shortfall> {
        self.send(draft, true).await
    }

    /// Sends a request in the name of the caller, and reads the head of its answer alone, which may be a stream that does
    /// not end.
    pub(crate) async fn head_of(&self, draft: Draft) -> Result<Exchange, Shortfall> {
        self.send(self.named(draft), false).await
    }

    /// Sends a request, and once more where the host says that it is busy and for how long: a run asks more often than
    /// most callers, and its limit is no fault.
    async fn send(&self, draft: Draft, is_whole: bool) -> Result<Exchange, Shortfall> {
        for _ in 0..RETRIES_MAX {
            let exchange = self.send_once(draft.clone(), is_whole).await?;
            match exchange.retry_after() {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Ok(exchange),
            }
        }
        self.send_once(draft, is_whole).await
    }

    async fn send_once(&self, draft: Draft, is_whole: bool) -> Result<Exchange, Shortfall> {
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
        while is_whole && let Some(chunk) = answer.body.next().await {
            match chunk {
                Ok(chunk) => body.extend_from_slice(&chunk),
                Err(error) => return Err(silent(format!("no whole answer: {}", error.log_reason()))),
            }
        }
        let (status, headers, secrets) = (answer.status.as_u16(), answer.headers, self.secrets.clone());
        Ok(Exchange { sent, secrets, status, headers, body: body.into() })
    }

    /// Looks for something: asks, and gives what `read` sees in the answer, with the answer itself. Who may ask, and how
    /// often, stands before what is there.
    pub(crate) async fn look(
        &self,
        draft: Draft,
        read: impl Fn(&Exchange) -> Option<Value>,
    ) -> Result<(Exchange, Value), Absence> {
        let asked = format!("{} {}", draft.method, draft.url);
        let exchange = match self.ask(draft).await {
            Ok(exchange) => exchange,
            Err(Shortfall::Silent { what, .. }) => return Err(Absence::Silent(format!("{asked}: {what}"))),
            Err(Shortfall::Skipped(why) | Shortfall::Broken(why, _) | Shortfall::Advice(why, _)) => {
                return Err(Absence::Untold(format!("{asked}: {why}")));
            }
        };
        if let Some(found) = read(&exchange) {
            return Ok((exchange, found));
        }
        let media_type = match exchange.media_type() {
            "" => "no media type",
            some => some,
        };
        let answered = format!("{asked} answers {} ({media_type})", exchange.status());
        match exchange.status() {
            401 if self.asked.token.is_none() => Err(Absence::Untold(format!("{answered}: give --token"))),
            401 | 402 | 403 | 429 | 503 => Err(Absence::Untold(answered)),
            _ => Err(Absence::NotOffered(answered)),
        }
    }

    /// [`WebTarget::look`] for a JSON object.
    pub(crate) async fn look_for(&self, draft: Draft, is_it: impl Fn(&Value) -> bool) -> Result<Document, Absence> {
        let read = |exchange: &Exchange| exchange.json().ok().filter(|body| body.is_object() && is_it(body));
        let (exchange, body) = self.look(draft, read).await?;
        Ok(exchange.document(body))
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
        self.secrets.shown(&text, &draft.body)
    }
}
