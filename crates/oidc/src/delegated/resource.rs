//! A resource of somebody else, and the way to a token for it.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_core::{Entropy, Timestamp, ids};
use forecourt_egress::Egress;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use url::Url;

use super::metadata::{AuthorizationServer, discover};
use super::registration::{Registration, register};
use super::tokens::{self, DelegatedTokens, TokenError};
use crate::error::OidcError;
use crate::exchange::Exchange;
use crate::limits::{DISCOVERY_FRESH, DISCOVERY_RETRY};
use crate::report::broken;

/// What is known of a resource before it is asked.
#[derive(Debug, Clone)]
pub struct DelegationSettings {
    /// The URL at which it is asked, which is also what it calls itself.
    pub resource: Url,
    /// The authorization server to use, to the letter. `None`: the first that the resource names.
    pub issuer: Option<String>,
    /// The scopes to ask for; those that the resource names where empty.
    pub scopes: Vec<String>,
    /// What people read of this host at the server.
    pub client_name: String,
}

/// What must be known again when the browser comes back. Kept for one use.
#[derive(Clone, Serialize, Deserialize)]
pub struct DelegatedFlow {
    /// The authorization server to which the browser went.
    pub issuer: String,
    verifier: String,
    redirect_uri: String,
    registration: Registration,
}

/// A sign-in that has begun.
pub struct DelegationStart {
    /// Where the browser goes.
    pub url: Url,
    /// What travels through the server, and names what is kept.
    pub state: String,
    /// What the host keeps until the browser comes back.
    pub flow: DelegatedFlow,
}

/// A resource of somebody else.
pub struct DelegatedResource {
    settings: DelegationSettings,
    exchange: Exchange,
    // Held while asking: those who need the same wait for one question.
    known: Mutex<KnownServer>,
}

#[derive(Default)]
struct KnownServer {
    server: Option<Arc<AuthorizationServer>>,
    asked_at: Option<Timestamp>,
    failed_at: Option<Timestamp>,
}

impl DelegatedResource {
    /// A resource that is asked through `egress`. Nothing is asked yet.
    pub fn new(settings: DelegationSettings, egress: Arc<Egress>) -> Self {
        Self { settings, exchange: Exchange(egress), known: Mutex::default() }
    }

    /// Its authorization server, as it was within the last hour; while it can't be asked, as it was before.
    ///
    /// # Errors
    /// Nothing is known of it, or what it says does not hold.
    pub fn server(&self, now: Timestamp) -> BoxFuture<'_, Result<Arc<AuthorizationServer>, OidcError>> {
        Box::pin(async move {
            let mut known = self.known.lock().await;
            let is_within = |then: Option<Timestamp>, seconds: u64| {
                then.is_some_and(|then| (0..seconds.cast_signed()).contains(&(now.as_second() - then.as_second())))
            };
            let is_fresh = is_within(known.asked_at, DISCOVERY_FRESH.as_secs());
            if !is_fresh && !is_within(known.failed_at, DISCOVERY_RETRY.as_secs()) {
                match discover(&self.exchange, &self.settings.resource, self.settings.issuer.as_deref()).await {
                    Ok(server) => (known.server, known.asked_at) = (Some(Arc::new(server)), Some(now)),
                    Err(reason) => {
                        known.failed_at = Some(now);
                        broken(&reason);
                    }
                }
            }
            known.server.clone().ok_or(OidcError::Unavailable)
        })
    }

    /// Registers this host, which comes back to `redirect_uri`. RFC 7591.
    ///
    /// # Errors
    /// The server registers nobody by itself, or can't be asked.
    pub fn register<'a>(
        &'a self,
        server: &'a AuthorizationServer,
        redirect_uri: &'a str,
    ) -> BoxFuture<'a, Result<Registration, OidcError>> {
        Box::pin(register(&self.exchange, server, (&self.settings.client_name, redirect_uri)))
    }

    /// Begins a sign-in. RFC 6749 4.1.1, RFC 7636 4.3, RFC 8707 2.1.
    pub fn begin(
        &self,
        server: &AuthorizationServer,
        registration: Registration,
        redirect_uri: &str,
        entropy: &dyn Entropy,
    ) -> DelegationStart {
        let (state, verifier) = (ids::mint(entropy), ids::mint(entropy));
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
        let mut url = server.authorization_endpoint.clone();
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &registration.client_id)
            .append_pair("state", &state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("resource", &server.resource);
        let scopes = match self.settings.scopes.is_empty() {
            true => &server.resource_scopes,
            false => &self.settings.scopes,
        };
        if !scopes.is_empty() {
            query.append_pair("scope", &scopes.join(" "));
        }
        drop(query);
        let (issuer, redirect_uri) = (server.issuer.clone(), redirect_uri.to_owned());
        DelegationStart { url, state, flow: DelegatedFlow { issuer, verifier, redirect_uri, registration } }
    }

    /// The tokens for a code, which are asked for as `registration`. RFC 6749 4.1.3.
    ///
    /// # Errors
    /// The server refuses it, or can't be asked.
    pub fn redeem<'a>(
        &'a self,
        (server, registration): (&'a AuthorizationServer, &'a Registration),
        flow: &'a DelegatedFlow,
        code: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<DelegatedTokens, TokenError>> {
        Box::pin(async move {
            // Codes and secrets of one server must not reach another, however it came to be the resource's.
            if flow.issuer != server.issuer {
                return Err(TokenError::Refused);
            }
            let grant = [
                ("grant_type", "authorization_code"),
                ("code", code),
                ("code_verifier", &flow.verifier),
                ("redirect_uri", &flow.redirect_uri),
            ];
            tokens::ask(&self.exchange, (server, registration), &grant, now).await
        })
    }

    /// New tokens for a refresh token. The old one stays where the server gives no new one. RFC 6749 6.
    ///
    /// # Errors
    /// The server refuses it, or can't be asked.
    pub fn refresh<'a>(
        &'a self,
        (server, registration): (&'a AuthorizationServer, &'a Registration),
        refresh_token: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<DelegatedTokens, TokenError>> {
        Box::pin(async move {
            let grant = [("grant_type", "refresh_token"), ("refresh_token", refresh_token)];
            let mut given = tokens::ask(&self.exchange, (server, registration), &grant, now).await?;
            given.refresh_token.get_or_insert_with(|| refresh_token.to_owned());
            Ok(given)
        })
    }

    /// Ends a token at its server, as far as that can be done. RFC 7009.
    pub fn revoke<'a>(
        &'a self,
        (server, registration): (&'a AuthorizationServer, &'a Registration),
        token: &'a str,
    ) -> BoxFuture<'a, ()> {
        Box::pin(tokens::revoke(&self.exchange, (server, registration), token))
    }
}

impl DelegatedFlow {
    /// Who this host was at the server when the browser went there.
    pub fn registration(&self) -> &Registration {
        &self.registration
    }
}

/// Never prints its secrets.
impl std::fmt::Debug for DelegatedFlow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DelegatedFlow").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}
