//! The arguments of a call: a template, with what a message says in its places.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_core::part::ArtifactContent;
use forecourt_core::{File, FileSource, Message, Part};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// Where the attachments of a message go: a value of its own, which becomes a list.
const ATTACHMENTS: &str = "{attachments}";

/// A message has what the tool can't be given.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("This agent can't be given files: {0} was not passed on. Please ask again without it.")]
pub(super) struct Unfit(String);

/// Whether a template has a place for attachments.
pub(super) fn take_attachments(template: &JsonObject) -> bool {
    template.values().any(has_place)
}

fn has_place(value: &Value) -> bool {
    match value {
        Value::String(text) => text == ATTACHMENTS,
        Value::Array(items) => items.iter().any(has_place),
        Value::Object(fields) => take_attachments(fields),
        _ => false,
    }
}

/// The template with what the message says in its places. Without a place for attachments, links and data
/// stand in the text.
///
/// # Errors
/// There is no place for a file.
pub(super) fn filled(template: &JsonObject, message: &Message) -> Result<JsonObject, Unfit> {
    let language = message.language.as_ref().map_or("", |tag| tag.as_str());
    let mut said = MessageWords { text: message.addressed_text(), language, attachments: Vec::new() };
    if take_attachments(template) {
        said.attachments = message.parts.iter().filter_map(attachment).collect();
    } else {
        for part in &message.parts {
            if let Some(line) = in_words(part)? {
                let gap = if said.text.is_empty() { "" } else { "\n" };
                said.text.push_str(&format!("{gap}{line}"));
            }
        }
    }
    Ok(template.iter().map(|(key, value)| (key.clone(), said.fill(value))).collect())
}

struct MessageWords<'a> {
    text: String,
    language: &'a str,
    attachments: Vec<Value>,
}

impl MessageWords<'_> {
    fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(template) if template == ATTACHMENTS => self.attachments.clone().into(),
            // In one pass, so that words of a caller are never taken for a place to fill.
            Value::String(template) => {
                let pieces = template.split("{text}").map(|piece| piece.replace("{language}", self.language));
                pieces.collect::<Vec<_>>().join(&self.text).into()
            }
            Value::Array(items) => items.iter().map(|value| self.fill(value)).collect(),
            Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), self.fill(value))).collect(),
            other => other.clone(),
        }
    }
}

/// A part beside the text as one attachment, by MCP's names.
fn attachment(part: &Part) -> Option<Value> {
    Some(match part {
        Part::File(file) => filed(&file.source, &file.mime, file.name.as_deref())?,
        Part::Artifact(artifact) => match &artifact.content {
            ArtifactContent::Text(text) => json!({"mimeType": artifact.mime, "name": artifact.name, "text": text}),
            ArtifactContent::Bytes(source) => filed(source, &artifact.mime, artifact.name.as_deref())?,
        },
        Part::Link(link) => json!({"uri": link.url, "name": link.title}),
        Part::Data(data) => json!({"mimeType": "application/json", "json": data.data}),
        Part::Unknown(unknown) => json!({"mimeType": "application/json", "json": unknown.fields}),
        Part::Text(_) | Part::ToolCall(_) | Part::Policy(_) => return None,
    })
}

fn filed(source: &FileSource, mime: &str, name: Option<&str>) -> Option<Value> {
    Some(match source {
        FileSource::Inline(bytes) => json!({"mimeType": mime, "name": name, "data": STANDARD.encode(bytes)}),
        FileSource::Url { url, .. } => json!({"mimeType": mime, "name": name, "uri": url}),
        FileSource::Kept => return None,
    })
}

/// A part beside the text as a line of it.
fn in_words(part: &Part) -> Result<Option<String>, Unfit> {
    let link = |title: Option<&str>, url: &str| match title {
        Some(title) => format!("[{title}]({url})"),
        None => url.to_owned(),
    };
    Ok(Some(match part {
        Part::File(File { source: FileSource::Url { url, .. }, name, .. }) => link(name.as_deref(), url),
        Part::File(file) => return Err(Unfit(file.name.clone().unwrap_or_else(|| file.mime.clone()))),
        Part::Artifact(artifact) => match &artifact.content {
            ArtifactContent::Text(text) => text.clone(),
            ArtifactContent::Bytes(_) => {
                return Err(Unfit(artifact.name.clone().unwrap_or_else(|| artifact.mime.clone())));
            }
        },
        Part::Link(one) => link(one.title.as_deref(), &one.url),
        Part::Data(data) => data.data.to_string(),
        Part::Unknown(unknown) => Value::Object(unknown.fields.clone()).to_string(),
        Part::Text(_) | Part::ToolCall(_) | Part::Policy(_) => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use forecourt_core::{Handle, Language, Link, MessageId};

    use super::*;

    fn message(parts: Vec<Part>) -> Message {
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        let id = MessageId::parse("m1").unwrap();
        let language = Language::parse("de");
        Message { language, ..Message::new(id, Handle::parse("front").unwrap(), parts, "test", at) }
    }

    fn fill(template: Value, parts: Vec<Part>) -> Result<Value, Unfit> {
        let Value::Object(template) = template else { panic!("an object") };
        filled(&template, &message(parts)).map(Value::Object)
    }

    fn file(name: &str) -> Part {
        Part::File(File::inline("image/png".to_owned(), Some(name.to_owned()), "png".into()))
    }

    fn link() -> Part {
        Part::Link(Link { url: "https://a.example".to_owned(), title: Some("A".to_owned()), description: None })
    }

    #[test]
    fn words_of_callers_are_put_in_place_and_never_read_again() {
        let template = json!({"q": "{text}", "deep": [{"a": "in {language}: {text}"}], "n": 3});
        assert_eq!(
            fill(template, vec![Part::text("{language} {text} {attachments}")]).unwrap(),
            json!({"q": "{language} {text} {attachments}", "deep": [{"a": "in de: {language} {text} {attachments}"}], "n": 3})
        );
        assert_eq!(fill(json!({"q": "{text}"}), vec![Part::text(ATTACHMENTS)]).unwrap(), json!({"q": ATTACHMENTS}));
    }

    #[test]
    fn attachments_have_a_place_or_are_not_silently_dropped() {
        let parts = || vec![Part::text("see"), file("a.png"), link(), Part::data(json!({"n": 1}))];
        let placed = fill(json!({"q": "{text}", "deep": {"all": "{attachments}"}}), parts()).unwrap();
        assert_eq!(placed["q"], "see");
        assert_eq!(
            placed["deep"]["all"],
            json!([
                {"mimeType": "image/png", "name": "a.png", "data": "cG5n"},
                {"uri": "https://a.example", "name": "A"},
                {"mimeType": "application/json", "json": {"n": 1}},
            ])
        );
        let refused = fill(json!({"q": "{text}"}), parts()).unwrap_err();
        assert!(refused.to_string().contains("a.png was not passed on"), "{refused}");
        let said = fill(json!({"q": "{text}"}), vec![link(), Part::data(json!({"n": 1}))]).unwrap();
        assert_eq!(said["q"], "[A](https://a.example)\n{\"n\":1}");
    }
}
