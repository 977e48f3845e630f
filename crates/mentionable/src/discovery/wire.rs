//! What is published, field by field, in the words of the specifications and in their order.

use forecourt_core::ContentMode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An answer of WebFinger. RFC 7033 4.4; of others' answers only what we use is read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Jrd {
    pub(crate) subject: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) aliases: Vec<String>,
    #[serde(default)]
    pub(crate) links: Vec<Link>,
}

/// One link of an address.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Link {
    pub(crate) rel: String,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) href: Option<String>,
}

/// The card of one agent. Agent card 3.1.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Card<'a> {
    pub(crate) address: String,
    pub(crate) name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) icon: Option<Icon<'a>>,
    pub(crate) version: &'a str,
    pub(crate) protocol_version: &'static str,
    pub(crate) a2a: A2a<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) activitypub: Option<Actor<'a>>,
    pub(crate) mentionable: Mentionable<'a>,
}

/// The icon of an agent. Agent card 3.1.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Icon<'a> {
    pub(crate) url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mime: Option<&'a str>,
}

/// What an agent can do and where. Agent card 3.2.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct A2a<'a> {
    pub(crate) endpoint: &'a str,
    pub(crate) transport: &'static str,
    pub(crate) capabilities: Capabilities<'a>,
    pub(crate) skills: Vec<Skill<'a>>,
    pub(crate) input_modes: &'a [ContentMode],
    pub(crate) output_modes: &'a [ContentMode],
    pub(crate) auth: Auth<'a>,
}

/// Agent card 3.2, in snake case as that document has it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Capabilities<'a> {
    pub(crate) streaming: bool,
    pub(crate) push_notifications: bool,
    pub(crate) state_transition_history: bool,
    pub(crate) extensions: Vec<Extension<'a>>,
}

/// One extension that an agent has.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Extension<'a> {
    pub(crate) uri: &'static str,
    pub(crate) description: &'static str,
    pub(crate) required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint: Option<&'a str>,
}

/// One thing that an agent can do.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Skill<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) description: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) examples: &'a [String],
}

/// How callers may say who they are. Agent card 3.2.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "scheme", rename_all = "kebab-case")]
pub(crate) enum Auth<'a> {
    /// No credentials are looked at.
    None,
    /// With a token of this issuer.
    BearerJwt {
        issuer: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        jwks_uri: Option<&'a str>,
        audience: &'a [String],
    },
}

/// An agent as an actor of the Fediverse. Agent card 3.3.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Actor<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) actor: &'a str,
    pub(crate) inbox: String,
    pub(crate) outbox: String,
    pub(crate) preferred_username: String,
}

/// What only Mentionable hosts look at. Agent card 3.4.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Mentionable<'a> {
    pub(crate) supported_inbound: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) homepage: Option<&'a str>,
    pub(crate) signing_key: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) previous_signing_keys: Vec<Value>,
}

/// Who lives on a domain: an organization and its points of contact. Agent directory.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Directory<'a> {
    #[serde(rename = "@context")]
    pub(crate) context: &'static str,
    #[serde(rename = "@type")]
    pub(crate) kind: &'static str,
    pub(crate) url: String,
    pub(crate) name: &'a str,
    #[serde(rename = "contactPoint")]
    pub(crate) contact_point: Vec<ContactPoint<'a>>,
}

/// One agent of a directory.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ContactPoint<'a> {
    #[serde(rename = "@type")]
    pub(crate) kind: &'static str,
    #[serde(rename = "contactType")]
    pub(crate) contact_type: &'static str,
    pub(crate) name: &'a str,
    pub(crate) email: String,
    pub(crate) url: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) description: &'a str,
    // `names::TERM_PROTOCOLS` and `names::TERM_WEBFINGER`; serde takes no constants.
    #[serde(rename = "https://mentionable.dev/ns/v1#protocols")]
    pub(crate) protocols: Vec<&'static str>,
    #[serde(rename = "https://mentionable.dev/ns/v1#webfinger")]
    pub(crate) webfinger: String,
}
