//! ACTIVATE, DEACTIVATE, REINSTATE, REVOKE and DEPRECATE: where an agent stands. Base 3.2, 3.4.

use forecourt_contract::Scope;
use forecourt_core::{Handle, LifecycleState, LifecycleTransition};
use forecourt_host::{LifecycleChange, LifecycleOutcome, StoredLifecycleChange};
use forecourt_identity::agents::AgentIdentity;
use serde_json::{Map, json};

use super::events::{audit_id, event_type, recorded, signed};
use super::{Floor, no_agent};
use crate::problem::{OPERATOR_SCOPE, unauthorized};
use crate::reply::{Problem, Reply};
use crate::settings::LifecycleAuth;
use crate::status::Status;

impl Floor<'_> {
    /// Lets an agent stand elsewhere, if the caller may.
    pub(super) async fn lifecycle(&self) -> Result<Reply, Problem> {
        if self.method == "REVOKE" && self.given.get(&["target"]).is_some() {
            return self.revoke_contracts().await;
        }
        if self.method == "REVOKE" {
            self.given.require(&[&["reason"]])?;
        }
        let agent = self.subject()?;
        let handle = agent.handle.as_ref().ok_or_else(|| no_agent(Some(agent.agent_id.as_str())))?;
        self.may_change(agent)?;
        let wish = self.wish()?;
        let keys = self.service.keys.load();
        let server = self.server_id();
        let attest = |change: &LifecycleTransition| Some(signed(keys.current(), &agent.agent_id, server, change));
        let changed = self.service.host.operator().change_lifecycle(handle, &wish, &attest).await?;
        if let LifecycleOutcome::Now(kept) = &changed {
            self.service.records.event(&agent.agent_id, recorded(kept)).await;
        }
        self.changed(agent, handle, wish.to, changed)
    }

    /// The agent that it is about: the one in the parameters, else the one that is addressed by its path
    /// or calls.
    fn subject(&self) -> Result<&AgentIdentity, Problem> {
        let Some(id) = self.given.agent(&["agent_id"])? else {
            let said = self.ask.addressed.as_ref().or(self.ask.known.as_ref());
            let missing = || self.given.missing(Status::UNPROCESSABLE, &["agent_id"]);
            return said.map(AsRef::as_ref).ok_or_else(missing);
        };
        self.service.agents.get(&id).map(AsRef::as_ref).ok_or_else(|| no_agent(Some(id.as_str())))
    }

    /// Base 3.2: anybody on this machine where the operator left it open, else who holds the key that
    /// issued the agent's genesis document.
    fn may_change(&self, agent: &AgentIdentity) -> Result<(), Problem> {
        let settings = &self.service.settings;
        let usual = if settings.listen.ip().is_loopback() { LifecycleAuth::Open } else { LifecycleAuth::GenesisIssuer };
        if settings.lifecycle_auth.unwrap_or(usual) == LifecycleAuth::Open && self.ask.is_local {
            return Ok(());
        }
        let Some(shown) = &self.ask.key_fingerprint else {
            let message = "show a client certificate with the key that issued the agent's genesis document";
            return Err(unauthorized("genesis-issuer-cert-required", message));
        };
        let forbidden = |code, message: &str| Err(Problem::new(Status::FORBIDDEN, code, message).with("reason", code));
        match agent.genesis().map(|genesis| genesis.issuer_fingerprint()) {
            None => forbidden(
                "genesis-not-loaded",
                "no genesis document of this agent is known here, so nobody may change it",
            ),
            Some(issuer) if issuer.as_deref() == Some(shown) => Ok(()),
            Some(_) => forbidden(
                "genesis-issuer-mismatch",
                "the certificate's key did not issue this agent's genesis document",
            ),
        }
    }

    fn wish(&self) -> Result<LifecycleChange, Problem> {
        let to = match self.method {
            "DEACTIVATE" => LifecycleState::Suspended,
            "REVOKE" => LifecycleState::Retired,
            "DEPRECATE" => LifecycleState::Deprecated,
            _ => LifecycleState::Active,
        };
        let mut details = Map::new();
        if to == LifecycleState::Deprecated {
            let successor = self.given.agent(&["successor_agent_id"])?;
            let deadline = self.given.moment(&["migration_deadline"])?;
            details.extend(successor.map(|id| ("successor_agent_id".to_owned(), json!(id))));
            details.extend(deadline.map(|deadline| ("migration_deadline".to_owned(), json!(deadline))));
        }
        // Who says so, and who it says is behind it.
        let caller = self.ask.call.caller.agent_id.clone().or_else(|| self.ask.key_fingerprint.clone());
        details.extend(caller.map(|caller| ("requested_by".to_owned(), caller.into())));
        details.insert("method".to_owned(), self.method.into());
        let by = self.given.name(&["actor"])?.map(str::to_owned).or_else(|| self.ask.call.caller.agent_id.clone());
        Ok(LifecycleChange { to, by, reason: self.given.reason()?, details })
    }

    fn changed(
        &self,
        agent: &AgentIdentity,
        handle: &Handle,
        to: LifecycleState,
        changed: LifecycleOutcome,
    ) -> Result<Reply, Problem> {
        let mut body = json!({"method": self.method, "agent_id": agent.agent_id, "status": to.name()});
        match changed {
            LifecycleOutcome::Now(kept) => {
                let StoredLifecycleChange { change, statement } = *kept;
                body["previous_status"] = change.from.name().into();
                body["event_type"] = event_type(&change).into();
                body["audit_id"] = statement.as_deref().map(audit_id).into();
                body["issued_at"] = json!(change.at);
                for name in ["successor_agent_id", "migration_deadline"] {
                    if let Some(value) = change.details.get(name) {
                        body[name] = value.clone();
                    }
                }
                Ok(Reply::ok(body))
            }
            LifecycleOutcome::Already => {
                body["previous_status"] = to.name().into();
                body["noop"] = true.into();
                Ok(Reply::ok(body))
            }
            LifecycleOutcome::Never(from) => {
                let message = format!("@{handle} is {}, from where {} leads nowhere", from.name(), self.method);
                Err(Problem::new(Status::UNPROCESSABLE, "invalid-lifecycle-transition", message)
                    .with("agent_id", agent.agent_id.as_str())
                    .with("status", from.name()))
            }
        }
    }

    /// Whether the caller may see and decide what is other agents'.
    pub(super) fn is_operator(&self) -> Result<(), Problem> {
        let holds = Scope::parse(OPERATOR_SCOPE).is_ok_and(|scope| self.authority().covers(&scope));
        let message = format!("this is for agents that declare the scope {OPERATOR_SCOPE}");
        if holds { Ok(()) } else { Err(Problem::new(Status::FORBIDDEN, "operator-scope-required", message)) }
    }

    /// The name of this server.
    pub(super) fn server_id(&self) -> &str {
        self.service.server_id()
    }
}
