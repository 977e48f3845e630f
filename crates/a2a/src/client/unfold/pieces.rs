//! Parts of A2A as events of ours.

use std::collections::HashMap;

use forecourt_core::limits::PARTS_MAX;
use forecourt_core::part::{Artifact, ArtifactContent, Data};
use forecourt_core::{Event, File, FileSource, Link, Part, ToolCall, ToolOutcome};
use serde_json::Value;

use crate::model::{self, Content};

/// The media type of bytes about which nothing is said.
const BYTES: &str = "application/octet-stream";

/// Tool calls by their ids, and data parts: later parts refer to both.
#[derive(Default)]
pub(super) struct Tools {
    calls: HashMap<String, ToolCall>,
    data: Vec<Value>,
}

impl Tools {
    /// Words, and everything else as events. `name` is that of the artifact that holds them.
    pub(super) fn split(&mut self, parts: Vec<model::Part>, name: Option<&str>) -> (Vec<String>, Vec<Event>) {
        let (mut texts, mut others) = (Vec::new(), Vec::new());
        for part in parts {
            if let Some(link) = link(&part) {
                others.push(Event::Part(Part::Link(link)));
                continue;
            }
            let filename = part.filename.or_else(|| name.map(str::to_owned));
            match (part.content, part.media_type) {
                (Content::Text(text), mime) if is_words(mime.as_deref()) => texts.push(text),
                (Content::Text(text), mime) => others.push(made(text, mime.unwrap_or_default(), filename)),
                (Content::Raw(bytes), mime) => {
                    let mime = mime.unwrap_or_else(|| BYTES.to_owned());
                    others.push(Event::Part(Part::File(File::inline(mime, filename, bytes))));
                }
                (Content::Url(url), mime) => others.push(Event::Part(pointed(url, mime, filename))),
                (Content::Data(value), mime) => others.push(self.data_part(value, mime)),
            }
        }
        (texts, others)
    }

    /// A question's words, its form, and everything else. Hosts like ours send the form as a data part.
    pub(super) fn question(&mut self, parts: Vec<model::Part>) -> (Vec<String>, Vec<Value>, Vec<Event>) {
        let is_form = |part: &model::Part| matches!(&part.content, Content::Data(data) if data["questions"].is_array());
        let (forms, parts): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_form);
        let questions = forms.into_iter().flat_map(|part| match part.content {
            Content::Data(mut data) => data["questions"].as_array_mut().map(std::mem::take).unwrap_or_default(),
            _ => Vec::new(),
        });
        let (texts, others) = self.split(parts, None);
        (texts, questions.take(PARTS_MAX).collect(), others)
    }

    /// The data parts so far.
    pub(super) fn data(&self) -> Vec<&Value> {
        self.data.iter().collect()
    }

    fn data_part(&mut self, value: Value, mime: Option<String>) -> Event {
        if let Some(call) = self.tool(&value) {
            return Event::ToolCall(call);
        }
        if self.data.len() < PARTS_MAX {
            self.data.push(value.clone());
        }
        Event::Part(Part::Data(Data { data: value.into(), mime }))
    }

    /// A tool event, completed by what was said of the same call before. Tool events v0.1.
    fn tool(&mut self, value: &Value) -> Option<ToolCall> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let id = text("toolCallId")?;
        let outcome = match value["type"].as_str()? {
            "tool-call" => ToolOutcome::Running,
            "tool-result" => ToolOutcome::Result(value["output"].clone()),
            "tool-error" => ToolOutcome::Error(value["error"]["message"].as_str().unwrap_or("failed").to_owned()),
            _ => return None,
        };
        let known = self.calls.get(&id);
        let name =
            text("toolName").or_else(|| known.map(|call| call.name.clone())).unwrap_or_else(|| "tool".to_owned());
        let args = value.get("input").cloned().or_else(|| known.map(|call| call.args.clone())).unwrap_or_default();
        let call = ToolCall { id: id.clone(), name, args, outcome };
        if self.calls.len() < PARTS_MAX {
            self.calls.insert(id, call.clone());
        }
        Some(call)
    }
}

/// The link that a text part stands for, as hosts like ours say in its metadata. Companion
/// specifications 7.5.
fn link(part: &model::Part) -> Option<Link> {
    let link = part.metadata.get("mentionable")?.get("link")?;
    serde_json::from_value(link.clone()).ok()
}

/// Whether text of this media type is part of what is said, and not something that was made.
fn is_words(mime: Option<&str>) -> bool {
    let Some(mime) = mime else { return true };
    let essence = mime.split(';').next().unwrap_or_default().trim();
    ["", "text/plain", "text/markdown"].iter().any(|words| essence.eq_ignore_ascii_case(words))
}

fn made(text: String, mime: String, name: Option<String>) -> Event {
    let content = ArtifactContent::Text(text);
    Event::Part(Part::Artifact(Artifact { mime, artifact_type: None, name, content }))
}

/// A file at an address. Only http and https become one: a page would run a `javascript:` URL, so that other schemes
/// are shown as data.
fn pointed(url: String, mime: Option<String>, name: Option<String>) -> Part {
    let is_plain = url::Url::parse(&url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    if !is_plain {
        return Part::data(Value::String(url));
    }
    let mime = mime.unwrap_or_else(|| BYTES.to_owned());
    Part::File(File { id: None, name, mime, size_bytes: None, source: FileSource::Url { url, expires_at: None } })
}
