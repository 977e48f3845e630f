//! This module holds the commands of the command line that speak AGTP, or judge what it carries.

mod args;
mod call;
mod genesis;
mod manifest;

use clap::CommandFactory;
use forecourt_client::ClientCommand;

use args::{CallArguments, GenesisArguments, ManifestArguments};

/// `agtp`, `manifest` and `genesis`.
pub const COMMANDS: &[ClientCommand] = &[
    ClientCommand {
        command: CallArguments::command,
        run: |matches| Box::pin(async move { call::run(ClientCommand::arguments(&matches)?).await }),
    },
    ClientCommand {
        command: ManifestArguments::command,
        run: |matches| Box::pin(async move { manifest::run(ClientCommand::arguments(&matches)?).await }),
    },
    ClientCommand {
        command: GenesisArguments::command,
        run: |matches| Box::pin(async move { genesis::run(&ClientCommand::arguments(&matches)?) }),
    },
];
