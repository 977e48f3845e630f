//! Whose keys count: those of issuers that the operator trusts, from a file or fetched.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Timestamp;
use forecourt_egress::{Egress, Purpose};
use forecourt_jose::{Algorithm, KeySet};
use parking_lot::Mutex;

use super::code::MandateCode;
use crate::ap2_settings::{Ap2Issuer, Ap2Settings};
use crate::limits::{KEYS_FRESH, KEYS_RETRY, KEYS_TIME_MAX, KEYS_USABLE};
use crate::settings_error::SettingsError;

/// The issuers that are trusted, with their keys.
pub(super) struct TrustedIssuers {
    issuers: Vec<(String, IssuerKeys)>,
}

enum IssuerKeys {
    Fixed(Arc<KeySet>),
    Remote(Box<RemoteKeys>),
}

/// Keys behind a URL. Fetched when first needed, and for a key that is not known at most once in [`KEYS_RETRY`], so that
/// nobody can have them fetched at will.
struct RemoteKeys {
    egress: Egress,
    url: String,
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

impl TrustedIssuers {
    /// As `settings` say. Files are read now.
    pub(super) fn new(settings: &Ap2Settings, egress: &Egress) -> Result<Self, SettingsError> {
        let issuers = settings.issuers.iter().map(|one| Ok((one.issuer.clone(), IssuerKeys::of(one, egress)?)));
        Ok(Self { issuers: issuers.collect::<Result<_, SettingsError>>()? })
    }

    /// The keys of an issuer, with the one that a token names if there is one.
    pub(super) async fn keys(
        &self,
        issuer: Option<&str>,
        (kid, algorithm): (Option<&str>, Algorithm),
        now: Timestamp,
    ) -> Result<Arc<KeySet>, MandateCode> {
        let known = self.issuers.iter().find(|(name, _)| Some(name.as_str()) == issuer);
        match known.ok_or(MandateCode::IssuerUnknown)? {
            (_, IssuerKeys::Fixed(keys)) => Ok(keys.clone()),
            (_, IssuerKeys::Remote(keys)) => keys.with(kid, algorithm, now).await,
        }
    }
}

impl IssuerKeys {
    fn of(issuer: &Ap2Issuer, egress: &Egress) -> Result<Self, SettingsError> {
        let Some(file) = &issuer.jwks_file else {
            let url = issuer.jwks_url.clone().unwrap_or_default();
            let (kept, fetching) = (Mutex::default(), tokio::sync::Mutex::default());
            return Ok(Self::Remote(Box::new(RemoteKeys { egress: egress.clone(), url, kept, fetching })));
        };
        let told = |reason: String| {
            SettingsError::new(
                format!("ap2: the keys of `{}`: {reason}", issuer.issuer),
                "write its key set (JWKS) there",
            )
        };
        let bytes = std::fs::read(file).map_err(|error| told(format!("{}: {error}", file.display())))?;
        let keys = KeySet::from_public_jwks(&bytes).map_err(|fault| told(fault.to_string()))?;
        match keys.is_empty() {
            true => Err(told(format!("{} has none that signatures are verified with", file.display()))),
            false => Ok(Self::Fixed(Arc::new(keys))),
        }
    }
}

impl RemoteKeys {
    async fn with(&self, kid: Option<&str>, algorithm: Algorithm, now: Timestamp) -> Result<Arc<KeySet>, MandateCode> {
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
            // Somebody else is fetching them: nobody waits for that who has some to go on with.
            (Err(_), Some(keys)) => return Ok(keys),
            (Err(_), None) => self.fetching.lock().await,
        };
        // Again: the fetch that was waited for may have brought it.
        if let Some(keys) = known(KEYS_FRESH) {
            return Ok(keys);
        }
        if !is_within(self.kept.lock().tried_at, now, KEYS_RETRY) {
            // Before the fetch, so that one that fails counts as well.
            self.kept.lock().tried_at = Some(now);
            match self.fetch().await {
                Ok(keys) => {
                    let mut kept = self.kept.lock();
                    (kept.keys, kept.fetched_at) = (Some(Arc::new(keys)), Some(now));
                }
                Err(reason) => tracing::warn!(url = self.url, reason, "the keys of an issuer can't be fetched"),
            }
        }
        // What was fetched before serves while its URL is away, and not for good: a key may have been withdrawn.
        let kept = self.kept.lock().clone();
        let usable = kept.keys.filter(|_| is_within(kept.fetched_at, now, KEYS_USABLE));
        usable.ok_or(MandateCode::KeysUnavailable)
    }

