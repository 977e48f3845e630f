//! This module finds out which agent calls, and what it may do, from `Agent-ID`, certificate and token. Base 2.4, 6.7,
//! 7.4.

use std::sync::Arc;

use forecourt_contract::call::Identity;
use forecourt_contract::{Caller, ScopeSet};
use forecourt_core::{AgentId, Authority, Error, Sender};
use forecourt_host::LifecycleView;
use forecourt_identity::agents::{AgentIdentity, KnownAgents};
use forecourt_identity::api_keys;
use forecourt_identity::certificate::CertificateClaim;

use super::credentials::Credentials;
use super::target::RequestTarget;
use crate::from_wire::{GENESIS, RequestFields};
use crate::problem::IdentityError;
use crate::reply::Problem;
use crate::service::{ConnectionInfo, lifecycle_state, uri};

/// Finds out who calls.
pub(super) struct CallerLookup<'a> {
    /// The agents that are known by their Agent-ID.
    pub agents: &'a KnownAgents,
    /// What proves who calls.
    pub credentials: Credentials<'a>,
    /// Where agents stand in their lives.
    pub lifecycle: LifecycleView<'a>,
    /// The connection that the request came by.
    pub connection: &'a ConnectionInfo,
}

/// The caller as it was established, with the reason why it is not taken for who it says it is, if there is one.
#[derive(Debug)]
pub(super) struct CallerIdentity {
    pub caller: Caller,
    pub known: Option<Arc<AgentIdentity>>,
    pub doubt: Option<Problem>,
}

