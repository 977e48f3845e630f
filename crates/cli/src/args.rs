//! The command line. `--help` teaches; the same words are in the manual.

mod admin;
mod audit;
mod catalog;
mod conform;
mod dev;
mod eval;
mod examples;
mod import;
mod keys;
mod openapi;
mod platforms;
mod sockets;
mod test;
mod upkeep;
mod vocabulary;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use forecourt_client::ClientCommand;
use forecourt_client::ask::AskArguments;

use forecourt::deployment::FILE;
use forecourt::domains::DomainsFile;
use forecourt::registry::CLIENT_COMMANDS;
use forecourt::settings::ListenOverrides;
use forecourt::{Deployment, Problems};
use forecourt_settings::ProcessEnvironment;

use crate::starters::Starter;

pub(crate) use admin::{Admin, AdminWhat, HeldList, QuestionList, ReasonedAction, SearchWords};
pub(crate) use audit::{AcceptRecords, Audit, AuditWhat, ExportRecords, VerifyRecords};
pub(crate) use catalog::{CatalogArguments, CatalogDiff, CatalogWhat};
pub(crate) use conform::Conform;
pub(crate) use dev::Dev;
pub(crate) use eval::Eval;
#[cfg(test)]
pub(crate) use import::ImportedFiles;
pub(crate) use import::{ImportHub, ImportServer};
pub(crate) use keys::{ApiKeysWhat, CreateApiKey, Keys, KeysWhat, ListApiKeys, RevokeApiKey};
pub(crate) use openapi::{ExportOpenapi, Import, ImportOpenapi, ImportWhat};
pub(crate) use platforms::{NetworkArguments, PlatformArguments, PlatformKind};
pub(crate) use sockets::SocketFlags;
pub(crate) use test::Test;
pub(crate) use upkeep::{Backup, Completions, Health, Man, Restore, SchemaArguments, SchemaOf, Upgrade};
pub(crate) use vocabulary::{SuggestWords, VocabularyArguments, VocabularyWhat};

/// Makes your site's content, APIs and agents askable: by people, by language models, by other agents.
///
/// A deployment is a folder: forecourt.toml says who you are, agents/*.toml what you offer. Make
/// one with `forecourt init mysite`, start it with `forecourt serve mysite`, and talk to it with
/// `forecourt ask @agent@your.domain "hello"`, a browser, or curl.
#[derive(Debug, Parser)]
#[command(name = "forecourt", version = version(), max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = crate::output::EXIT_CODES)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The version, and of what has been packed the commit and its day.
fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| match option_env!("FORECOURT_COMMIT") {
        Some(commit) => format!("{} ({commit})", env!("CARGO_PKG_VERSION")),
        None => env!("CARGO_PKG_VERSION").to_owned(),
    });
    &VERSION
}

/// The command that connects what is named behind it: a program that speaks MCP, or a platform.
const CONNECT: &str = "connect";

