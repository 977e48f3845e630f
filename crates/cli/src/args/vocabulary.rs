//! The flags of `forecourt vocabulary`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Place;

#[derive(Debug, Args)]
pub(crate) struct VocabularyArguments {
    #[command(subcommand)]
    pub what: VocabularyWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum VocabularyWhat {
    /// Propose words for a deployment, as a file to edit: what its items state without a name that questions could
    /// use, what they spell in two ways, and what people asked for that no item has.
    ///
    /// Each proposal has its evidence in comments before it. Lines that begin with `#` count once they are completed and
    /// the sign is taken away. Questions come from the log of questions ([questions] in forecourt.toml), if it is kept.
    #[command(
        after_help = "Examples:\n  forecourt vocabulary suggest mysite\n  forecourt vocabulary suggest mysite --write mysite/vocabulary/proposed.toml && forecourt check mysite"
    )]
    Suggest(SuggestWords),
}

#[derive(Debug, Args)]
pub(crate) struct SuggestWords {
    #[command(flatten)]
    pub place: Place,
    /// Of one agent alone, by its handle.
    #[arg(long, value_name = "HANDLE")]
    pub agent: Option<String>,
    /// Write a new file instead of printing. One that is there is never overwritten.
    #[arg(long, value_name = "FILE")]
    pub write: Option<PathBuf>,
}
