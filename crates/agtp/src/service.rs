//! What answers requests: the host, the agents that are known, and what is published.

mod answer;
mod form;
mod identity;
mod native;
mod speak;

pub(crate) use answer::Answered;
pub(crate) use identity::uri;
pub(crate) use speak::on_connections;
#[cfg(test)]
pub(crate) use speak::serve;

use std::sync::Arc;

use arc_swap::ArcSwap;
use forecourt_contract::{Dispatcher, Native};
use forecourt_egress::Egress;
use forecourt_host::Host;
use forecourt_identity::agents::{AgentIdentity, KnownAgents};
use forecourt_identity::{HostKeys, Verifier};
use forecourt_surface::Mount;

use crate::ask::Ask;
use crate::builtin::Discovery;
use crate::floor::Resting;
use crate::inventory::Inventory;
use crate::settings::AgtpSettings;
use crate::to_wire::ResponseDefaults;

/// Everything that an answer can need.
pub(crate) struct Service {
    /// The host that answers.
    pub host: Arc<Host>,
    /// The agents that are known by their Agent-ID.
    pub agents: Arc<KnownAgents>,
    /// The keys that sign for this domain.
    pub keys: Arc<ArcSwap<HostKeys>>,
    /// Proof in, sender out.
    pub verifier: Arc<Verifier>,
    /// The way out.
    pub egress: Arc<Egress>,
    /// The operator's settings.
    pub settings: AgtpSettings,
    /// The sessions that may rest.
    pub resting: Resting,
    /// What answers DISCOVER.
    pub discovery: Discovery,
    /// What every answer says.
    pub letterhead: ResponseDefaults,
}

impl Service {
    /// A service on a host, which from now on answers the host's own pairs in compositions too.
    pub(crate) fn new(mount: &Mount, settings: AgtpSettings) -> Arc<Self> {
        let letterhead = ResponseDefaults::new(&settings, mount);
        let inventory = Inventory::new(mount, settings.clone());
        let service = Arc::new(Self {
            host: Arc::clone(&mount.host),
            agents: Arc::clone(&mount.agents),
            keys: Arc::clone(&mount.keys),
            verifier: Arc::clone(&mount.verifier),
            egress: Arc::clone(&mount.egress),
            resting: Resting::default(),
            discovery: Discovery::new(inventory, mount.keys.clone()),
            settings,
            letterhead,
        });
        let native: Arc<dyn Native> = service.clone();
        // Whoever was first stays: there is one service to a host.
        let _ = service.contract().native.set(Arc::downgrade(&native));
        service
    }

    /// What calls are held against.
    pub(crate) fn contract(&self) -> &Arc<Dispatcher> {
        self.host.contract()
    }

    /// The agent that a request is for: the one that its path names, else the one that calls if it lives
    /// here, else the default one. Base 2.4. `None`: that one has no name on this wire.
    pub(crate) fn recipient<'a>(&'a self, ask: &'a Ask) -> Option<&'a Arc<AgentIdentity>> {
        let calling = ask.known.as_ref().filter(|agent| agent.is_hosted());
        ask.addressed.as_ref().or(calling).or_else(|| self.default_agent())
    }

    /// The default agent, as it is known on this wire.
    pub(crate) fn default_agent(&self) -> Option<&Arc<AgentIdentity>> {
        self.agents.of_handle(self.host.directory().default_agent().card.handle())
    }
}
