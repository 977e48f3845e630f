//! Asking a service in the name of a caller: the caller's token is exchanged for one that is meant for the service.
//! RFC 8693. The caller's own token goes to the token endpoint alone, and without settings for it nowhere.
//!
//! | file | holds |
//! |---|---|
//! | `settings.rs` | the table `on_behalf_of` of a backend |
//! | `cache.rs` | tokens that were given out and still hold |
//! | `exchange.rs` | the question to the token endpoint, and its answer |

mod cache;
mod exchange;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::policy::{AuthChallenge, RefusalKind};
use forecourt_core::{Clock, Ending, FailureCause, PolicyPart, SubjectToken};
use forecourt_egress::Egress;
use futures::future::BoxFuture;
use http::HeaderValue;
use parking_lot::Mutex;

use self::cache::TokenCache;
use self::exchange::{ExchangeFailure, GrantedToken};
use crate::declined::unavailable;
use settings::TokenEndpoint;
pub use settings::{OnBehalfOfSettings, read};

/// How our own words call the token endpoint.
const WHO: &str = "The service that gives out tokens for this agent";

/// Exchanges callers' tokens for tokens of one service (RFC 8693) and caches them by the hash of the caller's token.
pub struct TokenExchange {
    endpoint: TokenEndpoint,
    egress: Egress,
    clock: Arc<dyn Clock>,
    /// The canonical host, for challenges.
    host: String,
    cache: Mutex<TokenCache>,
}

impl TokenExchange {
    /// The value of `Authorization` for a request to the service in the name of whoever bears `token`.
    ///
    /// # Errors
    /// A refusal for callers without a token, or whose token is not taken; a failure of the token endpoint.
    pub fn authorization<'a>(&'a self, token: Option<&'a SubjectToken>) -> BoxFuture<'a, Result<HeaderValue, Ending>> {
        Box::pin(async move {
            let Some(token) = token else { return Err(self.unsigned_in()) };
            let key = cache::key(token);
            if let Some(held) = self.cache.lock().get(&key, self.clock.now()) {
                return Ok(held);
            }
            // The cache's lock is not held while the endpoint is asked: two requests of one caller may both exchange,
            // and the later token stays.
            let granted =
                exchange::ask(&self.egress, &self.endpoint, token).await.map_err(|failure| self.ending(failure))?;
            let GrantedToken { authorization, lifetime } = granted;
            if let Some(lifetime) = lifetime {
                self.cache.lock().put(key, authorization.clone(), lifetime, self.clock.now());
            }
            Ok(authorization)
        })
    }

    /// SHA-256 of the secret, by which it is known that another one was configured, wherever it stands.
    pub fn secret_hash(&self) -> [u8; 32] {
        cache::sha256(self.endpoint.client_secret.as_bytes())
    }

    /// The refusal for a caller without a bearer token: there is nothing to exchange.
    fn unsigned_in(&self) -> Ending {
        let challenge = AuthChallenge::new("Bearer").with("realm", &self.host);
        refused("oauth:token_required", challenge, "This agent acts in your name: sign in with a bearer token.")
    }

    fn ending(&self, failure: ExchangeFailure) -> Ending {
        match failure {
            ExchangeFailure::Unreachable(failure) => {
                tracing::warn!(fault = ?failure, "a token endpoint gave no answer");
                unavailable(&format!("{WHO} can't be reached at the moment."), None)
            }
            ExchangeFailure::Away(status) => {
                tracing::warn!(status, "a token endpoint failed");
                unavailable(&format!("{WHO} is not available at the moment."), None)
            }
            ExchangeFailure::Subject(error) => {
                tracing::info!(error, "a token endpoint did not take a caller's token");
                let challenge = AuthChallenge::new("Bearer").with("realm", &self.host).with("error", "invalid_token");
                refused(
                    "oauth:invalid_token",
                    challenge,
                    "Your token is not accepted for what this agent does in your name.",
                )
            }
            ExchangeFailure::Ours(reason) => {
                tracing::error!(
                    "a token endpoint answered: {reason}; hint: look at `on_behalf_of` in the agent's [backend]"
                );
                FailureCause::UpstreamRefused.ending(format!("{WHO} does not serve this host."))
            }
        }
    }
}

fn refused(code: &str, challenge: AuthChallenge, message: &str) -> Ending {
    let kind = RefusalKind::Unauthorized { auth_challenges: vec![challenge] };
    Ending::Refused(Box::new(PolicyPart { code: Some(code.to_owned()), ..PolicyPart::new(kind, message) }))
}

/// How long before its end a token is not used any more: as far as clocks may differ.
const MARGIN: Duration = Duration::from_secs(30);
