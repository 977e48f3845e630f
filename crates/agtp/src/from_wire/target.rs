//! Where a request goes: its path and query, or an agent by name. Base 1, 2.1; AGTP-API 5.5, 5.6.

use std::sync::Arc;

use forecourt_contract::RequestPath;
use forecourt_identity::agents::AgentIdentity;

use crate::codec::HeadError;
use crate::reply::Problem;
use crate::service::Service;
use crate::status::Status;
use crate::wire::RequestLine;

/// The path under which agents have names.
const AGENTS: &str = "/agents/";
/// The path of an agent's genesis document, at the root and below the agent's own. AGTP-API 5.8.1.
pub(super) const GENESIS: &str = "/genesis";
/// Endings of names that are never the canonical ones. Base 1.
const SUFFIXES: [&str; 3] = [".agent", ".nomo", ".agtp"];

/// Where a request goes.
#[derive(Debug)]
pub(super) struct Target {
    /// The path, without the query.
    pub path: String,
    /// What follows the first `?`.
    pub query: Option<String>,
    /// The agent that the path named; the path is then that of its root.
    pub agent: Option<Arc<AgentIdentity>>,
}

impl Service {
    /// Reads the target of a request line.
    pub(super) fn target(&self, line: &RequestLine) -> Result<Target, Problem> {
        if line.method.contains('#') || line.target.as_deref().is_some_and(|target| target.contains('#')) {
            let message = "a request line has no fragment: leave `#` and what follows it out";
            return Err(Problem::new(Status::BAD_REQUEST, HeadError::Line.code(), message).with("detail", message));
        }
        let (path, query) = (line.path(), line.query().map(str::to_owned));
        let as_it_is = |query| Target { path: path.to_owned(), query, agent: None };
        let below = path.strip_prefix(AGENTS).unwrap_or_default();
        let (name, own) = match below.strip_suffix(GENESIS) {
            Some(name) => (name, GENESIS),
            None => (below, "/"),
        };
        if name.is_empty() || name.contains('/') {
            return Ok(as_it_is(query));
        }
        let named = self.agents.of_name(name).filter(|_| !self.is_endpoint(&line.method, path));
        if let Some(agent) = named {
            return Ok(Target { path: own.to_owned(), query, agent: Some(Arc::clone(agent)) });
        }
        // What an operator registered there is the operator's, and what is wrong before is said before.
        if self.is_registered(path) || !self.is_method(&line.method) {
            return Ok(as_it_is(query));
        }
        Err(self.moved(name).unwrap_or_else(|| {
            Problem::new(Status::NOT_FOUND, "agent-handle-not-found", "no agent of this name is here")
                .with("path", path)
                .with("discover", AGENTS.trim_end_matches('/'))
        }))
    }

    /// Whether an operator's endpoint answers here, as declared. AGTP-API 6.1.
    fn is_endpoint(&self, method: &str, path: &str) -> bool {
        let contract = self.host.contract();
        let Some(resolved) = contract.policy.resolve(method, &contract.catalog) else { return false };
        RequestPath::parse(path, &contract.catalog)
            .is_ok_and(|path| contract.registry.find(&resolved.method, &path).is_some())
    }

    fn is_registered(&self, path: &str) -> bool {
        let contract = self.host.contract();
        RequestPath::parse(path, &contract.catalog).is_ok_and(|path| !contract.registry.methods_at(&path).is_empty())
    }

    fn is_method(&self, method: &str) -> bool {
        let contract = self.host.contract();
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
