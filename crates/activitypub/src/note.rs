//! A note of somebody, as a message for agents. Nothing here has been proven.

use forecourt_core::clean::is_hidden;
use forecourt_core::part::{File, FileSource};
use forecourt_core::{Handle, Language, Part, Site};
use serde_json::{Map, Value};

use crate::html;
use crate::iri::Iri;
use crate::limits::{AGENTS_ASKED_MAX, ATTACHMENTS_MAX, NAME_CHARS_MAX, TEXT_BYTES_MAX};
use crate::names;
use crate::wire::{self, DecodeError};

/// The member of a note by which agents tell how often a message was handed on, among the terms of Mentionable.
pub(crate) const HOP: &str = "mentionable:hop";
/// The member that carries a refusal for programs. PolicyPart 4.1, 4.3.
pub(crate) const POLICY: &str = "mentionable:policy";

/// A note that was written to somebody here.
#[derive(Debug)]
pub(crate) struct InboundNote {
    pub(crate) id: Iri,
    /// What was said, and what came with it.
    pub(crate) parts: Vec<Part>,
    /// The agents that are asked: those that are mentioned, in the order in which they are.
    pub(crate) agents: Vec<Handle>,
    /// The note that it answers.
    pub(crate) in_reply_to: Option<String>,
    pub(crate) language: Option<Language>,
    /// Whether everybody may read it.
    pub(crate) is_public: bool,
    /// How many agents handed it on.
    pub(crate) hop: u32,
}

impl InboundNote {
    /// Reads the object of a Create of `actor`. `None` for what is no note, or is for nobody here.
    pub(crate) fn read(object: &Value, actor: &Iri, site: &Site) -> Result<Option<Self>, DecodeError> {
        if !wire::texts(object.get("type")).any(|kind| kind == "Note") {
            return Ok(None);
        }
        let id = wire::name(object).and_then(Iri::parse).ok_or(DecodeError::Name("object.id"))?;
        if !id.is_beside(actor) {
            return Err(DecodeError::Foreign("object.id"));
        }
        let author = object.get("attributedTo").and_then(wire::name);
        if author.is_some_and(|author| author != actor.as_str()) {
            return Err(DecodeError::Foreign("object.attributedTo"));
        }
        let readers = || wire::names(object.get("to")).chain(wire::names(object.get("cc")));
        let in_reply_to = object.get("inReplyTo").and_then(wire::name).map(str::to_owned);
        let agents = agents(object, in_reply_to.as_deref(), readers(), site);
        if agents.is_empty() {
            return Ok(None);
        }
        if object.get(POLICY).is_some_and(|policy| !policy.is_null()) {
            // PolicyPart 4.3: receivers must ignore it, and say so.
            tracing::warn!("a policy extension over ActivityPub was ignored");
        }
        let parts = parts(object);
        if parts.is_empty() {
            return Err(DecodeError::Empty);
        }
        Ok(Some(Self {
            id,
            parts,
            agents,
            in_reply_to,
            language: language(object),
            is_public: readers().any(names::is_public),
            // One that is larger than any is as good as the largest, and not none.
            hop: object.get(HOP).and_then(Value::as_u64).map_or(0, |hop| hop.try_into().unwrap_or(u32::MAX)),
        }))
    }
}

/// Whom a note asks: the agents among its mentions, or whose answer it replies to, as far as it is addressed to that
/// one. To be among the readers alone, as those of a thread are, is to be told and not to be asked.
fn agents<'a>(
    object: &Value,
    in_reply_to: Option<&str>,
    mut readers: impl Iterator<Item = &'a str>,
    site: &Site,
) -> Vec<Handle> {
    let is_mention = |tag: &&Value| wire::texts(tag.get("type")).any(|kind| kind == "Mention");
    let mentioned = wire::entries(object.get("tag")).filter(is_mention);
    let mentioned = mentioned.filter_map(|tag| names::agent_at(site, tag.get("href")?.as_str()?));
    let mut agents: Vec<Handle> = Vec::new();
    for agent in mentioned {
        if agents.len() < AGENTS_ASKED_MAX && !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    if agents.is_empty()
        && let Some((agent, _)) = in_reply_to.and_then(|note| names::note_at(site, note))
        && readers.any(|reader| names::agent_at(site, reader).as_ref() == Some(&agent))
    {
        agents.push(agent);
    }
    agents
}

fn parts(object: &Value) -> Vec<Part> {
    let content = object.get("content").and_then(Value::as_str).or_else(|| first_of(object.get("contentMap")));
    let is_plain = matches!(object.get("mediaType").and_then(Value::as_str), Some("text/plain" | "text/markdown"));
    let words = content.unwrap_or_default();
    let words = if is_plain { plain(words) } else { html::to_text(words) };
    // A warning is what its author put before the words.
    let warning = object.get("summary").and_then(Value::as_str).map(html::to_text).unwrap_or_default();
    let text = [warning, words].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
    let words = (!text.is_empty()).then(|| Part::text(text));
    let files = wire::entries(object.get("attachment")).filter_map(file).take(ATTACHMENTS_MAX);
    words.into_iter().chain(files).collect()
}

fn plain(text: &str) -> String {
    let text: String = text.chars().filter(|c| !is_hidden(*c)).take(TEXT_BYTES_MAX / 4).collect();
    text.trim().to_owned()
}

/// An attachment by its address, which the host fetches once the message has passed the gate.
fn file(attachment: &Value) -> Option<Part> {
    let is_file = |kind: &str| matches!(kind, "Document" | "Image" | "Audio" | "Video");
    if !wire::texts(attachment.get("type")).any(is_file) {
        return None;
    }
    let link = wire::entries(attachment.get("url")).next()?;
    let url = link.as_str().or_else(|| link.get("href").and_then(Value::as_str)).and_then(Iri::parse)?;
    let mime = attachment.get("mediaType").or_else(|| link.get("mediaType")).and_then(Value::as_str);
    let mime = mime.filter(|mime| mime.len() < 128 && mime.contains('/') && mime.bytes().all(|b| b.is_ascii_graphic()));
    let name = attachment.get("name").and_then(Value::as_str).map(one_line).filter(|name| !name.is_empty());
    let mime = mime.unwrap_or("application/octet-stream").to_ascii_lowercase();
    let source = FileSource::Url { url: url.as_str().to_owned(), expires_at: None };
    Some(Part::File(File { id: None, name, mime, size_bytes: None, source }))
}

/// Text on one line, without what can't be seen, at most [`NAME_CHARS_MAX`] characters.
pub(crate) fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).filter(|c| !is_hidden(*c)).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(NAME_CHARS_MAX).collect()
}

/// The language in whose words the content is, or the only one that there is.
fn language(object: &Value) -> Option<Language> {
    let map = object.get("contentMap")?.as_object()?;
    let content = object.get("content").and_then(Value::as_str);
    let same = map.iter().find(|(_, words)| content.is_some() && words.as_str() == content);
    let only = || map.iter().next().filter(|_| map.len() == 1);
    same.or_else(only).and_then(|(tag, _)| Language::parse(tag))
}

fn first_of(map: Option<&Value>) -> Option<&str> {
    map.and_then(Value::as_object).and_then(|map: &Map<String, Value>| map.values().find_map(Value::as_str))
}

#[cfg(test)]
mod tests;
