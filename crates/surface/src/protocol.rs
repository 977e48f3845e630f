//! How a protocol joins the host: one constant in its crate, one line in the registry.

use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use forecourt_core::{AgentCard, Endpoint};
use forecourt_egress::Egress;
use forecourt_host::{Envelope, Host, Site};
use forecourt_identity::{HostKeys, KeyDirectory, Verifier};
use forecourt_settings::{Problems, Section};

use crate::tool::Tool;

/// A protocol, as the registry knows it.
pub struct Protocol {
    /// Its name: also its section in `forecourt.toml`, and [`forecourt_core::Endpoint::protocol`].
    pub name: &'static str,
    /// One line about it, for `--help` and the generated reference.
    pub about: &'static str,
    /// The shape of its section, from which the reference is generated.
    pub schema: fn() -> schemars::Schema,
    /// Reads its section and builds its surfaces. Fails with everything that is wrong at once.
    pub surfaces: fn(Mount) -> Result<Vec<Surface>, Problems>,
    /// Where an agent can be reached over it: absolute https URLs. Gathered before any surface is
    /// built, so that every card can name every protocol and no protocol lists its siblings.
    pub endpoints: fn(&Site, &AgentCard) -> Vec<Endpoint>,
    /// What it publishes that is the same for every caller, for plain web hosting. Reads its section
    /// as [`Protocol::surfaces`] does, and fails like it.
    pub documents: fn(Mount) -> Result<Vec<Published>, Problems>,
    /// The operations that it offers to carriers of tools. Reads its section as
    /// [`Protocol::surfaces`] does; what is wrong there is said by that one.
    pub tools: fn(&Mount) -> Vec<Tool>,
    /// How it writes the post that tells of a settled task, if it has webhooks.
    pub envelope: Option<Envelope>,
    /// How it finds the keys of agents that sign their requests, if it can.
    pub key_directory: Option<OpenKeyDirectory>,
}

/// Makes a directory of keys that goes out through the guarded client.
pub type OpenKeyDirectory = fn(Arc<Egress>) -> Arc<dyn KeyDirectory>;

/// A document that any web host can serve.
#[derive(Debug, Clone)]
pub struct Published {
    /// Where, below the origin: begins with a slash, each segment fit for a file's name.
    pub path: String,
    /// All of it.
    pub body: Bytes,
}

/// What a protocol is given to build its surfaces from.
#[derive(Clone)]
pub struct Mount {
    /// The host that answers.
    pub host: Arc<Host>,
    /// Proof in, sender out.
    pub verifier: Arc<Verifier>,
    /// The keys that sign for this domain; replaced while serving when the operator rotates them.
    pub keys: Arc<ArcSwap<HostKeys>>,
    /// The way out.
    pub egress: Arc<Egress>,
    /// The operations that all protocols offer, for those that carry tools.
    pub tools: Arc<[Tool]>,
    /// The protocol's own section; empty when the file has none.
    pub section: Section,
}

/// Something a protocol listens on.
pub enum Surface {
    /// Paths on the shared HTTP listeners.
    Http(HttpRoutes),
}

/// Paths on the shared HTTP listeners.
pub struct HttpRoutes {
    /// The path patterns that are claimed, in axum's syntax. Two protocols that claim one pattern
    /// are an error at start.
    pub paths: Vec<&'static str>,
    /// What answers them.
    pub router: axum::Router,
}