/// What was asked for.
pub(crate) enum Invocation {
    /// A command of the program's own.
    Own(Box<Command>),
    /// One that comes with a protocol, and what was typed behind it.
    Client(&'static ClientCommand, ArgMatches),
    /// The steps that connect a platform, and what was typed behind its name.
    Platform(PlatformKind, ArgMatches),
}

/// Reads the command line.
///
/// # Errors
/// It makes no sense, or help or the version was asked for.
pub(crate) fn parse() -> Result<Invocation, clap::Error> {
    let matches = command().try_get_matches()?;
    let clients = || CLIENT_COMMANDS.iter().copied().flatten();
    if let Some((name, typed)) = matches.subcommand()
        && let Some(client) = clients().find(|client| (client.command)().get_name() == name)
    {
        return Ok(match platforms::named(typed) {
            Some((kind, typed)) => Invocation::Platform(kind, typed),
            None => Invocation::Client(client, typed.clone()),
        });
    }
    Arguments::from_arg_matches(&matches).map(|arguments| Invocation::Own(Box::new(arguments.command)))
}

/// The whole command line, with the commands that protocols bring.
pub(crate) fn command() -> clap::Command {
    let clients = CLIENT_COMMANDS.iter().copied().flatten();
    let all = clients.fold(Arguments::command(), |command, client| command.subcommand((client.command)()));
    examples::with_examples(all.mut_subcommand(CONNECT, platforms::with_platforms))
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve a deployment until it is told to stop.
    ///
    /// In development it listens on loopback only, speaks plain HTTP there beside HTTPS with a
    /// certificate of its own, and indexes content before it answers. Changes to content are picked
    /// up while it runs, and so are changes of the configuration: a deployment with a mistake changes nothing.
    /// SIGTERM drains: running answers finish, nothing that was accepted is lost. SIGHUP reads everything again.
    ///
    /// A folder without a forecourt.toml whose folders have one each is several domains in one daemon, which share
    /// the sockets and nothing else.
    Serve(Serve),
    /// Work on a deployment: serve it on this machine, and see what each request does and where its time goes.
    ///
    /// Listens on loopback alone, over plain HTTP, and opens a browser. Content, settings and the code of `command`
    /// backends are taken up as soon as they are saved: the next message runs the new code, and what can't be read
    /// changes nothing and is told with its line. Each request is a line when it ends, with its steps below it: rules,
    /// agent, models, tools, endpoints, services. On a terminal, `r` sends the last message again and `?` lists the keys.
    Dev(Dev),
    /// Make a working deployment in a new folder, commented.
    ///
    /// `--with` chooses what it begins with; give it more than once for several agents. Each starter is an
    /// agent that answers as soon as it is served, with the files that it needs beside it. Edit the files;
    /// `forecourt check` finds mistakes.
    #[command(
        after_help = "Examples:\n  forecourt init mysite                          # an agent over your files\n  forecourt init mysite --with model             # Ollama on this machine\n  forecourt init mysite --with search --with python --domain example.com"
    )]
    Init(Init),
    /// Find mistakes in a deployment, without serving it.
    ///
    /// Names file and line of every problem that `serve` would refuse, all at once, and exits with 1 when
    /// there is one. When all is well it shows what callers will see of each agent.
    Check(Check),
    /// Run the tests of a deployment: what its callers say, over which protocol, and what holds of the answers.
    ///
    /// Serves it in this process, on free ports and with its state in a folder that is removed again, and asks what the
    /// files in tests/ ask. Models and other services are not asked: they answer what `--record` kept in tests/recorded,
    /// and a request that was not recorded fails its test. Exits with 0 when all tests hold, with 1 when one does not,
    /// and with 2 when they can't be run. FORECOURT_LOG=info shows the log of the host.
    Test(Test),
    /// Talk to an agent anywhere, by address or URL.
    ///
    /// The answer streams to standard output as markdown. A refusal says what to do next and exits
    /// with 1; an agent that can't be reached, fails or breaks off exits with 3. An agent that asks back
    /// is answered on the terminal, or with `--answer` later. Names under .localhost are looked for on
    /// this machine.
    #[command(
        after_help = "Examples:\n  forecourt ask @chef@demo.localhost \"soup under 30 minutes\"\n  forecourt ask @chef@demo.localhost:8443 --json \"rhubarb\"\n  forecourt ask https://example.com/~lean \"what is the 4% rule?\"\n  forecourt ask --via a2a demo.localhost \"@chef rhubarb\"\n  git diff | forecourt ask @reviewer@demo.localhost -"
    )]
    Ask(AskArguments),
    /// Show what a domain offers, or how one agent can be reached.
    Discover(Discover),
    /// Index the content of a deployment now, or explain a ranking.
    ///
    /// Exits with 1 when nothing of an agent's content could be read.
    Index(Index),
    /// Measure how good an agent's answers are, on questions of which the right answers are known.
    ///
    /// `--judged` names a folder with questions and judgements in BEIR's layout: queries.jsonl (`_id`, `text`),
    /// qrels.tsv or qrels/test.tsv (question, document, grade; above 0 is relevant), and corpus.jsonl (`_id`,
    /// `title`, `text`) unless the documents are the agent's own items, named by their ids. A corpus is indexed
    /// with the agent's settings, in a folder that is removed again. `--log` takes the questions that people asked
    /// and the items that they marked with a thumb ([questions] in forecourt.toml).
    ///
    /// nDCG@10 says how good the first ten are and in which order (1 is the best possible order), recall@100 how
    /// much of what is relevant is found at all, MRR@10 how far up the first relevant one stands. To compare two
    /// configurations, change a copy of the deployment and name it with `--compare`: each question counts as won,
    /// lost or tied, and p says how often chance alone would make such a difference.
    #[command(
        after_help = "Examples:\n  forecourt eval mysite --judged sets/support\n  forecourt eval mysite --judged sets/support --compare mysite-with-model\n  forecourt eval mysite --judged sets/support --json | jq '.scores.words.ndcg'\n  forecourt eval mysite --log                     # what people ask, and what is not found"
    )]
    Eval(Eval),
    /// Propose words for the vocabulary of a deployment.
    Vocabulary(VocabularyArguments),
    /// Write what a deployment publishes (cards, OpenAPI) as files.
    Export(Export),
    /// Take what others have into a deployment: operations of an OpenAPI document, an MCP server, the agents of a hub.
    Import(Import),
    /// See what goes on in a deployment that is being served, and do something about it.
    ///
    /// Speaks the admin API of the running daemon: the same as its console at /console. It is found by the folder of
    /// the deployment, and asked with `token` of [admin] in forecourt.toml. What is done is written down, with a
    /// reason if you give one.
    #[command(
        after_help = "Examples:\n  forecourt admin status\n  forecourt admin tasks --state working\n  forecourt admin suspend chef --reason \"wrong prices\"\n  forecourt admin tasks --json | jq -r '.tasks[].task'\n  forecourt admin agents --url http://127.0.0.1:9080 --token \"$FORECOURT_ADMIN_TOKEN\""
    )]
    Admin(Admin),
    /// Show who was refused, asked for a consent or a payment, and what came of it; verify and export signed records.
    ///
    /// Reads the audit of a deployment, also while it is served. It holds no content, no states and no secrets. A
    /// folder that is called `verify` or `export` is written `./verify`.
    #[command(
        after_help = "Examples:\n  forecourt audit mysite --since 2h\n  forecourt audit mysite --agent chef --json | jq 'select(.outcome == \"paid\")'"
    )]
    Audit(Audit),
    /// Show or rotate the key that signs for a deployment, and make keys for programs.
    ///
    /// A folder that is called `api` is written `./api`.
    Keys(Keys),
    /// Serve a deployment over stdio, for desktop clients of MCP.
    ///
    /// Prints nothing but JSON-RPC on standard output, and ends with its input. Name this command in the
    /// settings of the client. While the deployment is served by `serve`, messages are passed on to that;
    /// with a URL, to the server there.
    #[command(
        name = "mcp",
        after_help = "Example, in the settings of a desktop client:\n  {\"mcpServers\": {\"kitchen\": {\"command\": \"forecourt\", \"args\": [\"mcp\", \"/srv/kitchen\"]}}}"
    )]
    Stdio(Stdio),
    /// Compare two catalogs of AGTP methods before an upgrade.
    Catalog(CatalogArguments),
    /// Test whether a server keeps the rules of what it speaks, whoever made it.
    ///
    /// Over agtp:// each item of AGTP-API 13.1 and what it leans on; over https:// Mentionable REST and its
    /// discovery, the A2A hub, NLWeb and MCP, as far as the host has them. One request at a time, and nothing
    /// that has lasting effects unless `--with-effects` is given. What a MUST asks for fails; what a SHOULD asks
    /// for warns; what can't be told is skipped, with the reason. Exits with 0 when nothing failed, with 1 when
    /// something did, and with 3 when the server can't be reached.
    #[command(
        after_help = "Examples:\n  forecourt conform agtp://demo.localhost\n  forecourt conform agtp://demo.localhost --agent-id $ID --only agtp-13.1\n  forecourt conform https://demo.localhost --agent @chef --json\n  forecourt conform --list"
    )]
    Conform(Box<Conform>),
    /// Print the reference of all settings, or of all errors, as markdown.
    Reference(ReferenceArguments),
    /// Keep a deployment with its state, identities and keys in one file, also while it is served.
    ///
    /// The file holds the files of the deployment, and of its data folder what is truth: the store, pushed content,
    /// signed records, identities, keys. What can be made again (search indexes, the manual) is left out and told.
    /// Each database is copied as it stands at one moment. The file can be restored by anybody who has it: keep it
    /// as you keep keys, or encrypt it. `age-keygen` makes keys for `--recipient`. A store that is a PostgreSQL
    /// server is not in it: back that up with its own tools, at the same time.
    #[command(
        after_help = "Examples:\n  forecourt backup mysite --out mysite.backup\n  forecourt backup mysite --out mysite.backup --passphrase-file /run/secrets/backup\n  forecourt backup /etc/forecourt --data /var/lib/forecourt --recipient age1… --out - | ssh backup 'cat > today'"
    )]
    Backup(Backup),
    /// Put back what `forecourt backup` kept, into a new folder.
    ///
    /// Everything is read, compared with its hash and put in place in one step: a file that is damaged, or cut
    /// short, leaves nothing. Then `forecourt serve DIR` goes on where the backup was made.
    Restore(Restore),
    /// Say what this version of the program would do to a deployment of an older one.
    ///
    /// Looks at the store, the settings and the disk, changes nothing, and exits with 1 when `serve` would refuse.
    /// It may run while an older version serves.
    Upgrade(Upgrade),
    /// Ask the daemon of a deployment on this machine whether it is well: for probes and scripts.
    ///
    /// Exits with 0 when it is, with 1 when it says that it is not, and with 3 when nobody answers.
    Health(Health),
    /// Print what completes the commands of this program in a shell.
    #[command(after_help = "Example:\n  forecourt completions bash > /etc/bash_completion.d/forecourt")]
    Completions(Completions),
    /// Print the manual page of this program.
    #[command(after_help = "Example:\n  forecourt man | man -l -")]
    Man(Man),
    /// Print the JSON Schema of the settings, for editors that check and complete TOML.
    #[command(after_help = "Example:\n  forecourt schema --out mysite      # its files are checked as you type")]
    Schema(SchemaArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ReferenceArguments {
    /// What to print.
    #[arg(value_enum, default_value = "config")]
    pub what: ReferenceTopic,
}

/// What there is a reference of.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum ReferenceTopic {
    /// Every key of forecourt.toml and of agents' files
    Config,
    /// Every code that a caller can meet, as each protocol spells it
    Errors,
    /// The alerts that are shipped, as rules of Prometheus
    Alerts,
}

