//! What proves who calls, and the sender that it makes. Base 6.7, 7.4; design of identity in the core.

use std::sync::Arc;

use forecourt_contract::{Scope, ScopeSet};
use forecourt_core::Site;
use forecourt_core::identity::{Audience, BEARER_TOKEN, Proof};
use forecourt_core::{Clock, IdentityEvidence, Sender};
use forecourt_host::Directory;
use forecourt_identity::agents::AgentIdentity;
use forecourt_identity::{PresentedCredentials, RequestProof, Verifier, api_keys};
use forecourt_surface::credentials;
use http::{HeaderMap, HeaderValue, header};
use serde_json::{Map, Value};

use crate::limits::PRINCIPAL_BYTES_MAX;
use crate::problem::{IdentityError, OAUTH_INVALID, unauthorized};
use crate::reply::Problem;
use crate::service::{ConnectionInfo, uri};
use crate::settings::{AgtpSettings, TokenValidator};

/// Who everybody is whose token nobody checks.
const UNCHECKED: &str = "unchecked:anybody";

/// What speaks for whoever calls on a connection: a certificate is read by [`ConnectionInfo`], a token here.
#[derive(Clone, Copy)]
pub(super) struct Credentials<'a> {
    /// Proof in, sender out.
    pub verifier: &'a Verifier,
    /// What this place is called.
    pub site: &'a Site,
    /// The agents here, of which the default one is whom tokens are for.
    pub directory: &'a Directory,
    pub clock: &'a dyn Clock,
    pub settings: &'a AgtpSettings,
}

