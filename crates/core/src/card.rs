//! This module has the card by which an agent describes itself. How a protocol spells it is the protocol's own.

use serde::{Deserialize, Serialize};

use crate::address::{Address, Handle};
use crate::language::Language;

/// How an agent describes itself. Every protocol derives its own description from this one.
#[derive(Debug, Clone, Serialize)]
pub struct AgentCard {
    /// Its address, whose local part is the handle.
    pub address: Address,
    /// A name to show.
    pub name: String,
    /// A short paragraph for people and for models that choose among agents.
    pub description: String,
    /// Semantic version of the agent.
    pub version: String,
    /// A picture.
    pub icon: Option<Icon>,
    /// Its skills.
    pub skills: Vec<Skill>,
    /// The forms of content that it takes in a message.
    pub input_modes: Vec<ContentMode>,
    /// The forms of content that its answers may have.
    pub output_modes: Vec<ContentMode>,
    /// The URL of a page about the agent.
    pub homepage: Option<String>,
    /// The language it answers in unless asked otherwise.
    pub language: Language,
    /// Whether it writes its answer piece by piece.
    pub streams: bool,
    /// Whether it emits tool calls.
    pub uses_tools: bool,
    /// Whether it keeps conversations.
    pub remembers: bool,
    /// Whether it writes what it is asked for, as a language model does. Others find, repeat or play what
    /// they have, whatever the request says.
    pub composes: bool,
    /// Whether it finds items, and tells [`crate::Findings`] when it is asked to.
    pub finds: bool,
    /// Whether it answers only callers that prove who they are with a bearer token.
    pub wants_token: bool,
    /// Whether pages of other origins may talk to it. Mentionable REST 8.6.
    pub cors: bool,
    /// `Cache-Control` of its answers; the default is `private, max-age=0`.
    pub cache_control: Option<String>,
    /// Questions to suggest on its page.
    pub examples: Vec<String>,
    /// How it can be reached, gathered from all protocols.
    pub endpoints: Vec<Endpoint>,
    /// The hosts that a message to it is passed on to, the next one first; empty for an agent that lives here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
}

impl AgentCard {
    /// The agent's handle.
    pub fn handle(&self) -> &Handle {
        self.address.local()
    }

    /// The agent's URL for `protocol`. `None`: it has none.
    pub fn endpoint(&self, protocol: &str) -> Option<&str> {
        self.endpoints.iter().find(|e| e.protocol == protocol).map(|e| e.url.as_str())
    }
}

/// A picture.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Icon {
    /// An absolute https URL.
    pub url: String,
    /// Its media type.
    pub mime: Option<String>,
}

/// One thing an agent can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// Names it among the agent's skills.
    pub id: String,
    /// A name to show.
    pub name: String,
    /// A sentence about it.
    pub description: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Examples of messages for it.
    pub examples: Vec<String>,
}

/// A form of content that an agent takes or gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ContentMode {
    /// Words of a media type.
    Text {
        /// `text/plain`, `text/markdown` or `text/html`.
        mime: String,
    },
    /// Links.
    Link,
    /// Files of a media type.
    File {
        /// Any media type, wildcards allowed.
        mime: String,
    },
    /// Artifacts of a media type.
    Artifact {
        /// Any media type.
        mime: String,
    },
}

/// One way to reach an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Endpoint {
    /// The protocol's name in the registry.
    pub protocol: &'static str,
    /// An absolute URL: https, or of the protocol's own scheme.
    pub url: String,
    /// The document that describes the agent as it is reached here, if the protocol has one.
    #[serde(skip)]
    pub description: Option<EndpointDescription>,
    /// The absolute URL at which every agent of the host is reached over the protocol, if it has one.
    #[serde(skip)]
    pub hub: Option<String>,
}

/// A document that describes an agent at one endpoint: what catalogs of agents link to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointDescription {
    /// An absolute URL.
    pub url: String,
    /// The document's media type.
    pub media_type: &'static str,
}

impl Endpoint {
    /// An endpoint without a document of its own.
    pub fn new(protocol: &'static str, url: String) -> Self {
        Self { protocol, url, description: None, hub: None }
    }

    /// The same with the URL of all agents.
    #[must_use]
    pub fn behind_hub(self, url: String) -> Self {
        Self { hub: Some(url), ..self }
    }

    /// The same with a document that describes the agent there.
    #[must_use]
    pub fn described_by(self, url: String, media_type: &'static str) -> Self {
        Self { description: Some(EndpointDescription { url, media_type }), ..self }
    }
}
