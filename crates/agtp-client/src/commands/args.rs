//! This module has the flags of the commands that speak AGTP, and of those that judge what it carries.

mod genesis;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use genesis::{
    GenesisArguments, GenesisAuthority, GenesisCertificate, GenesisCreate, GenesisHash, GenesisShow, GenesisVerify,
    GenesisWhat,
};

/// Call a server over AGTP: what curl is to the web.
///
/// Prints the body of the answer, indented on a terminal. Exits with 0 when the answer is a success,
/// and else with 1 and what to do next. Names under .localhost are looked for on this machine.
///
/// Calls from one terminal belong to one session of the server: `Session-ID` is made of a secret in
/// the user's state folder and the terminal's session, and differs from server to server.
#[derive(Debug, Parser)]
#[command(
    name = "agtp",
    after_help = "Examples:\n  forecourt agtp DISCOVER agtp://demo.localhost/methods\n  forecourt agtp QUERY \"agtp://demo.localhost/rooms?floor=2\" -i\n  forecourt agtp BOOK agtp://demo.localhost/room --scope booking:room -d '{\"room_id\": \"7\"}'\n  forecourt agtp BOOK agtp://demo.localhost/suite -H 'Allow-RCNS: true' --scope 'booking:room rcns:negotiate'"
)]
pub(crate) struct CallArguments {
    /// The method, such as QUERY or BOOK. Sent as it is written.
    pub method: String,
    /// Whom to call: `agtp://host[:port]/path?query`, `agtp://host/agents/NAME` or `agtp://ID@host`. Without a
    /// path the server itself is asked. The port is 4480 when none is written.
    pub uri: String,
    /// Send a header field too; may be repeated.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Send this body: JSON, or a file as @FILE (JSON, or YAML if its name says so), or @- for standard
    /// input.
    #[arg(short = 'd', long = "body", value_name = "JSON|@FILE", allow_hyphen_values = true)]
    pub body: Option<String>,
    /// Who calls: the id of an agent, 64 hexadecimal digits. [default: the one in the URI]
    #[arg(long, value_name = "ID")]
    pub agent_id: Option<String>,
    /// What the caller may do of all it could, such as `booking:room`, with commas.
    #[arg(long, value_name = "SCOPES")]
    pub scope: Option<String>,
    /// Another session than the terminal's.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Show the head of the answer too.
    #[arg(short = 'i', long)]
    pub include: bool,
    /// Print the whole answer, its head too, as one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Of what comes of a proposal, or of a call that may lead to a contract, print the plan in words: each step, why
    /// it is there, what flows where, and what was looked at and not taken.
    #[arg(long, conflicts_with_all = ["json", "include", "out"])]
    pub explain: bool,
    /// Write the body to this file, which is left alone unless the answer is a success.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "include"])]
    pub out: Option<PathBuf>,
    /// Speak without TLS; to this machine only.
    #[arg(long)]
    pub plaintext: bool,
    /// Show this certificate to the server: a PEM file that holds the chain and the key.
    #[arg(long, value_name = "FILE", conflicts_with = "plaintext")]
    pub certificate: Option<PathBuf>,
    #[command(flatten)]
    pub trust: Trust,
}

/// Whose certificates are taken.
#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// The data folder whose local authority is trusted. Found by itself for names under .localhost.
    #[arg(long, env = "FORECOURT_DATA_DIR")]
    pub data: Option<PathBuf>,
    /// Take every certificate, whoever shows it.
    #[arg(long)]
    pub insecure: bool,
}

/// Check the manifest of a server of AGTP, whoever runs it.
#[derive(Debug, Parser)]
#[command(name = "manifest")]
pub(crate) struct ManifestArguments {
    #[command(subcommand)]
    pub what: ManifestWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ManifestWhat {
    /// Validate a manifest, field by field, and its signature.
    ///
    /// Every finding names the section of the specification that it is about. Exits with 1 when a rule
    /// is broken; advice alone is fine.
    #[command(
        after_help = "Examples:\n  forecourt manifest check agtp://demo.localhost\n  forecourt manifest check mysite\n  forecourt manifest check manifest.json --json"
    )]
    Check(ManifestCheck),
}

#[derive(Debug, Args)]
pub(crate) struct ManifestCheck {
    /// The agtp:// URI of a server, the folder of a deployment that is being served, or a file.
    #[arg(default_value = ".")]
    pub what: String,
    /// Print the findings as JSON.
    #[arg(long)]
    pub json: bool,
    /// Speak without TLS; to this machine only.
    #[arg(long)]
    pub plaintext: bool,
    #[command(flatten)]
    pub trust: Trust,
}
