//! Prompts: what one might ask the agents, from their examples and the examples of their skills.

use std::collections::HashSet;

use forecourt_core::{AgentCard, Handle};
use rmcp::model::{GetPromptResult, Prompt, PromptMessage, Role};

use crate::agents;
use crate::limits::PROMPTS_PER_AGENT_MAX;
use crate::offer::Offer;

/// The prompts of an endpoint.
pub(crate) fn list(offer: &Offer, agent: Option<&Handle>) -> Vec<Prompt> {
    let all = examples(offer, agent);
    all.map(|(name, card, text)| Prompt::new(name, Some(format!("Ask {}: {text}", card.name)), None).with_title(text))
        .collect()
}

/// The prompt of a name: words for the person to send, that name the tool.
pub(crate) fn get(offer: &Offer, agent: Option<&Handle>, name: &str) -> Option<GetPromptResult> {
    let (_, card, text) = examples(offer, agent).find(|(known, _, _)| known == name)?;
    let words = format!("{text}\n\n(Use the tool {} for this.)", agents::name(card.handle()));
    let message = PromptMessage::new_text(Role::User, words);
    Some(GetPromptResult::new(vec![message]).with_description(format!("Ask {}", card.name)))
}

fn examples<'a>(offer: &'a Offer, agent: Option<&'a Handle>) -> impl Iterator<Item = (String, &'a AgentCard, &'a str)> {
    let cards = offer.host.directory().iter().map(|resident| &*resident.card);
    let cards = cards.filter(move |card| agent.is_none_or(|agent| card.handle() == agent));
    cards.flat_map(|card| {
        let mut seen = HashSet::new();
        let all = card.examples.iter().chain(card.skills.iter().flat_map(|skill| &skill.examples));
        let own = all.filter(move |text| seen.insert(*text));
        let numbered = own.take(PROMPTS_PER_AGENT_MAX).enumerate();
        numbered.map(move |(index, text)| (format!("{}_{}", card.handle(), index + 1), card, text.as_str()))
    })
}
