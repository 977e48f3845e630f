//! The agents that live here, as lists and searches show them. AGTP-API 5.8.2; base 3.1.

use std::collections::BTreeSet;
use std::sync::Arc;

use forecourt_contract::Tier;
use forecourt_core::{AgentCard, AgentId, LifecycleState};
use forecourt_identity::agents::AgentIdentity;
use forecourt_identity::genesis::TrustPosture;
use serde::Serialize;

use super::{Audience, Inventory};
use crate::limits::SKILLS_SUMMARY_CHARS_MAX;

/// One line of the list of agents.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AgentEntry<'a> {
    agent_id: &'a AgentId,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    skills_summary: Option<String>,
    methods_count: usize,
    #[serde(flatten)]
    posture: &'a TrustPosture,
}

/// An agent that a search found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Candidate<'a> {
    agent_id: &'a AgentId,
    name: &'a str,
    description: String,
    principal: Option<String>,
    /// From 0 to 1, in hundredths.
    relevance: f64,
}

/// An agent that lives here, with how it describes itself.
#[derive(Clone, Copy)]
pub(crate) struct LocalAgent<'a> {
    /// The agent's identity on this wire.
    pub identity: &'a Arc<AgentIdentity>,
    /// How it describes itself.
    pub card: &'a AgentCard,
}

impl Inventory {
    /// The agents that are named to such a caller.
    pub(crate) fn residents(&self, audience: Audience) -> impl Iterator<Item = LocalAgent<'_>> {
        let named = if self.disclosure().reaches(audience) { self.agents.hosted() } else { &[] };
        named.iter().filter_map(|identity| {
            let resident = self.host.directory().find(identity.handle.as_ref()?)?;
            Some(LocalAgent { identity, card: &resident.card })
        })
    }

    /// Whether an agent answers whoever asks it, as far as is at hand. Base 3.2.
    pub(crate) fn answers(&self, LocalAgent { card, .. }: &LocalAgent<'_>) -> bool {
        !matches!(
            self.host.lifecycle().state_at_hand(card.handle()),
            LifecycleState::Suspended | LifecycleState::Retired
        )
    }

    /// The list of agents. AGTP-API 5.8.2.
    pub(crate) fn hosted_agents(&self, audience: Audience) -> Vec<AgentEntry<'_>> {
        // Endpoints are the host's, and so every agent's.
        let methods_count = self.endpoints().filter(|(tier, _)| *tier == Tier::Registered).count();
        let line = self.residents(audience).map(|LocalAgent { identity, card }| AgentEntry {
            agent_id: &identity.agent_id,
            name: &identity.name,
            skills_summary: skills_summary(card),
            methods_count,
            posture: &identity.posture,
        });
        line.collect()
    }
}

impl<'a> LocalAgent<'a> {
    /// The agent as a search shows it.
    pub(crate) fn candidate(self, relevance: f64) -> Candidate<'a> {
        let document = self.identity.document();
        let text = |name| document.as_ref()?.text(name).map(str::to_owned);
        Candidate {
            agent_id: &self.identity.agent_id,
            name: &self.identity.name,
            description: text("description").unwrap_or_else(|| self.card.description.clone()),
            principal: text("principal").or_else(|| self.identity.posture.owner_id.clone()),
            relevance,
        }
    }
}

/// What an agent can do, in one short line. `None`: it does not say.
fn skills_summary(card: &AgentCard) -> Option<String> {
    let mut seen = BTreeSet::new();
    let names = card.skills.iter().map(|skill| skill.name.trim()).filter(|name| !name.is_empty() && seen.insert(*name));
    let names = names.collect::<Vec<_>>().join(", ");
    let line = if names.is_empty() { card.description.trim() } else { &names };
    (!line.is_empty()).then(|| shortened(line))
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(SKILLS_SUMMARY_CHARS_MAX) {
        None => line.to_owned(),
        Some(_) => line.chars().take(SKILLS_SUMMARY_CHARS_MAX - 1).chain(['…']).collect(),
    }
}
