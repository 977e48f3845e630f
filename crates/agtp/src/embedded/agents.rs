//! The agents that a call is about: the one that is addressed, and those that its parameters name.

use forecourt_agtp_wire::status::Status;
use forecourt_core::Site;
use forecourt_core::{AgentCard, AgentId, Handle};
use forecourt_host::Directory;
use forecourt_identity::agents::{AgentIdentity, KnownAgents};

use crate::reply::Problem;

/// The agents of this host, as one request sees them.
#[derive(Clone, Copy)]
pub(super) struct HostAgents<'a> {
    /// The agents with an Agent-ID, of here and of elsewhere.
    pub known: &'a KnownAgents,
    /// The agents of this host.
    pub directory: &'a Directory,
    /// The domain and the URLs of this host.
    pub site: &'a Site,
    /// The one that the request is for, where it has a name on this wire.
    pub recipient: Option<&'a AgentIdentity>,
}

impl<'a> HostAgents<'a> {
    /// The agent here that the request is for.
    ///
    /// # Errors
    /// 404 when it has no name on this wire.
    pub(super) fn addressed(self) -> Result<(&'a AgentIdentity, &'a Handle), Problem> {
        self.recipient.and_then(|agent| Some((agent, agent.handle.as_ref()?))).ok_or_else(|| no_agent(None))
    }

    /// The agent of this name, here or elsewhere.
    ///
    /// # Errors
    /// 404 when nobody of this name is known.
    pub(super) fn get(self, id: &AgentId) -> Result<&'a AgentIdentity, Problem> {
        self.known.get(id).map(AsRef::as_ref).ok_or_else(|| no_agent(Some(id.as_str())))
    }

    /// The Agent-ID of an agent here.
    pub(super) fn id_of(self, handle: &Handle) -> Option<&'a str> {
        self.known.of_handle(handle).map(|agent| agent.agent_id.as_str())
    }

    /// How an agent here describes itself.
    pub(super) fn card(self, handle: &Handle) -> Option<&'a AgentCard> {
        self.directory.find(handle).map(|resident| resident.card.as_ref())
    }

    /// The agent here that a caller means: by its Agent-ID, its address, or its name.
    ///
    /// # Errors
    /// 404 when no such agent lives here.
    pub(super) fn find(self, text: &str) -> Result<Handle, Problem> {
        // Of `agtp://host/agents/chef`, `@chef@host` and `chef` alike, the name is behind the last slash.
        let name = text.rsplit('/').next().unwrap_or(text);
        let host = text.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or_default());
        let local = name.trim_start_matches('@').split('@').next().unwrap_or(name);
        let found = match AgentId::parse(name) {
            Ok(id) => self.known.get(&id),
            Err(_) => self.known.of_name(local).filter(|_| self.is_here(name, host)),
        };
        let none = || {
            let message = "no such agent lives here: DISCOVER /agents lists those that do";
            Problem::new(Status::NOT_FOUND, "recipient-not-found", message)
        };
        found.and_then(|agent| agent.handle.clone()).ok_or_else(none)
    }

    /// Whether an address is one of this domain, and its host with any port too. A name alone is.
    fn is_here(self, name: &str, host: Option<&str>) -> bool {
        let domain = name.trim_start_matches('@').split_once('@').map(|(_, domain)| domain);
        let host = host.map(|host| host.rsplit_once(':').map_or(host, |(host, _)| host));
        [domain, host].into_iter().flatten().all(|one| one.eq_ignore_ascii_case(self.site.domain.as_str()))
    }
}

/// The problem that there is no such agent.
pub(super) fn no_agent(agent_id: Option<&str>) -> Problem {
    let problem = Problem::new(Status::NOT_FOUND, "agent-not-found", "no such agent lives here");
    agent_id.map_or(problem.clone(), |id| problem.with("agent_id", id))
}
