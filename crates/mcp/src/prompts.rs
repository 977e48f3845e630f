//! Prompts: those of the owner's naming, and what one might ask the agents, from their examples and those
//! of their skills.

use std::collections::HashSet;

use forecourt_core::{AgentCard, Handle};
use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value};

use crate::agents;
use crate::limits::PROMPTS_PER_AGENT_MAX;
use crate::offer::Offer;
use crate::section::PromptSettings;

/// The prompts of an endpoint: those of the owner's naming at the host's, and the examples.
pub(crate) fn list(offer: &Offer, agent: Option<&Handle>) -> Vec<Prompt> {
    let named = offer.prompts.iter().filter(|_| agent.is_none()).map(|prompt| described(&prompt.settings));
    let all = examples(offer, agent)
        .map(|(name, card, text)| Prompt::new(name, Some(format!("Ask {}: {text}", card.name)), None).with_title(text));
    named.chain(all).collect()
}

fn described(prompt: &PromptSettings) -> Prompt {
    let arguments = prompt.arguments.iter().map(|(name, description)| {
        PromptArgument::new(name.clone()).with_description(description.clone()).with_required(true)
    });
    let arguments: Vec<PromptArgument> = arguments.collect();
    let arguments = (!arguments.is_empty()).then_some(arguments);
    let title = prompt.title.as_ref().unwrap_or(&prompt.name);
    Prompt::new(prompt.name.clone(), Some(prompt.description.clone()), arguments).with_title(title)
}

/// The prompt of a name: words for the person to send. Fails when there is none, and when an argument is
/// missing.
pub(crate) fn get(
    offer: &Offer,
    agent: Option<&Handle>,
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<GetPromptResult, String> {
    let named = offer.prompts.iter().filter(|_| agent.is_none()).find(|prompt| prompt.settings.name == name);
    let (words, description) = match named {
        Some(prompt) => (prompt.fill(arguments)?, prompt.settings.description.clone()),
        None => {
            let example = examples(offer, agent).find(|(known, _, _)| known == name);
            let (_, card, text) = example.ok_or("there is no prompt of this name here")?;
            let words = format!("{text}\n\n(Use the tool {} for this.)", agents::name(card.handle()));
            (words, format!("Ask {}", card.name))
        }
    };
    let message = PromptMessage::new_text(Role::User, words);
    Ok(GetPromptResult::new(vec![message]).with_description(description))
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
