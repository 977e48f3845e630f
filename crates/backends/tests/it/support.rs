//! This module builds agents of this crate's backends, for tests.

use forecourt_agents::{Backend, BuiltAgent, Context};
use forecourt_backends::{command, echo, http, model, script, search};
use forecourt_settings::Problems;
pub(crate) use forecourt_testagents::*;

/// The backends of this crate.
pub(crate) const BACKENDS: &[Backend] =
    &[search::BACKEND, model::BACKEND, http::BACKEND, command::BACKEND, script::BACKEND, echo::BACKEND];

pub(crate) fn try_build(toml: &str, context: &Context) -> Result<BuiltAgent, Problems> {
    try_build_with(BACKENDS, toml, context)
}

pub(crate) fn build(toml: &str, context: &Context) -> BuiltAgent {
    try_build(toml, context).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What is wrong with the settings.
pub(crate) fn problems(toml: &str) -> String {
    match try_build(toml, &context()) {
        Ok(_) => panic!("these settings are fine: {toml}"),
        Err(problems) => problems.to_string(),
    }
}
