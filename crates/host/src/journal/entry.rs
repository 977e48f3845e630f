//! The entries of a journal.

use forecourt_core::{AnswerUsage, Task, Timestamp, Turn};
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
    #[serde(flatten)]
    pub(crate) begun: WorkBeginning,
    /// Whether its conversation was kept before.
    pub(crate) is_known: bool,
    pub(crate) message: KeptMessage,
}

/// How a piece of work began.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct WorkBeginning {
    /// Events in the log of the task before it.
    pub(crate) logged: u64,
    /// What models used for earlier turns of the task.
    pub(crate) used: AnswerUsage,
    /// When its task began, where the task began with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begun_at: Option<Timestamp>,
    /// The run that began it.
    #[serde(default)]
    pub(crate) run: String,
}

impl AskedWork {
    /// Whether it is, or may be, what `turn` of a task asked: copies of one message, which come at once, leave an entry
    /// each.
    pub(super) fn is_of(&self, task: &Task, turn: &Turn) -> bool {
        let is_message = turn.id.as_deref() == Some(self.message.id.as_str());
        let is_moment = match self.begun.begun_at {
            Some(begun_at) => begun_at == task.created_at,
            None => turn.timestamp.is_none_or(|at| at == self.message.received_at),
        };
        is_message && is_moment
    }
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
