//! How much a part holds, for the bounds on replies.

use serde_json::{Map, Value};

use super::{Artifact, ArtifactContent, FileSource, Part, ToolCall, ToolOutcome};

impl Part {
    /// Bytes of the content that this part carries itself, about. Names and titles are not counted,
    /// nor what a URL points to.
    pub fn weight(&self) -> usize {
        match self {
            Self::Text(text) => text.content.len(),
            Self::File(file) => source(&file.source),
            Self::Link(link) => link.url.len() + link.description.as_ref().map_or(0, String::len),
            Self::Data(data) => json(&data.data),
            Self::Artifact(Artifact { content: ArtifactContent::Text(text), .. }) => text.len(),
            Self::Artifact(Artifact { content: ArtifactContent::Bytes(bytes), .. }) => source(bytes),
            Self::ToolCall(call) => call.weight(),
            Self::Policy(part) => part.message.len() + object(&part.data) + object(&part.more),
            Self::Unknown(part) => object(&part.fields),
        }
    }
}

impl ToolCall {
    /// Bytes of arguments and outcome, about.
    pub fn weight(&self) -> usize {
        let outcome = match &self.outcome {
            ToolOutcome::Running => 0,
            ToolOutcome::Result(result) => json(result),
            ToolOutcome::Error(message) => message.len(),
        };
        json(&self.args) + outcome
    }
}

fn source(source: &FileSource) -> usize {
    match source {
        FileSource::Inline(bytes) => bytes.len(),
        FileSource::Url { url, .. } => url.len(),
        FileSource::Kept => 0,
    }
}

/// Bytes that a value takes, about: its texts and keys, and eight for everything else.
fn json(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => 8 + text.len(),
        Value::Array(items) => 8 + items.iter().map(json).sum::<usize>(),
        Value::Object(fields) => object(fields),
    }
}

fn object(fields: &Map<String, Value>) -> usize {
    8 + fields.iter().map(|(key, value)| key.len() + json(value)).sum::<usize>()
}
