//! The only file that names every protocol and every backend. A new one is a new crate or file,
//! and one line here.

use forecourt_agents::Backend;
use forecourt_surface::{EndpointSection, Protocol};

/// The protocols, in the order in which they are shown.
pub(crate) const PROTOCOLS: &[Protocol] = &[
    forecourt_mentionable::PROTOCOL,
    forecourt_a2a::PROTOCOL,
    forecourt_nlweb::PROTOCOL,
    forecourt_mcp::PROTOCOL,
    forecourt_agtp::PROTOCOL,
];

/// The section whose settings hold for the endpoints of all protocols.
pub(crate) const ENDPOINTS: EndpointSection = forecourt_agtp::ENDPOINTS;

const BACKENDS: &[&[Backend]] = &[forecourt_agents::BACKENDS, &[forecourt_a2a::BACKEND, forecourt_mcp::BACKEND]];

/// The backends, in the order in which they are documented.
pub(crate) fn backends() -> impl Iterator<Item = &'static Backend> {
    BACKENDS.iter().copied().flatten()
}

/// How agents are found, here and elsewhere: what `ask` and `discover` go by.
pub(crate) use forecourt_mentionable::discovery;

/// How `ask --via nlweb` reads what it is told.
pub(crate) use forecourt_nlweb::client as nlweb;

/// How `ask --via a2a` talks to agents.
pub(crate) use forecourt_a2a::{client as a2a, model as a2a_model};

/// How `mcp` reaches a server elsewhere.
pub(crate) use forecourt_mcp::bridge::bridge;

/// How `ask --via mcp` calls tools, and who answers their questions.
pub(crate) mod mcp {
    pub(crate) use forecourt_mcp::form::{AnswerKind, Choice, Field, Form};
    pub(crate) use forecourt_mcp::visit::{CallReply, Person, ServerLocation, Trouble, Visit};
}

/// What `agtp` and `manifest` speak, and what they judge.
pub(crate) mod agtp {
    pub(crate) use forecourt_agtp::client::{AgtpUri, Client, ClientError, JSON, RequestBuilder, Server, YAML};
    pub(crate) use forecourt_agtp::manifest::{MEDIA_TYPE as MANIFEST, check};
    #[cfg(test)]
    pub(crate) use forecourt_agtp::wire::StatusLine;
    pub(crate) use forecourt_agtp::wire::{Request, Response};
}
