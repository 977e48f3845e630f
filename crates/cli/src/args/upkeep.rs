//! The flags of the commands that keep an installation: backups, upgrades, health.

use std::path::PathBuf;

use clap::Args;

use super::Place;

#[derive(Debug, Args)]
pub(crate) struct Backup {
    #[command(flatten)]
    pub place: Place,
    /// The file to write, such as `kitchen.backup`; must not be there. `-` writes to standard output.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Encrypt it for whoever has this age key, `age1…`; may be repeated.
    #[arg(long, value_name = "KEY", conflicts_with = "passphrase_file")]
    pub recipient: Vec<String>,
    /// Encrypt it with the passphrase in the first line of this file.
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
    /// Print what was kept, and what was not, as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// The file that `forecourt backup` wrote; `-` reads standard input.
    pub file: PathBuf,
    /// The folder to make: the deployment, with its state in `.forecourt` unless `--data` names another place.
    pub dir: PathBuf,
    /// Where the state is put: a folder that is not there yet.
    #[arg(long, env = "FORECOURT_DATA_DIR")]
    pub data: Option<PathBuf>,
    /// The file with the age key that the backup was encrypted for.
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_file")]
    pub identity: Option<PathBuf>,
    /// The file with the passphrase that it was encrypted with.
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
    /// Read and compare everything, and write nothing.
    #[arg(long)]
    pub check: bool,
    /// Print what was restored as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Upgrade {
    #[command(flatten)]
    pub place: Place,
    /// Say what this program would do to the state and the settings of a deployment, and do nothing.
    #[arg(long, required = true)]
    pub check: bool,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Health {
    #[command(flatten)]
    pub place: Place,
    /// Ask whether it can answer now, not only whether it runs.
    #[arg(long)]
    pub ready: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// For which shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write a page for each command into this folder, instead of the first page to standard output.
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// Of which files.
    #[arg(value_enum, default_value = "deployment")]
    pub what: SchemaOf,
    /// Write all of them into `.schemas` of this deployment, and a `.taplo.toml` that tells editors which is for
    /// which.
    #[arg(long, value_name = "FOLDER", conflicts_with = "what")]
    pub out: Option<PathBuf>,
}

/// The kinds of files that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SchemaOf {
    /// forecourt.toml
    Deployment,
    /// Files in agents/
    Agent,
    /// Files in servers/
    Server,
    /// Files in hubs/
    Hub,
    /// Files in endpoints/
    Endpoint,
    /// recipes.toml
    Recipes,
    /// meanings.toml
    Meanings,
    /// Files in tests/
    Test,
}