/// Which deployment, and where its state is.
#[derive(Debug, Clone, Args)]
pub(crate) struct Place {
    /// The folder of the deployment.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Where state is kept: store, index, keys, certificates. [default: DIR/.forecourt]
    #[arg(long, env = "FORECOURT_DATA_DIR")]
    pub data: Option<PathBuf>,
    /// The folder whose `forecourt.toml` names this deployment by `[[domain]]`.
    #[arg(skip)]
    pub named_by: Option<PathBuf>,
}

impl Place {
    /// That of one of several deployments: the folder itself, or one that it has or names. Each has a data folder of its
    /// own.
    pub(crate) fn within(&self, folder: &Path) -> Place {
        if folder == self.dir {
            return self.clone();
        }
        let data = self.data.as_ref().map(|data| match folder.strip_prefix(&self.dir) {
            Ok(inside) => data.join(inside),
            Err(_) => data.join(folder.file_name().unwrap_or_default()),
        });
        let named_by = self.dir.join(FILE).exists().then(|| self.dir.clone());
        Place { dir: folder.to_path_buf(), data, named_by }
    }

    /// The same deployment with its files in another folder, and its state where it was.
    pub(crate) fn at(&self, folder: &Path) -> Place {
        Place { dir: folder.to_path_buf(), data: Some(self.data_dir()), named_by: self.named_by.clone() }
    }

