//! `forecourt connect`: what a program that speaks MCP is told so that it reaches a server, printed or written.

mod program;
mod server;
mod settings_file;
mod snippet;

use std::path::PathBuf;

use clap::{CommandFactory, Parser};
use forecourt_client::ClientCommand;
use forecourt_client::output::{Failure, Outcome, stderrln, stdout, stdoutln};

use program::ConnectingProgram;
use server::ServerAddress;
use settings_file::{Change, SettingsFile};

/// `connect`.
pub const COMMANDS: &[ClientCommand] = &[ClientCommand {
    command: ConnectArguments::command,
    run: |matches| Box::pin(async move { run(&ClientCommand::arguments(&matches)?) }),
}];

/// Connect a program to a deployment: print what to paste into it, or write that into its settings.
///
/// The program reaches it over MCP. Programs that start others start `forecourt mcp`, all others take the address.
/// With `--write` the entry goes into the program's own file: what is there stays, comments too, and the file as it was
/// is kept beside it.
#[derive(Debug, Parser)]
#[command(
    name = "connect",
    after_help = "Examples:\n  forecourt connect claude-code                        # the deployment in this folder\n  forecourt connect cursor @chef@demo.localhost --write\n  forecourt connect langchain https://example.com\n  forecourt connect vscode example.com --token-variable EXAMPLE_TOKEN --write"
)]
struct ConnectArguments {
    /// The program.
    #[arg(value_enum)]
    program: ConnectingProgram,
    /// The folder of a deployment, a domain, an agent's address such as @chef@demo.localhost, or the URL of a server.
    #[arg(default_value = ".")]
    address: String,
    /// What the program calls it. [default: the agent, or the domain]
    #[arg(long)]
    name: Option<String>,
    /// The variable of the environment that holds a bearer token for it. The token itself is written nowhere.
    #[arg(long, value_name = "VARIABLE")]
    token_variable: Option<String>,
    /// Write it into the program's settings.
    #[arg(long)]
    write: bool,
    /// With `--write`: this file instead of the program's own.
    #[arg(long, requires = "write", value_name = "FILE")]
    file: Option<PathBuf>,
    /// With `--write`: replace an entry of the same name.
    #[arg(long, requires = "write")]
    force: bool,
}

/// One program's entry for one server.
struct Connection {
    program: ConnectingProgram,
    server: ServerAddress,
    /// What the program calls the server.
    name: String,
    token_variable: Option<String>,
    /// The program that is running, which some others are told to start.
    forecourt: PathBuf,
}

fn run(arguments: &ConnectArguments) -> Outcome {
    let connection = Connection::new(arguments)?;
    if let Some(note) = connection.server.note() {
        stderrln!("note: {note}");
    }
    if !arguments.write {
        stdout(format_args!("{}", connection.words()?));
        return Ok(());
    }
    let Some(place) = connection.program.settings() else {
        let failure = Failure::yours(format!("{} has no settings file to write to", arguments.program.name()));
        return Err(failure.hint("without --write it is printed, to be pasted"));
    };
    let file = match &arguments.file {
        Some(file) => file.clone(),
        None => place.path()?,
    };
    let entry = connection.entry()?;
    let file = SettingsFile { path: file, table: place.table };
    match file.set(&connection.name, &entry, arguments.force)? {
        Change::None => stdoutln!("{} has `{}` already", file.path.display(), connection.name),
        Change::Written { kept } => {
            stdoutln!("wrote `{}` into {}", connection.name, file.path.display());
            if let Some(kept) = kept {
                stdoutln!("the file as it was: {}", kept.display());
            }
        }
    }
    stdoutln!("{}", place.next);
    connection.secret().into_iter().for_each(|words| stdoutln!("{words}"));
    Ok(())
}

impl Connection {
    fn new(arguments: &ConnectArguments) -> Result<Self, Failure> {
        if let Some(variable) = &arguments.token_variable {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if variable.is_empty()
                || !variable.chars().all(is_word)
                || variable.starts_with(|c: char| c.is_ascii_digit())
            {
                let words = "--token-variable names a variable of the environment, such as EXAMPLE_TOKEN";
                return Err(Failure::usage(words).hint("the token itself belongs into that variable"));
            }
        }
        let server = ServerAddress::read(&arguments.address)?;
        if arguments.token_variable.is_some() && server.is_in_the_clear() {
            // On this machine nobody is in between.
            return Err(Failure::yours("a token is not sent over plain HTTP").hint("use the https URL"));
        }
        let name = match &arguments.name {
            Some(name) if name.trim().is_empty() || name.chars().any(char::is_control) => {
                return Err(Failure::usage("--name is empty, or has characters that can't be seen"));
            }
            Some(name) => name.clone(),
            None => server.name(),
        };
        let forecourt = std::env::current_exe().map_err(Failure::from)?;
        let token_variable = arguments.token_variable.clone();
        Ok(Self { program: arguments.program, server, name, token_variable, forecourt })
    }

    /// What is left to do about the token, if there is one.
    fn secret(&self) -> Option<String> {
        let variable = self.token_variable.as_deref()?;
        Some(match self.program {
            ConnectingProgram::ClaudeDesktop => {
                format!("put the token in place of `{}` there", snippet::placeholder(variable))
            }
            _ => format!("the token is read from {variable} of the program's environment"),
        })
    }
}
