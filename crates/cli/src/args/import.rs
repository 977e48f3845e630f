//! The flags of what takes servers and hubs of others into a deployment.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ImportServer {
    /// The endpoint of the server, such as https://example.com/mcp. Else a program after `--`, or a server that was
    /// imported before, by `--name`.
    pub url: Option<String>,
    /// A program that speaks MCP on its standard input and output, and its arguments.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "url")]
    pub command: Vec<String>,
    /// What it is called here: 1 to 30 letters, digits, `_` and `-`. Default: what it calls itself.
    #[arg(long)]
    pub name: Option<String>,
    /// Take these tools alone: names, in which `*` stands for any characters.
    #[arg(long, value_name = "GLOB", num_args = 1..)]
    pub only: Vec<String>,
    /// Leave these tools out.
    #[arg(long, value_name = "GLOB", num_args = 1..)]
    pub except: Vec<String>,
    /// A variable of the program's environment. Its value goes into no file, either.
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// What its tools are called at /mcp: `PREFIX_TOOL`. Empty for their own names. Default: its name here.
    #[arg(long)]
    pub prefix: Option<String>,
    /// Write no endpoints: its tools are offered over MCP alone.
    #[arg(long)]
    pub no_endpoints: bool,
    #[command(flatten)]
    pub written: ImportedFiles,
}

#[derive(Debug, Args)]
pub(crate) struct ImportHub {
    /// The hub: a domain such as example.com, or the URL of its card. Else one that was imported before, by `--name`.
    pub address: Option<String>,
    /// What it is called here: 1 to 30 letters, digits, `_` and `-`. Default: the first part of its domain.
    #[arg(long)]
    pub name: Option<String>,
    /// Take these agents alone: handles at the hub, in which `*` stands for any characters.
    #[arg(long, value_name = "GLOB", num_args = 1..)]
    pub only: Vec<String>,
    /// Leave these agents out.
    #[arg(long, value_name = "GLOB", num_args = 1..)]
    pub except: Vec<String>,
    /// What goes before the handles of its agents here. Default: nothing.
    #[arg(long)]
    pub prefix: Option<String>,
    #[command(flatten)]
    pub written: ImportedFiles,
}

/// What is written, and where.
#[derive(Debug, Args)]
pub(crate) struct ImportedFiles {
    /// The deployment to write into.
    #[arg(long, value_name = "DIR")]
    pub into: PathBuf,
    /// A header field for each request. Its value goes into no file: `${VAR}` stands there for it.
    #[arg(long, value_name = "NAME=VALUE")]
    pub header: Vec<String>,
    /// Replace files of the same names, those that people edited too.
    #[arg(long)]
    pub force: bool,
    /// Say what would be written, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print what was found and written as JSON.
    #[arg(long)]
    pub json: bool,
}
