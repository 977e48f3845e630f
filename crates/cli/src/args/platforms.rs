//! `forecourt connect PLATFORM`, beside the programs that `connect` knows of itself.

use std::path::PathBuf;

use clap::{ArgMatches, Args};
use forecourt::registry::{CONNECTORS, NETWORKS};
use forecourt_surface::connector::{ConnectorKind, NetworkKind};

use super::CONNECT;

/// Show the steps that connect a deployment to this platform, with what to paste there.
#[derive(Debug, Args)]
pub(crate) struct PlatformArguments {
    /// The folder of the deployment.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// What the connector is called: also its file in `connectors/`. [default: the platform]
    #[arg(long)]
    pub name: Option<String>,
}

/// Show how agents are found in this network of servers: their addresses there, and what is lacking.
#[derive(Debug, Args)]
pub(crate) struct NetworkArguments {
    /// The folder of the deployment.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
}

/// What is connected to.
#[derive(Clone, Copy)]
pub(crate) enum PlatformKind {
    /// A platform with a file in `connectors/`.
    Connector(&'static ConnectorKind),
    /// A network without one.
    Network(&'static NetworkKind),
}

/// The command `connect` with a subcommand for each platform.
pub(super) fn with_platforms(connect: clap::Command) -> clap::Command {
    let of = |kind: &ConnectorKind| PlatformArguments::augment_args(named_command(kind.protocol.name));
    let network = |kind: &NetworkKind| NetworkArguments::augment_args(named_command(kind.name));
    CONNECTORS
        .iter()
        .map(of)
        .chain(NETWORKS.iter().map(network))
        .fold(connect.subcommand_negates_reqs(true), clap::Command::subcommand)
}

/// The command of a platform, with what to type.
fn named_command(name: &'static str) -> clap::Command {
    clap::Command::new(name).after_help(format!("Example:\n  forecourt {CONNECT} {name} mysite"))
}

/// The kind that was named, and what was typed behind it. `None`: another program is to be connected.
pub(super) fn named(typed: &ArgMatches) -> Option<(PlatformKind, ArgMatches)> {
    let (name, behind) = typed.subcommand()?;
    let connector = || CONNECTORS.iter().find(|kind| kind.protocol.name == name).map(PlatformKind::Connector);
    let network = || NETWORKS.iter().find(|kind| kind.name == name).map(PlatformKind::Network);
    Some((connector().or_else(network)?, behind.clone()))
}
