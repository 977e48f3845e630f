//! One document of a site: redirects within it, and the pace of it all.

use std::time::Duration;

use forecourt_egress::{Egress, EgressError, FetchedDocument, Purpose, RevisitOutcome, Validators};
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
            let known = before.filter(|kept| kept.url == url.as_str()).map(|kept| kept.validators.clone());
            let known = known.unwrap_or_default();
            let is_conditional = known != Validators::default();
            match self.egress.revisit(Purpose::Crawl, &url, &known, bytes_max).await {
                Ok(RevisitOutcome::Found(document)) => return Fetched::Found(url, document),
                Ok(RevisitOutcome::Unchanged) if is_conditional => return Fetched::Unchanged,
                Ok(RevisitOutcome::Unchanged) => return Fetched::Failed("sends nothing, as if we had it".to_owned()),
                Ok(RevisitOutcome::Moved(next)) if may_go(&next) => url = next,
                Ok(RevisitOutcome::Moved(_)) => return Fetched::Gone("leads to where we may not go".to_owned()),
                Ok(RevisitOutcome::Gone(reason)) => return Fetched::Gone(reason),
                Ok(RevisitOutcome::Later(reason)) => return Fetched::Failed(reason),
                Err(EgressError::TooLarge { bytes_max }) => {
                    return Fetched::TooLarge(format!("more than {bytes_max} bytes"));
                }
                Err(error) => return Fetched::Failed(error.log_reason()),
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
