//! Asking for a document that may have been read before. Who keeps documents learns what became of one,
//! and not the numbers that it was said in.

use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::{CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::coding;
use crate::egress::Egress;
use crate::error::EgressError;
use crate::exchange::{UpstreamRequest, UpstreamResponse};
use crate::purpose::{Deadlines, Purpose};

/// What tells one state of a document from another, word for word as its server said it. RFC 9110 8.8.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// Its `ETag`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Its `Last-Modified`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
}

/// What became of a document since it was last read.
#[derive(Debug)]
pub enum RevisitOutcome {
    /// The document, new or changed.
    Found(FetchedDocument),
    /// The document is unchanged since `known` (304).
    Unchanged,
    /// It is elsewhere; nothing was asked there.
    Moved(Url),
    /// The document is gone, never was, or is not for us (another 4xx, a redirect that leads nowhere): the status.
    Gone(String),
    /// Not this time: why, and after which time to come again, if its server says so.
    Later(String, Option<Duration>),
}

/// A document as it was sent.
#[derive(Debug, Clone)]
pub struct FetchedDocument {
    /// The media type as the server declared it, empty when it did not.
    pub mime: String,
    /// The body.
    pub bytes: Bytes,
    /// The validators to send with the next request.
    pub validators: Validators,
    /// What its server asks of robots: the values of `X-Robots-Tag`, one a line.
    pub robots: String,
}

impl Egress {
    /// Asks once for `url`, of at most `bytes_max`, unless it is as `known`. Fails when nothing is
    /// answered and when the answer is too large, not on any status.
    pub fn revisit<'a>(
        &'a self,
        purpose: Purpose,
        url: &'a Url,
        known: &'a Validators,
        bytes_max: usize,
    ) -> BoxFuture<'a, Result<RevisitOutcome, EgressError>> {
        Box::pin(async move {
            let bounds = Deadlines { body_bytes_max: bytes_max, ..purpose.deadlines(self.config()) };
            let answer =
                self.send(purpose, known.conditions(UpstreamRequest::get(url.as_str())).within(bounds)).await?;
            Ok(match answer.status {
                StatusCode::NOT_MODIFIED => RevisitOutcome::Unchanged,
                // The two client errors that speak of the moment. Read as gone, a rate limit would empty the index.
                StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
                    RevisitOutcome::Later(answer.status.to_string(), retry_after(&answer.headers))
                }
                // A reader judges the new address by its own rules (same site, robots.txt), so it is told and not
                // followed.
                status if status.is_redirection() => moved(url, &answer),
                status if status.is_client_error() => RevisitOutcome::Gone(status.to_string()),
                status if !status.is_success() => {
                    RevisitOutcome::Later(status.to_string(), retry_after(&answer.headers))
                }
                _ => RevisitOutcome::Found(document(answer, bytes_max).await?),
            })
        })
    }
}

impl Validators {
    fn of(headers: &HeaderMap) -> Self {
        Self { etag: text(headers, &ETAG), modified: text(headers, &LAST_MODIFIED) }
    }

    /// The request, for what is no longer so. RFC 9110 13.1.
    fn conditions(&self, mut request: UpstreamRequest) -> UpstreamRequest {
        for (name, value) in [(IF_NONE_MATCH, &self.etag), (IF_MODIFIED_SINCE, &self.modified)] {
            if let Some(value) = value.as_ref().and_then(|value| HeaderValue::from_str(value).ok()) {
                request = request.header(name, value);
            }
        }
        request
    }
}

fn moved(from: &Url, answer: &UpstreamResponse) -> RevisitOutcome {
    match text(&answer.headers, &LOCATION).and_then(|to| from.join(&to).ok()) {
        Some(to) => RevisitOutcome::Moved(to),
        None => RevisitOutcome::Gone("leads nowhere".to_owned()),
    }
}

async fn document(answer: UpstreamResponse, bytes_max: usize) -> Result<FetchedDocument, EgressError> {
    let mime = text(&answer.headers, &CONTENT_TYPE).unwrap_or_default();
    let validators = Validators::of(&answer.headers);
    let robots = answer.headers.get_all("x-robots-tag").iter().filter_map(|value| value.to_str().ok());
    let robots = robots.collect::<Vec<_>>().join("\n");
    // The bound counts twice: for what comes over the wire and for what it unpacks to.
    let packed = answer.fetched(bytes_max).await?;
    let bytes = coding::unpacked(packed.bytes, &packed.headers, bytes_max)?;
    Ok(FetchedDocument { mime, bytes, validators, robots })
}

/// The seconds of `Retry-After`. A date says less than it costs to read: clocks differ. RFC 9110 10.2.3.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    text(headers, &RETRY_AFTER)?.trim().parse().ok().map(Duration::from_secs)
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}
