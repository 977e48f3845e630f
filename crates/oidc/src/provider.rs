//! The provider: where it wants people to go, and whom it has signed in.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_core::Timestamp;
use forecourt_egress::Egress;
use forecourt_jose::ProofError;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use url::Url;

use crate::client::ClientSettings;
use crate::discovery::{Discovery, Metadata};
use crate::error::OidcError;
use crate::exchange::Exchange;
use crate::flow::{Flow, SignInStart};
use crate::id_token::{ExpectedClaims, ProviderToken, TokenError};
use crate::limits::DISCOVERY_FRESH;
use crate::report::{broken, invalid};
use crate::tokens::{self, CodeGrant, Tokens};
use crate::user_info;

/// A provider, and who we are there.
pub struct Provider {
    settings: ClientSettings,
    exchange: Exchange,
    discovery: Discovery,
}

/// What the provider is to do about somebody whom it knows already. OpenID Connect Core 3.1.2.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInPrompt {
    /// Send them back, or whatever it usually does.
    Usual,
    /// Ask who they are once more: it may be another account.
    Anew,
}

/// Somebody whom the provider has signed in.
pub struct IdentifiedPerson {
    /// What the provider says of them: what the ID token holds, and what it left out and the provider told elsewhere.
    pub claims: Map<String, Value>,
    /// The ID token, verified.
    pub id_token: String,
}

impl Provider {
    /// A provider that is asked through `egress`. Nothing is asked yet.
    pub fn new(settings: ClientSettings, egress: Arc<Egress>) -> Self {
        let discovery = Discovery::new(settings.issuer.clone());
        Self { settings, exchange: Exchange(egress), discovery }
    }

    /// This host's registration at the provider.
    pub fn client(&self) -> &ClientSettings {
        &self.settings
    }

    /// Where the browser goes to sign in. `redirect_uri` is where it comes back.
    ///
    /// # Errors
    /// The provider can't be asked.
    pub fn sign_in_url<'a>(
        &'a self,
        begun: &'a SignInStart,
        redirect_uri: &'a str,
        prompt: SignInPrompt,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Url, OidcError>> {
        Box::pin(async move {
            let metadata = self.metadata(now, DISCOVERY_FRESH).await?;
            check_redirect(redirect_uri)?;
            Ok(self.authentication_request(&metadata, begun, redirect_uri, prompt))
        })
    }

