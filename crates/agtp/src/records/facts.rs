//! What a record says of its request and its caller. Base 8.1.

use std::sync::Arc;

use forecourt_attribution::limits::{AGENT_URI_BYTES_MAX, PRIOR_ACTIONS_MAX};
use forecourt_attribution::{Hash, PriorAction};
use forecourt_contract::call::{CallTrail, Tier};
use forecourt_contract::negotiation::ContractStamp;
use forecourt_contract::semantic::Impact;
use forecourt_core::AgentId;
use forecourt_identity::BEARER_METHOD;
use forecourt_identity::agents::AgentIdentity;
use serde_json::{Map, Value};

use crate::ask::Ask;
use crate::manifest::is_state_modifying;
use crate::service::ConnectionInfo;

/// What a record says of the caller.
#[derive(Default)]
pub(crate) struct RecordFacts {
    /// The calling agent, where it is known under its name.
    pub agent: Option<Arc<AgentIdentity>>,
    /// For whom it acts, by its certificate.
    pub principal_id: Option<String>,
    /// For whom it acts, by its token. Base 7.4.
    pub acting_principal_id: Option<String>,
    /// How well its name is proven.
    pub assurance: Option<&'static str>,
    /// What it says that it did before.
    pub prior_actions: Vec<PriorAction>,
}

/// What a record says of the action.
#[derive(Default)]
pub(crate) struct ActionFacts {
    /// Whether it may change something.
    pub is_state_changing: bool,
    /// The method that was sent, where another one was meant.
    pub requested_method: Option<String>,
    /// The contract that it ran under.
    pub contract: Option<Arc<ContractStamp>>,
}

impl RecordFacts {
    /// What is known of whoever makes a request that was understood.
    pub(crate) fn of(ask: &Ask, connection: &ConnectionInfo, principal_claim: &str) -> Self {
        let caller = &ask.call.caller;
        let acting_principal_id = caller
            .sender
            .identities
            .iter()
            .find(|evidence| caller.sender.verified && evidence.method == BEARER_METHOD)
            .and_then(|evidence| match principal_claim {
                "sub" => Some(evidence.subject.clone()),
                claim => evidence.claims.get(claim)?.as_str().map(str::to_owned),
            });
        let prior_actions = prior_actions(&ask.call.body);
        let Some(agent) = ask.known.clone() else {
            return Self { acting_principal_id, prior_actions, ..Self::default() };
        };
        let certificate = connection.certificate.as_ref().and_then(|read| read.as_ref().ok());
        let certificate =
            certificate.filter(|certificate| caller.is_proven && certificate.is_of(&agent.agent_id, Some(&agent)));
        let assurance = match (&certificate, caller.is_proven) {
            (Some(_), _) => "certificate-bound",
            (None, true) => "token-bound",
            (None, false) => "unverified",
        };
        Self {
            principal_id: certificate.and_then(|certificate| certificate.principal_id.clone()),
            agent: Some(agent),
            acting_principal_id,
            assurance: Some(assurance),
            prior_actions,
        }
    }
}

impl ActionFacts {
    /// What was found on the way to an answer.
    pub(crate) fn of(trail: &CallTrail) -> Self {
        let is_state_changing = match (&trail.endpoint, trail.tier, &trail.method) {
            (Some(endpoint), ..) => endpoint.semantic.impact != Impact::Informational,
            (None, Some(Tier::Native), Some(method)) => is_state_modifying(method.as_str()),
            _ => false,
        };
        let requested = trail.requested.as_ref().filter(|requested| trail.method.as_ref() != Some(requested));
        Self {
            is_state_changing,
            requested_method: requested.map(ToString::to_string),
            contract: trail.contract.clone(),
        }
    }
}

/// What the caller names under `context.prior_actions`, as far as it has the form that the protocol gives it, and at
/// most [`PRIOR_ACTIONS_MAX`] of them.
fn prior_actions(body: &Map<String, Value>) -> Vec<PriorAction> {
    let named = body.get("context").and_then(|context| context.get("prior_actions")).and_then(Value::as_array);
    let read = |action: &Value| {
        let name = |name: &str| AgentId::parse(action.get(name)?.as_str()?).ok().map(|id| id.to_string());
        let agent_uri = action.get("agent_uri").and_then(Value::as_str).map(str::to_owned);
        let agent_uri = agent_uri.filter(|uri| uri.len() <= AGENT_URI_BYTES_MAX && uri.starts_with("agtp://"));
        Some(PriorAction { agent_id: name("agent_id")?, audit_id: name("audit_id")?, agent_uri })
    };
    named.into_iter().flatten().filter_map(read).take(PRIOR_ACTIONS_MAX).collect()
}

/// SHA-256 of a request, byte for byte as it was received: its parts are kept as they came.
pub(super) fn request_hash(request: &crate::wire::Request) -> Hash {
    let mut head = bytes::BytesMut::with_capacity(64 + request.fields.lines().len());
    crate::codec::encode_head(request, &mut head);
    forecourt_attribution::sha256_of(&[&head, &request.body])
}
