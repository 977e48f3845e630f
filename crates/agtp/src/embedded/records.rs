//! INSPECT of records: one by its name, where a chain stands, and the events of an agent's life. Base 3.3, 8.

use forecourt_agtp_wire::status::Status;
use forecourt_attribution::{LogError, RecordLog};
use forecourt_core::AgentId;
use forecourt_identity::agents::AgentIdentity;
use serde_json::{Value, json};

use super::call::{MethodCall, not_kept};
use super::events::describe_jws;
use crate::problem::unauthorized;
use crate::reply::{Problem, Reply};
use crate::settings::ReadAcl;

/// Reads records and events for callers whom the operator lets read them. Base 3.3.
#[derive(Clone, Copy)]
pub(super) struct RecordReader<'a> {
    pub call: MethodCall<'a>,
    /// `None`: no records are kept here.
    pub log: Option<&'a RecordLog>,
    /// Whom the operator lets read.
    pub acl: ReadAcl,
    /// Keys of certificates whose holders read everything.
    pub operator_keys: &'a [String],
    /// The agent that calls, if it is known here.
    pub known: Option<&'a AgentIdentity>,
    /// The key of the certificate that the caller showed.
    pub key_fingerprint: Option<&'a str>,
}

impl<'a> RecordReader<'a> {
    /// A record or event by its Audit-ID.
    pub(super) async fn inspect_audit(&self) -> Result<Reply, Problem> {
        let audit_id = self.call.given.named("audit_id")?;
        // Before anything is looked up, so that nobody learns what there is.
        self.require_some_reader()?;
        let missing = || not_kept("audit-record-not-found", "audit_id", audit_id);
        let jws = self.records()?.find(audit_id).await.map_err(|error| unreadable(&error))?.ok_or_else(missing)?;
        let body = describe_jws(&jws);
        let agent = body["payload"]["agent_id"].as_str().and_then(|id| AgentId::parse(id).ok());
        self.require_reader(agent.as_ref(), missing)?;
        Ok(self.call.inspection("audit", body))
    }

    /// The last record in the chain of an agent.
    pub(super) async fn inspect_chain_head(&self) -> Result<Reply, Problem> {
        let named = self.call.given.named("agent_id")?;
        let missing = || not_kept("chain-head-not-found", "agent_id", named);
        self.require_some_reader()?;
        let agent = AgentId::parse(named).map_err(|_| missing())?;
        self.require_reader(Some(&agent), missing)?;
        let head = self.records()?.head(&agent).await.map_err(|error| unreadable(&error))?.ok_or_else(missing)?;
        let last = head.jws.as_deref().map(describe_jws);
        let last_at = last.map(|last| last["payload"]["issued_at"].clone());
        Ok(self
            .call
            .inspection("chain_head", json!({"agent_id": agent, "audit_id": head.audit_id, "last_at": last_at})))
    }

    /// The events of an agent's contracts, the newest first, among the last `limit` events of its chain.
    pub(super) async fn contract_events(&self, agent: &AgentId, limit: usize) -> Result<Vec<Value>, Problem> {
        // Without records the life of an agent is still told, by the changes of its state alone.
        let Ok(log) = self.records() else { return Ok(Vec::new()) };
        let events = log.events(agent, limit).await.map_err(|error| unreadable(&error))?;
        let is_of_contract =
            |event: &Value| event["payload"]["event_type"].as_str().is_some_and(|kind| kind.starts_with("rcns_"));
        Ok(events.iter().map(|jws| describe_jws(jws)).filter(is_of_contract).collect())
    }

    /// The log.
    fn records(&self) -> Result<&'a RecordLog, Problem> {
        let message = "no records are kept here";
        let missing = || Problem::new(Status::NOT_FOUND, "audit-record-not-found", message);
        self.log.ok_or_else(missing)
    }

    /// Whether the caller may read what is recorded of an agent; of nobody: only operators, unless everybody may. What is
    /// another agent's is told by `missing`, as if it were not there: otherwise names could be tried out.
    ///
    /// # Errors
    /// 401 for who gives no name; 403 where only operators may, whatever was asked for. Base 3.3.
    pub(super) fn require_reader(
        &self,
        agent: Option<&AgentId>,
        missing: impl FnOnce() -> Problem,
    ) -> Result<(), Problem> {
        self.require_some_reader()?;
        let is_own = self.known.is_some_and(|known| Some(&known.agent_id) == agent);
        match self.acl {
            ReadAcl::Public => Ok(()),
            ReadAcl::Owner | ReadAcl::Operator if is_own || self.reads_all() => Ok(()),
            ReadAcl::Owner | ReadAcl::Operator => Err(missing()),
        }
    }

    /// Whether the caller may read any record. Asked before anything is looked up.
    pub(super) fn require_some_reader(&self) -> Result<(), Problem> {
        let acl = self.acl;
        if acl == ReadAcl::Public || self.reads_all() {
            return Ok(());
        }
        if self.known.is_none() {
            let message = "records are for agents that say who they are";
            return Err(unauthorized("acl-anonymous-blocked", message));
        }
        if acl == ReadAcl::Operator { Err(not_for_you()) } else { Ok(()) }
    }

    /// Whether the caller reads everything: by its scope, or by a key of the operator's.
    fn reads_all(&self) -> bool {
        let has_key = |key: &str| self.operator_keys.iter().any(|known| known == key);
        self.call.require_operator().is_ok() || self.key_fingerprint.is_some_and(has_key)
    }
}

fn not_for_you() -> Problem {
    let message = "these records are not for this caller";
    Problem::new(Status::FORBIDDEN, "acl-denied", message).with("reason", "acl-denied")
}

fn unreadable(error: &LogError) -> Problem {
    tracing::error!(%error, "records can't be read");
    Problem::new(Status::UNAVAILABLE, "records-unavailable", "records can't be read at the moment: try again later")
}
