//! This module has the request after it was read: the agent that it is for, the caller, and the call of the contract
//! layer.

use std::sync::{Arc, OnceLock};

use forecourt_contract::Call;
use forecourt_contract::negotiation::ContractStamp;
use forecourt_core::StateToken;
use forecourt_identity::agents::AgentIdentity;

use crate::reply::Problem;

/// A request that was understood. Nothing of it was looked at for sense yet.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// Method, path, query, parameters, caller, scopes and what it belongs to. For the host's own
    /// methods the query is among the parameters already.
    pub call: Call,
    /// Whether the request line ended with the method. Base 2.6.
    pub is_targetless: bool,
    /// The agent of this host that is addressed by a path such as `/agents/chef`; `None`: none by name.
    pub addressed: Option<Arc<AgentIdentity>>,
    /// The caller as an agent that is known here, and that proved it where that is asked for.
    pub known: Option<Arc<AgentIdentity>>,
    /// The key of the certificate that the caller showed, as SHA-256 of the raw key in lowercase
    /// hexadecimal. Base 3.2.
    pub key_fingerprint: Option<String>,
    /// Why the caller is not taken for who it says it is. Said once the path is known to be one.
    pub doubt: Option<Box<Problem>>,
    /// Whether it is no request, but a step of a composition.
    pub is_step: bool,
    /// The contract under which the host answered it, where its method names an endpoint to call.
    pub served_under: Arc<OnceLock<Arc<ContractStamp>>>,
    /// Whether the request came from this machine.
    pub is_local: bool,
    /// The media types that are taken, as sent.
    pub accept: Option<String>,
    /// The tags of documents that the caller has, as sent.
    pub if_none_match: Option<String>,
    /// The state of the refusal that the caller goes on after. A claim, for the host to check.
    pub state: Option<StateToken>,
}
