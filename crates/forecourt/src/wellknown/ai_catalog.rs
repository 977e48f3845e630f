//! `/.well-known/ai-catalog.json`: the agents of this host, each by the documents that describe it. AI Catalog
//! 1.0.

use serde_json::{Value, json};

use super::listing::SiteListing;

/// Where it is.
pub(crate) const PATH: &str = "/.well-known/ai-catalog.json";
/// Its media type.
pub(crate) const MEDIA_TYPE: &str = "application/ai-catalog+json";
/// The version of the form.
const SPEC_VERSION: &str = "1.0";

/// The whole document. Agents that no protocol describes have no entry: an entry needs a document.
pub(crate) fn ai_catalog(listing: &SiteListing<'_>) -> Value {
    let site = &listing.site;
    let mut entries = Vec::new();
    for card in &listing.agents {
        for endpoint in &card.endpoints {
            let Some(description) = &endpoint.description else { continue };
            let tags: Vec<&String> = card.skills.iter().flat_map(|skill| &skill.tags).collect();
            entries.push(json!({
                "identifier": format!("urn:air:{}:{}:{}", site.domain, endpoint.protocol, card.handle()),
                "displayName": card.name,
                "type": description.media_type,
                "url": description.url,
                "description": card.description,
                "version": card.version,
                "tags": tags,
            }));
        }
    }
    json!({
        "specVersion": SPEC_VERSION,
        "host": {"displayName": site.name, "identifier": site.domain, "documentationUrl": format!("{}/", site.base)},
        "entries": entries,
    })
}
