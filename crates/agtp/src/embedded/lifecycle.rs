//! ACTIVATE, DEACTIVATE, REINSTATE, REVOKE and DEPRECATE: changes of an agent's lifecycle state. Base 3.2, 3.4.

use arc_swap::ArcSwap;
use forecourt_agtp_wire::status::Status;
use forecourt_core::{Error, Handle, LifecycleState, LifecycleTransition};
use forecourt_host::{Attest, Host, LifecycleChange, LifecycleOutcome, StoredLifecycleChange};
use forecourt_identity::HostKeys;
use forecourt_identity::agents::AgentIdentity;
use serde_json::{Map, json};

use super::agents::{HostAgents, no_agent};
use super::call::MethodCall;
use super::contracts::CallerContracts;
use super::events::{audit_id, event_type, record_of, sign_event};
use crate::problem::unauthorized;
use crate::records::Records;
use crate::reply::{Problem, Reply};
use crate::settings::LifecycleAuth;

/// Changes lifecycle states of the agents here, and does nothing else of the host.
#[derive(Clone, Copy)]
pub(super) struct LifecycleControl<'a>(&'a Host);

impl<'a> LifecycleControl<'a> {
    pub(super) fn new(host: &'a Host) -> Self {
        Self(host)
    }

    async fn change(
        self,
        agent: &Handle,
        change: &LifecycleChange,
        attest: Attest<'_>,
    ) -> Result<LifecycleOutcome, Error> {
        self.0.operator().change_lifecycle(agent, change, attest).await
    }
}

/// A change of an agent's lifecycle state.
pub(super) struct LifecycleMethod<'a> {
    pub call: MethodCall<'a>,
    pub agents: HostAgents<'a>,
    /// The agent that the path names.
    pub addressed: Option<&'a AgentIdentity>,
    /// The agent that calls, if it is known here.
    pub known: Option<&'a AgentIdentity>,
    /// The key of the certificate that the caller showed.
    pub key_fingerprint: Option<&'a str>,
    /// Whether the request came from this machine.
    pub is_local: bool,
    /// The proof that a change needs, by the operator's settings.
    pub auth: LifecycleAuth,
    pub control: LifecycleControl<'a>,
    pub records: &'a Records,
    pub keys: &'a ArcSwap<HostKeys>,
    /// The name of this server, which signs.
    pub server_id: &'a str,
    pub contracts: CallerContracts<'a>,
}

impl LifecycleMethod<'_> {
    /// Lets an agent stand elsewhere, if the caller may.
    pub(super) async fn run(&self) -> Result<Reply, Problem> {
        if self.call.method == "REVOKE" && self.call.given.get(&["target"]).is_some() {
            return self.contracts.revoke().await;
        }
        if self.call.method == "REVOKE" {
            self.call.given.require(&[&["reason"]])?;
        }
        let agent = self.subject()?;
        let handle = agent.handle.as_ref().ok_or_else(|| no_agent(Some(agent.agent_id.as_str())))?;
        self.require_authority(agent)?;
        let change = self.change()?;
        let keys = self.keys.load();
        let server = self.server_id;
        let attest = |change: &LifecycleTransition| Some(sign_event(keys.current(), &agent.agent_id, server, change));
        let outcome = self.control.change(handle, &change, &attest).await?;
        // After the change, which stands even where it can't be recorded. Base 8.2.
        if let LifecycleOutcome::Now(kept) = &outcome {
            self.records.event(&agent.agent_id, record_of(kept)).await;
        }
        self.reply_of(agent, handle, change.to, outcome)
    }

    /// The agent that it is about: the one in the parameters, else the one that is addressed by its path
    /// or calls.
    fn subject(&self) -> Result<&AgentIdentity, Problem> {
        let Some(id) = self.call.given.agent(&["agent_id"])? else {
            let agent = self.addressed.or(self.known);
            let missing = || self.call.given.missing(Status::UNPROCESSABLE, &["agent_id"]);
            return agent.ok_or_else(missing);
        };
        self.agents.get(&id)
    }

    /// Base 3.2: anybody on this machine where the operator left it open, else who holds the key that
    /// issued the agent's genesis document.
    fn require_authority(&self, agent: &AgentIdentity) -> Result<(), Problem> {
        if self.auth == LifecycleAuth::Open && self.is_local {
            return Ok(());
        }
        let Some(fingerprint) = self.key_fingerprint else {
            let message = "show a client certificate with the key that issued the agent's genesis document";
            return Err(unauthorized("genesis-issuer-cert-required", message));
        };
        let forbidden = |code, message: &str| Err(Problem::new(Status::FORBIDDEN, code, message).with("reason", code));
        match agent.genesis().map(|genesis| genesis.issuer_fingerprint()) {
            None => forbidden(
                "genesis-not-loaded",
                "no genesis document of this agent is known here, so nobody may change it",
            ),
            Some(issuer) if issuer.as_deref() == Some(fingerprint) => Ok(()),
            Some(_) => forbidden(
                "genesis-issuer-mismatch",
                "the certificate's key did not issue this agent's genesis document",
            ),
        }
    }

    fn change(&self) -> Result<LifecycleChange, Problem> {
        let to = match self.call.method {
            "DEACTIVATE" => LifecycleState::Suspended,
            "REVOKE" => LifecycleState::Retired,
            "DEPRECATE" => LifecycleState::Deprecated,
            _ => LifecycleState::Active,
        };
        let mut details = Map::new();
        if to == LifecycleState::Deprecated {
            let successor = self.call.given.agent(&["successor_agent_id"])?;
            let deadline = self.call.given.moment(&["migration_deadline"])?;
            details.extend(successor.map(|id| ("successor_agent_id".to_owned(), json!(id))));
            details.extend(deadline.map(|deadline| ("migration_deadline".to_owned(), json!(deadline))));
        }
        // Who says so, and who it says is behind it.
        let caller = self.call.caller.agent_id.clone().or_else(|| self.key_fingerprint.map(str::to_owned));
        details.extend(caller.map(|caller| ("requested_by".to_owned(), caller.into())));
        details.insert("method".to_owned(), self.call.method.into());
        let by = self.call.given.name(&["actor"])?.map(str::to_owned).or_else(|| self.call.caller.agent_id.clone());
        Ok(LifecycleChange { to, by, reason: self.call.given.reason()?, details })
    }

    fn reply_of(
        &self,
        agent: &AgentIdentity,
        handle: &Handle,
        to: LifecycleState,
        outcome: LifecycleOutcome,
    ) -> Result<Reply, Problem> {
        let mut body = json!({"method": self.call.method, "agent_id": agent.agent_id, "status": to.name()});
        match outcome {
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
                let message = format!("@{handle} is {}, from where {} leads nowhere", from.name(), self.call.method);
                Err(Problem::new(Status::UNPROCESSABLE, "invalid-lifecycle-transition", message)
                    .with("agent_id", agent.agent_id.as_str())
                    .with("status", from.name()))
            }
        }
    }
}
