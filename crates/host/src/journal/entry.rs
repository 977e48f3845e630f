//! The entries of a journal.

use forecourt_core::AnswerUsage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::message::KeptMessage;

/// An entry of a journal.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum JournalEntry {
    /// An agent was asked.
    Asked(Box<AskedWork>),
    /// The agent came so far.
    Noted { work: String, note: Value },
    /// More happened than is kept: nobody goes on with it.
    Closed { work: String },
    /// Another run goes on with it.
    TakenUp { work: String },
    /// The run that had it stops in good order.
    HandedOver { work: String },
}

/// What an agent was asked.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AskedWork {
    /// Names the piece of work.
    pub(super) work: String,
    /// Events in the log of the task before it.
    pub(crate) logged: u64,
    /// What models used for earlier turns of the task.
    pub(crate) used: AnswerUsage,
    /// Whether its conversation was kept before.
    pub(crate) is_known: bool,
    pub(crate) message: KeptMessage,
}

impl JournalEntry {
    /// Names the piece of work that it is of.
    pub(super) fn work(&self) -> &str {
        match self {
            Self::Asked(asked) => &asked.work,
            Self::Noted { work, .. } | Self::Closed { work } | Self::TakenUp { work } | Self::HandedOver { work } => {
                work
            }
        }
    }
}