    /// Reads the deployment, with its sockets where these flags say.
    ///
    /// # Errors
    /// Everything that is wrong with it, and with the file that names it.
    pub(crate) fn read(&self, flags: &ListenFlags) -> Result<Deployment, Problems> {
        let beside = match &self.named_by {
            Some(folder) => DomainsFile::read(folder, &ProcessEnvironment)?,
            None => None,
        };
        let overrides = flags.overrides();
        let read = Deployment::read_beside(&self.dir, &ProcessEnvironment, &overrides, beside.as_ref())?;
        Ok(read.with_data_folder(self.data_dir()))
    }

    /// The data folder, which may not exist yet.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(|| self.dir.join(".forecourt"))
    }
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub listen: ListenFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Stdio {
    /// The folder of the deployment, or the URL of an MCP endpoint anywhere, such as
    /// `https://example.com/mcp`.
    #[arg(default_value = ".")]
    pub what: String,
    /// Where state is kept: store, index, keys, certificates. [default: DIR/.forecourt]
    #[arg(long, env = "FORECOURT_DATA_DIR")]
    pub data: Option<PathBuf>,
    /// Send this bearer token to the URL.
    #[arg(long, env = "FORECOURT_TOKEN", hide_env_values = true, allow_hyphen_values = true)]
    pub token: Option<String>,
}

