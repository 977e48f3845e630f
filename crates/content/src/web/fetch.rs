//! One document of a site: conditions, redirects, and the pace of it all.

use std::time::Duration;

use forecourt_egress::{Deadlines, Egress, EgressError, Outgoing, Purpose};
use http::header::{CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tokio::time::Instant;
use url::Url;

use super::kept::Kept;
use crate::limits::PAGE_REDIRECTS_MAX;

/// Asks a site for its documents, one after the other.
pub(super) struct Fetcher<'a> {
    egress: &'a Egress,
    /// The least time between two requests.
    pub(super) delay: Duration,
    last: Option<Instant>,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Fetched {
    /// It is there.
    Found(Document),
    /// It is as it was.
    Unchanged,
    /// It is there no more, or never was, or the site does not want it read: why.
    Gone(String),
    /// It could not be read this time: why.
    Failed(String),
}

/// A document as it was sent.
#[derive(Debug)]
pub(super) struct Document {
    /// Where it was found in the end.
    pub(super) url: Url,
    pub(super) mime: String,
    pub(super) bytes: Vec<u8>,
    pub(super) etag: Option<String>,
    pub(super) modified: Option<String>,
}

impl<'a> Fetcher<'a> {
    pub(super) fn new(egress: &'a Egress, delay: Duration) -> Self {
        Self { egress, delay, last: None }
    }

    /// Fetches `url`, of at most `bytes_max`. `before` is what is known of it; `may_go` is asked about
    /// every redirect.
    pub(super) async fn fetch(
        &mut self,
        url: &Url,
        bytes_max: usize,
        before: Option<&Kept>,
        may_go: &(dyn Fn(&Url) -> bool + Sync),
    ) -> Fetched {
        let mut url = url.clone();
        for _ in 0..=PAGE_REDIRECTS_MAX {
            self.keep_pace().await;
            let request = conditional(&url, before.filter(|kept| kept.url == url.as_str()));
            let bounds = Deadlines { body_bytes_max: bytes_max, ..Purpose::Crawl.deadlines(self.egress.config()) };
            let answer = match self.egress.send(Purpose::Crawl, request.within(bounds)).await {
                Ok(answer) => answer,
                Err(error) => return failed(&error),
            };
            match answer.status {
                StatusCode::NOT_MODIFIED => return Fetched::Unchanged,
                status if status.is_redirection() => {
                    let next = text(&answer.headers, &LOCATION).and_then(|to| url.join(&to).ok());
                    match next.filter(|next| may_go(next)) {
                        Some(next) => url = next,
                        None => return Fetched::Gone("leads to where we may not go".to_owned()),
                    }
                }
                StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
                    return Fetched::Failed(answer.status.to_string());
                }
                status if status.is_client_error() => return Fetched::Gone(status.to_string()),
                status if !status.is_success() => return Fetched::Failed(status.to_string()),
                _ => {
                    let (etag, modified) = (text(&answer.headers, &ETAG), text(&answer.headers, &LAST_MODIFIED));
                    let mime = text(&answer.headers, &CONTENT_TYPE).unwrap_or_default();
                    return match answer.body.collect().await {
                        Ok(bytes) => Fetched::Found(Document { url, mime, bytes: bytes.into(), etag, modified }),
                        Err(error) => failed(&error),
                    };
                }
            }
        }
        Fetched::Gone("leads on too often".to_owned())
    }

    /// Waits until the next request may begin.
    async fn keep_pace(&mut self) {
        if let Some(last) = self.last {
            tokio::time::sleep_until(last + self.delay).await;
        }
        self.last = Some(Instant::now());
    }
}

fn conditional(url: &Url, before: Option<&Kept>) -> Outgoing {
    let mut request = Outgoing::get(url.as_str());
    let Some(before) = before else { return request };
    for (name, value) in [(IF_NONE_MATCH, &before.etag), (IF_MODIFIED_SINCE, &before.modified)] {
        if let Some(value) = value.as_ref().and_then(|value| HeaderValue::from_str(value).ok()) {
            request = request.header(name, value);
        }
    }
    request
}

/// What is too large stays so; all else may pass.
fn failed(error: &EgressError) -> Fetched {
    match error {
        EgressError::TooLarge { bytes_max } => Fetched::Gone(format!("more than {bytes_max} bytes")),
        _ => Fetched::Failed(error.log_reason()),
    }
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use forecourt_egress::EgressConfig;

    #[tokio::test(start_paused = true)]
    async fn requests_keep_their_distance() {
        let egress = Egress::builder(EgressConfig::default()).build().unwrap();
        let mut fetcher = Fetcher::new(&egress, Duration::from_secs(3));
        let begin = Instant::now();
        fetcher.keep_pace().await;
        assert_eq!(begin.elapsed(), Duration::ZERO);
        fetcher.keep_pace().await;
        assert!((3.0..3.1).contains(&begin.elapsed().as_secs_f64()));
        tokio::time::advance(Duration::from_secs(5)).await;
        let later = Instant::now();
        fetcher.keep_pace().await;
        assert_eq!(later.elapsed(), Duration::ZERO);
    }
}
