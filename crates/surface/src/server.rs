//! This module says how a server elsewhere is put behind the host: a file that a protocol reads, and the gate before
//! whatever the server has.

use std::path::PathBuf;

use forecourt_agents::Context;
use forecourt_core::Handle;
use forecourt_host::ServerGate;
use forecourt_settings::Section;

/// The folder of the files that define servers.
pub const SERVERS: &str = "servers";

/// What the names of functions begin with that are tools of servers: `servers.NAME.TOOL`.
pub const SERVER_FUNCTIONS: &str = "servers.";

/// A server behind this host, as its file defines it.
#[derive(Clone)]
pub struct ServerDefinition {
    /// Its name: that of the file.
    pub name: Handle,
    /// What its file says but for the rules, which became the gate.
    pub section: Section,
    /// The gate before it.
    pub gate: ServerGate,
    /// What its settings are checked with, and what it is reached through.
    pub context: Context,
}

impl ServerDefinition {
    /// Where its lists lie as they were when it was taken up, if they do: `servers/NAME.tools.json`.
    pub fn lists_file(&self) -> PathBuf {
        self.context.folder.join(SERVERS).join(format!("{}.tools.json", self.name))
    }
}

/// The names of the servers behind one state of the deployment, which a protocol sets up.
pub struct ServerNames(pub Vec<Handle>);

/// The servers that a protocol puts behind the host.
pub struct ServerKind {
    /// The shape of their files, from which the reference is generated.
    pub schema: fn() -> schemars::Schema,
}
