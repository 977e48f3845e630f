//! This module says how a protocol adds a command to the program.

use clap::{ArgMatches, FromArgMatches};
use futures::future::BoxFuture;

use crate::output::{Failure, Outcome};

/// A command of the command line that comes with a protocol.
pub struct ClientCommand {
    /// Its name, its flags and its help.
    pub command: fn() -> clap::Command,
    /// Runs it with what was typed.
    pub run: fn(ArgMatches) -> BoxFuture<'static, Outcome>,
}

impl ClientCommand {
    /// What was typed, as the command's own type.
    ///
    /// # Errors
    /// The command line makes no sense to that type.
    pub fn arguments<T: FromArgMatches>(matches: &ArgMatches) -> Result<T, Failure> {
        T::from_arg_matches(matches).map_err(|error| Failure::usage(error.to_string()))
    }
}