/// Flags that go before `[listen]`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ListenFlags {
    /// Plain HTTP on this address; loopback only. Port 0 takes a free one.
    #[arg(long)]
    pub http: Option<SocketAddr>,
    /// HTTPS on this address.
    #[arg(long)]
    pub https: Option<SocketAddr>,
    /// Health, readiness and metrics on this address; loopback only.
    #[arg(long)]
    pub admin: Option<SocketAddr>,
    /// Those of protocols.
    #[command(flatten)]
    pub own: SocketFlags,
}

impl ListenFlags {
    /// What goes before the files.
    pub(crate) fn overrides(&self) -> ListenOverrides {
        ListenOverrides { http: self.http, https: self.https, admin: self.admin, own: self.own.all() }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder to make; must be empty or new.
    pub dir: PathBuf,
    /// The domain to write into it. Names under .localhost mean this machine.
    #[arg(long, default_value = "demo.localhost")]
    pub domain: String,
    /// What it begins with; the first one is the default agent.
    #[arg(long, value_enum, value_name = "STARTER", default_value = "search")]
    pub with: Vec<Starter>,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub place: Place,
    /// Rewrite keys that have another name or section than in the release before. Comments and layout stay.
    #[arg(long)]
    pub fix: bool,
    /// Ask the servers behind the deployment what they have, and say what changed since they were imported. Exits with
    /// 1 when one can't be reached.
    #[arg(long)]
    pub connect: bool,
    /// Say what each member of an endpoint's input and output means, which contracts are planned by. `meanings.toml`
    /// corrects it.
    #[arg(long)]
    pub explain: bool,
    /// Print what was found as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Discover {
    /// A domain such as demo.localhost, or an address such as @chef@demo.localhost.
    pub what: String,
    /// Print what was found as JSON.
    #[arg(long)]
    pub json: bool,
    /// The data folder whose local authority is trusted for names under .localhost.
    #[arg(long, env = "FORECOURT_DATA_DIR")]
    pub data: Option<PathBuf>,
    /// Trust the authorities in this PEM file too.
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// Trust any certificate. For a try on one's own machine: whoever stands between reads everything.
    #[arg(long)]
    pub insecure: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Index {
    #[command(flatten)]
    pub place: Place,
    /// Index nothing; say how this question is read, word by word, and why items rank as they do, with `--json` as data.
    #[arg(long, value_name = "QUESTION")]
    pub explain: Option<String>,
    /// Print the counts as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(subcommand)]
    pub what: ExportWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExportWhat {
    /// The cards of the domain and its agents, the list of agents and the keys, as files.
    ///
    /// Any web host can serve them at the root of the domain, whether or not this daemon runs there;
    /// URLs in them begin with https:// and the domain, or with `public_url`. They are signed with the
    /// key in the data folder: export again after `forecourt keys --rotate`.
    #[command(after_help = "Example:\n  forecourt export cards mysite --out /var/www/example.com")]
    Cards(ExportFiles),
    /// What public registries are told: a `server.json` for registries of MCP servers, cards for directories of agents.
    ///
    /// One for the whole host and one for each agent. Nothing is published by this: the files are handed in with the
    /// registry's own program, which asks for a proof that the domain is yours.
    #[command(after_help = "Example:\n  forecourt export registry mysite --out entries")]
    Registry(ExportFiles),
    /// The endpoints as an OpenAPI 3.1 document, on standard output.
    ///
    /// It is derived: agents are told by the manifest. What HTTP has no word for stays in `x-agtp-`
    /// fields, and what is lost is listed on standard error and under `x-agtp-losses`.
    #[command(after_help = "Example:\n  forecourt export openapi mysite > openapi.json")]
    Openapi(ExportOpenapi),
}

#[derive(Debug, Args)]
pub(crate) struct ExportFiles {
    #[command(flatten)]
    pub place: Place,
    /// The folder to write into; of cards, the root of the web host. Made when it is not there; files of the
    /// same names are replaced.
    #[arg(long)]
    pub out: PathBuf,
    /// Print the written paths as JSON.
    #[arg(long)]
    pub json: bool,
}
