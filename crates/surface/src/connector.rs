//! This module says how a kind of platform joins the host that agents are mentioned on, such as a chat: one constant in
//! its crate, one line in the registry.

use std::sync::Arc;

use forecourt_core::Handle;
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
