//! What of an agent's card is kept in the list of its hub: bounded, and without what others would refuse a card for.

use std::collections::HashSet;

use forecourt_agents::hub::ListedAgent;
use forecourt_core::clean::is_hidden;
use forecourt_core::limits::HOPS_MAX;
use forecourt_core::{ContentMode, Handle, Skill};
use forecourt_egress::CheckedUrl;
use serde::Serialize;
use url::Url;

use crate::card::{AgentRef, RemoteCard};
use crate::limits::{
    LISTED_BYTES_MAX, LISTED_DESCRIPTION_CHARS_MAX, LISTED_MODES_MAX, LISTED_NAME_CHARS_MAX, LISTED_SKILLS_MAX,
    LISTED_WORDS_MAX,
};

/// Media types of words, as the core knows them.
const WORDS: [&str; 3] = ["text/plain", "text/markdown", "text/html"];
/// A list of links. RFC 2483 5.
const LINKS: &str = "text/uri-list";

/// A card that was found, and how far it is believed.
pub(super) struct FoundCard {
    pub(super) card: RemoteCard,
    pub(super) is_signed: bool,
    pub(super) etag: Option<String>,
}

/// An agent as it is kept. `url` is where its card is, or its endpoint.
pub(super) fn listed(handle: &Handle, as_listed: &AgentRef, url: &Url, found: Option<FoundCard>) -> ListedAgent {
    let described = as_listed.description.as_deref().unwrap_or_default();
    let name = named(&as_listed.name, handle);
    let Some(FoundCard { card, is_signed, etag }) = found else {
        return ListedAgent {
            handle: handle.clone(),
            url: url.to_string(),
            name,
            description: text(described, LISTED_DESCRIPTION_CHARS_MAX),
            version: String::new(),
            icon: None,
            homepage: None,
            skills: Vec::new(),
            input_modes: Vec::new(),
            output_modes: Vec::new(),
            is_signed: false,
            via: Vec::new(),
            etag: None,
        };
    };
    let description = if card.description.is_empty() { described } else { &card.description };
    let mut agent = ListedAgent {
        handle: handle.clone(),
        url: url.to_string(),
        name: if card.name.is_empty() { name } else { named(&card.name, handle) },
        description: text(description, LISTED_DESCRIPTION_CHARS_MAX),
        version: line(&card.version, LISTED_NAME_CHARS_MAX),
        icon: https(card.icon),
        homepage: https(card.documentation),
        skills: skills(card.skills),
        input_modes: modes(&card.input_modes),
        output_modes: modes(&card.output_modes),
        is_signed,
        via: card.via.iter().take(HOPS_MAX as usize).map(|host| line(host, LISTED_NAME_CHARS_MAX)).collect(),
        etag: etag.filter(|etag| etag.len() <= LISTED_NAME_CHARS_MAX),
    };
    // Each skill is measured once: of a long list, all are not written anew for each that is left out.
    let mut size = bytes(&agent);
    while size > LISTED_BYTES_MAX {
        let Some(skill) = agent.skills.pop() else { break };
        size = size.saturating_sub(bytes(&skill));
    }
    agent
}

/// Bytes of an agent or a skill in the list.
fn bytes(of: &impl Serialize) -> usize {
    serde_json::to_vec(of).map_or(usize::MAX, |text| text.len())
}

fn named(name: &str, handle: &Handle) -> String {
    Some(line(name, LISTED_NAME_CHARS_MAX)).filter(|name| !name.is_empty()).unwrap_or_else(|| handle.to_string())
}

/// A text as it is shown, cut short.
fn text(text: &str, chars_max: usize) -> String {
    text.chars().filter(|c| !is_hidden(*c)).take(chars_max).collect::<String>().trim().to_owned()
}

/// The same on one line.
pub(super) fn line(words: &str, chars_max: usize) -> String {
    let words = words.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    text(&words.collect::<String>(), chars_max)
}

fn https(url: Option<String>) -> Option<String> {
    url.filter(|url| CheckedUrl::parse(url).is_ok_and(|url| url.is_https()))
}

