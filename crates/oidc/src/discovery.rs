//! What the provider says of itself, and its keys. OpenID Connect Discovery 4.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Timestamp, json};
use forecourt_egress::UpstreamRequest;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;
use url::Url;

use crate::error::OidcError;
use crate::exchange::Exchange;
use crate::limits::DISCOVERY_RETRY;

/// What a provider says of itself, as far as it is used here. OpenID Connect Discovery 3.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    issuer: String,
    /// Where people sign in.
    pub(crate) authorization_endpoint: Url,
    /// Where a code is exchanged.
    pub(crate) token_endpoint: Option<Url>,
    /// Where more is told of a person.
    pub(crate) userinfo_endpoint: Option<Url>,
    /// How we may prove there who we are; `client_secret_basic` when absent.
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// Where people sign out. RP-Initiated Logout 2.1.
    pub(crate) end_session_endpoint: Option<Url>,
    /// Whether what comes back names its issuer. RFC 9207 3.
    authorization_response_iss_parameter_supported: Option<bool>,
    jwks_uri: Url,
    /// Its keys, as they came (RFC 7517 5): which of them counts is up to the token.
    #[serde(skip)]
    pub(crate) keys: Value,
}

impl Metadata {
    /// Whether what comes back must name its issuer.
    pub(crate) fn names_issuer(&self) -> bool {
        self.authorization_response_iss_parameter_supported == Some(true)
    }
}

/// What is known of a provider, asked for when it is needed.
pub(crate) struct Discovery {
    issuer: String,
    // Held while fetching: those who need the same wait for one fetch.
    known: Mutex<CachedDiscovery>,
}

#[derive(Default)]
struct CachedDiscovery {
    metadata: Option<Arc<Metadata>>,
    fetched_at: Option<Timestamp>,
    tried_at: Option<Timestamp>,
}

impl Discovery {
    pub(crate) fn new(issuer: String) -> Self {
        Self { issuer, known: Mutex::default() }
    }

    /// What the provider says of itself, no older than `fresh` unless it can't be asked.
    pub(crate) async fn metadata(
        &self,
        exchange: &Exchange,
        now: Timestamp,
        fresh: Duration,
    ) -> Result<Arc<Metadata>, OidcError> {
        let mut known = self.known.lock().await;
        if let Some(metadata) = known.metadata.as_ref().filter(|_| within(known.fetched_at, now, fresh)) {
            return Ok(metadata.clone());
        }
        // Nobody but the provider can make us ask again for an unknown key, since it gave us the token.
        let failed_lately = known.tried_at != known.fetched_at && within(known.tried_at, now, DISCOVERY_RETRY);
        if !failed_lately {
            known.tried_at = Some(now);
            match self.discovered(exchange).await {
                Ok(metadata) => {
                    known.fetched_at = Some(now);
                    known.metadata = Some(Arc::new(metadata));
                }
                Err(reason) => tracing::warn!(issuer = self.issuer, reason, "the provider can't be asked"),
            }
        }
        // What it said before serves while it is away.
        known.metadata.clone().ok_or(OidcError::Unavailable)
    }

    async fn discovered(&self, exchange: &Exchange) -> Result<Metadata, String> {
        let said = document(exchange, discovery_url(&self.issuer), &["application/json"]).await?;
        let mut metadata: Metadata =
            serde_json::from_value(said).map_err(|error| format!("what it says of itself can't be read: {error}"))?;
        // To the letter (Discovery 4.3): otherwise one tenant of a provider could speak for another.
        if metadata.issuer != self.issuer {
            return Err(format!("it calls itself {:?}", metadata.issuer));
        }
        // Browsers are sent there: a provider on https may not lead them out of it.
        let leads_on = |url: &Url| url.scheme() == "https" || self.issuer.starts_with("http://");
        let signs_out_well = metadata.end_session_endpoint.as_ref().is_none_or(leads_on);
        if !signs_out_well || !leads_on(&metadata.authorization_endpoint) {
            return Err("it sends people to a page that is not https".to_owned());
        }
        let types = ["application/json", "application/jwk-set+json"];
        metadata.keys = document(exchange, metadata.jwks_uri.to_string(), &types).await?;
        match metadata.keys.get("keys") {
            Some(Value::Array(_)) => Ok(metadata),
            _ => Err("its keys can't be read".to_owned()),
        }
    }
}

/// Where a provider says what it is. OpenID Connect Discovery 4.1.
fn discovery_url(issuer: &str) -> String {
    format!("{}/.well-known/openid-configuration", issuer.strip_suffix('/').unwrap_or(issuer))
}

/// A JSON document of one of these media types. The reason of a failure is for our log.
async fn document(exchange: &Exchange, url: String, types: &[&str]) -> Result<Value, String> {
    let answer = exchange.ask(UpstreamRequest::get(url)).await.map_err(|error| error.log_reason())?;
    if !answer.is_ok() {
        return Err(format!("it answered {}", answer.status()));
    }
    match answer.may_be(types) {
        true => json::parse(&answer.body),
        false => Err("it answered with something else than JSON".to_owned()),
    }
}

/// Whether `then` lies less than `time` before `now`. A clock that was set back counts as past.
fn within(then: Option<Timestamp>, now: Timestamp, time: Duration) -> bool {
    let age = then.map(|then| now.as_second() - then.as_second());
    age.is_some_and(|age| (0..time.as_secs().cast_signed()).contains(&age))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discovery4_1_a_slash_at_the_end_of_an_issuer_is_not_doubled() {
        let there = "https://a.example/b/.well-known/openid-configuration";
        assert_eq!(discovery_url("https://a.example/b"), there);
        assert_eq!(discovery_url("https://a.example/b/"), there);
    }
}
