//! The provider: what it says of itself, where it wants people to go, and whom it has signed in.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::DateTime;
use forecourt_core::{Timestamp, json};
use forecourt_egress::Egress;
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreClaimName, CoreClaimType, CoreClient,
    CoreClientAuthMethod, CoreGenderClaim, CoreGrantType, CoreIdToken, CoreIdTokenVerifier, CoreJsonWebKey,
    CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm, CoreJwsSigningAlgorithm as Jws, CoreResponseMode,
    CoreResponseType, CoreSubjectIdentifierType, CoreTokenResponse,
};
use openidconnect::{
    AccessTokenHash, AdditionalClaims, AdditionalProviderMetadata, AuthType, AuthorizationCode,
    ClaimsVerificationError, ClientId, ClientSecret, CsrfToken, IssuerUrl, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, PkceCodeVerifier, ProviderMetadata, RedirectUrl, RequestTokenError, Scope,
    SignatureVerificationError, TokenResponse, UserInfoClaims,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use url::Url;

use crate::client::ClientSettings;
use crate::error::OidcError;
use crate::exchange::Exchange;
use crate::flow::{Begun, Flow};
use crate::limits::{DISCOVERY_FRESH, DISCOVERY_RETRY};

/// What a provider may say of itself beside OpenID Connect Discovery 3.
#[derive(Debug, Clone, Deserialize, Serialize)]
struct Further {
    /// RP-Initiated Logout 2.1.
    end_session_endpoint: Option<Url>,
    /// RFC 9207 3.
    authorization_response_iss_parameter_supported: Option<bool>,
}

impl AdditionalProviderMetadata for Further {}

/// Claims of any name.
#[derive(Debug, Clone, Deserialize, Serialize)]
struct AnyClaims(Map<String, Value>);

impl AdditionalClaims for AnyClaims {}

type Metadata = ProviderMetadata<
    Further,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

/// Signatures of ID tokens that count: by keys that the provider alone has.
const ALGORITHMS: [Jws; 9] = [
    Jws::RsaSsaPkcs1V15Sha256,
    Jws::RsaSsaPkcs1V15Sha384,
    Jws::RsaSsaPkcs1V15Sha512,
    Jws::RsaSsaPssSha256,
    Jws::RsaSsaPssSha384,
    Jws::RsaSsaPssSha512,
    Jws::EcdsaP256Sha256,
    Jws::EcdsaP384Sha384,
    Jws::EdDsa,
];

/// A provider, and who we are there.
pub struct Provider {
    settings: ClientSettings,
    exchange: Exchange,
    // Held while fetching: those who need the same wait for one fetch.
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    metadata: Option<Arc<Metadata>>,
    fetched_at: Option<Timestamp>,
    tried_at: Option<Timestamp>,
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
pub struct Identified {
    /// What the provider says of them: what the ID token holds, and what it left out and the provider told elsewhere.
    pub claims: Map<String, Value>,
    /// The ID token, verified.
    pub id_token: String,
}

impl Provider {
    /// A provider that is asked through `egress`. Nothing is asked yet.
    pub fn new(settings: ClientSettings, egress: Arc<Egress>) -> Self {
        Self { settings, exchange: Exchange(egress), known: Mutex::default() }
    }

    /// Who we are there.
    pub fn client(&self) -> &ClientSettings {
        &self.settings
    }

    /// Where the browser goes to sign in. `redirect_uri` is where it comes back.
    ///
    /// # Errors
    /// The provider can't be asked.
    pub async fn sign_in_url(
        &self,
        begun: &Begun,
        redirect_uri: &str,
        prompt: SignInPrompt,
        now: Timestamp,
    ) -> Result<Url, OidcError> {
        let metadata = self.metadata(now, DISCOVERY_FRESH).await?;
        let client = CoreClient::from_provider_metadata(
            Metadata::clone(&metadata),
            ClientId::new(self.settings.client_id.clone()),
            None,
        )
        .set_redirect_uri(redirect(redirect_uri)?);
        let (state, nonce) = (begun.state.clone(), begun.flow.nonce.clone());
        let verifier = PkceCodeVerifier::new(begun.flow.verifier.clone());
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let request = client.authorize_url(flow, || CsrfToken::new(state), || Nonce::new(nonce));
        let request = match prompt {
            SignInPrompt::Usual => request,
            SignInPrompt::Anew => request.add_prompt(CoreAuthPrompt::Login),
        };
        // The library asks for `openid` itself.
        let scopes = self.settings.scopes.iter().filter(|scope| *scope != "openid").cloned().map(Scope::new);
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
        Ok(request.add_scopes(scopes).set_pkce_challenge(challenge).url().0)
    }

    /// Whether what came back names its issuer as this provider does. RFC 9207 2.4.
    ///
    /// # Errors
    /// The provider can't be asked.
    pub async fn is_of_issuer(&self, issuer: Option<&str>, now: Timestamp) -> Result<bool, OidcError> {
        let metadata = self.metadata(now, DISCOVERY_FRESH).await?;
        let required = metadata.additional_metadata().authorization_response_iss_parameter_supported == Some(true);
        Ok(issuer.map_or(!required, |issuer| issuer == self.settings.issuer))
    }

    /// Whom the provider has signed in: the code for an ID token, which is verified. OpenID Connect Core 3.1.3. Where
    /// `wants_more` says so of its claims, the provider is asked for the rest of them.
    ///
    /// # Errors
    /// The provider can't be asked, or what it gave does not hold.
    pub async fn identified(
        &self,
        code: String,
        (flow, redirect_uri): (&Flow, &str),
        now: Timestamp,
        wants_more: impl Fn(&Map<String, Value>) -> bool + Send,
    ) -> Result<Identified, OidcError> {
        let metadata = self.metadata(now, DISCOVERY_FRESH).await?;
        let tokens = self.tokens(&metadata, code, flow, redirect_uri).await?;
        let id_token = tokens.id_token().ok_or_else(|| invalid("there is no ID token"))?;
        let nonce = Nonce::new(flow.nonce.clone());
        let verified = match self.verified(&metadata, &tokens, id_token, &nonce, now) {
            Err(ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoMatchingKey)) => {
                // The provider may have new keys.
                let metadata = self.metadata(now, Duration::ZERO).await?;
                self.verified(&metadata, &tokens, id_token, &nonce, now)
            }
            other => other,
        };
        let mut claims = verified.map_err(|error| invalid(&error.to_string()))?;
        if wants_more(&claims) {
            self.add_user_info(&metadata, &tokens, &mut claims).await;
        }
        Ok(Identified { claims, id_token: id_token.to_string() })
    }

    /// Where the browser goes so that the provider ends its session too, if that is offered, with the ID token where
    /// one was kept. RP-Initiated Logout 2.
    pub async fn sign_out_url(&self, id_token: Option<&str>, back: &str, now: Timestamp) -> Option<Url> {
        let metadata = self.metadata(now, DISCOVERY_FRESH).await.ok()?;
        let mut url = metadata.additional_metadata().end_session_endpoint.clone()?;
        let mut query = url.query_pairs_mut();
        query.append_pair("client_id", &self.settings.client_id).append_pair("post_logout_redirect_uri", back);
        if let Some(id_token) = id_token {
            query.append_pair("id_token_hint", id_token);
        }
        drop(query);
        Some(url)
    }

    async fn tokens(
        &self,
        metadata: &Metadata,
        code: String,
        flow: &Flow,
        redirect_uri: &str,
    ) -> Result<CoreTokenResponse, OidcError> {
        let client = CoreClient::from_provider_metadata(
            metadata.clone(),
            ClientId::new(self.settings.client_id.clone()),
            self.settings.client_secret.clone().map(ClientSecret::new),
        )
        .set_redirect_uri(redirect(redirect_uri)?)
        .set_auth_type(self.auth_type(metadata));
        let request = client.exchange_code(AuthorizationCode::new(code)).map_err(|error| broken(&error.to_string()))?;
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(flow.verifier.clone()));
        request.request_async(&self.exchange).await.map_err(|error| match error {
            // `invalid_grant` is the browser's: a code that was swapped, used or is too old. All else is ours.
            RequestTokenError::ServerResponse(refusal) => invalid(refusal.error().as_ref()),
            RequestTokenError::Request(error) => broken(&error.log_reason()),
            RequestTokenError::Parse(..) => broken("its answer for a code can't be read"),
            RequestTokenError::Other(error) => broken(&error),
        })
    }

    fn auth_type(&self, metadata: &Metadata) -> AuthType {
        let ways = metadata.token_endpoint_auth_methods_supported();
        let knows = |way| ways.is_none_or(|ways| ways.contains(&way));
        match knows(CoreClientAuthMethod::ClientSecretBasic) || !knows(CoreClientAuthMethod::ClientSecretPost) {
            true => AuthType::BasicAuth,
            false => AuthType::RequestBody,
        }
    }

    /// The claims of an ID token that holds. OpenID Connect Core 3.1.3.6, 3.1.3.7.
    fn verified(
        &self,
        metadata: &Metadata,
        tokens: &CoreTokenResponse,
        id_token: &CoreIdToken,
        nonce: &Nonce,
        now: Timestamp,
    ) -> Result<Map<String, Value>, ClaimsVerificationError> {
        let other = |text: &str| ClaimsVerificationError::Other(text.to_owned());
        let verifier = CoreIdTokenVerifier::new_public_client(
            ClientId::new(self.settings.client_id.clone()),
            metadata.issuer().clone(),
            metadata.jwks().clone(),
        )
        .set_allowed_algs(ALGORITHMS)
        .set_time_fn(move || DateTime::from_timestamp(now.as_second(), 0).unwrap_or_default());
        let claims = id_token.claims(&verifier, nonce)?;
        if let Some(expected) = claims.access_token_hash() {
            let algorithm = id_token.signing_alg().map_err(|_| other("its algorithm is unknown"))?;
            let key = id_token.signing_key(&verifier).map_err(ClaimsVerificationError::SignatureVerification)?;
            let own = AccessTokenHash::from_token(tokens.access_token(), algorithm, key);
            if own.map_err(|_| other("its access token can't be hashed"))? != *expected {
                return Err(other("it belongs to another access token"));
            }
        }
        // Verified above: read once more, for the claims that the library has no names for.
        let text = id_token.to_string();
        let payload = text.split('.').nth(1).and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
        match payload.and_then(|payload| json::parse(&payload).ok()) {
            // Which the library leaves to us: 3.1.3.7, step 5.
            Some(Value::Object(claims)) if claims.get("azp").is_some_and(|azp| *azp != *self.settings.client_id) => {
                Err(other("it was issued for another client"))
            }
            Some(Value::Object(claims)) => Ok(claims),
            _ => Err(other("its claims can't be read")),
        }
    }

    /// Adds what the ID token leaves out, where the provider tells it elsewhere, about the same subject.
    /// OpenID Connect Core 5.3. What it does not tell is missing, and whoever needs it says so.
    async fn add_user_info(&self, metadata: &Metadata, tokens: &CoreTokenResponse, claims: &mut Map<String, Value>) {
        let Some(subject) = claims.get("sub").and_then(Value::as_str).map(str::to_owned) else { return };
        let id = ClientId::new(self.settings.client_id.clone());
        let client = CoreClient::from_provider_metadata(metadata.clone(), id, None);
        let subject = openidconnect::SubjectIdentifier::new(subject);
        let Ok(request) = client.user_info(tokens.access_token().clone(), Some(subject)) else { return };
        let told: Result<UserInfoClaims<AnyClaims, CoreGenderClaim>, _> = request.request_async(&self.exchange).await;
        match told.map(|told| serde_json::to_value(&told)) {
            Ok(Ok(Value::Object(told))) => {
                for (name, value) in told {
                    claims.entry(name).or_insert(value);
                }
            }
            Ok(_) => tracing::warn!("what the provider says of a person can't be read"),
            Err(error) => tracing::warn!(%error, "the provider says nothing more of a person"),
        }
    }

    /// What the provider says of itself, no older than `fresh` unless it can't be asked.
    async fn metadata(&self, now: Timestamp, fresh: Duration) -> Result<Arc<Metadata>, OidcError> {
        let mut known = self.known.lock().await;
        if let Some(metadata) = known.metadata.as_ref().filter(|_| within(known.fetched_at, now, fresh)) {
            return Ok(metadata.clone());
        }
        // Nobody but the provider can make us ask again for an unknown key, since it gave us the token.
        let failed_lately = known.tried_at != known.fetched_at && within(known.tried_at, now, DISCOVERY_RETRY);
        if !failed_lately {
            known.tried_at = Some(now);
            match self.discovered().await {
                Ok(metadata) => {
                    known.fetched_at = Some(now);
                    known.metadata = Some(Arc::new(metadata));
                }
                Err(reason) => tracing::warn!(issuer = self.settings.issuer, reason, "the provider can't be asked"),
            }
        }
        // What it said before serves while it is away.
        known.metadata.clone().ok_or(OidcError::Unavailable)
    }

    async fn discovered(&self) -> Result<Metadata, String> {
        let issuer = IssuerUrl::new(self.settings.issuer.clone()).map_err(|error| error.to_string())?;
        let metadata = Metadata::discover_async(issuer, &self.exchange).await.map_err(|error| match error {
            openidconnect::DiscoveryError::Request(error) => error.log_reason(),
            other => other.to_string(),
        })?;
        // Browsers are sent there: a provider on https may not lead them out of it.
        let leads_on = |url: &Url| url.scheme() == "https" || self.settings.issuer.starts_with("http://");
        let signs_out_well = metadata.additional_metadata().end_session_endpoint.as_ref().is_none_or(leads_on);
        match signs_out_well && leads_on(metadata.authorization_endpoint().url()) {
            true => Ok(metadata),
            false => Err("it sends people to a page that is not https".to_owned()),
        }
    }
}

fn redirect(uri: &str) -> Result<RedirectUrl, OidcError> {
    RedirectUrl::new(uri.to_owned()).map_err(|_| OidcError::Invalid)
}

fn invalid(reason: &str) -> OidcError {
    tracing::warn!(reason, "a sign-in did not hold");
    OidcError::Invalid
}

fn broken(reason: &str) -> OidcError {
    tracing::warn!(reason, "the provider can't be asked");
    OidcError::Unavailable
}

/// Whether `then` lies less than `time` before `now`. A clock that was set back counts as past.
fn within(then: Option<Timestamp>, now: Timestamp, time: Duration) -> bool {
    let age = then.map(|then| now.as_second() - then.as_second());
    age.is_some_and(|age| (0..time.as_secs().cast_signed()).contains(&age))
}
