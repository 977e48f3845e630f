//! What is offered beside endpoints: tools, HTTP interfaces and the other protocols of this host.
//! AGTP-API 5.8.4, 5.8.5, 8.6.

use forecourt_core::{AgentId, LazyJson};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Audience, Inventory};
use crate::NAME;
use crate::settings::{ApiSettings, HostedProtocolSettings};

/// One tool, in the shape in which carriers of tools describe it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolEntry<'a> {
    name: &'a str,
    title: &'a str,
    description: &'a str,
    input_schema: &'a LazyJson,
    annotations: Value,
    #[serde(rename = "agent_id", skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a AgentId>,
}

/// An HTTP interface beside this protocol.
#[derive(Debug, Serialize)]
pub(crate) struct Api<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    base_url: String,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    methods: &'a [String],
    /// Where it is described. AGTP-API 14.3, B.3.
    #[serde(skip_serializing_if = "Option::is_none")]
    http_documentation: Option<String>,
}

/// Another protocol of this host.
#[derive(Debug, Serialize)]
pub(crate) struct HostedProtocol<'a> {
    protocol: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    /// Where the default agent answers it, for who names no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    /// What the operator says about where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    catalog: Option<&'a str>,
}

impl Inventory {
    /// The tools, but those of agents that are not named to such a caller. AGTP-API 5.8.4.
    pub(crate) fn tools(&self, audience: Audience) -> Vec<ToolEntry<'_>> {
        let named = self.disclosure().reaches(audience);
        let visible = self.tools.iter().filter(|tool| tool.as_tool && (named || tool.agent.is_none()));
        let entry = visible.map(|tool| ToolEntry {
            name: &tool.name,
            title: &tool.title,
            description: &tool.description,
            input_schema: &tool.input,
            annotations: json!({"readOnlyHint": tool.reads_only, "idempotentHint": tool.is_idempotent}),
            agent_id: tool.agent.as_ref().and_then(|handle| Some(&self.agents.of_handle(handle)?.agent_id)),
        });
        entry.collect()
    }

    /// The HTTP interfaces: the gateway, then those that the operator names. AGTP-API 5.8.5, 8.6.
    pub(crate) fn apis(&self) -> Vec<Api<'_>> {
        let gateway = self.settings.gateway.map(|address| Api {
            name: "gateway",
            description: "The endpoints of this server over HTTP.",
            // The gateway is on loopback alone, where there is no TLS.
            base_url: format!("http://{address}"),
            methods: &[],
            http_documentation: None,
        });
        gateway.into_iter().chain(self.settings.apis.iter().map(|api| self.api(api))).collect()
    }

    fn api<'a>(&self, api: &'a ApiSettings) -> Api<'a> {
        let at = |place: &String| if place.starts_with('/') { self.host.site().url(place) } else { place.clone() };
        Api {
            name: api.name.as_deref().unwrap_or(&api.path),
            description: &api.description,
            base_url: at(&api.path),
            methods: &api.methods,
            http_documentation: api.http_documentation.as_ref().map(at),
        }
    }

    /// The other protocols of this host, then those that the operator names. Where one is says who answers,
    /// and is told to those who may know. AGTP-API 8.6.
    pub(crate) fn hosted_protocols(&self, audience: Audience) -> Vec<HostedProtocol<'_>> {
        let named = self.disclosure().reaches(audience);
        let card = &self.host.directory().default_agent().card;
        let others = card.endpoints.iter().filter(|endpoint| endpoint.protocol != NAME);
        let spoken = others.map(|endpoint| HostedProtocol {
            protocol: endpoint.protocol,
            version: None,
            url: named.then_some(endpoint.url.as_str()),
            endpoint: None,
            catalog: None,
        });
        spoken.chain(self.settings.hosted_protocols.iter().map(declared)).collect()
    }
}

fn declared(settings: &HostedProtocolSettings) -> HostedProtocol<'_> {
    HostedProtocol {
        protocol: &settings.protocol,
        version: settings.version.as_deref(),
        url: None,
        endpoint: settings.endpoint.as_deref(),
        catalog: settings.catalog.as_deref(),
    }
}