impl Credentials<'_> {
    /// Whether an agent has to prove its name on this connection: a name alone is a claim. Base 6.7.
    pub(super) fn must_prove(&self, connection: &ConnectionInfo) -> bool {
        let is_local = connection.peer.is_loopback() && self.settings.listen.ip().is_loopback();
        self.settings.require_verified_identity.unwrap_or(!is_local)
    }

    /// An agent as the sender of messages, with the scopes that it has. A name that was only said is a hint,
    /// and no evidence.
    pub(super) fn sender(
        &self,
        agent: &AgentIdentity,
        is_proven: bool,
        scopes: &ScopeSet,
        connection: &ConnectionInfo,
    ) -> Sender {
        let subject = uri(agent);
        let stranger = connection.stranger();
        if !is_proven {
            return Sender { claimed_address: Some(subject), ..stranger };
        }
        let mut claims = connection.certified();
        claims.insert("scope".to_owned(), scopes.iter().map(Scope::as_str).collect());
        let evidence = IdentityEvidence {
            id: None,
            subject,
            issuer: self.site.domain.to_string(),
            method: "urn:agtp:agent-certificate".to_owned(),
            assurance: "agent".to_owned(),
            audience: Audience::Many(Vec::new()),
            issued_at: self.clock.now(),
            not_before: None,
            expires_at: None,
            on_behalf_of: agent.posture.owner_id.iter().cloned().collect(),
            claims,
            source: Map::new(),
            proof: Proof { kind: "transport".to_owned(), fields: Map::new() },
        };
        let auth_method = "agtp-agent-certificate".to_owned();
        Sender { auth_method, verified: true, identities: vec![evidence], agent: agent.handle.clone(), ..stranger }
    }

    /// Who a bearer token says its sender is, and for whom that one acts; nobody in particular without one.
    ///
    /// # Errors
    /// The token does not hold, or not now, or does not say for whom it was issued.
    pub(super) async fn bearer(
        &self,
        authorization: Option<&str>,
        connection: &ConnectionInfo,
    ) -> Result<(Sender, Option<Arc<str>>), Problem> {
        let stranger = connection.stranger();
        let oauth = &self.settings.policies.oauth;
        let Some(value) = authorization.filter(|_| oauth.enabled) else { return Ok((stranger, None)) };
        if oauth.validator == TokenValidator::Noop {
            return self.accept_unchecked(value, connection).map(|sender| (sender, None));
        }
        // On the heap, since most requests bring none.
        let (proven, presented) = Box::pin(self.verify(value)).await;
        if let Some(part) = credentials::refused_for_now(&presented) {
            return Err(part.into());
        }
        match presented {
            PresentedCredentials::Nothing => Ok((stranger, None)),
            PresentedCredentials::Valid => {
                let principal = self.acting_principal(&proven)?;
                // The verifier sees no connection: the address is needed for limits by network.
                Ok((Sender { peer: stranger.peer, ..proven }, Some(principal)))
            }
            PresentedCredentials::Invalid(error) | PresentedCredentials::InvalidSignature(error) => {
                tracing::info!(fault = %error, "a token did not hold");
                Err(IdentityError::Token.into())
            }
            // Said above.
            PresentedCredentials::Limited { .. } => Err(IdentityError::Token.into()),
        }
    }

    /// For whom the bearer of a token acts: the claim that the operator named, as its issuer wrote it. The bearer of
    /// an API key acts for itself.
    ///
    /// # Errors
    /// The token has no such claim, or none that names anybody.
    fn acting_principal(&self, proven: &Sender) -> Result<Arc<str>, Problem> {
        let claim = self.settings.policies.oauth.principal_id_claim.as_str();
        let named = proven.identities.first().and_then(|evidence| match claim {
            _ if evidence.method == api_keys::METHOD => Some(evidence.subject.as_str()),
            "sub" => self.verifier.token_subject(evidence),
            claim => evidence.claims.get(claim).and_then(Value::as_str),
        });
        let fits =
            |name: &&str| !name.is_empty() && name.len() <= PRINCIPAL_BYTES_MAX && !name.chars().any(char::is_control);
        named.filter(fits).map(Arc::from).ok_or_else(|| {
            let message = format!(
                "the token does not say for whom it was issued: send one whose claim `{claim}` is a name of at most \
                 {PRINCIPAL_BYTES_MAX} bytes"
            );
            unauthorized(OAUTH_INVALID, &message)
        })
    }

    /// The bearer of a token that nobody checks: somebody who showed one, and nobody by name. From this machine alone,
    /// whatever was configured.
    fn accept_unchecked(&self, authorization: &str, connection: &ConnectionInfo) -> Result<Sender, Problem> {
        let token = authorization.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let is_token = token.is_some_and(|(_, token)| !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic()));
        let is_here = connection.peer.is_loopback() && self.settings.listen.ip().is_loopback();
        if !is_token || !is_here {
            return Err(IdentityError::Token.into());
        }
        let evidence = IdentityEvidence {
            id: None,
            subject: UNCHECKED.to_owned(),
            issuer: self.site.domain.to_string(),
            method: "urn:forecourt:auth:unchecked-token".to_owned(),
            assurance: "none".to_owned(),
            audience: Audience::Many(Vec::new()),
            issued_at: self.clock.now(),
            not_before: None,
            expires_at: None,
            on_behalf_of: Vec::new(),
            claims: Map::new(),
            source: Map::new(),
            proof: Proof { kind: BEARER_TOKEN.to_owned(), fields: Map::new() },
        };
        let auth_method = "unchecked-token".to_owned();
        Ok(Sender { auth_method, verified: true, identities: vec![evidence], ..connection.stranger() })
    }

    async fn verify(&self, authorization: &str) -> (Sender, PresentedCredentials) {
        let mut headers = HeaderMap::new();
        if let Ok(value) = HeaderValue::from_str(authorization) {
            headers.insert(header::AUTHORIZATION, value);
        }
        let site = self.site;
        let agent = self.directory.default_agent().card.address.clone();
        // Tokens cover nothing of the request, so that it does not matter that this one is no HTTP.
        let proof = RequestProof {
            method: "POST",
            target_uri: &site.base,
            authority: site.canonical_host(),
            path: "/",
            query: None,
            headers: &headers,
            body: None,
            agent: &agent,
            now: self.clock.now(),
        };
        let verified = self.verifier.verify(&proof).await;
        (verified.sender, verified.presented)
    }
}
