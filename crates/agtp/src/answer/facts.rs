//! What a record says of its request, its caller and its action. Base 8.1.

use std::sync::Arc;

use forecourt_attribution::limits::{AGENT_URI_BYTES_MAX, PRIOR_ACTIONS_MAX};
use forecourt_attribution::{Hash, PriorAction};
use forecourt_contract::call::{CallTrail, Tier};
use forecourt_contract::negotiation::ContractStamp;
use forecourt_contract::reserved;
use forecourt_contract::semantic::Impact;
use forecourt_core::AgentId;
use serde_json::{Map, Value};

use crate::ask::Ask;
use crate::records::RecordFacts;
use crate::service::ConnectionInfo;

/// What a record says of the action.
#[derive(Default)]
pub(super) struct ActionFacts {
    /// Whether it may change something.
    pub is_state_changing: bool,
    /// The method that was sent, where another one was meant.
    pub requested_method: Option<String>,
    /// The contract that it ran under.
    pub contract: Option<Arc<ContractStamp>>,
}

/// What is known of whoever makes a request that was understood.
pub(super) fn of(ask: &Ask, connection: &ConnectionInfo) -> RecordFacts {
    let caller = &ask.call.caller;
    let acting_principal_id = caller.acting_principal_id.clone();
    let prior_actions = prior_actions(&ask.call.body);
    let Some(agent) = ask.known.clone() else {
        return RecordFacts { acting_principal_id, prior_actions, ..RecordFacts::default() };
    };
    let certificate = connection.certificate.as_ref().and_then(|read| read.as_ref().ok());
    let certificate =
        certificate.filter(|certificate| caller.is_proven && certificate.is_of(&agent.agent_id, Some(&agent)));
    let assurance = match (&certificate, caller.is_proven) {
        (Some(_), _) => "certificate-bound",
        (None, true) => "token-bound",
        (None, false) => "unverified",
    };
    RecordFacts {
        principal_id: certificate.and_then(|certificate| certificate.principal_id.clone()),
        agent: Some(agent),
        acting_principal_id,
        assurance: Some(assurance),
        prior_actions,
    }
}

impl ActionFacts {
    /// What was found on the way to an answer.
    pub(super) fn of(trail: &CallTrail) -> Self {
        let is_state_changing = match (&trail.endpoint, trail.tier, &trail.method) {
            (Some(endpoint), ..) => endpoint.semantic.impact != Impact::Informational,
            (None, Some(Tier::Native), Some(method)) => {
                reserved::effect(method).is_some_and(|effect| effect.impact != Impact::Informational)
            }
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
pub(super) fn request_hash(request: &forecourt_agtp_wire::message::Request) -> Hash {
    let mut head = bytes::BytesMut::with_capacity(64 + request.fields.lines().len());
    forecourt_agtp_wire::codec::encode_head(request, &mut head);
    forecourt_attribution::sha256_of(&[&head, &request.body])
}
