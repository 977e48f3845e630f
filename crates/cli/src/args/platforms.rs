//! `forecourt connect PLATFORM`, beside the programs that `connect` knows of itself.

use std::path::PathBuf;

use clap::{ArgMatches, Args};
use forecourt::registry::CONNECTORS;
use forecourt_surface::connector::ConnectorKind;

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

/// The command `connect` with a subcommand for each platform.
pub(super) fn with_platforms(connect: clap::Command) -> clap::Command {
    let of = |kind: &ConnectorKind| PlatformArguments::augment_args(clap::Command::new(kind.protocol.name));
    CONNECTORS.iter().fold(connect.subcommand_negates_reqs(true), |connect, kind| connect.subcommand(of(kind)))
}

/// The kind that was named, and what was typed behind it. `None`: another program is to be connected.
pub(super) fn named(typed: &ArgMatches) -> Option<(&'static ConnectorKind, ArgMatches)> {
    let (name, behind) = typed.subcommand()?;
    let kind = CONNECTORS.iter().find(|kind| kind.protocol.name == name)?;
    Some((kind, behind.clone()))
}
