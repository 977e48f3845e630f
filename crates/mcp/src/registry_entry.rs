//! What is published in registries of MCP servers: a `server.json` for the host and one for each agent. The format is
//! that of 2025-12-11.

use bytes::Bytes;
use forecourt_core::{AgentCard, Site};
use forecourt_host::Directory;
use forecourt_surface::{PublishedDocument, RegistryEntry};
use serde_json::{Value, json};

use crate::limits::{REGISTRY_NAME_CHARS_MAX, REGISTRY_VERSION_CHARS_MAX, REGISTRY_WORDS_CHARS_MAX};
use crate::server_card::reverse_domain;
use crate::{NAME, target};

/// The schema that the entries keep, by its name.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
/// What the whole host is called behind its domain.
const HOST: &str = "host";

/// The entries of a host and of its agents. Fails with what a registry would refuse, a sentence each.
pub(crate) fn entries(site: &Site, directory: &Directory) -> Result<Vec<RegistryEntry>, Vec<String>> {
    let default = &directory.default_agent().card;
    let mut wanted = vec![(None, entry(site, None, default))];
    wanted.extend(directory.iter().map(|resident| {
        let card = &*resident.card;
        (Some(card.handle()), entry(site, Some(card), card))
    }));
    let (mut entries, mut wrong) = (Vec::new(), Vec::new());
    for (agent, entry) in wanted {
        match entry {
            Ok(entry) => entries.push(RegistryEntry {
                document: PublishedDocument {
                    path: agent
                        .map_or_else(|| format!("/{NAME}/server.json"), |agent| format!("/{NAME}/{agent}/server.json")),
                    body: Bytes::from(format!("{entry:#}\n")),
                },
                hint: "publish it from its folder with `mcp-publisher publish`",
            }),
            Err(words) => wrong.push(words),
        }
    }
    if wrong.is_empty() { Ok(entries) } else { Err(wrong) }
}

/// The entry of an agent, or of the host, whose version is that of its default agent.
fn entry(site: &Site, agent: Option<&AgentCard>, default: &AgentCard) -> Result<Value, String> {
    let card = agent.unwrap_or(default);
    let own = agent.map_or(HOST, |agent| agent.handle().as_str());
    let name = format!("{}/{own}", reverse_domain(site));
    if name.chars().count() > REGISTRY_NAME_CHARS_MAX {
        return Err(format!("`{name}` has more than {REGISTRY_NAME_CHARS_MAX} characters, which no registry takes"));
    }
    if !is_release(&card.version) {
        let of = card.handle();
        return Err(format!(
            "the version `{}` of @{of} names no release, such as 1.0.0: registries take no ranges",
            card.version
        ));
    }
    let title = agent.map_or(&site.name, |agent| &agent.name);
    let description = match agent {
        Some(agent) => first_words(&agent.description).unwrap_or_else(|| first_words(&agent.name).unwrap_or_default()),
        None => first_words(&format!("{}: {}", site.name, default.description)).unwrap_or_default(),
    };
    let icon = card.icon.as_ref().map(|icon| icon.url.as_str());
    let icon = icon.filter(|url| url.starts_with("https://") && url.len() <= REGISTRY_VERSION_CHARS_MAX);
    let mut entry = json!({
        "$schema": SCHEMA,
        "name": name,
        "title": first_words(title).unwrap_or_else(|| own.to_owned()),
        "description": description,
        "version": card.version,
        "websiteUrl": agent.and_then(|agent| agent.homepage.clone()).unwrap_or_else(|| site.url("/")),
        "remotes": [{"type": "streamable-http", "url": site.url(&target::path_of(agent.map(AgentCard::handle)))}],
    });
    if let Some(url) = icon {
        entry["icons"] = json!([{"src": url}]);
    }
    Ok(entry)
}

/// Whether a version names one release: no range, and not the newest one.
fn is_release(version: &str) -> bool {
    let fits = (1..=REGISTRY_VERSION_CHARS_MAX).contains(&version.len());
    let is_range =
        version.contains(['^', '~', '<', '>', '=', '*', '|', ' ']) || version.split('.').any(|part| part == "x");
    fits && !is_range && version != "latest"
}

/// A sentence of at most [`REGISTRY_WORDS_CHARS_MAX`] characters, cut between words. `None`: there are none.
fn first_words(text: &str) -> Option<String> {
    let mut words = String::new();
    for word in text.split_whitespace() {
        let space = usize::from(!words.is_empty());
        // With room for the sign that it goes on.
        if words.chars().count() + space + word.chars().count() >= REGISTRY_WORDS_CHARS_MAX {
            words.push('…');
            break;
        }
        if space > 0 {
            words.push(' ');
        }
        words.push_str(word);
    }
    let is_said = words != "…" && !words.is_empty();
    // One word that is longer than all of it is cut inside.
    let cut = || text.chars().filter(|c| !c.is_whitespace()).take(REGISTRY_WORDS_CHARS_MAX).collect::<String>();
    is_said.then_some(words).or_else(|| Some(cut())).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_between_words_at_their_bound() {
        let long = "word ".repeat(40);
        let cut = first_words(&long).unwrap();
        assert!(cut.chars().count() <= REGISTRY_WORDS_CHARS_MAX && cut.ends_with("word…"), "{cut}");
        assert_eq!(first_words("  a\n b "), Some("a b".to_owned()));
        assert_eq!(first_words(" \n"), None);
        let one = |chars: usize| first_words(&"ü".repeat(chars)).map(|words| words.chars().count());
        assert_eq!(one(REGISTRY_WORDS_CHARS_MAX - 1), Some(REGISTRY_WORDS_CHARS_MAX - 1));
        assert_eq!(one(REGISTRY_WORDS_CHARS_MAX + 1), Some(REGISTRY_WORDS_CHARS_MAX));
    }

    #[test]
    fn a_version_names_one_release() {
        for version in ["1.0.0", "2.1.0-alpha", "2026-11-29", "v3"] {
            assert!(is_release(version), "{version}");
        }
        for version in
            ["", "latest", "^1.2.3", "~1", ">=1.2", "1.x", "1.*", "1 - 2", &"1".repeat(REGISTRY_VERSION_CHARS_MAX + 1)]
        {
            assert!(!is_release(version), "{version}");
        }
        assert!(is_release(&"1".repeat(REGISTRY_VERSION_CHARS_MAX)));
    }
}
