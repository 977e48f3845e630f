//! A rule as an operator writes it.

use forecourt_core::{Glob, Handle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bots::BotScope;
use crate::callers::CallerRule;
use crate::kinds::RuleKind;
use crate::words::RuleWords;

/// One rule: its words, and what its kind has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleSettings {
    // First, so that what is left is the kind's, which refuses keys that it does not know.
    /// What it says.
    #[serde(flatten)]
    pub words: RuleWords,
    /// Whom it stands before.
    #[serde(flatten)]
    pub scope: BotScope,
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
    /// The pages that it stands before instead of agents, by their paths: patterns in which `*` stands for any
    /// characters, such as `/manual/*`. Such a rule names `bots`: people in a browser meet none. At most 100.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub paths: Vec<Glob>,
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

    /// Its kind as it is built: who is denied by a rule for crawlers that lists nobody is each of them, and what is paid
    /// by them has a price that they can read.
    pub(crate) fn crawlers_kind(&self) -> RuleKind {
        match &self.kind {
            kind if self.scope.is_everybody() => kind.clone(),
            RuleKind::Deny(rule) if rule.lists_nobody() => {
                RuleKind::Deny(CallerRule { subjects: vec!["*".to_owned()], ..rule.clone() })
            }
            RuleKind::RequirePayment(rule) => RuleKind::RequirePayment(rule.for_crawlers()),
            kind => kind.clone(),
        }
    }

    /// Its kind, its name and what it wants, in one line.
    pub fn summary(&self) -> String {
        let name = self.words.name.as_ref().map(|name| format!("`{name}`"));
        let (kind, bots) = (self.kind.summary(), self.scope.summary());
        let parts = [Some(self.kind.name().to_owned()), name, Some(kind), Some(bots)];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

impl HostRuleSettings {
    /// Whether it stands before this agent.
    pub fn is_before(&self, agent: &Handle) -> bool {
        self.paths.is_empty() && (self.agents.is_empty() || self.agents.contains(agent)) && !self.except.contains(agent)
    }
}

impl From<RuleKind> for RuleSettings {
    fn from(kind: RuleKind) -> Self {
        Self { words: RuleWords::default(), scope: BotScope::default(), kind }
    }
}
