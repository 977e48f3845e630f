//! What every file of `connectors/` has.

use std::num::NonZeroU32;

use crate::limits::MESSAGES_PER_SENDER_PER_HOUR;
use forecourt_core::Handle;

/// Which agents are asked over a connector, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectorSettings {
    /// The agent that is asked where nobody is mentioned by name. Default: the default agent of the deployment.
    pub agent: Option<Handle>,
    /// The agents that can be asked. Default: all.
    pub agents: Option<Vec<Handle>>,
    /// Messages of one person within an hour; further ones are dropped. Default: 60.
    pub messages_per_sender_per_hour: NonZeroU32,
    /// Whether an answer is shown while it is written. Default: true.
    pub live: bool,
}

impl Default for ConnectorSettings {
    fn default() -> Self {
        let per_hour = NonZeroU32::new(MESSAGES_PER_SENDER_PER_HOUR).unwrap_or(NonZeroU32::MIN);
        Self { agent: None, agents: None, messages_per_sender_per_hour: per_hour, live: true }
    }
}

impl ConnectorSettings {
    /// Whether an agent can be asked over the connector.
    pub(crate) fn allows(&self, agent: &Handle) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.contains(agent))
    }
}
