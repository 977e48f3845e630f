//! `forecourt completions`: what shells complete.

use crate::args::{self, Completions};
use crate::output::{Outcome, stdout};

/// Prints a script for one shell.
pub(crate) fn run(completions: &Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut args::command(), "forecourt", &mut script);
    stdout(format_args!("{}", String::from_utf8_lossy(&script)));
    Ok(())
}
