//! Keys of others that lie behind an address: fetched when they are needed, kept for a while, and never at the will of
//! callers.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Timestamp;
use futures::future::BoxFuture;
use parking_lot::Mutex;

use crate::algorithm::Algorithm;
use crate::error::ProofError;
use crate::key_set::KeySet;
use crate::limits::{KEYS_FRESH, KEYS_RETRY, KEYS_USABLE};

/// Where somebody publishes keys.
pub trait KeySource: Send + Sync + 'static {
    /// Its address.
    fn url(&self) -> &str;

    /// Fetches the keys now, within a time that the source bounds. The reason of a failure is for the log.
    fn fetch(&self) -> impl Future<Output = Result<KeySet, String>> + Send;
}

/// The keys of one source. Fetched when first needed, current for [`KEYS_FRESH`], and fetched again for a key that is not
/// known at most once in [`KEYS_RETRY`], so that nobody can have them fetched at will. Whoever brings a key that is known
/// waits for no fetch that somebody else caused.
pub struct RemoteKeys<S> {
    source: S,
    // Never held across a fetch.
    kept: Mutex<CachedKeys>,
    // Held across it, so that all who need the same keys wait for one.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Default, Clone)]
struct CachedKeys {
    keys: Option<Arc<KeySet>>,
    fetched_at: Option<Timestamp>,
    tried_at: Option<Timestamp>,
}

impl<S: KeySource> RemoteKeys<S> {
    /// None are fetched yet.
    pub fn new(source: S) -> Self {
        Self { source, kept: Mutex::default(), fetching: tokio::sync::Mutex::default() }
    }

    /// Where they are.
    pub fn url(&self) -> &str {
        self.source.url()
    }

    /// The keys, with one that suits `kid` and `algorithm` if the source has one. Fails with
    /// [`ProofError::KeysUnavailable`] where there are none that may be used.
    pub fn with<'a>(
        &'a self,
        kid: Option<&'a str>,
        algorithm: Algorithm,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Arc<KeySet>, ProofError>> {
        Box::pin(self.found(kid, algorithm, now))
    }

    async fn found(&self, kid: Option<&str>, algorithm: Algorithm, now: Timestamp) -> Result<Arc<KeySet>, ProofError> {
        let known = |within: Duration| {
            let kept = self.kept.lock().clone();
            let has = |keys: &Arc<KeySet>| keys.select(kid, algorithm, now).next().is_some();
            kept.keys.filter(|keys| is_within(kept.fetched_at, now, within) && has(keys))
        };
        if let Some(keys) = known(KEYS_FRESH) {
            return Ok(keys);
        }
        let _one_at_a_time = match (self.fetching.try_lock(), known(KEYS_USABLE)) {
            (Ok(guard), _) => guard,
            // A fetch is under way, perhaps for an invented `kid`: whoever has keys to go on with doesn't wait for it.
            (Err(_), Some(keys)) => return Ok(keys),
            (Err(_), None) => self.fetching.lock().await,
        };
        // Again: the fetch that was waited for may have brought it.
        if let Some(keys) = known(KEYS_FRESH) {
            return Ok(keys);
        }
        if !is_within(self.kept.lock().tried_at, now, KEYS_RETRY) {
            self.fetch(now).await;
        }
        // What was fetched before serves while its source is away, and not for good: a key may have been withdrawn.
        let kept = self.kept.lock().clone();
        kept.keys.filter(|_| is_within(kept.fetched_at, now, KEYS_USABLE)).ok_or(ProofError::KeysUnavailable)
    }

    async fn fetch(&self, now: Timestamp) {
        // Before the fetch, so that one that fails counts as well.
        self.kept.lock().tried_at = Some(now);
        match self.source.fetch().await {
            Ok(keys) => {
                let mut kept = self.kept.lock();
                (kept.keys, kept.fetched_at) = (Some(Arc::new(keys)), Some(now));
            }
            Err(reason) => tracing::warn!(url = self.url(), reason, "keys can't be fetched"),
        }
    }
}

/// Whether `then` lies less than `time` before `now`. A clock that was set back counts as past.
fn is_within(then: Option<Timestamp>, now: Timestamp, time: Duration) -> bool {
    let age = then.map(|then| now.as_second() - then.as_second());
    age.is_some_and(|age| (0..time.as_secs().cast_signed()).contains(&age))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use forecourt_testkit::CountedEntropy;
    use serde_json::json;

    use super::*;
    use crate::signing_key::SigningKey;

    /// A source that has keys when it is asked first, and none afterwards.
    #[derive(Default)]
    struct Once(AtomicUsize);

    impl KeySource for Once {
        fn url(&self) -> &'static str {
            "https://keys.example/jwks"
        }

        async fn fetch(&self) -> Result<KeySet, String> {
            if self.0.fetch_add(1, Ordering::Relaxed) > 0 {
                return Err("it is away".to_owned());
            }
            let jwks = json!({"keys": [SigningKey::generate(&CountedEntropy::default()).public().to_jwk()]});
            Ok(KeySet::from_public_jwks(jwks.to_string().as_bytes()).unwrap())
        }
    }

    fn after(time: Duration) -> Timestamp {
        Timestamp::from_second(time.as_secs().cast_signed()).unwrap()
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn keys_are_current_then_usable_then_gone_and_their_source_is_not_asked_at_will() {
        let keys = RemoteKeys::new(Once::default());
        let algorithm = Algorithm::from_jose("EdDSA").unwrap();
        let asked = async |kid: Option<&str>, now: Duration| {
            let found = keys.with(kid, algorithm, after(now)).await.map(drop);
            (found, keys.source.0.load(Ordering::Relaxed))
        };
        assert_eq!(asked(None, Duration::ZERO).await, (Ok(()), 1));
        assert_eq!(asked(None, KEYS_FRESH - SECOND).await, (Ok(()), 1));
        // An invented name has them fetched once, and not again before its time.
        let begun = KEYS_FRESH - SECOND;
        assert_eq!(asked(Some("?"), begun).await.1, 2);
        assert_eq!(asked(Some("?"), begun + KEYS_RETRY - SECOND).await.1, 2);
        assert_eq!(asked(Some("?"), begun + KEYS_RETRY).await.1, 3);
        // Their source is away by now.
        assert_eq!(asked(None, KEYS_USABLE - SECOND).await, (Ok(()), 4));
        assert_eq!(asked(None, KEYS_USABLE).await, (Err(ProofError::KeysUnavailable), 4));
        assert_eq!(asked(None, KEYS_USABLE + KEYS_RETRY).await, (Err(ProofError::KeysUnavailable), 5));
    }

    #[tokio::test]
    async fn nobody_who_has_keys_to_go_on_with_waits_for_a_fetch() {
        let keys = RemoteKeys::new(Once::default());
        let algorithm = Algorithm::from_jose("EdDSA").unwrap();
        keys.with(None, algorithm, Timestamp::UNIX_EPOCH).await.unwrap();
        let _somebody_else = keys.fetching.lock().await;
        // Waiting would never end here.
        assert!(keys.with(None, algorithm, after(KEYS_FRESH)).await.is_ok());
    }
}