/// Skills that have an id and a name, no two with one id.
fn skills(skills: Vec<Skill>) -> Vec<Skill> {
    let mut seen = HashSet::new();
    let each = skills.into_iter().map(|skill| Skill {
        id: line(&skill.id, LISTED_NAME_CHARS_MAX),
        name: line(&skill.name, LISTED_NAME_CHARS_MAX),
        description: text(&skill.description, LISTED_DESCRIPTION_CHARS_MAX),
        tags: words(&skill.tags),
        examples: words(&skill.examples),
    });
    let fits = |skill: &Skill| !skill.id.is_empty() && !skill.name.is_empty();
    each.filter(|skill| fits(skill) && seen.insert(skill.id.clone())).take(LISTED_SKILLS_MAX).collect()
}

fn words(words: &[String]) -> Vec<String> {
    let each = words.iter().map(|word| line(word, LISTED_NAME_CHARS_MAX)).filter(|word| !word.is_empty());
    each.take(LISTED_WORDS_MAX).collect()
}

/// Media types as forms of content.
fn modes(types: &[String]) -> Vec<ContentMode> {
    let is_type = |name: &&String| {
        let fits = |c: char| c.is_ascii_graphic() && c != '/';
        let has_halves = name.split_once('/').is_some_and(|(kind, sub)| {
            !kind.is_empty() && !sub.is_empty() && kind.chars().all(fits) && sub.chars().all(fits)
        });
        has_halves && name.len() <= LISTED_NAME_CHARS_MAX
    };
    let mode = |name: &String| match name.as_str() {
        LINKS => ContentMode::Link,
        words if WORDS.contains(&words) => ContentMode::Text { mime: name.clone() },
        _ => ContentMode::File { mime: name.clone() },
    };
    types.iter().filter(is_type).take(LISTED_MODES_MAX).map(mode).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::card;

    proptest! {
        // Each card has thousands of letters, and up to eighty skills.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn whatever_a_card_says_is_kept_within_bounds_and_clean(
            name in "\\PC{0,300}|.{1,20}",
            words in "\\PC{0,3000}|(?s:.{1,20})",
            modes in prop::collection::vec("[a-z/ ]{0,12}|\\PC{0,5}", 0..50),
            skills in 0usize..80,
        ) {
            let skill = |n: usize| json!({"id": format!("{name}{n}"), "name": name, "description": words, "tags": [words]});
            let value = json!({
                "name": "x", "description": words, "version": name, "iconUrl": name, "documentationUrl": words,
                "supportedInterfaces": [{"url": "https://far.example/a2a"}], "defaultInputModes": modes,
                "skills": (0..skills).map(skill).collect::<Vec<_>>(),
            });
            let card = card::RemoteCard { name: name.clone(), ..card::read(&value).expect("a card") };
            let handle = Handle::parse("chef").expect("a handle");
            let as_listed = AgentRef { handle: "chef".to_owned(), name: name.clone(), card_url: None, description: None };
            let url = Url::parse("https://far.example/card.json").expect("a URL");
            let agent = listed(&handle, &as_listed, &url, Some(FoundCard { card, is_signed: false, etag: None }));
            prop_assert!(bytes(&agent) <= LISTED_BYTES_MAX);
            prop_assert!(!agent.name.is_empty() && agent.name.chars().count() <= LISTED_NAME_CHARS_MAX);
            prop_assert!(agent.description.chars().count() <= LISTED_DESCRIPTION_CHARS_MAX);
            prop_assert!(agent.skills.len() <= LISTED_SKILLS_MAX && agent.input_modes.len() <= LISTED_MODES_MAX);
            let shown = [&agent.name, &agent.description, &agent.version].into_iter();
            let shown = shown.chain(agent.skills.iter().flat_map(|skill| [&skill.id, &skill.name, &skill.description]));
            prop_assert!(shown.flat_map(|text| text.chars()).all(|c| !is_hidden(c)));
        }
    }
}
