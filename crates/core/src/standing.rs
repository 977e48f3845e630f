//! This module has the lifecycle states of agents and the moves between them. It does not say who may make one.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The lifecycle state of an agent. AGTP base; over other protocols a suspended agent is a refusal and a retired one an
/// error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LifecycleState {
    /// It answers. How every agent begins.
    #[default]
    Active,
    /// It answers nobody for the time being.
    Suspended,
    /// It answers; whoever asks should look for another one.
    Deprecated,
    /// It never answers again.
    Retired,
}

impl LifecycleState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Active, Self::Suspended, Self::Deprecated, Self::Retired];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Deprecated => "deprecated",
            Self::Retired => "retired",
        }
    }

    /// Whether an agent may go from this state to `next`. Every move is allowed but to the same state and out of
    /// `Retired`.
    pub fn may_become(self, next: Self) -> bool {
        self != next && self != Self::Retired
    }
}

/// A change of an agent's lifecycle state, as it is published and stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LifecycleTransition {
    /// The state before.
    pub from: LifecycleState,
    /// The state after.
    pub to: LifecycleState,
    /// The actor, as far as is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When.
    pub at: Timestamp,
    /// Further values of the protocol that made the change, in its own words.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}
