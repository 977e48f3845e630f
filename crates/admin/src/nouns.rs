//! The nouns of the house, a file each: the values that all faces show, how they are read, and what is done to them.

pub mod actions;
pub mod agents;
pub mod alerts;
pub mod bots;
pub mod certificates;
pub mod chats;
pub mod checks;
pub mod config;
pub mod consents;
pub mod content;
pub mod contracts;
pub mod costs;
pub mod deliveries;
pub mod deployment;
pub mod history;
pub mod hubs;
pub mod limits;
pub mod nodes;
pub mod overview;
pub mod questions;
pub mod queue;
pub mod records;
pub mod refusals;
pub mod reload;
pub mod search;
pub mod servers;
pub mod sessions;
pub mod tasks;
pub mod trends;
pub mod usage;
pub mod why;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What came of an action.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ActionOutcome {
    /// `done`, or `already` when there was nothing to do.
    pub outcome: String,
    /// The same in a sentence.
    pub message: String,
}

impl ActionOutcome {
    pub(crate) fn new(came: crate::account::Came, message: impl Into<String>) -> Self {
        Self { outcome: came.word().to_owned(), message: message.into() }
    }
}

/// Why somebody acts.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Why {
    /// The reason, which is kept with the action.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Text that is not longer than what is shown.
pub(crate) fn shortened(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
