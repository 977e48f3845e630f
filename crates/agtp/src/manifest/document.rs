//! The manifest, field by field, in the order in which it is written. AGTP-API 8.2 to 8.9; base 11.

use forecourt_contract::PublishedEndpoint;
use forecourt_core::Timestamp;
use forecourt_identity::HostKeys;
use forecourt_synthesis::negotiator::PersistentContracts;
use serde::Serialize;
use serde_json::{Value, json};

use super::methods::EmbeddedMethod;
use super::revision::{AGTP_API_VERSION, Revision};
use crate::inventory::{AgentEntry, Api, Audience, DirectoryEntry, HostedProtocol, Inventory};
use crate::settings::Disclosure;

/// The version of the wire. Base 11.
const AGTP_VERSION: &str = "1.0";
/// A manifest for one kind of caller, before it is signed.
#[derive(Debug, Serialize)]
pub(super) struct ManifestDocument<'a> {
    agtp_version: &'static str,
    agtp_api_version: &'static str,
    /// Empty while it is not yet known which revision this content is.
    document_version: String,
    catalog_version: &'a str,
    catalog_versions_supported: [&'a str; 1],
    server: Server<'a>,
    embedded_methods: Vec<EmbeddedMethod<'a>>,
    custom_methods: Vec<Value>,
    pub(super) endpoints: Vec<ManifestEndpoint<'a>>,
    agent_disclosure: Disclosure,
    hosted_agents: Vec<AgentEntry<'a>>,
    agent_disclosure_notice: Option<&'a str>,
    apis: Vec<Api<'a>>,
    hosted_protocols: Vec<HostedProtocol<'a>>,
    policies: Value,
    /// What a caller gets that asked for both. Base 2.6.
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<Vec<DirectoryEntry<'a>>>,
}

/// One entry of `endpoints`. It borrows its schemas: copies of them all would take most of the room of a host.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ManifestEndpoint<'a> {
    Own(PublishedEndpoint<'a>),
    Negotiated(&'a Value),
}

/// Who answers here. AGTP-API 8.3.
#[derive(Debug, Serialize)]
struct Server<'a> {
    server_id: &'a str,
    domain: Option<&'a str>,
    operator: &'a str,
    contact: Option<&'a str>,
    supported_features: Vec<&'static str>,
    issued: Option<Timestamp>,
    updated: Option<Timestamp>,
    /// The keys that sign manifests and documents here: a key set. Base 6.6.
    signing_keys: Value,
}

impl<'a> ManifestDocument<'a> {
    /// What such a caller is told, as of no revision in particular, with these contracts among the endpoints.
    pub(super) fn new(
        inventory: &'a Inventory,
        persistent: &'a PersistentContracts,
        keys: &HostKeys,
        now: Timestamp,
        audience: Audience,
    ) -> Self {
        let (contract, settings) = (inventory.contract(), &inventory.settings);
        let catalog = &contract.catalog;
        Self {
            agtp_version: AGTP_VERSION,
            agtp_api_version: AGTP_API_VERSION,
            document_version: String::new(),
            catalog_version: catalog.version(),
            catalog_versions_supported: [catalog.version()],
            server: Server {
                server_id: inventory.server_id(),
                domain: settings.server.domain.as_deref(),
                operator: inventory.operator(),
                contact: settings.server.contact.as_deref(),
                supported_features: features(inventory),
                issued: None,
                updated: None,
                signing_keys: signing_keys(inventory, keys, now),
            },
            embedded_methods: super::methods::embedded(catalog),
            custom_methods: contract.policy.custom().map(|method| json!({"name": method})).collect(),
            endpoints: endpoints(inventory, persistent),
            agent_disclosure: settings.agents.disclosure,
            hosted_agents: inventory.hosted_agents(audience),
            agent_disclosure_notice: settings.agents.disclosure_notice.as_deref(),
            apis: inventory.apis(),
            hosted_protocols: inventory.hosted_protocols(audience),
            policies: policies(inventory),
            directory: None,
        }
    }

    /// Writes the revision's version and times into the document.
    pub(super) fn stamp(&mut self, revision: &Revision, issued: Option<Timestamp>) {
        self.document_version = revision.document_version();
        self.server.issued = Some(issued.unwrap_or(revision.issued));
        self.server.updated = Some(revision.updated);
    }

    /// Adds the directory of discovery surfaces. Base 2.6.
    pub(super) fn add_directory(&mut self, inventory: &'a Inventory) {
        self.directory = Some(inventory.directory());
    }
}

/// Every endpoint as others may see it. AGTP-API 8.9, 10.8.
fn endpoints<'a>(inventory: &'a Inventory, persistent: &'a PersistentContracts) -> Vec<ManifestEndpoint<'a>> {
    let negotiated = inventory.negotiated(persistent).map(|contract| ManifestEndpoint::Negotiated(&contract.endpoint));
    let own = inventory.endpoints().map(|(_, endpoint)| ManifestEndpoint::Own(endpoint.published()));
    own.chain(negotiated).collect()
}

/// The host's keys, and that of records where it is another one, or is called otherwise. Base 6.6.
fn signing_keys(inventory: &Inventory, keys: &HostKeys, now: Timestamp) -> Value {
    let mut set = keys.jwks(now);
    if let (Some(key), Some(listed)) = (inventory.record_key.beside(keys), set["keys"].as_array_mut()) {
        listed.push(key.to_jwk());
    }
    set
}

/// What this server can do beyond what every server must. Tokens of our own. AGTP-API 8.3.
fn features(inventory: &Inventory) -> Vec<&'static str> {
    let optional = [
        ("http-gateway", inventory.settings.gateway.is_some()),
        ("synthesis", inventory.settings.policies.synthesis_enabled),
        ("rcns", inventory.settings.rcns_enabled()),
        ("compositions", inventory.contract().recipes.iter().next().is_some()),
    ];
    let there = optional.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name);
    ["endpoint-registry", "embedded-methods/18", "agent-genesis", "manifest-signature"]
        .into_iter()
        .chain(there)
        .collect()
}

/// The operator's switches. AGTP-API 8.7, 9.3.
fn policies(inventory: &Inventory) -> Value {
    let (contract, policies) = (inventory.contract(), &inventory.settings.policies);
    json!({
        "wildcards_accepted": contract.rules.wildcards_accepted,
        "anonymous_discovery": policies.anonymous_discovery,
        "scope_required_for_invocation": contract.rules.scope_required,
        "synthesis_enabled": policies.synthesis_enabled,
        "max_synthesis_depth": policies.max_synthesis_depth,
        "methods": contract.policy.to_json(),
    })
}
