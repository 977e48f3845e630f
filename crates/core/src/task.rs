//! This module has tasks, which outlive the connection that began them, and their legal moves.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::address::Handle;
use crate::ids::{TaskId, ThreadId};
use crate::message::Turn;
use crate::reply::{CollectedReply, Ending};

pub use crate::task_state::TaskState;

impl TaskState {
    /// The state in which `ending` leaves a task. Mentionable PolicyPart 4.2 for refusals.
    pub fn after(ending: &Ending) -> Self {
        match ending {
            Ending::Complete | Ending::Message(_) => Self::Completed,
            Ending::Question(_) => Self::InputRequired,
            Ending::SignIn(_) => Self::AuthRequired,
            Ending::Refused(part) => part.task_state(),
            Ending::Declined { .. } => Self::Rejected,
            Ending::Failed { .. } => Self::Failed,
            Ending::Canceled => Self::Canceled,
        }
    }
}

/// One task as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Names it; a capability on some wires.
    pub id: TaskId,
    /// The agent that works on it.
    pub agent: Handle,
    /// The conversation it belongs to.
    pub thread: Option<ThreadId>,
    /// The authenticated subject that began it, if there was one.
    pub owner: Option<String>,
    /// The account that is charged for it. Not read back: a task that was read has the host's own.
    #[serde(skip)]
    pub account: Account,
    /// The protocol it was begun over.
    pub received_via: String,
    /// The trace of the request that began it, where requests are traced: 32 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// What was said in it, oldest first: the request, under the caller's message id; when the task
    /// was continued, what the agent asked and the caller's next turn. At most
    /// [`crate::limits::TASK_TURNS_MAX`].
    pub turns: Vec<Turn>,
    /// Its state.
    pub state: TaskState,
    /// Its answer and ending, once it is settled.
    pub outcome: Option<CollectedReply>,
    /// Which run of the host works on it: a token minted at each start.
    pub run: String,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When its state last changed.
    pub updated_at: Timestamp,
    /// When it stops being readable.
    pub expires_at: Timestamp,
}
