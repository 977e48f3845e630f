//! This module builds agents of this crate's backends, for tests.
#![allow(dead_code, unused_imports, missing_docs, unreachable_pub, reason = "each test file uses its share")]

pub mod reranked;

use forecourt_agents::{BuiltAgent, Context};
use forecourt_search::BACKENDS;
use forecourt_settings::Problems;
pub use forecourt_testagents::*;

pub fn try_build(toml: &str, context: &Context) -> Result<BuiltAgent, Problems> {
    try_build_with(BACKENDS, toml, context)
}

pub fn build(toml: &str, context: &Context) -> BuiltAgent {
    try_build(toml, context).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What is wrong with the settings.
pub fn problems(toml: &str) -> String {
    match try_build(toml, &context()) {
        Ok(_) => panic!("these settings are fine: {toml}"),
        Err(problems) => problems.to_string(),
    }
}
