//! The flags of `forecourt catalog`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct CatalogArguments {
    #[command(subcommand)]
    pub what: CatalogWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CatalogWhat {
    /// Show what a newer catalog changes, and what it would break in a deployment.
    ///
    /// Exits with 0 when nothing breaks, with 1 when something of the deployment does, and with 2 when a
    /// file can't be read.
    #[command(after_help = "Example:\n  forecourt catalog diff old.json new.json --against-deployment mysite")]
    Diff(CatalogDiff),
}

#[derive(Debug, Args)]
pub(crate) struct CatalogDiff {
    /// The catalog in use.
    pub old: PathBuf,
    /// The one to change to.
    pub new: PathBuf,
    /// Look for what would break in this folder: endpoints, recipes and the method policy.
    #[arg(long, value_name = "DIR")]
    pub against_deployment: Option<PathBuf>,
    /// Print the comparison as JSON.
    #[arg(long)]
    pub json: bool,
}
