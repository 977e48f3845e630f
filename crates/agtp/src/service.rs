//! What every answer can need: the host, the agents that are known, and what is published.

mod agents;
mod connection_info;
mod negotiation;

pub(crate) use agents::{lifecycle_state, uri};
pub(crate) use connection_info::ConnectionInfo;
pub(crate) use negotiation::negotiator;

use std::collections::BTreeSet;
use std::sync::Arc;

use arc_swap::ArcSwap;
use forecourt_contract::call::ConnectionId;
use forecourt_contract::{Current, Dispatcher};
use forecourt_core::Site;
use forecourt_egress::Egress;
use forecourt_host::Host;
use forecourt_identity::agents::{AgentIdentity, KnownAgents};
use forecourt_identity::{HostKeys, Verifier};
use forecourt_surface::Mount;
use forecourt_synthesis::negotiator::Negotiator;

use crate::ask::Ask;
use crate::discovery::Discovery;
use crate::inventory::Inventory;
use crate::records::Records;
use crate::sessions::Resting;
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
    /// What makes contracts while the host serves.
    pub negotiator: Arc<Negotiator>,
    /// What keeps records of answers.
    pub records: Arc<Records>,
    /// The fields that are the same in all responses, or in all of one agent.
    pub response_defaults: ResponseDefaults,
    /// The service that takes this one's place once the deployment is replaced.
    pub current: Current<Service>,
}

impl Service {
    /// A service on a host, which from now on answers the host's own pairs in compositions too.
    pub(crate) fn new(mount: &Mount, settings: AgtpSettings) -> Arc<Self> {
        let response_defaults = response_defaults(&settings, mount);
        let server_id = server_id(&settings, mount.host.site());
        let records = Arc::new(Records::new(mount, &settings, server_id));
        let negotiator = negotiator(mount, &settings, Arc::clone(&records));
        let mut inventory = Inventory::new(mount, settings.clone(), Arc::clone(&negotiator));
        inventory.record_key = records.key.clone();
        let service = Arc::new(Self {
            host: Arc::clone(&mount.host),
            agents: Arc::clone(&mount.agents),
            keys: Arc::clone(&mount.keys),
            verifier: Arc::clone(&mount.verifier),
            egress: Arc::clone(&mount.egress),
            resting: Resting::default(),
            discovery: Discovery::new(inventory, mount.keys.clone()),
            negotiator,
            records,
            settings,
            response_defaults,
            current: mount.services.current(),
        });
        // From now on open connections find this service as the current one.
        mount.services.publish(service.clone());
        mount.services.publish_native(service.clone());
        service
    }

    /// The name of this server, for good.
    pub(crate) fn server_id(&self) -> &str {
        server_id(&self.settings, self.host.site())
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

    /// Ends what was bound to a connection that was closed. AGTP-API 10.8.
    pub(crate) async fn connection_ended(&self, id: &ConnectionId) {
        self.negotiator.end_connection(id).await;
    }
}

/// The name of this server.
fn server_id<'a>(settings: &'a AgtpSettings, site: &'a Site) -> &'a str {
    settings.server.server_id.as_deref().unwrap_or(site.domain.as_str())
}

/// The name of this server, its agents, and the methods that it answers, as responses say them.
fn response_defaults(settings: &AgtpSettings, mount: &Mount) -> ResponseDefaults {
    let contract = mount.host.contract();
    let mut methods: BTreeSet<String> = contract.catalog.embedded().map(str::to_owned).collect();
    let registered = contract.registry.iter().map(|registered| &registered.endpoint.method);
    methods.extend(registered.filter(|method| contract.policy.admits(method, method)).map(ToString::to_string));
    ResponseDefaults::new(server_id(settings, mount.host.site()), mount.agents.hosted(), &methods)
}
