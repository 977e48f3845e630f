//! Whom or what a target means here: an agent by name, or a path. Base 1; AGTP-API 5.6, 6.1.

use std::sync::Arc;

use forecourt_agtp_wire::message::RequestLine;
use forecourt_agtp_wire::status::Status;
use forecourt_contract::{Dispatcher, RequestPath};
use forecourt_identity::agents::{AgentIdentity, KnownAgents};

use crate::from_wire::{AGENTS, AgentPath, TargetPath, target};
use crate::reply::Problem;

/// Endings of names that are never the canonical ones. Base 1.
const SUFFIXES: [&str; 3] = [".agent", ".nomo", ".agtp"];

/// Where a request goes.
#[derive(Debug)]
pub(super) struct RequestTarget {
    /// The path, without the query.
    pub path: String,
    /// What follows the first `?`.
    pub query: Option<String>,
    /// The agent that the path named; the path is then that of its root.
    pub agent: Option<Arc<AgentIdentity>>,
}

/// Finds out where requests go.
#[derive(Clone, Copy)]
pub(super) struct TargetResolver<'a> {
    /// What calls are held against.
    pub contract: &'a Dispatcher,
    /// The agents that are known by their names.
    pub agents: &'a KnownAgents,
}

impl TargetResolver<'_> {
    /// Finds out where a request goes.
    ///
    /// # Errors
    /// 400 for a fragment; 404 for the name of no agent, 301 for one with an ending.
    pub(super) fn resolve(&self, line: &RequestLine) -> Result<RequestTarget, Problem> {
        let TargetPath { path, query, agent } = target(line)?;
        let to = |path: &str, agent| RequestTarget { path: path.to_owned(), query: query.map(str::to_owned), agent };
        let Some(AgentPath { name, below }) = agent else { return Ok(to(path, None)) };
        if let Some(agent) = self.agents.of_name(name).filter(|_| !self.is_endpoint(&line.method, path)) {
            return Ok(to(below, Some(Arc::clone(agent))));
        }
        // What an operator registered there is the operator's, and what is wrong before is said before.
        if self.is_registered(path) || !self.is_method(&line.method) {
            return Ok(to(path, None));
        }
        Err(self.moved(name).unwrap_or_else(|| {
            Problem::new(Status::NOT_FOUND, "agent-handle-not-found", "no agent of this name is here")
                .with("path", path)
                .with("discover", AGENTS.trim_end_matches('/'))
        }))
    }

    /// Whether an operator's endpoint answers here, as declared. AGTP-API 6.1.
    fn is_endpoint(&self, method: &str, path: &str) -> bool {
        let contract = self.contract;
        let Some(resolved) = contract.policy.resolve(method, &contract.catalog) else { return false };
        let read = contract.path(&resolved.method, path);
        read.is_ok_and(|path| contract.registry.find(&resolved.method, &path).is_some())
    }

    fn is_registered(&self, path: &str) -> bool {
        let Dispatcher { registry, catalog, .. } = self.contract;
        RequestPath::called(path, catalog, |path| registry.has(path)).is_ok_and(|path| registry.has(&path))
    }

    fn is_method(&self, method: &str) -> bool {
        let contract = self.contract;
        contract.policy.resolve(method, &contract.catalog).is_some()
    }

    /// Where an agent is that was named with an ending.
    fn moved(&self, name: &str) -> Option<Problem> {
        let bare = SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix))?;
        let path = format!("{AGENTS}{}", self.agents.of_name(bare)?.name);
        let mut moved =
            Problem::new(Status::MOVED_PERMANENTLY, "moved-permanently", "agents have names without endings")
                .with("location", path.as_str());
        moved.fields.push(("Location", path));
        Some(moved)
    }
}
