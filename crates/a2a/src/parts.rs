//! What an agent gives, into parts and artifacts of A2A. Companion documents 7.5, 8.

use forecourt_core::part::{Artifact as CoreArtifact, ArtifactContent};
use forecourt_core::{File, FileSource, Link, Part as CorePart, TaskId, Text, ToolCall, ToolOutcome};
use forecourt_host::TaskPermit;
use serde_json::{Value, json};

use crate::limits::INLINE_FILE_BYTES_MAX;
use crate::model::{Artifact, Content, Metadata, Part};
use crate::policy;

/// The artifact that holds the answer itself: its words, data and links.
pub(crate) const ANSWER: &str = "answer";

/// Where a part of an answer belongs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PartPlacement {
    /// In the artifact of the answer.
    Answer(Part),
    /// In an artifact of its own.
    Own(Artifact),
    /// Among the events of tools.
    Tool(Part),
}

/// Where the files of a task are.
#[derive(Clone, Copy)]
pub(crate) struct FileBase<'a> {
    /// The base of addresses here.
    pub(crate) origin: &'a str,
    /// The task.
    pub(crate) task: &'a TaskId,
}

impl FileBase<'_> {
    /// Places a part. `number` counts what has an artifact of its own, from 1, so that it is named
    /// the same as it comes and as it is read later. Policy parts have their own place, and so do envelopes of
    /// refusals that are passed on.
    pub(crate) fn place(self, part: CorePart, number: u64) -> Option<PartPlacement> {
        Some(match part {
            CorePart::Text(text) => PartPlacement::Answer(words(text)),
            CorePart::Link(link) => PartPlacement::Answer(pointer(link)),
            CorePart::Data(data) => {
                PartPlacement::Answer(Part { media_type: data.mime, ..Part::data(data.data.into_value()) })
            }
            part @ CorePart::Unknown(_) if policy::foreign_of(&part).is_some() => return None,
            CorePart::Unknown(unknown) => PartPlacement::Answer(Part::data(Value::Object(unknown.fields))),
            CorePart::File(file) => {
                let id = file.id.clone().unwrap_or_else(|| format!("file-{number}"));
                let name = file.name.clone();
                let content = self.content(file.source, &id);
                let part = Part { filename: file.name, media_type: Some(file.mime), ..Part::of(content) };
                PartPlacement::Own(own(id, name, part))
            }
            CorePart::Artifact(artifact) => PartPlacement::Own(self.made(artifact, number)),
            CorePart::ToolCall(call) => PartPlacement::Tool(tool_event(&call)),
            CorePart::Policy(_) => return None,
        })
    }

    fn made(self, artifact: CoreArtifact, number: u64) -> Artifact {
        let id = format!("made-{number}");
        let content = match artifact.content {
            ArtifactContent::Text(text) => Content::Text(text),
            ArtifactContent::Bytes(source) => self.content(source, &id),
        };
        let part = Part { media_type: Some(artifact.mime), ..Part::of(content) };
        own(id, artifact.name, part)
    }

    fn content(self, source: FileSource, id: &str) -> Content {
        match source {
            FileSource::Inline(bytes) => Content::Raw(bytes),
            // Addresses of our own may be written as a path.
            FileSource::Url { url, .. } if url.starts_with('/') => Content::Url(format!("{}{url}", self.origin)),
            FileSource::Url { url, .. } => Content::Url(url),
            FileSource::Kept => Content::Url(format!("{}/tasks/{}/artifacts/{id}", self.origin, self.task.expose())),
        }
    }
}

/// The same part with the bytes of a small kept file in place. A large one, or one that is gone, stays
/// with its address.
pub(crate) async fn near(task: &TaskPermit, part: CorePart) -> CorePart {
    let CorePart::File(mut file) = part else { return part };
    let small = file.size_bytes.is_some_and(|size| size <= INLINE_FILE_BYTES_MAX as u64);
    if let (FileSource::Kept, Some(id), true) = (&file.source, &file.id, small)
        && let Ok(artifact) = task.artifact(id).await
    {
        file.source = FileSource::Inline(artifact.bytes);
    }
    CorePart::File(file)
}

fn own(id: String, name: Option<String>, part: Part) -> Artifact {
    Artifact { id, name, description: None, parts: vec![part], extensions: Vec::new(), metadata: Metadata::new() }
}

/// An artifact of the answer, or of a piece of it.
pub(crate) fn answer(parts: Vec<Part>) -> Artifact {
    let (description, extensions, metadata) = (None, Vec::new(), Metadata::new());
    Artifact { id: ANSWER.to_owned(), name: Some(ANSWER.to_owned()), description, parts, extensions, metadata }
}

/// Plain words need no media type.
fn words(text: Text) -> Part {
    let media_type = (text.mime != "text/plain").then_some(text.mime);
    Part { media_type, ..Part::text(text.content) }
}

/// The next fragment of the answer.
pub(crate) fn fragment(text: String) -> Part {
    Part { media_type: Some("text/markdown".to_owned()), ..Part::text(text) }
}

/// A link as words that any client shows, with its title for those that know better.
fn pointer(link: Link) -> Part {
    let mut part = Part::text(link.url.clone());
    part.metadata.insert("mentionable".to_owned(), json!({ "link": link }));
    part
}

/// A tool at work, in the form of the extension for tool events.
pub(crate) fn tool_event(call: &ToolCall) -> Part {
    let ToolCall { id, name, args, outcome } = call;
    Part::data(match outcome {
        ToolOutcome::Running => json!({"type": "tool-call", "toolCallId": id, "toolName": name, "input": args}),
        ToolOutcome::Result(output) => {
            json!({"type": "tool-result", "toolCallId": id, "toolName": name, "input": args, "output": output})
        }
        ToolOutcome::Error(message) => json!({"type": "tool-error", "toolCallId": id, "toolName": name, "input": args,
            "error": {"message": message}}),
    })
}

/// A part of a turn as history shows it: bytes stand in place, kept files by their name.
pub(crate) fn of_turn(part: &CorePart) -> Option<Part> {
    Some(match part {
        CorePart::Text(text) => words(text.clone()),
        CorePart::Link(link) => pointer(link.clone()),
        CorePart::Data(data) => Part { media_type: data.mime.clone(), ..Part::data((*data.data).clone()) },
        CorePart::ToolCall(call) => tool_event(call),
        CorePart::File(File { name, mime, source: FileSource::Url { url, .. }, .. }) => {
            Part { filename: name.clone(), media_type: Some(mime.clone()), ..Part::of(Content::Url(url.clone())) }
        }
        CorePart::File(file) => Part::text(format!("[{}, {}]", file.name.as_deref().unwrap_or("file"), file.mime)),
        CorePart::Unknown(unknown) => Part::data(Value::Object(unknown.fields.clone())),
        CorePart::Artifact(_) | CorePart::Policy(_) => return None,
    })
}
