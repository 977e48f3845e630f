//! What this host has, as others may see it: one place from which the manifest and the built-in
//! endpoints are both written, so that they can't disagree. AGTP-API 5.8, 8.

mod agents;
mod audience;
mod contracts;
mod endpoints;
mod native;
mod offers;
mod ranked;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use forecourt_contract::{Dispatcher, Endpoint};
use forecourt_host::Host;
use forecourt_identity::agents::KnownAgents;
use forecourt_surface::Mount;
use forecourt_surface::tool::Tool;
use forecourt_synthesis::meaning::{self, EndpointMeanings};
use forecourt_synthesis::negotiator::Negotiator;

use crate::records::RecordKey;
use crate::settings::{AgtpSettings, Disclosure};

pub(crate) use agents::{AgentEntry, LocalAgent};
pub(crate) use audience::Audience;
pub(crate) use contracts::{contract_entry, describe_contract};
pub(crate) use endpoints::DirectoryEntry;
pub(crate) use offers::{Api, HostedProtocol};
use ranked::EndpointRanking;

/// What this host has. All of it but its contracts is fixed while the host runs.
pub(crate) struct Inventory {
    /// The host, with its agents and endpoints.
    pub host: Arc<Host>,
    /// The agents by their Agent-ID.
    pub agents: Arc<KnownAgents>,
    /// The operations that other protocols offer.
    pub tools: Arc<[Tool]>,
    /// The section `[agtp]` of the deployment.
    pub settings: AgtpSettings,
    /// The contracts that are made while the host serves.
    pub negotiator: Arc<Negotiator>,
    /// The key that signs records.
    pub record_key: RecordKey,
    /// The endpoints, to be searched.
    pub ranking: EndpointRanking,
    natives: Vec<Arc<Endpoint>>,
    /// What the members of endpoints mean, once somebody has asked, by method and path.
    meanings: OnceLock<HashMap<String, EndpointMeanings>>,
}

impl Inventory {
    /// What a host has.
    pub(crate) fn new(mount: &Mount, settings: AgtpSettings, negotiator: Arc<Negotiator>) -> Self {
        Self {
            host: Arc::clone(&mount.host),
            agents: Arc::clone(&mount.agents),
            tools: Arc::clone(&mount.tools),
            record_key: RecordKey::unsigned(mount.keys.clone()),
            natives: native::endpoints(&mount.host.contract().catalog),
            ranking: EndpointRanking::default(),
            meanings: OnceLock::new(),
            negotiator,
            settings,
        }
    }

    /// What the members of an endpoint of the operator mean.
    pub(crate) fn meanings(&self, endpoint: &Endpoint) -> Option<&EndpointMeanings> {
        let name = |endpoint: &Endpoint| format!("{} {}", endpoint.method, endpoint.path);
        let read =
            || meaning::of_host(self.contract()).into_iter().map(|(of, meanings)| (name(&of), meanings)).collect();
        self.meanings.get_or_init(read).get(&name(endpoint))
    }

    /// Names the server, for good. AGTP-API 8.3.
    pub(crate) fn server_id(&self) -> &str {
        self.settings.server.server_id.as_deref().unwrap_or(self.host.site().domain.as_str())
    }

    /// The operator's name, for people. AGTP-API 8.3.
    pub(crate) fn operator(&self) -> &str {
        self.settings.server.operator.as_deref().unwrap_or(&self.host.site().name)
    }

    /// The kind of callers that are told which agents live here. AGTP-API 8.5.
    pub(crate) fn disclosure(&self) -> Disclosure {
        self.settings.agents.disclosure
    }

    /// The endpoints, and the checks that calls of them pass.
    pub(crate) fn contract(&self) -> &Dispatcher {
        self.host.contract()
    }
}
