//! What a contract is, and what is known of it without its plan.

use std::sync::Arc;

use forecourt_contract::call::{ConnectionId, Thread};
use forecourt_contract::negotiation::{ContractPreview, ContractStamp, NegotiationOrigin, RecipeLineage};
use forecourt_contract::{Caller, Method, Recipe, Template};
use forecourt_core::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::explanation::Explanation;

/// Whose a contract is. A name that was only claimed is another holder than the same name proven. Section 10.1.1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ContractHolder {
    /// The Agent-ID.
    pub agent_id: Arc<str>,
    /// Whether it was proven to be the caller's.
    pub is_proven: bool,
}

/// What a contract is bound to besides its holder. Section 10.8.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContractScope {
    /// Nothing: it serves its holder wherever it calls from.
    Agent,
    /// A session, by the name that its caller gives it.
    Session(Arc<str>),
    /// A connection of the process that made it.
    Connection {
        /// Which start of which process.
        run: Arc<str>,
        /// The connection, as that process names it.
        id: Arc<str>,
    },
}

/// Where a contract stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContractState {
    /// It waits to be accepted, and serves nobody. Section 10.1.3.
    Offered,
    /// It is in force until it expires.
    Active,
    /// It has ended, and is remembered for [`crate::limits::TOMBSTONE_TTL`] after it would have expired.
    Ended(ContractEnd),
}

/// How a contract ended. Section 10.1.4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContractEnd {
    /// By which way.
    pub kind: ContractEndKind,
    /// When.
    pub at: Timestamp,
    /// Who ended it: an Agent-ID or the name of an operator. None: nobody but time, a connection or the host did.
    pub actor: Option<Arc<str>>,
    /// Why, in words for people.
    pub reason: Option<Arc<str>>,
}

/// The ways in which contracts end. Sections 10.1.4 and 10.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContractEndKind {
    /// Its time is over.
    Expired,
    /// Its holder gave it back.
    Released,
    /// It was revoked, or what it is made of is not there any more.
    Revoked,
    /// A sweep ended it since its recipe was changed. Section 10.1.4.1.
    Swept,
    /// The connection that it was bound to was closed.
    SessionOver,
}

/// What is known of a contract without its endpoint and its plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContractRecord {
    /// Its name. Opaque, and no secret: it opens nothing for anybody but its holder.
    pub synthesis_id: Arc<str>,
    /// Whose it is.
    pub holder: ContractHolder,
    /// What it is bound to besides.
    pub scope: ContractScope,
    /// How it came about.
    pub origin: NegotiationOrigin,
    /// Whether it was made for longer than a session. Such contracts stand in the manifest.
    pub is_persistent: bool,
    /// What it is called by.
    pub method: Method,
    /// Where.
    pub path: Template,
    /// What it was made from; none when it was planned without a recipe. Section 10.5.
    pub lineage: Option<RecipeLineage>,
    /// SHA-256 of its endpoint and its lineage, in 64 lowercase hexadecimal digits. Section 10.1.6.
    pub contract_hash: Arc<str>,
    /// SHA-256 of the above with its plan: what was compiled for one contract does for all that share this.
    pub plan_hash: Arc<str>,
    /// When it was made.
    pub issued_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// Where it stands, as far as is written; whoever asks for it at a time has its expiry in it too.
    pub state: ContractState,
    /// Its place in the order of all, for pages of a list.
    #[serde(skip)]
    pub number: u64,
    /// The number of the entry by which it stands where it does.
    #[serde(skip)]
    pub(crate) settled_by: u64,
}

/// A contract with what it promises, and the calls that keep the promise.
#[derive(Clone, Debug)]
pub struct Contract {
    /// What is known of it besides.
    pub record: Arc<ContractRecord>,
    /// The endpoint as others may see it.
    pub endpoint: Value,
    /// The calls, by value. Section 10.5.
    pub plan: Arc<Recipe>,
    /// The calls in words.
    pub explanation: Explanation,
}

impl ContractHolder {
    /// The holder that a caller is. `None` without a name.
    pub fn of(caller: &Caller) -> Option<ContractHolder> {
        let agent_id = caller.agent_id.as_deref()?.into();
        Some(ContractHolder { agent_id, is_proven: caller.is_proven })
    }
}

impl ContractScope {
    /// A connection of the process whose start is called `run`.
    pub(crate) fn connection(run: &Arc<str>, connection: &ConnectionId) -> ContractScope {
        ContractScope::Connection { run: Arc::clone(run), id: Arc::clone(&connection.0) }
    }
}

impl ContractRecord {
    /// Whether it is in force.
    pub fn is_active(&self) -> bool {
        self.state == ContractState::Active
    }

    /// How it ended, once it has.
    pub fn end(&self) -> Option<&ContractEnd> {
        match &self.state {
            ContractState::Ended(end) => Some(end),
            ContractState::Offered | ContractState::Active => None,
        }
    }

    /// Whether calls of a session, or by a connection of the process whose start is called `run`, are within what
    /// it is bound to.
    pub(crate) fn is_within(&self, thread: &Thread, run: &Arc<str>) -> bool {
        match &self.scope {
            ContractScope::Agent => true,
            ContractScope::Session(name) => thread.session_id.as_deref() == Some(&**name),
            ContractScope::Connection { run: own, id } => {
                own == run && thread.connection.as_ref().is_some_and(|connection| connection.0 == *id)
            }
        }
    }

    /// What records of its calls say of it. Section 10.1.6.
    pub fn stamp(&self, is_new: bool) -> ContractStamp {
        ContractStamp {
            synthesis_id: self.synthesis_id.to_string(),
            contract_hash: self.contract_hash.to_string(),
            negotiation_origin: self.origin,
            is_new,
        }
    }
}

impl Contract {
    /// The calls of its plan in their order, such as `QUERY /facts`.
    pub fn plan_summary(&self) -> Vec<String> {
        let path = |path: &Option<Template>| path.as_ref().map_or("/", Template::as_str).to_owned();
        self.plan.steps.iter().map(|step| format!("{} {}", step.method, path(&step.path))).collect()
    }

    /// What its caller is offered. Section 10.1.3.
    pub fn preview(&self) -> ContractPreview {
        let record = &self.record;
        ContractPreview {
            synthesis_id: record.synthesis_id.to_string(),
            method: record.method.clone(),
            path: record.path.as_str().to_owned(),
            endpoint: self.endpoint.clone(),
            recipe_lineage: record.lineage.clone(),
            contract_hash: record.contract_hash.to_string(),
            expires_at: record.expires_at,
            plan_summary: self.plan_summary(),
            plan_explanation: serde_json::to_value(&self.explanation).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
impl ContractRecord {
    /// A contract in force for good, of an agent `a`, for `QUERY /`.
    pub(crate) fn sample(name: &str) -> ContractRecord {
        ContractRecord {
            synthesis_id: name.into(),
            holder: ContractHolder { agent_id: "a".into(), is_proven: true },
            scope: ContractScope::Agent,
            origin: NegotiationOrigin::Propose,
            is_persistent: false,
            method: Method::parse("QUERY").unwrap(),
            path: Template::parse("/", &forecourt_contract::Catalog::shipped()).unwrap(),
            lineage: None,
            contract_hash: "".into(),
            plan_hash: "".into(),
            issued_at: Timestamp::UNIX_EPOCH,
            expires_at: Timestamp::MAX,
            state: ContractState::Active,
            number: 0,
            settled_by: 0,
        }
    }
}
