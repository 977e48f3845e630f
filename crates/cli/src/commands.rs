//! The commands, a file each.

mod admin;
mod api_keys;
mod ask;
mod audit;
mod backup;
mod catalog;
mod changes;
mod check;
mod completions;
mod conform;
mod connectors;
mod dev;
mod discover;
mod eval;
mod export;
mod health;
mod hubs;
mod import;
mod index;
mod init;
mod keys;
mod man;
mod named;
mod reach;
mod records;
mod reference;
mod restore;
mod schema;
mod serve;
mod servers;
mod stdio;
mod test;
mod toml_text;
mod upgrade;
mod vocabulary;
mod way;

use forecourt::Deployment;
use forecourt_client::printable;

use crate::args::{
    AuditWhat, Command, Invocation, ListenFlags, Place, PlatformKind, VocabularyArguments, VocabularyWhat,
};
use crate::output::{Failure, Outcome};

/// Runs the one command that was asked for.
pub(crate) async fn run(invocation: Invocation) -> Outcome {
    let command = match invocation {
        Invocation::Own(command) => *command,
        Invocation::Client(client, typed) => return (client.run)(typed).await,
        Invocation::Platform(PlatformKind::Connector(kind), typed) => return connectors::steps(kind, &typed),
        Invocation::Platform(PlatformKind::Network(kind), typed) => return connectors::network_steps(kind, &typed),
    };
    match command {
        Command::Serve(serve) => serve::run(serve).await,
        Command::Dev(dev) => dev::run(dev).await,
        Command::Init(init) => init::run(&init),
        Command::Check(check) => check::run(&check).await,
        Command::Test(test) => test::run(&test).await,
        Command::Ask(ask) => ask::run(ask).await,
        Command::Discover(discover) => discover::run(discover).await,
        Command::Index(index) => index::run(&index).await,
        Command::Eval(eval) => eval::run(&eval).await,
        Command::Vocabulary(VocabularyArguments { what: VocabularyWhat::Suggest(suggest) }) => {
            vocabulary::suggest(&suggest).await
        }
        Command::Export(export) => export::run(export).await,
        Command::Import(import) => import::run(&import).await,
        Command::Keys(keys) => keys::run(&keys).await,
        Command::Audit(audit) => match &audit.what {
            Some(AuditWhat::Verify(verify)) => records::verify(verify).await,
            Some(AuditWhat::Export(export)) => records::export(export).await,
            Some(AuditWhat::Accept(accept)) => records::accept(accept).await,
            None => audit::run(audit).await,
        },
        Command::Admin(admin) => admin::run(admin).await,
        Command::Stdio(stdio) => stdio::run(stdio).await,
        Command::Catalog(catalog) => catalog::run(&catalog),
        Command::Conform(conform) => conform::run(*conform).await,
        Command::Reference(arguments) => reference::run(&arguments),
        Command::Backup(backup) => backup::run(&backup),
        Command::Restore(restore) => restore::run(&restore),
        Command::Upgrade(upgrade) => upgrade::run(&upgrade),
        Command::Health(health) => health::run(&health).await,
        Command::Completions(completions) => completions::run(&completions),
        Command::Man(man) => man::run(&man),
        Command::Schema(arguments) => schema::run(&arguments),
    }
}

/// Reads the deployment of a command.
fn load(place: &Place) -> Result<Deployment, Failure> {
    load_with(place, &ListenFlags::default())
}

/// The same with its sockets where these flags say.
fn load_with(place: &Place, flags: &ListenFlags) -> Result<Deployment, Failure> {
    Ok(place.read(flags)?)
}
