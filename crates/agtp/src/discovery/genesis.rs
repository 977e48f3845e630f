//! The genesis document of an agent, byte for byte in its canonical form. AGTP-API 5.8.1.

use std::sync::Arc;

use bytes::Bytes;
use forecourt_agtp_wire::status::Status;
use forecourt_core::AgentId;
use forecourt_identity::agents::AgentIdentity;
use serde_json::{Map, Value};

use crate::ask::Ask;
use crate::inventory::{Audience, Inventory};
use crate::reply::{Problem, Reply};

/// The genesis document of the agent that is asked for.
pub(super) fn reply(
    inventory: &Inventory,
    audience: Audience,
    ask: &Ask,
    input: &Map<String, Value>,
) -> Result<Reply, Problem> {
    let agent = agent(inventory, audience, ask, input)?;
    let canonical = agent.and_then(|agent| agent.genesis()?.canonical().ok());
    let canonical = canonical.ok_or_else(|| {
        Problem::new(Status::NOT_FOUND, "genesis-not-found", "no genesis document of this agent is loaded here")
    })?;
    Ok(super::made(Bytes::from(canonical)))
}

/// The agent that is asked for: the one that `agent_id` names, else the one that the path names, else the
/// caller, else the only one that lives here. `None`: it is not known here, or is not named to such callers.
fn agent<'a>(
    inventory: &'a Inventory,
    audience: Audience,
    ask: &'a Ask,
    input: &Map<String, Value>,
) -> Result<Option<&'a Arc<AgentIdentity>>, Problem> {
    let named = input.get("agent_id").and_then(Value::as_str).and_then(|id| AgentId::parse(id).ok());
    let own = ask.addressed.as_ref().or(ask.known.as_ref());
    // A caller that is not taken for the agent that it names asks for that one's document all the same.
    let claimed = || ask.call.caller.agent_id.as_deref().filter(|_| own.is_none());
    let named = named.or_else(|| AgentId::parse(claimed()?).ok());
    match (named, own) {
        (Some(id), own) => Ok(own.filter(|own| own.agent_id == id).or_else(|| resident(inventory, audience, &id))),
        (None, Some(own)) => Ok(Some(own)),
        (None, None) => match inventory.agents.hosted() {
            [only] => Ok(resident(inventory, audience, &only.agent_id)),
            _ => {
                let message = "say whose genesis document: an agent's id as `Agent-ID` or as the parameter `agent_id`";
                Err(Problem::new(Status::BAD_REQUEST, "missing-agent-id", message))
            }
        },
    }
}

fn resident<'a>(inventory: &'a Inventory, audience: Audience, id: &AgentId) -> Option<&'a Arc<AgentIdentity>> {
    inventory.residents(audience).map(|resident| resident.identity).find(|identity| identity.agent_id == *id)
}
