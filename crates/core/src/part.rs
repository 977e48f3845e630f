//! This module has the parts that messages and replies are made of. Mentionable normalized-message.

use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::lazy_json::LazyJson;
use crate::policy::PolicyPart;

mod json;
mod weight;

/// One piece of a message or reply. Kinds that we do not know survive a round trip.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Words.
    Text(Text),
    /// Bytes with a media type, here or elsewhere.
    File(File),
    /// A pointer to a page.
    Link(Link),
    /// Structured data, such as one search result.
    Data(Data),
    /// Something made, such as a chart: named content that a reader keeps.
    Artifact(Artifact),
    /// A tool at work. A later one with the same id replaces it.
    ToolCall(ToolCall),
    /// A refusal. The last part of any reply that has one.
    Policy(PolicyPart),
    /// A kind that is not ours to understand, with all its fields.
    Unknown(UnknownPart),
}

/// Words, in plain text or markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// `text/plain`, `text/markdown` or `text/html`.
    pub mime: String,
    /// The words themselves.
    pub content: String,
}

/// Bytes with a media type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Names the file among those of its task, once it is kept.
    pub id: Option<String>,
    /// A name to show. Caller's text: never a path.
    pub name: Option<String>,
    /// The declared media type, never sniffed.
    pub mime: String,
    /// Bytes in all, if known.
    pub size_bytes: Option<u64>,
    /// The bytes, or a reference to them.
    pub source: FileSource,
}

/// The bytes of a [`File`], or a reference to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSource {
    /// In the part itself.
    Inline(Bytes),
    /// At an address that its reader may fetch, through the egress guard.
    Url {
        /// An absolute URL, or a path of this host for a kept artifact.
        url: String,
        /// When the address stops working.
        expires_at: Option<Timestamp>,
    },
    /// Kept beside its task, under the file's id. Each protocol says at which address.
    Kept,
}

/// A pointer to a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The URL that it points to.
    pub url: String,
    /// A name to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A sentence about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Structured data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// Any JSON value; schema.org objects for search results.
    pub data: LazyJson,
    /// The media type, `application/json` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime: Option<String>,
}

/// Something made, that a reader keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The media type of the content.
    pub mime: String,
    /// A finer type, if the maker has one.
    pub artifact_type: Option<String>,
    /// A name to show.
    pub name: Option<String>,
    /// The content.
    pub content: ArtifactContent,
}

/// The content of an [`Artifact`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactContent {
    /// Words.
    Text(String),
    /// Bytes, here or elsewhere.
    Bytes(FileSource),
}

/// A tool at work, keyed by `id`. Mentionable REST 4.3.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Names the call within its reply.
    pub id: String,
    /// Names the tool.
    pub name: String,
    /// The arguments of the call.
    pub args: Value,
    /// The outcome so far.
    pub outcome: ToolOutcome,
}

/// The outcome of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutcome {
    /// Nothing yet.
    Running,
    /// It answered.
    Result(Value),
    /// It failed, with a message.
    Error(String),
}

/// A part of a kind that is not ours.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownPart {
    /// The kind, as it was written.
    pub kind: String,
    /// All fields, `kind` included.
    pub fields: Map<String, Value>,
}

impl Part {
    /// A part of plain text.
    pub fn text(content: impl Into<String>) -> Self {
        Self::Text(Text { mime: "text/plain".to_owned(), content: content.into() })
    }

    /// A part of markdown.
    pub fn markdown(content: impl Into<String>) -> Self {
        Self::Text(Text { mime: "text/markdown".to_owned(), content: content.into() })
    }

    /// A part of structured data.
    pub fn data(data: impl Into<LazyJson>) -> Self {
        Self::Data(Data { data: data.into(), mime: None })
    }

    /// The words, if this part is made of words.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(&text.content),
            _ => None,
        }
    }

    /// The kind, as JSON spells it.
    pub fn kind(&self) -> &str {
        match self {
            Self::Text(_) => "text",
            Self::File(_) => "file",
            Self::Link(_) => "link",
            Self::Data(_) => "data",
            Self::Artifact(_) => "artifact",
            Self::ToolCall(_) => "tool_call",
            Self::Policy(part) => part.kind(),
            Self::Unknown(part) => &part.kind,
        }
    }
}

impl File {
    /// A file that carries its own bytes.
    pub fn inline(mime: impl Into<String>, name: Option<String>, bytes: Bytes) -> Self {
        let size = bytes.len() as u64;
        Self { id: None, name, mime: mime.into(), size_bytes: Some(size), source: FileSource::Inline(bytes) }
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Data(data) => json::TaggedData::of(data).serialize(serializer),
            other => json::write(other).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Map::deserialize(deserializer)?;
        json::read(fields).map_err(serde::de::Error::custom)
    }
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json::write_tool_call(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        json::read_tool_call(&mut fields).map_err(serde::de::Error::custom)
    }
}

/// The refusal among `parts`, if there is one: whatever follows it is to be dropped.
/// PolicyPart 3.5, 5.2.
pub fn find_policy_part(parts: &[Part]) -> Option<&PolicyPart> {
    parts.iter().find_map(|part| match part {
        Part::Policy(policy) => Some(policy),
        _ => None,
    })
}
