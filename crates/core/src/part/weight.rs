//! This module estimates the bytes that a part holds, for the bounds on replies ([`crate::reply::ReplyLimits`]).

use serde_json::{Map, Value};

use crate::lazy_json::weight;

use super::{Artifact, ArtifactContent, FileSource, Part, ToolCall, ToolOutcome};

impl Part {
    /// Bytes of the content that this part carries itself, about. Names and titles are not counted,
    /// nor what a URL points to.
    pub fn weight(&self) -> usize {
        match self {
            Self::Text(text) => text.content.len(),
            Self::File(file) => source(&file.source),
            Self::Link(link) => link.url.len() + link.description.as_ref().map_or(0, String::len),
            Self::Data(data) => data.data.weight(),
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
            ToolOutcome::Result(result) => weight(result),
            ToolOutcome::Error(message) => message.len(),
        };
        weight(&self.args) + outcome
    }
}

fn source(source: &FileSource) -> usize {
    match source {
        FileSource::Inline(bytes) => bytes.len(),
        FileSource::Url { url, .. } => url.len(),
        // Its bytes were counted when they were stored, and the reply carries none of them.
        FileSource::Kept => 0,
    }
}

fn object(fields: &Map<String, Value>) -> usize {
    8 + fields.iter().map(|(key, value)| key.len() + weight(value)).sum::<usize>()
}