    /// Whether what came back names its issuer as this provider does. RFC 9207 2.4.
    ///
    /// # Errors
    /// The provider can't be asked.
    pub fn is_of_issuer<'a>(
        &'a self,
        issuer: Option<&'a str>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, OidcError>> {
        Box::pin(async move {
            // A provider that says so must name itself, or leaving the parameter out would undo the check (RFC 9207
            // 2.4).
            let required = self.metadata(now, DISCOVERY_FRESH).await?.names_issuer();
            Ok(issuer.map_or(!required, |issuer| issuer == self.settings.issuer))
        })
    }

    /// Whom the provider has signed in: the code for an ID token, which is verified. OpenID Connect Core 3.1.3. Where
    /// `wants_more` says so of its claims, the provider is asked for the rest of them.
    ///
    /// # Errors
    /// The provider can't be asked, or what it gave does not hold.
    pub fn identified<'a>(
        &'a self,
        code: String,
        (flow, redirect_uri): (&'a Flow, &'a str),
        now: Timestamp,
        wants_more: &'a (dyn Fn(&Map<String, Value>) -> bool + Sync),
    ) -> BoxFuture<'a, Result<IdentifiedPerson, OidcError>> {
        Box::pin(async move {
            let metadata = self.metadata(now, DISCOVERY_FRESH).await?;
            check_redirect(redirect_uri)?;
            let grant = CodeGrant { code: &code, verifier: &flow.verifier, redirect_uri };
            let tokens = tokens::exchange(&self.exchange, (&metadata, &self.settings), grant).await?;
            let id_token = tokens.id_token.as_deref().ok_or_else(|| invalid("there is no ID token"))?;
            let mut claims = self.verified(&metadata, id_token, &tokens, flow, now).await?;
            if wants_more(&claims) {
                self.add_user_info(&metadata, &tokens, &mut claims, now).await;
            }
            Ok(IdentifiedPerson { claims, id_token: id_token.to_owned() })
        })
    }

    /// Where the browser goes so that the provider ends its session too, if that is offered, with the ID token where
    /// one was kept. RP-Initiated Logout 2.
    pub fn sign_out_url<'a>(
        &'a self,
        id_token: Option<&'a str>,
        back: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Option<Url>> {
        Box::pin(async move {
            let metadata = self.metadata(now, DISCOVERY_FRESH).await.ok()?;
            let mut url = metadata.end_session_endpoint.clone()?;
            let mut query = url.query_pairs_mut();
            query.append_pair("client_id", &self.settings.client_id).append_pair("post_logout_redirect_uri", back);
            if let Some(id_token) = id_token {
                query.append_pair("id_token_hint", id_token);
            }
            drop(query);
            Some(url)
        })
    }

    /// OpenID Connect Core 3.1.2.1, RFC 7636 4.3.
    fn authentication_request(
        &self,
        metadata: &Metadata,
        begun: &SignInStart,
        redirect_uri: &str,
        prompt: SignInPrompt,
    ) -> Url {
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, begun.flow.verifier.as_bytes()));
        // `openid` first, and once.
        let others = self.settings.scopes.iter().map(String::as_str).filter(|scope| *scope != "openid");
        let scopes: Vec<&str> = std::iter::once("openid").chain(others).collect();
        let mut url = metadata.authorization_endpoint.clone();
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("state", &begun.state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("scope", &scopes.join(" "))
            .append_pair("nonce", &begun.flow.nonce);
        if prompt == SignInPrompt::Anew {
            query.append_pair("prompt", "login");
        }
        drop(query);
        url
    }

    /// The claims of the ID token, if it holds; with the provider's keys of this moment where it names one that was not
    /// known.
    async fn verified(
        &self,
        metadata: &Metadata,
        id_token: &str,
        tokens: &Tokens,
        flow: &Flow,
        now: Timestamp,
    ) -> Result<Map<String, Value>, OidcError> {
        let token = ProviderToken::parse(id_token).map_err(|error| match error {
            ProofError::Malformed(_) => broken("its ID token can't be read"),
            error => invalid(&error.to_string()),
        })?;
        let expected = ExpectedClaims {
            issuer: &self.settings.issuer,
            client_id: &self.settings.client_id,
            nonce: &flow.nonce,
            access_token: &tokens.access_token,
            now,
        };
        let verified = match token.id_claims(&metadata.keys, &expected) {
            Err(TokenError::Proof(ProofError::UnknownKey)) => {
                // The provider may have new keys.
                let metadata = self.metadata(now, Duration::ZERO).await?;
                token.id_claims(&metadata.keys, &expected)
            }
            other => other,
        };
        verified.map_err(|fault| match fault {
            // A provider that leaves out what it must say, or says it in another way.
            TokenError::Proof(ProofError::Missing("sub" | "exp" | "iat") | ProofError::Malformed(_)) => {
                broken(&fault.to_string())
            }
            fault => invalid(&fault.to_string()),
        })
    }

    /// Adds what the ID token leaves out, where the provider tells it elsewhere, about the same subject.
    /// OpenID Connect Core 5.3. What it does not tell is missing, and whoever needs it says so.
    async fn add_user_info(
        &self,
        metadata: &Metadata,
        tokens: &Tokens,
        claims: &mut Map<String, Value>,
        now: Timestamp,
    ) {
        let Some(subject) = claims.get("sub").and_then(Value::as_str) else { return };
        let of = (tokens.access_token.as_str(), subject);
        match user_info::claims(&self.exchange, (metadata, &self.settings), of, now).await {
            None => {}
            Some(Ok(told)) => {
                for (name, value) in told {
                    // The ID token's own word stands: it is signed, and the answer need not be.
                    claims.entry(name).or_insert(value);
                }
            }
            Some(Err(reason)) => tracing::warn!(reason, "the provider says nothing more of a person"),
        }
    }

    async fn metadata(&self, now: Timestamp, fresh: Duration) -> Result<Arc<Metadata>, OidcError> {
        self.discovery.metadata(&self.exchange, now, fresh).await
    }
}

/// Whether a browser can be sent back there.
fn check_redirect(uri: &str) -> Result<(), OidcError> {
    Url::parse(uri).map(drop).map_err(|_| OidcError::Invalid)
}
