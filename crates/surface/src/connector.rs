//! This module says how a kind of platform joins the host that agents are mentioned on, such as a chat: one constant in
//! its crate, one line in the registry.

use std::sync::Arc;

use forecourt_core::{AgentCard, Handle, Site};
use forecourt_egress::Egress;
use forecourt_settings::Section;
use futures::future::BoxFuture;

use crate::protocol::Protocol;

/// A kind of platform that agents are mentioned on: `kind` of a file of `connectors/`.
pub struct ConnectorKind {
    /// The protocol by which it tells of messages and is answered. It has no section in `forecourt.toml`.
    pub protocol: Protocol,
    /// The shape of its files, from which the reference is generated.
    pub schema: fn() -> schemars::Schema,
    /// Asks the platform whether the credentials of a file are good: what it calls whoever they are for, or a sentence
    /// about what is wrong.
    pub try_credentials: fn(Section, Arc<Egress>) -> BoxFuture<'static, Result<String, String>>,
    /// What an operator does on the platform, in Markdown, for a connector of this name at a base URL.
    pub steps: fn(&Handle, &str) -> String,
}

/// By agent where it is found, or a sentence about what is wrong.
pub type FoundAddresses = Vec<(Handle, Result<String, String>)>;

/// A network of servers in which agents are found by their addresses, without an account anywhere.
pub struct NetworkKind {
    /// What `forecourt connect` calls it.
    pub name: &'static str,
    /// The protocol that is spoken there: also its section in `forecourt.toml`.
    pub protocol: &'static str,
    /// What an operator does, for these agents that are in it.
    pub steps: fn(&Site, &[&AgentCard]) -> String,
    /// Asks for the addresses of agents, as a server elsewhere does.
    pub try_addresses: fn(Site, Vec<Handle>, Arc<Egress>) -> BoxFuture<'static, FoundAddresses>,
}
