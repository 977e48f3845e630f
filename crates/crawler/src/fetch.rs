//! One document of a site: redirects within it, and the pace of it all.

use std::time::Duration;

use forecourt_egress::{Egress, EgressError, FetchedDocument, Purpose, RevisitOutcome, Validators};
use url::Url;

use crate::hosts::Hosts;
use crate::kept::KeptPage;
use crate::limits::PAGE_REDIRECTS_MAX;

/// Asks a site for its documents, one after the other.
pub(crate) struct Fetcher<'a> {
    egress: &'a Egress,
    hosts: &'a Hosts,
    /// The least time between two requests.
    pub(crate) delay: Duration,
    /// Whether the visit has been cancelled.
    cancel: &'a (dyn Fn() -> bool + Sync),
}

/// The result of asking for one document.
#[derive(Debug)]
pub(crate) enum FetchOutcome {
    /// It is there, and where it was found in the end.
    Found(Url, FetchedDocument),
    /// It is as it was.
    Unchanged,
    /// It is there no more, or never was, or the site does not want it read: why.
    Gone(String),
    /// It is there, and too large: what for.
    TooLarge(String),
    /// It could not be read this time: why.
    Failed(String),
}

impl<'a> Fetcher<'a> {
    pub(crate) fn new(
        egress: &'a Egress,
        hosts: &'a Hosts,
        delay: Duration,
        cancel: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        Self { egress, hosts, delay, cancel }
    }

    /// Fetches `url`, of at most `bytes_max`. `before` is what is known of it; `may_go` is asked about
    /// every redirect. A server that asks for time gets it, and is asked once more.
    pub(crate) async fn fetch(
        &self,
        url: &Url,
        bytes_max: usize,
        before: Option<&KeptPage>,
        may_go: &(dyn Fn(&Url) -> bool + Sync),
    ) -> FetchOutcome {
        let mut url = url.clone();
        let mut has_waited = false;
        for _ in 0..=PAGE_REDIRECTS_MAX {
            self.hosts.turn(&url, self.delay, self.cancel).await;
            // After a redirect no validators are sent: they are those of another address.
            let known = before.filter(|kept| kept.url == url.as_str()).map(|kept| kept.validators.clone());
            let known = known.unwrap_or_default();
            let is_conditional = known != Validators::default();
            match self.egress.revisit(Purpose::Crawl, &url, &known, bytes_max).await {
                Ok(RevisitOutcome::Found(document)) => return FetchOutcome::Found(url, document),
                Ok(RevisitOutcome::Unchanged) if is_conditional => return FetchOutcome::Unchanged,
                Ok(RevisitOutcome::Unchanged) => {
                    // A 304 to a request without conditions: there is nothing here that could be unchanged.
                    return FetchOutcome::Failed("sends nothing, as if we had it".to_owned());
                }
                // Each step is asked about: a page that robots.txt closes could otherwise be reached by a redirect.
                Ok(RevisitOutcome::Moved(next)) if may_go(&next) => url = next,
                Ok(RevisitOutcome::Moved(_)) => return FetchOutcome::Gone("leads to where we may not go".to_owned()),
                Ok(RevisitOutcome::Gone(reason)) => return FetchOutcome::Gone(reason),
                Ok(RevisitOutcome::Later(_, Some(time))) if !has_waited && !(self.cancel)() => {
                    self.hosts.rest(&url, time);
                    // Once: a server that asks for time again and again would hold the visit for good.
                    has_waited = true;
                }
                Ok(RevisitOutcome::Later(reason, time)) => {
                    time.into_iter().for_each(|time| self.hosts.rest(&url, time));
                    return FetchOutcome::Failed(reason);
                }
                Err(EgressError::TooLarge { bytes_max }) => {
                    return FetchOutcome::TooLarge(format!("more than {bytes_max} bytes"));
                }
                Err(error) => return FetchOutcome::Failed(error.log_reason()),
            }
        }
        FetchOutcome::Gone("leads on too often".to_owned())
    }
}
