//! This module says what files of a deployment define for one protocol: servers that are put behind the host, each with
//! the gate before whatever it has, and platforms that agents are mentioned on.

use std::path::PathBuf;

use forecourt_agents::Context;
use forecourt_core::Handle;
use forecourt_host::ServerGate;
use forecourt_settings::Section;

/// The folder of the files that define servers.
pub const SERVERS: &str = "servers";

/// The folder of the files that define connectors.
pub const CONNECTORS: &str = "connectors";

/// What files of a folder define for a protocol.
pub enum FileDefinitions {
    /// Files of [`SERVERS`].
    Servers(Vec<ServerDefinition>),
    /// Files of [`CONNECTORS`].
    Connectors(Vec<ConnectorDefinition>),
}

/// A platform that agents are mentioned on, such as a workspace of a chat, as its file defines it.
#[derive(Clone)]
pub struct ConnectorDefinition {
    /// Its name: that of the file.
    pub name: Handle,
    /// What its file says.
    pub section: Section,
}

impl FileDefinitions {
    /// The sections of all files, for what is wrong with each.
    pub fn sections(&self) -> Vec<&Section> {
        match self {
            Self::Servers(servers) => servers.iter().map(|server| &server.section).collect(),
            Self::Connectors(connectors) => connectors.iter().map(|connector| &connector.section).collect(),
        }
    }
}

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
