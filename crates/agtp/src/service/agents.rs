//! What agents are called on this wire, and where they stand.

use forecourt_core::{Error, LifecycleState};
use forecourt_host::LifecycleView;
use forecourt_identity::agents::AgentIdentity;

/// The canonical URI of an agent. Base 1, form 1.
pub(crate) fn uri(agent: &AgentIdentity) -> String {
    ["agtp://", agent.agent_id.as_str()].concat()
}

/// Where an agent stands in its life. Those of elsewhere are in service.
pub(crate) async fn lifecycle_state(
    lifecycle: LifecycleView<'_>,
    agent: &AgentIdentity,
) -> Result<LifecycleState, Error> {
    match &agent.handle {
        Some(handle) => lifecycle.state(handle).await,
        None => Ok(LifecycleState::Active),
    }
}