    async fn fetch(&self) -> Result<KeySet, String> {
        let fetched = tokio::time::timeout(KEYS_TIME_MAX, self.egress.get(Purpose::Document, &self.url)).await;
        let found = fetched.map_err(|_| "it took too long".to_owned())?.map_err(|error| error.log_reason())?;
        KeySet::from_public_jwks(&found.bytes).map_err(|fault| fault.to_string())
    }
}

/// Whether `then` lies less than `time` before `now`. A clock that was set back counts as past.
fn is_within(then: Option<Timestamp>, now: Timestamp, time: Duration) -> bool {
    let age = then.map(|then| now.as_second() - then.as_second());
    age.is_some_and(|age| (0..time.as_secs().cast_signed()).contains(&age))
}

#[cfg(test)]
mod tests {
    use forecourt_egress::EgressConfig;
    use forecourt_jose::SigningKey;
    use forecourt_testkit::CountedEntropy;
    use serde_json::json;
    use tokio::net::TcpListener;
    use tokio::time::Instant;

    use super::*;

    /// Keys that were fetched at the second 0, behind a server that takes connections and never answers.
    async fn kept() -> (RemoteKeys, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/jwks", listener.local_addr().unwrap());
        let allow = vec!["127.0.0.0/8".parse().unwrap()];
        // Longer than keys may take.
        let connect_seconds = 20.try_into().unwrap();
        let config = EgressConfig { allow, connect_seconds, ..EgressConfig::default() };
        let egress = Egress::builder(config).build().unwrap();
        let jwks = json!({"keys": [SigningKey::generate(&CountedEntropy::default()).public().to_jwk()]});
        let keys = Some(Arc::new(KeySet::from_public_jwks(jwks.to_string().as_bytes()).unwrap()));
        let kept = CachedKeys { keys, fetched_at: Some(Timestamp::UNIX_EPOCH), tried_at: None };
        (RemoteKeys { egress, url, kept: Mutex::new(kept), fetching: tokio::sync::Mutex::default() }, listener)
    }

    fn after(time: Duration) -> Timestamp {
        Timestamp::from_second(time.as_secs().cast_signed()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn ap2_keys_that_can_still_be_used_are_so_while_fetching_is_slow() {
        let (keys, _listener) = kept().await;
        let algorithm = Algorithm::from_jose("EdDSA").unwrap();
        let asked = async |now: Duration| {
            let begun = Instant::now();
            (keys.with(None, algorithm, after(now)).await.map(drop), begun.elapsed())
        };
        assert_eq!(asked(KEYS_FRESH - Duration::from_secs(1)).await, (Ok(()), Duration::ZERO));
        let guard = keys.fetching.lock().await;
        assert_eq!(asked(KEYS_FRESH).await, (Ok(()), Duration::ZERO), "somebody else fetches them");
        drop(guard);
        let (found, waited) = asked(KEYS_FRESH).await;
        assert!(
            found.is_ok() && (Duration::from_secs(1)..=KEYS_TIME_MAX + Duration::from_millis(10)).contains(&waited)
        );
        assert_eq!(asked(KEYS_USABLE).await.0, Err(MandateCode::KeysUnavailable), "a key may have been withdrawn");
    }
}
