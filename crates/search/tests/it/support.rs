//! This module builds agents that search, for tests.

pub(crate) mod reranked;

use forecourt_agents::{BuiltAgent, Context};
use forecourt_settings::Problems;
pub(crate) use forecourt_testagents::*;

pub(crate) fn try_build(toml: &str, context: &Context) -> Result<BuiltAgent, Problems> {
    forecourt_search::build(section(toml), context)
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
