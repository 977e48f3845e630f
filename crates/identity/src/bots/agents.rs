//! This module fetches the directories of signature agents, which strangers name, and keeps what came of it within
//! bounds.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Domain, Timestamp};
use forecourt_egress::{Deadlines, Egress, EgressError, FetchedBody, Purpose, UpstreamRequest, freshness};
use forecourt_jose::{KeySet, ProofError};
use futures::future::BoxFuture;
use http::HeaderValue;
use http::header::ACCEPT;
use moka::future::Cache;
use parking_lot::Mutex;

use super::directory::{DIRECTORY_PATH, DIRECTORY_TYPE, keys_of};
use crate::limits::{
    DIRECTORIES_KEPT_MAX, DIRECTORIES_PER_MINUTE_MAX, DIRECTORY_BYTES_MAX, DIRECTORY_KEPT_MAX, DIRECTORY_KEPT_MIN,
    DIRECTORY_TIME_MAX,
};

/// Fetches the directory of a signature agent: over https, from public addresses only, without redirects.
pub trait DirectoryFetcher: Send + Sync + 'static {
    /// The directory behind `url`, at most [`DIRECTORY_BYTES_MAX`], within [`DIRECTORY_TIME_MAX`].
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<FetchedBody, EgressError>>;
}

impl DirectoryFetcher for Egress {
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<FetchedBody, EgressError>> {
        Box::pin(async move {
            let bounds = Purpose::Document.deadlines(self.config());
            let total = bounds.total.min(DIRECTORY_TIME_MAX);
            let bounds = Deadlines { total, body_bytes_max: DIRECTORY_BYTES_MAX, ..bounds };
            let request = UpstreamRequest::get(url).header(ACCEPT, HeaderValue::from_static(DIRECTORY_TYPE));
            Egress::fetch(self, Purpose::Document, request.within(bounds)).await
        })
    }
}

/// The keys of signature agents. A directory is fetched when its agent signs for the first time, and kept as long as its
/// server says, between [`DIRECTORY_KEPT_MIN`] and [`DIRECTORY_KEPT_MAX`]; so is that there is none. All who need
/// the same one wait for one fetch.
pub struct SignatureAgents {
    documents: Arc<dyn DirectoryFetcher>,
    kept: Cache<SignatureAgent, Arc<CachedDirectory>>,
    fetched: Mutex<FetchCount>,
}

/// A signature agent, as a request names it: an https origin.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct SignatureAgent {
    /// Its host.
    pub(crate) host: String,
    /// Its port, where that is not the one of https.
    port: Option<u16>,
}

struct CachedDirectory {
    until: Timestamp,
    keys: Result<KeySet, ProofError>,
}

/// How many unknown directories were fetched within the minute.
#[derive(Default)]
struct FetchCount {
    minute: i64,
    count: usize,
}

impl SignatureAgent {
    /// Reads the value of `Signature-Agent`: an https URL of an origin. `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let url = url::Url::parse(text).ok().filter(|url| url.scheme() == "https")?;
        let is_origin = matches!(url.path(), "" | "/" | DIRECTORY_PATH) && url.query().is_none();
        if !is_origin || url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
            return None;
        }
        let domain = Domain::parse(url.host_str()?).ok()?;
        // Another port counts on this machine only: whoever may listen on some port of a host does not speak for it.
        if url.port().is_some() && !domain.is_local() {
            return None;
        }
        Some(Self { host: domain.as_str().to_owned(), port: url.port() })
    }

    fn authority(&self) -> String {
        match self.port {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        }
    }
}

impl SignatureAgents {
    /// Those whose directories are fetched by `documents`.
    pub fn new(documents: Arc<dyn DirectoryFetcher>) -> Self {
        let kept = Cache::builder().max_capacity(DIRECTORIES_KEPT_MAX).build();
        Self { documents, kept, fetched: Mutex::default() }
    }

    /// The keys of an agent. [`ProofError::UnknownKey`] where it has none that count, [`ProofError::KeysUnavailable`]
    /// where they can't be had now.
    pub(crate) async fn keys(&self, agent: &SignatureAgent, now: Timestamp) -> Result<KeySet, ProofError> {
        if let Some(kept) = self.kept.get(agent).await {
            if now < kept.until {
                return kept.keys.clone();
            }
            // One that is known is not counted: a flood of unknown ones does not shut it out.
            let entry = self.kept.entry_by_ref(agent);
            let fetched = entry.or_insert_with_if(self.fetch(agent, now), |kept| kept.until <= now).await;
            return fetched.into_value().keys.clone();
        }
        // What fails here is not kept: nothing was asked.
        let fetched = self.kept.entry_by_ref(agent).or_try_insert_with(self.fetch_unknown(agent, now)).await;
        fetched.map_err(|fault| *fault)?.into_value().keys.clone()
    }

    /// Fetches a directory that is not known yet. Counted within the fetch, since all who wait for one make one.
    async fn fetch_unknown(&self, agent: &SignatureAgent, now: Timestamp) -> Result<Arc<CachedDirectory>, ProofError> {
        if !self.may_fetch(now) {
            tracing::warn!("too many unknown signature agents within a minute");
            return Err(ProofError::KeysUnavailable);
        }
        Ok(self.fetch(agent, now).await)
    }

    /// Counts a fetch of a directory that is not known yet; `false` over the bound.
    fn may_fetch(&self, now: Timestamp) -> bool {
        let minute = now.as_second().div_euclid(60);
        let mut fetched = self.fetched.lock();
        if fetched.minute != minute {
            *fetched = FetchCount { minute, count: 0 };
        }
        fetched.count += 1;
        fetched.count <= DIRECTORIES_PER_MINUTE_MAX
    }

    async fn fetch(&self, agent: &SignatureAgent, now: Timestamp) -> Arc<CachedDirectory> {
        let authority = agent.authority();
        let (keys, fresh) = match self.documents.fetch(&format!("https://{authority}{DIRECTORY_PATH}")).await {
            Ok(found) => match keys_of(&authority, &found.headers, &found.bytes, now) {
                Ok(keys) => (KeySet::new(keys).map_err(|_| ProofError::UnknownKey), freshness(&found.headers)),
                Err(error) => {
                    tracing::info!(%error, host = agent.host, "a signature agent has no keys that count");
                    (Err(ProofError::UnknownKey), Duration::ZERO)
                }
            },
            Err(error) => {
                tracing::info!(reason = error.log_reason(), host = agent.host, "a directory can't be fetched");
                let is_passing =
                    matches!(error, EgressError::Unconnected(_) | EgressError::Failed(_) | EgressError::Busy);
                (Err(if is_passing { ProofError::KeysUnavailable } else { ProofError::UnknownKey }), Duration::ZERO)
            }
        };
        let fresh = fresh.clamp(DIRECTORY_KEPT_MIN, DIRECTORY_KEPT_MAX);
        Arc::new(CachedDirectory { until: now.checked_add(fresh).unwrap_or(now), keys })
    }
}
