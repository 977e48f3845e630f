//! This module has the call of an endpoint, as any protocol hands it in, and its outcome.

use std::sync::Arc;

pub use forecourt_core::LifecycleState;
use forecourt_core::{Authority, ScopeSet, Sender};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::agreement::ContractStamp;
use crate::endpoint::Endpoint;
use crate::method::Method;
use crate::refusal::Refusal;

/// A call as it arrived. Nothing in it has been checked yet.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The method, as it was sent.
    pub method: String,
    /// The path, as it was sent, without the query.
    pub path: String,
    /// What follows the first `?`.
    pub query: Option<String>,
    /// The parameters of the body. Within the bounds of JSON.
    pub body: Map<String, Value>,
    /// Who calls.
    pub caller: Caller,
    /// The key that is the same in every repetition of one call, so that it is done once.
    pub idempotency_key: Option<String>,
    /// The task, session and request that the call belongs to.
    pub thread: Thread,
    /// What the caller says of contracts that are made while the host serves. Nothing, in calls from inside: no
    /// step of a contract leads to another one.
    pub contract: ContractTerms,
    /// How many compositions this call is inside of; 0 from outside.
    pub depth: u32,
}

/// The caller, as far as the protocol has established it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caller {
    /// The name that the caller goes by.
    pub agent_id: Option<String>,
    /// Whether the name was recognised.
    pub identity: Identity,
    /// Whether the agent is in service.
    pub standing: LifecycleState,
    /// Whether its identity document consents to methods beyond the declared ones. Section 16.4.
    pub wildcards: bool,
    /// Whether the name is proven to be the caller's, and not only claimed.
    pub is_proven: bool,
    /// How far the agent is vouched for, 1 the strongest. `None`: nobody says. Base protocol, trust tiers.
    pub trust_tier: Option<u8>,
    /// The principal for whom the caller acts, as the token that came with the call says it: for records; it lets
    /// nobody do anything. `None`: no token, or nobody checked it. Base protocol 7.4.
    pub acting_principal_id: Option<Arc<str>>,
    /// Who asks by that name, with what was proven of it and what may be done in its name: goes along with
    /// every call that is made in its name, so that rules which ask for a proof hold whatever the way in.
    pub sender: Arc<Sender>,
}

impl Caller {
    /// The scopes and the other authority that the caller has.
    pub fn authority(&self) -> &Authority {
        &self.sender.authority
    }

    /// The same caller with other authority.
    #[must_use]
    pub fn with_authority(mut self, authority: Authority) -> Caller {
        // `make_mut` copies the sender where others hold it: a call that keeps its authority must not pay for that.
        if self.sender.authority != authority {
            Arc::make_mut(&mut self.sender).authority = authority;
        }
        self
    }
}

impl Call {
    /// The same call, for which these scopes are claimed.
    #[must_use]
    pub fn claiming(self, claimed: ScopeSet) -> Call {
        let authority = self.caller.authority().clone().claiming(Some(claimed));
        Call { caller: self.caller.with_authority(authority), ..self }
    }
}

/// Whether a caller's name is known to the host. It says nothing about a proof: see [`Caller::is_proven`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Identity {
    /// It gave none.
    #[default]
    Anonymous,
    /// It gave one that nobody here knows, or that is malformed.
    Unrecognised,
    /// It gave one that is known.
    Recognised,
}

/// What a caller says about contracts: which one it presents, and whether one may be made. Section 10.1.5.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContractTerms {
    /// The contract that it presents, by its `synthesis_id`.
    pub presented: Option<String>,
    /// Whether it consents to one being made for this call.
    pub allows_new: bool,
}

/// A connection, as this process names it. A session without a name is bound to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionId(pub Arc<str>);

/// The task, session and request that a call belongs to, in the caller's words. Opaque here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// A piece of work.
    pub task_id: Option<String>,
    /// A conversation.
    pub session_id: Option<String>,
    /// This one call.
    pub request_id: Option<String>,
    /// The connection that it came by, where connections are kept.
    pub connection: Option<ConnectionId>,
}

/// The tier of a method at a path: who guarantees it. Section 6.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Tier {
    /// The protocol: the host answers it itself.
    #[serde(rename = "A")]
    Native,
    /// The operator: an endpoint is registered.
    #[serde(rename = "B")]
    Registered,
    /// A contract with this caller.
    #[serde(rename = "C")]
    Negotiated,
    /// Nobody.
    #[serde(rename = "unregistered")]
    Unregistered,
}

/// The outcome of a call: an answer of type `A` or a refusal, and what was found on the way.
#[derive(Clone, Debug)]
pub struct CallOutcome<A = Value> {
    /// The result, or why there is none.
    pub answer: Result<A, Refusal>,
    /// What was found on the way.
    pub trail: CallTrail,
}

/// An answer, by who gave it.
#[derive(Clone, Debug)]
pub enum CallAnswer<N> {
    /// An endpoint.
    Endpoint(Value),
    /// The host itself, in the words of whoever asked it.
    Native(N),
}

/// What the checks have found out about a call, for notices and records. Filled as they pass, so that a refusal has it
/// too.
#[derive(Clone, Debug, Default)]
pub struct CallTrail {
    /// The method that was sent, once it is known to be one.
    pub requested: Option<Method>,
    /// The method that was meant, after aliases and redirects.
    pub method: Option<Method>,
    /// The path that was meant, after redirects.
    pub path: Option<String>,
    /// Who guarantees the pair.
    pub tier: Option<Tier>,
    /// The endpoint, once one was found.
    pub endpoint: Option<Arc<Endpoint>>,
    /// The contract under which the call was served. Section 10.1.6.
    pub contract: Option<Arc<ContractStamp>>,
    /// The notice that the method is deprecated. Section 4.4.
    pub method_notice: Option<String>,
    /// The notice that the endpoint is deprecated. Section 6.5.
    pub endpoint_notice: Option<String>,
}
