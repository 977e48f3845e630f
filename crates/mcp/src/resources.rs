//! Resources: how each agent describes itself, and the widget that shows results.

use forecourt_core::{AgentCard, Handle};
use rmcp::model::{ReadResourceResult, Resource, ResourceContents};
use serde_json::json;

use crate::offer::Offer;
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
    cards.chain(widget).collect()
}

/// The contents of a resource, if there is one of that address.
pub(crate) fn read(offer: &Offer, agent: Option<&Handle>, address: &str) -> Option<ReadResourceResult> {
    let contents = match address {
        widget::URI if offer.settings.widget => widget::contents(),
        address => {
            let card = cards(offer, agent).find(|card| uri(card.handle()) == address)?;
            description(card)?
        }
    };
    Some(ReadResourceResult::new(vec![contents]))
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
