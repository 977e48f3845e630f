//! Prompts: those of the owner's naming, and what one might ask the agents, from their examples and those
//! of their skills.

use std::collections::HashSet;

use forecourt_core::reply::Question;
use forecourt_core::{AgentCard, Handle};
use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResult, InputResponses, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::{Map, Value, json};

use crate::content::block;
use crate::forms::{Form, forms};
use crate::limits::PROMPTS_PER_AGENT_MAX;
use crate::named::Prompt as NamedPrompt;
use crate::offer::Offer;
use crate::section::PromptSettings;
use crate::{agents, elicit, resources};

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

/// Whether an endpoint has a prompt of this name of its own.
pub(crate) fn is_there(offer: &Offer, agent: Option<&Handle>, name: &str) -> bool {
    let is_named = agent.is_none() && offer.prompts.iter().any(|prompt| prompt.settings.name == name);
    is_named || examples(offer, agent).any(|(known, ..)| known == name)
}

/// What came of asking for a prompt.
pub(crate) enum PromptReply {
    /// It is there: words for the person to send.
    Filled(GetPromptResult),
    /// It takes arguments that are missing, which a person may be asked for.
    Lacks(Vec<Form>),
}

/// The prompt of a name, with the answers of a person who was asked for arguments. Fails when there is none,
/// when an argument is missing and `asks` is not set, and when something in it can't be read.
pub(crate) async fn get(
    offer: &Offer,
    agent: Option<&Handle>,
    request: GetPromptRequestParams,
    asks: bool,
) -> Result<PromptReply, String> {
    let mut arguments = request.arguments.unwrap_or_default();
    let named = offer.prompts.iter().filter(|_| agent.is_none());
    if let Some(prompt) = named.into_iter().find(|prompt| prompt.settings.name == request.name) {
        if asks && let Some(forms) = lacks(prompt, &mut arguments, request.input_responses.unwrap_or_default())? {
            return Ok(PromptReply::Lacks(forms));
        }
        return filled(offer, prompt, &arguments).await.map(PromptReply::Filled);
    }
    let example = examples(offer, agent).find(|(known, _, _)| *known == request.name);
    let (_, card, text) = example.ok_or("there is no prompt of this name here")?;
    let words = format!("{text}\n\n(Use the tool {} for this.)", agents::name(card.handle()));
    let message = PromptMessage::new_text(Role::User, words);
    Ok(PromptReply::Filled(GetPromptResult::new(vec![message]).with_description(format!("Ask {}", card.name))))
}

/// The form for the arguments that are missing, once those that were answered are among them.
fn lacks(
    prompt: &NamedPrompt,
    arguments: &mut Map<String, Value>,
    mut responses: InputResponses,
) -> Result<Option<Vec<Form>>, String> {
    let field = |(name, meaning): (&str, &str)| json!({"id": name, "text": meaning, "type": "free_text"});
    let questions: Vec<Value> = prompt.missing(arguments).map(field).collect();
    if questions.is_empty() {
        return Ok(None);
    }
    let question = Question { text: prompt.settings.description.clone(), questions };
    let forms = forms(&question).ok_or("too many arguments are missing")?;
    for form in &forms {
        let Some(response) = responses.remove(&form.key) else { return Ok(Some(forms)) };
        let response = serde_json::from_value(response).map_err(|_| format!("`{}` must be an answer", form.key))?;
        arguments.extend(form.answers(elicit::accepted(response).ok_or("the person did not answer")?));
    }
    Ok(None)
}

async fn filled(
    offer: &Offer,
    prompt: &NamedPrompt,
    arguments: &Map<String, Value>,
) -> Result<GetPromptResult, String> {
    let (addresses, words) = prompt.fill(arguments)?;
    let mut messages = Vec::new();
    for file in &prompt.files {
        messages.extend(block(file.part().await?).map(|block| PromptMessage::new(Role::User, block)));
    }
    for address in addresses {
        let read = resources::read(offer, None, &address).await;
        let contents = read.ok_or_else(|| format!("there is no resource `{address}` here"))??;
        messages.push(PromptMessage::new(Role::User, ContentBlock::resource(contents)));
    }
    messages.push(PromptMessage::new_text(Role::User, words));
    Ok(GetPromptResult::new(messages).with_description(prompt.settings.description.clone()))
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