impl CallerLookup<'_> {
    /// Looks the caller up, and at what it shows. What is doubted is said later, in its turn.
    ///
    /// # Errors
    /// It can't be told where the caller stands.
    ///
    /// A genesis document is fetched before anything can be proven by it, so that a name which is only claimed is
    /// no obstacle to that. AGTP-API 5.8.1.
    pub(super) async fn identify(
        &self,
        fields: &RequestFields<'_>,
        target: &RequestTarget,
        method: &str,
    ) -> Result<CallerIdentity, Error> {
        let is_for_genesis = method == "DISCOVER" && target.path == GENESIS;
        let token = self.credentials.bearer(fields.authorization, self.connection).await;
        let (mut sender, acting_principal_id, mut doubt) = match token {
            Ok((sender, principal)) => (sender, principal, None),
            Err(doubt) => (self.connection.stranger(), None, Some(doubt)),
        };
        let Some(name) = fields.agent_id else {
            // Who shows what does not hold wants to be somebody, and is nobody that is known.
            let identity = if doubt.is_some() { Identity::Unrecognised } else { Identity::Anonymous };
            sender.authority = std::mem::take(&mut sender.authority).claiming(fields.claimed.clone());
            let caller = Caller { identity, acting_principal_id, sender: Arc::new(sender), ..Caller::default() };
            return Ok(CallerIdentity { caller, known: None, doubt });
        };
        let named = AgentId::parse(name).ok().and_then(|id| self.agents.get(&id)).cloned();
        let certified = named.as_ref().map_or(Ok(false), |agent| self.certified(agent, fields));
        let is_proven =
            named.as_ref().is_some_and(|agent| *certified.as_ref().unwrap_or(&false) || self.proves(&sender, agent));
        // The first doubt is the one that is told: a token, then a certificate, and only then that nothing proves the
        // name.
        doubt = doubt
            .or_else(|| certified.err())
            .or_else(|| self.doubt(named.as_ref(), is_proven, target).map(Problem::from));
        if !is_proven && is_for_genesis && named.is_some() && self.credentials.must_prove(self.connection) {
            // It is not taken for that agent; the name says whose document is wanted.
            let agent_id = Some(name.to_owned());
            let caller = Caller { agent_id, acting_principal_id, sender: Arc::new(sender), ..Caller::default() };
            return Ok(CallerIdentity { caller, known: None, doubt: None });
        }
        let known = named.filter(|_| doubt.is_none());
        let caller = self.caller(name, known.as_deref()).await?;
        if let Some(agent) = &known {
            let declared = self.connection.within(&agent.declared);
            // A key is the operator's word on what its bearer may do, whichever agent that is.
            let has_key = sender.identities.iter().any(|evidence| evidence.method == api_keys::METHOD);
            let is_of_token = has_key || (is_proven && sender.showed_token());
            if !sender.verified {
                sender = self.credentials.sender(agent, is_proven, &declared, self.connection);
            }
            sender.authority = self.authority(&sender, declared, is_of_token).claiming(fields.claimed.clone());
        }
        let caller = Caller { is_proven, acting_principal_id, sender: Arc::new(sender), ..caller };
        Ok(CallerIdentity { caller, known, doubt })
    }

    /// Whether the certificate of the connection is the agent's own.
    ///
    /// # Errors
    /// It is held against the caller.
    fn certified(&self, agent: &AgentIdentity, fields: &RequestFields<'_>) -> Result<bool, Problem> {
        let certificate = match &self.connection.certificate {
            None => return Ok(false),
            Some(Ok(certificate)) => certificate,
            Some(Err(_)) => return Err(IdentityError::Certificate.into()),
        };
        let is_free = !self.credentials.settings.mtls.require_agent_id_match;
        // Where the operator lets names and certificates differ, another agent's certificate proves nothing, and is not
        // held against the caller.
        if is_free && !certificate.is_of(&agent.agent_id, Some(agent)) {
            return Ok(false);
        }
        let claim = CertificateClaim {
            agent_id: &agent.agent_id,
            agent: Some(agent),
            principal_id: fields.principal_id,
            scopes: fields.claimed.as_ref(),
            zone: fields.zone,
            now: self.credentials.clock.now(),
        };
        certificate.check(claim).map(|()| true).map_err(|mismatch| {
            let problem = Problem::from(mismatch);
            fields.zone.map_or(problem.clone(), |zone| problem.with("request_zone", zone))
        })
    }

    /// Whether a token is of the agent's own name: the whole of it, since parts of subjects are often for
    /// anybody to choose.
    fn proves(&self, sender: &Sender, agent: &AgentIdentity) -> bool {
        if !sender.verified {
            return false;
        }
        let address = uri(agent);
        let names = [agent.agent_id.as_str(), address.as_str()];
        let is_own = |evidence| names.iter().any(|name| self.credentials.verifier.is_token_of(evidence, name));
        sender.identities.iter().any(is_own)
    }

    /// What the agent may do: what it declares, and of that what its token grants, if that says so.
    fn authority(&self, sender: &Sender, declared: ScopeSet, is_of_token: bool) -> Authority {
        let authority = Authority::granted(declared);
        let says_scopes = sender.identities.iter().any(|evidence| evidence.claims.contains_key("scope"));
        match is_of_token && says_scopes {
            true => authority.within(&Authority::of_evidence(&sender.identities).held()),
            false => authority,
        }
    }

    /// What speaks against the agent that the caller says it is.
    fn doubt(
        &self,
        named: Option<&Arc<AgentIdentity>>,
        is_proven: bool,
        target: &RequestTarget,
    ) -> Option<IdentityError> {
        let Some(agent) = named else { return Some(IdentityError::Unknown) };
        if !is_proven && self.credentials.must_prove(self.connection) {
            return Some(IdentityError::Unproven);
        }
        // Only who lives here can be taken for another one that does.
        let is_other = target.agent.as_ref().is_some_and(|addressed| addressed.agent_id != agent.agent_id);
        (is_other && agent.is_hosted()).then_some(IdentityError::PathNamesAnother)
    }

    /// The caller in the contract layer's words.
    async fn caller(&self, name: &str, known: Option<&AgentIdentity>) -> Result<Caller, Error> {
        let Some(agent) = known else {
            let agent_id = Some(name.chars().take(AGENT_ID_SHOWN).collect());
            return Ok(Caller { agent_id, identity: Identity::Unrecognised, ..Caller::default() });
        };
        Ok(Caller {
            agent_id: Some(agent.agent_id.as_str().to_owned()),
            identity: Identity::Recognised,
            standing: lifecycle_state(self.lifecycle, agent).await?,
            wildcards: agent.wildcards,
            trust_tier: Some(self.connection.tier_within(agent.posture.trust_tier).into()),
            ..Caller::default()
        })
    }
}

/// Characters of a name that is none, for records.
const AGENT_ID_SHOWN: usize = 64;
