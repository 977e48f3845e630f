//! What a program can know of an agent's MCP server before it connects: a card beside the endpoint, for
//! catalogs of agents.

use axum::body::Body;
use axum::response::Response;
use forecourt_core::{AgentCard, Site};
use forecourt_surface::BaseUrl;
use forecourt_surface::document::{self, ServedDocument};
use http::request::Parts;
use rmcp::model::ProtocolVersion;
use serde_json::{Value, json};

use crate::limits::SERVER_CARD_FRESH;
use crate::target;

/// What follows the path of the endpoint that it is about.
pub(crate) const SUFFIX: &str = "/server-card";
/// The media type of a server card.
pub(crate) const MEDIA_TYPE: &str = "application/mcp-server-card+json";

/// The revisions that clients may begin with.
const VERSIONS: [ProtocolVersion; 3] =
    [ProtocolVersion::V_2026_07_28, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2025_06_18];

/// Answers a request for the card of an agent.
pub(crate) fn answer(head: &Parts, base: BaseUrl<'_>, agent: &AgentCard) -> Response<Body> {
    document::answer(&head.method, &head.headers, || {
        ServedDocument::json(MEDIA_TYPE, SERVER_CARD_FRESH, &server_card(base, agent))
    })
}

/// The domain from its end on, as names in catalogs begin: `com.example` for `example.com`.
pub(crate) fn reverse_domain(site: &Site) -> String {
    let mut labels: Vec<&str> = site.domain.as_str().split('.').collect();
    labels.reverse();
    labels.join(".")
}

fn server_card(base: BaseUrl<'_>, agent: &AgentCard) -> Value {
    let site = base.site();
    let versions: Vec<&str> = VERSIONS.iter().map(ProtocolVersion::as_str).collect();
    json!({
        "name": format!("{}/{}", reverse_domain(&site), agent.handle()),
        "title": agent.name,
        "description": agent.description,
        "version": agent.version,
        "websiteUrl": agent.homepage.clone().unwrap_or_else(|| site.url("/")),
        "remotes": [{
            "type": "streamable-http",
            "url": base.url(&target::path_of(Some(agent.handle()))),
            "supportedProtocolVersions": versions,
        }],
    })
}
