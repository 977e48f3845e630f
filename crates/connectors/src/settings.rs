//! What every file of `connectors/` has.

use std::num::NonZeroU32;

use forecourt_core::Handle;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::limits::MESSAGES_PER_SENDER_PER_HOUR;

/// The keys that each file has, whatever its platform: which agents are asked, and how often.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectorSettings {
    /// The platform, such as `slack`.
    #[serde(rename = "kind")]
    _kind: String,
    /// The agent that is asked where nobody is mentioned by name. Default: the first of `agents`, else the default agent
    /// of the deployment.
    #[schemars(with = "Option<String>")]
    pub agent: Option<Handle>,
    /// The agents that can be asked. Default: all.
    #[schemars(with = "Option<Vec<String>>")]
    pub agents: Option<Vec<Handle>>,
    /// Messages of one person within an hour; further ones are dropped.
    #[serde(default = "per_hour")]
    pub messages_per_sender_per_hour: NonZeroU32,
    /// Whether an answer is shown while it is written.
    #[serde(default = "yes")]
    pub live: bool,
}

fn per_hour() -> NonZeroU32 {
    NonZeroU32::new(MESSAGES_PER_SENDER_PER_HOUR).unwrap_or(NonZeroU32::MIN)
}

fn yes() -> bool {
    true
}

impl Default for ConnectorSettings {
    fn default() -> Self {
        let kind = String::new();
        Self { _kind: kind, agent: None, agents: None, messages_per_sender_per_hour: per_hour(), live: yes() }
    }
}

impl ConnectorSettings {
    /// Whether an agent can be asked over the connector.
    pub(crate) fn allows(&self, agent: &Handle) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.contains(agent))
    }
}
