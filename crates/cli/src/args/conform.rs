//! The flags of `forecourt conform`.

use std::path::PathBuf;

use clap::Args;

/// A path, as requests have it.
fn path(text: &str) -> Result<String, &'static str> {
    match text.starts_with('/') {
        true => Ok(text.to_owned()),
        false => Err("a path begins with a slash"),
    }
}

#[derive(Debug, Args)]
pub(crate) struct Conform {
    /// The server: `agtp://host[:port]`, `https://host[:port]`, or `http://` on this machine.
    #[arg(required_unless_present = "list")]
    pub target: Option<String>,
    /// Who calls over AGTP: the id of an agent that the server knows, 64 hexadecimal digits.
    #[arg(long, value_name = "ID")]
    pub agent_id: Option<String>,
    /// Another agent that the server knows, to see that a contract of one is not served to the other. Over AGTP.
    #[arg(long, value_name = "ID")]
    pub other_agent_id: Option<String>,
    /// What the caller claims of its authority over AGTP, such as `rcns:negotiate`, with commas.
    #[arg(long, value_name = "SCOPES")]
    pub scope: Option<String>,
    /// Send this bearer token. No report shows it.
    #[arg(long, env = "FORECOURT_TOKEN", hide_env_values = true, allow_hyphen_values = true)]
    pub token: Option<String>,
    /// Ask this agent over HTTP, by its handle, such as `@chef`. [default: the first that the host lists]
    #[arg(long, value_name = "@HANDLE")]
    pub agent: Option<String>,
    /// Where MCP is spoken, if not at `/mcp`.
    #[arg(long = "mcp", value_name = "/PATH", value_parser = path)]
    pub tools_path: Option<String>,
    /// Show this certificate over AGTP: a PEM file, which may hold the key too.
    #[arg(long, value_name = "FILE", conflicts_with = "plaintext")]
    pub cert: Option<PathBuf>,
    /// The key of the certificate, if it is in another PEM file.
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Also send what changes something at the server: proposals, negotiations, tasks. What is made is given
    /// back where the protocol has a word for that.
    #[arg(long)]
    pub with_effects: bool,
    /// A method and a path for which the server negotiates a contract, such as `QUERY /weather`; else the first of its
    /// patterns. Over AGTP, with `--with-effects`.
    #[arg(long, num_args = 2, value_names = ["METHOD", "/PATH"])]
    pub pair: Option<Vec<String>>,
    /// A method that the server's catalog deprecates, to see whether it warns. Over AGTP.
    #[arg(long, value_name = "METHOD")]
    pub deprecated_method: Option<String>,
    /// Run only checks whose name begins like this, or fits it with `*`; may be repeated.
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Run nothing; show the checks there are.
    #[arg(long)]
    pub list: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
    /// Write the report as JUnit XML into this file too.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the report as SARIF 2.1.0 into this file too.
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Write the report as one HTML page into this file too.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Fail on news only: on what fails and did not in this file, a report as JSON or what `--write-known` wrote.
    #[arg(long, value_name = "KNOWN.json")]
    pub against: Option<PathBuf>,
    /// Write what is known after this run into a file, for `--against`. Words that somebody wrote into it as `why` stay.
    #[arg(long, value_name = "KNOWN.json")]
    pub write_known: Option<PathBuf>,
    /// Seconds that one exchange may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=120))]
    pub timeout: u64,
    /// Speak AGTP without TLS; to this machine only.
    #[arg(long)]
    pub plaintext: bool,
    /// The data folder whose local authority is trusted. Found by itself for names under .localhost.
    #[arg(long, env = "FORECOURT_DATA_DIR")]
    pub data: Option<PathBuf>,
    /// Trust the authorities in this PEM file too.
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// Take every certificate, whoever shows it.
    #[arg(long)]
    pub insecure: bool,
}
