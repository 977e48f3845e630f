//! Resources: how each agent describes itself, the widget that shows results, and those of the owner's naming,
//! which are the host's.

pub(crate) mod watch;

use forecourt_core::{AgentCard, Handle};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use crate::offer::Offer;
use crate::own_resource::{OwnResource, Stamp};
use crate::widget;

/// What is there at an endpoint.
pub(crate) fn list(offer: &Offer, agent: Option<&Handle>) -> Vec<Resource> {
    let cards = cards(offer, agent).map(|card| {
        Resource::new(uri(card.handle()), card.handle().as_str())
            .with_title(&card.name)
            .with_description(&card.description)
            .with_mime_type("application/json")
    });
    let widget = offer.settings.widget.then(widget::resource);
    cards.chain(widget).chain(own(offer, agent).filter_map(OwnResource::listed)).collect()
}

/// The forms of addresses at an endpoint.
pub(crate) fn templates(offer: &Offer, agent: Option<&Handle>) -> Vec<ResourceTemplate> {
    own(offer, agent).filter_map(OwnResource::template).collect()
}

/// The contents of a resource, if there is one of that address. Fails when it can't be read.
pub(crate) async fn read(
    offer: &Offer,
    agent: Option<&Handle>,
    address: &str,
) -> Option<Result<ResourceContents, String>> {
    if address == widget::URI && offer.settings.widget {
        return Some(Ok(widget::contents()));
    }
    if let Some(card) = cards(offer, agent).find(|card| uri(card.handle()) == address) {
        return description(card).map(Ok);
    }
    let found = own(offer, agent).find(|resource| resource.is_at(address))?;
    Some(found.contents(address).await)
}

/// Whether there is a resource of an address.
pub(crate) fn is_there(offer: &Offer, agent: Option<&Handle>, address: &str) -> bool {
    (address == widget::URI && offer.settings.widget)
        || cards(offer, agent).any(|card| uri(card.handle()) == address)
        || own(offer, agent).any(|resource| resource.is_at(address))
}

/// How a resource stands now; `None` for what stands still.
async fn stamp(offer: &Offer, address: &str) -> Stamp {
    own(offer, None).find(|resource| resource.is_at(address))?.stamp().await
}

fn own<'a>(offer: &'a Offer, agent: Option<&Handle>) -> impl Iterator<Item = &'a OwnResource> + use<'a> {
    let is_hosts = agent.is_none();
    offer.resources.iter().filter(move |_| is_hosts)
}

fn cards<'a>(offer: &'a Offer, agent: Option<&'a Handle>) -> impl Iterator<Item = &'a AgentCard> {
    let all = offer.host.directory().iter().map(|resident| &*resident.card);
    all.filter(move |card| agent.is_none_or(|agent| card.handle() == agent))
}

fn uri(handle: &Handle) -> String {
    format!("agent://{handle}")
}

fn description(card: &AgentCard) -> Option<ResourceContents> {
    let endpoints = card.endpoints.iter().map(|endpoint| json!({"protocol": endpoint.protocol, "url": endpoint.url}));
    let text = json!({
        "address": card.address.to_string(),
        "name": card.name,
        "description": card.description,
        "version": card.version,
        "language": card.language.as_str(),
        "skills": card.skills,
        "examples": card.examples,
        "tool": crate::agents::name(card.handle()),
        "endpoints": endpoints.collect::<Vec<_>>(),
    });
    let contents = json!({"uri": uri(card.handle()), "mimeType": "application/json", "text": text.to_string()});
    serde_json::from_value(contents).ok()
}
