//! The flags of what reads and writes OpenAPI.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ImportHub, ImportServer, Place};

#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    pub what: ImportWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportWhat {
    /// Write an endpoint file for each operation of an OpenAPI document: 3.0 to 3.2 or Swagger 2.0, JSON or YAML.
    ///
    /// Each endpoint calls the service that the document describes. Verbs come from the catalog. What a
    /// person has to look at is marked REVIEW in the files, and what can't be carried over is said, in the
    /// file and here. A newer version of a document into the same folder keeps what people edited. Exits
    /// with 1 when an operation could not become an endpoint, or when the document and a person changed
    /// the same key; the others are written.
    #[command(
        after_help = "Example:\n  forecourt import openapi crm.yaml --out mysite/endpoints\n  grep -n REVIEW mysite/endpoints/*.toml\n  forecourt check mysite"
    )]
    Openapi(ImportOpenapi),
    /// Put an MCP server behind the deployment: its definition, its lists as they are now, and an endpoint for each
    /// tool.
    ///
    /// Writes `servers/NAME.toml`, `servers/NAME.tools.json` and `endpoints/NAME_TOOL.toml`. What a person has to look
    /// at is marked REVIEW in the files. Running it again keeps what people edited. Exits with 1 when the server can't
    /// be asked or has no tools, or when it and a person changed the same key.
    #[command(
        name = "mcp",
        after_help = "Examples:\n  forecourt import mcp https://example.com/mcp --into mysite --header \"Authorization=Bearer $TOKEN\"\n  forecourt import mcp --into mysite --name files -- npx -y @modelcontextprotocol/server-filesystem .\n  forecourt import mcp --into mysite --name files --dry-run"
    )]
    Server(ImportServer),
    /// Front all agents of a hub elsewhere, as they come and go: its definition, and its agents as they are now.
    ///
    /// Writes `hubs/NAME.toml` and `hubs/NAME.agents.json`. While the deployment is served, the hub is looked at again
    /// and again, and what changes there changes here. Running it again keeps what people edited. Exits with 1 when the
    /// hub can't be read, when agents here have handles of its agents, or when it and a person changed the same key.
    #[command(
        name = "a2a",
        after_help = "Examples:\n  forecourt import a2a example.com --into mysite --prefix partner-\n  forecourt import a2a example.com --into mysite --only 'shop*' --header \"Authorization=Bearer $TOKEN\"\n  forecourt import a2a --into mysite --name example --dry-run"
    )]
    Hub(ImportHub),
}

#[derive(Debug, Args)]
pub(crate) struct ImportOpenapi {
    /// The document: a file, or its https address.
    #[arg(value_name = "FILE|URL")]
    pub document: String,
    /// The folder to write into, such as the `endpoints` of a deployment. Made when it is not there.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The start of the service's URLs, instead of the document's servers. Kept for the next import into the folder.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The service moves here: write functions to be filled in into this folder, such as the `functions`
    /// of a deployment, and let the endpoints call those.
    #[arg(long, value_name = "DIR", conflicts_with = "base_url")]
    pub functions: Option<PathBuf>,
    /// Take operations with this tag only. May be repeated; kept for the next import into the folder, as are --only,
    /// --except, --rename and --impact.
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Take these operations only: an `operationId`, a path, or a method and a path; `*` stands for any text. May be
    /// repeated.
    #[arg(long, value_name = "OPERATION")]
    pub only: Vec<String>,
    /// Leave these operations out. May be repeated.
    #[arg(long, value_name = "OPERATION")]
    pub except: Vec<String>,
    /// Give the file of an operation this name. May be repeated.
    #[arg(long, value_name = "OPERATION=NAME", value_parser = pair)]
    pub rename: Vec<(String, String)>,
    /// Say what operations change: informational, reversible or irreversible. May be repeated.
    #[arg(long, value_name = "OPERATION=IMPACT", value_parser = pair)]
    pub impact: Vec<(String, String)>,
    /// Forget the base URL, tags, operations, names and impacts of earlier imports.
    #[arg(long)]
    pub forget_choices: bool,
    /// Exit with 1 when there is anything to review.
    #[arg(long)]
    pub strict: bool,
    /// Replace files of the same names, those that people edited too.
    #[arg(long)]
    pub force: bool,
    /// Say what would be written, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print what became of each operation as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Two texts with `=` between them; the first may have more of it.
fn pair(text: &str) -> Result<(String, String), String> {
    let found = text.rsplit_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    found.map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or_else(|| "it takes OPERATION=VALUE".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ExportOpenapi {
    #[command(flatten)]
    pub place: Place,
}
