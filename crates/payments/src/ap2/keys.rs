//! Whose keys count: those of issuers that the operator trusts, from a file or fetched.

use std::sync::Arc;

use forecourt_core::Timestamp;
use forecourt_egress::{Egress, Purpose};
use forecourt_jose::{Algorithm, KeySet, KeySource, RemoteKeys};

use super::code::MandateCode;
use crate::ap2_settings::{Ap2Issuer, Ap2Settings};
use crate::limits::KEYS_TIME_MAX;
use crate::settings_error::SettingsError;

/// The issuers that are trusted, with their keys.
pub(super) struct TrustedIssuers {
    issuers: Vec<(String, IssuerKeys)>,
}

enum IssuerKeys {
    Fixed(Arc<KeySet>),
    Remote(Box<RemoteKeys<IssuerDocument>>),
}

/// The key set of an issuer, behind the URL that the operator gave.
struct IssuerDocument {
    egress: Egress,
    url: String,
}

impl KeySource for IssuerDocument {
    fn url(&self) -> &str {
        &self.url
    }

    async fn fetch(&self) -> Result<KeySet, String> {
        let fetched = tokio::time::timeout(KEYS_TIME_MAX, self.egress.get(Purpose::Document, &self.url)).await;
        let found = fetched.map_err(|_| "it took too long".to_owned())?.map_err(|error| error.log_reason())?;
        KeySet::from_public_jwks(&found.bytes).map_err(|fault| fault.to_string())
    }
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
            (_, IssuerKeys::Remote(keys)) => {
                keys.with(kid, algorithm, now).await.map_err(|_| MandateCode::KeysUnavailable)
            }
        }
    }
}

impl IssuerKeys {
    fn of(issuer: &Ap2Issuer, egress: &Egress) -> Result<Self, SettingsError> {
        let Some(file) = &issuer.jwks_file else {
            let url = issuer.jwks_url.clone().unwrap_or_default();
            return Ok(Self::Remote(Box::new(RemoteKeys::new(IssuerDocument { egress: egress.clone(), url }))));
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

#[cfg(test)]
mod tests {
    use forecourt_egress::EgressConfig;
    use tokio::net::TcpListener;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn ap2_an_issuer_that_never_answers_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/jwks", listener.local_addr().unwrap());
        let allow = vec!["127.0.0.0/8".parse().unwrap()];
        // Longer than keys may take.
        let connect_seconds = 20.try_into().unwrap();
        let config = EgressConfig { allow, connect_seconds, ..EgressConfig::default() };
        let keys = IssuerDocument { egress: Egress::builder(config).build().unwrap(), url };
        let begun = Instant::now();
        assert!(keys.fetch().await.is_err());
        assert!(begun.elapsed() <= KEYS_TIME_MAX + std::time::Duration::from_millis(10));
    }
}
