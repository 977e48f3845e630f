//! This module finds known agents by id, handle and name.

use std::collections::HashMap;
use std::sync::Arc;

use forecourt_core::{AgentId, Handle};

use super::identity::AgentIdentity;
use crate::limits::KNOWN_AGENTS_MAX;

/// The agents that are known here: those that live here, in the order of configuration, and those of
/// elsewhere. Fixed once loaded, and bounded by [`KNOWN_AGENTS_MAX`].
#[derive(Debug, Default)]
pub struct KnownAgents {
    hosted: Vec<Arc<AgentIdentity>>,
    by_handle: HashMap<Handle, Arc<AgentIdentity>>,
    by_id: HashMap<AgentId, Arc<AgentIdentity>>,
}

impl KnownAgents {
    /// The agent with this id, hosted here or elsewhere.
    pub fn get(&self, id: &AgentId) -> Option<&Arc<AgentIdentity>> {
        self.by_id.get(id)
    }

    /// The agents that live here.
    pub fn hosted(&self) -> &[Arc<AgentIdentity>] {
        &self.hosted
    }

    /// The agent that lives here under a handle.
    pub fn of_handle(&self, handle: &Handle) -> Option<&Arc<AgentIdentity>> {
        self.by_handle.get(handle)
    }

    /// The agent that lives here under a short name, whatever its case: its handle, else what its
    /// document calls it. AGTP base 1, URI forms 3 and 4.
    pub fn of_name(&self, name: &str) -> Option<&Arc<AgentIdentity>> {
        let by_handle = self.hosted.iter().find(|agent| agent.name.eq_ignore_ascii_case(name));
        // Handles first: a document must not take another agent's short name by its title.
        by_handle.or_else(|| self.hosted.iter().find(|agent| agent.is_titled(name)))
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Adds an agent. Fails when there are [`KNOWN_AGENTS_MAX`], or its id is known already: the first one stays.
    pub(crate) fn add(&mut self, agent: AgentIdentity) -> Result<(), AddError> {
        if let Some(other) = self.by_id.get(&agent.agent_id) {
            return Err(AddError::By(other.name.clone()));
        }
        if self.by_id.len() >= KNOWN_AGENTS_MAX {
            return Err(AddError::Full);
        }
        let agent = Arc::new(agent);
        if let Some(handle) = &agent.handle {
            self.by_handle.insert(handle.clone(), Arc::clone(&agent));
            self.hosted.push(Arc::clone(&agent));
        }
        self.by_id.insert(agent.agent_id.clone(), agent);
        Ok(())
    }
}

/// Why an agent was not added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddError {
    /// Another agent, of this name, has its id.
    #[error("its agent id is that of `{0}`")]
    By(String),
    /// [`KNOWN_AGENTS_MAX`] are known already.
    #[error("more than {KNOWN_AGENTS_MAX} agents are known")]
    Full,
}
