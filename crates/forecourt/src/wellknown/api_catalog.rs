//! `/.well-known/api-catalog`: the APIs of this host and what describes each, as a set of links. RFC 9727,
//! RFC 9264.

use serde_json::{Value, json};

use super::listing::SiteListing;

/// Where it is.
pub(crate) const PATH: &str = "/.well-known/api-catalog";
/// Its media type, with the profile that RFC 9727 4.2 registers.
pub(crate) const MEDIA_TYPE: &str = "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"";

/// The whole document: every endpoint is an item of the catalog, and an anchor with what describes it.
pub(crate) fn api_catalog(listing: &SiteListing<'_>) -> Value {
    let catalog = format!("{}{PATH}", listing.site.base);
    let endpoints =
        || listing.agents.iter().flat_map(|card| card.endpoints.iter().map(move |endpoint| (card, endpoint)));
    let items: Vec<Value> = endpoints()
        .map(|(card, endpoint)| json!({"href": endpoint.url, "title": format!("{} over {}", card.name, endpoint.protocol)}))
        .collect();
    let mut linkset = vec![json!({"anchor": catalog, "item": items})];
    for (card, endpoint) in endpoints() {
        let mut links = json!({"anchor": endpoint.url});
        if let Some(description) = &endpoint.description {
            links["service-desc"] = json!([{"href": description.url, "type": description.media_type}]);
        }
        if let Some(page) = card.homepage.as_deref() {
            links["service-doc"] = json!([{"href": page, "type": "text/html"}]);
        }
        if links.as_object().is_some_and(|links| links.len() > 1) {
            linkset.push(links);
        }
    }
    json!({ "linkset": linkset })
}
