//! The arguments of `forecourt eval`.

use std::path::PathBuf;

use clap::Args;

use super::Place;

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("questions").required(true).args(["judged", "log"]))]
pub(crate) struct Eval {
    #[command(flatten)]
    pub place: Place,
    /// A folder with questions, judgements and perhaps documents.
    #[arg(long, value_name = "FOLDER")]
    pub judged: Option<PathBuf>,
    /// The deployment's own log of questions: what was asked, what was not found, and how the items rank that
    /// people marked.
    #[arg(long)]
    pub log: bool,
    /// The agent whose settings count, by its handle. [default: the first one with content]
    #[arg(long, value_name = "HANDLE")]
    pub agent: Option<String>,
    /// Another deployment, to be compared question by question.
    #[arg(long, value_name = "DIR")]
    pub compare: Option<PathBuf>,
    /// Print all scores, those of each question too, as JSON.
    #[arg(long)]
    pub json: bool,
}
