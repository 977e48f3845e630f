//! A rule as an operator writes it.

use forecourt_core::{Glob, Handle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kinds::RuleKind;
use crate::words::RuleWords;

/// One rule: its words, and what its kind has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleSettings {
    // First, so that what is left is the kind's, which refuses keys that it does not know.
    /// What it says.
    #[serde(flatten)]
    pub words: RuleWords,
    /// What it wants.
    #[serde(flatten)]
    pub kind: RuleKind,
}

/// A rule before several agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostRuleSettings {
    /// The agents that it stands before; all when empty.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub agents: Vec<Handle>,
    /// Agents that it does not stand before.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub except: Vec<Handle>,
    /// The rule.
    #[serde(flatten)]
    pub rule: RuleSettings,
}

/// A rule before a server behind this host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerRuleSettings {
    /// The tools that it stands before, by the server's own names: patterns in which `*` stands for any characters.
    /// Before everything that the server has when empty.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub tools: Vec<Glob>,
    /// The rule.
    #[serde(flatten)]
    pub rule: RuleSettings,
}

/// A rule before the agents of a hub elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HubRuleSettings {
    /// The agents that it stands before, by their handles at the hub: patterns in which `*` stands for any characters.
    /// Before all of them when empty.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub agents: Vec<Glob>,
    /// The rule.
    #[serde(flatten)]
    pub rule: RuleSettings,
}

impl HubRuleSettings {
    /// Whether it stands before the agent of this handle at the hub.
    pub fn is_before(&self, agent: &Handle) -> bool {
        self.agents.is_empty() || self.agents.iter().any(|glob| glob.matches(agent.as_str()))
    }
}

impl RuleSettings {
    /// Whether it lets nobody pass without a proof of identity, for which a bearer token is a way.
    pub fn wants_token(&self) -> bool {
        matches!(&self.kind, RuleKind::RequireIdentity(rule) if rule.wants_token())
    }

    /// Its kind, its name and what it wants, in one line.
    pub fn summary(&self) -> String {
        let name = self.words.name.as_ref().map(|name| format!("`{name}`"));
        let parts = [Some(self.kind.name().to_owned()), name, Some(self.kind.summary())];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

impl HostRuleSettings {
    /// Whether it stands before this agent.
    pub fn is_before(&self, agent: &Handle) -> bool {
        (self.agents.is_empty() || self.agents.contains(agent)) && !self.except.contains(agent)
    }
}

impl From<RuleKind> for RuleSettings {
    fn from(kind: RuleKind) -> Self {
        Self { words: RuleWords::default(), kind }
    }
}
