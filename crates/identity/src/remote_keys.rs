//! This module fetches and caches keys: a JWKS or a Connector Card behind a URL that the operator trusts.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forecourt_core::Timestamp;
use forecourt_egress::{Egress, EgressError, Purpose};
use forecourt_jose::{Algorithm, KeyError, KeySet, ProofError};
use futures::future::BoxFuture;
use tokio::sync::Mutex;

use crate::limits::{KEYS_FRESH, KEYS_RETRY};

/// Fetches documents over https, from public addresses only.
pub trait DocumentFetcher: Send + Sync + 'static {
    /// The document behind `url`, at most 256 KiB.
    fn get<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Bytes, EgressError>>;
}

impl DocumentFetcher for Egress {
    fn get<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Bytes, EgressError>> {
        Box::pin(async move { Ok(Egress::get(self, Purpose::Document, url).await?.bytes) })
    }
}

/// The keys behind one URL. Fetched when first needed, kept for [`KEYS_FRESH`], and fetched again
/// for an unknown key at most once in [`KEYS_RETRY`], so that nobody can make us fetch at will. Whoever brings a key
/// that is known waits for no fetch that somebody else caused.
pub(crate) struct RemoteKeys {
    url: String,
    read: fn(&[u8]) -> Result<KeySet, KeyError>,
    documents: Arc<dyn DocumentFetcher>,
    // A plain lock: never held across an await.
    kept: parking_lot::Mutex<CachedKeys>,
    // Held across the fetch, so that all who need the same keys wait for one.
    fetching: Mutex<()>,
}

#[derive(Default, Clone)]
struct CachedKeys {
    keys: Option<Arc<KeySet>>,
    fetched_at: Option<Timestamp>,
    tried_at: Option<Timestamp>,
}

impl RemoteKeys {
    pub(crate) fn new(
        url: String,
        read: fn(&[u8]) -> Result<KeySet, KeyError>,
        documents: Arc<dyn DocumentFetcher>,
    ) -> Self {
        Self { url, read, documents, kept: parking_lot::Mutex::default(), fetching: Mutex::default() }
    }

    /// Where they are.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The keys, with one that suits `kid` and `algorithm` if the URL has one.
    pub(crate) async fn with(
        &self,
        kid: Option<&str>,
        algorithm: Algorithm,
        now: Timestamp,
    ) -> Result<Arc<KeySet>, ProofError> {
        let knows = |keys: &Arc<KeySet>| keys.select(kid, algorithm, now).next().is_some();
        let known =
            |kept: CachedKeys, age: Duration| kept.keys.filter(|keys| within(kept.fetched_at, now, age) && knows(keys));
        if let Some(keys) = known(self.kept(), KEYS_FRESH) {
            return Ok(keys);
        }
        let _one_at_a_time = match self.fetching.try_lock() {
            Ok(lock) => lock,
            // A fetch is under way, perhaps for an invented `kid`: a request with a known key must not wait for it.
            Err(_) => match known(self.kept(), USABLE) {
                Some(keys) => return Ok(keys),
                None => self.fetching.lock().await,
            },
        };
        // Again under the lock: the fetch that was waited for may have brought the key.
        if let Some(keys) = known(self.kept(), KEYS_FRESH) {
            return Ok(keys);
        }
        if !within(self.kept().tried_at, now, KEYS_RETRY) {
            // Before the fetch, so that a failure counts too: a URL that is away would be asked with each request.
            self.kept.lock().tried_at = Some(now);
            match self.fetch().await {
                Ok(keys) => {
                    let mut kept = self.kept.lock();
                    kept.fetched_at = Some(now);
                    kept.keys = Some(Arc::new(keys));
                }
                Err(reason) => tracing::warn!(reason, "keys can't be fetched"),
            }
        }
        // While the URL is away the old keys serve, for an hour at most: a key that was withdrawn must end some time.
        let kept = self.kept();
        kept.keys.filter(|_| within(kept.fetched_at, now, USABLE)).ok_or(ProofError::KeysUnavailable)
    }

    fn kept(&self) -> CachedKeys {
        self.kept.lock().clone()
    }

    async fn fetch(&self) -> Result<KeySet, String> {
        let bytes = self.documents.get(&self.url).await.map_err(|error| error.log_reason())?;
        (self.read)(&bytes).map_err(|fault| fault.to_string())
    }
}

/// How long keys serve that can't be fetched again.
const USABLE: Duration = KEYS_FRESH.saturating_mul(6);

/// Whether `then` lies less than `time` before `now`. A clock that was set back counts as past.
fn within(then: Option<Timestamp>, now: Timestamp, time: Duration) -> bool {
    let age = then.map(|then| now.as_second() - then.as_second());
    age.is_some_and(|age| (0..time.as_secs().cast_signed()).contains(&age))
}
