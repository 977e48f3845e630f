//! The commands, a file each.

mod agtp;
mod ask;
mod catalog;
mod check;
mod discover;
mod export;
mod genesis;
mod import;
mod index;
mod init;
mod keys;
mod manifest;
mod mcp;
mod named;
mod printable;
mod reference;
mod serve;
mod way;

use forecourt_settings::ProcessEnvironment;

use crate::args::{Arguments, Command, ListenFlags, Place};
use crate::deployment::Loaded;
use crate::output::{Failure, Outcome};

/// Runs the one command that was asked for.
pub(crate) async fn run(arguments: Arguments) -> Outcome {
    match arguments.command {
        Command::Serve(serve) => serve::run(serve).await,
        Command::Init(init) => init::run(&init),
        Command::Check(check) => check::run(&check).await,
        Command::Ask(ask) => ask::run(ask).await,
        Command::Discover(discover) => discover::run(discover).await,
        Command::Index(index) => index::run(&index).await,
        Command::Export(export) => export::run(export).await,
        Command::Import(import) => import::run(&import),
        Command::Keys(keys) => keys::run(&keys),
        Command::Mcp(mcp) => mcp::run(mcp).await,
        Command::Agtp(agtp) => agtp::run(agtp).await,
        Command::Manifest(manifest) => manifest::run(manifest).await,
        Command::Catalog(catalog) => catalog::run(&catalog),
        Command::Genesis(genesis) => genesis::run(&genesis),
        Command::Reference => reference::run(),
    }
}

/// Reads the deployment of a command.
fn load(place: &Place) -> Result<Loaded, Failure> {
    load_with(place, &ListenFlags::default())
}

/// The same with sockets where flags say.
fn load_with(place: &Place, flags: &ListenFlags) -> Result<Loaded, Failure> {
    Ok(Loaded::read(&place.dir, &ProcessEnvironment, flags)?)
}
