//! This module has tasks, which outlive the connection that began them, and their legal moves.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::address::Handle;
use crate::ids::{TaskId, ThreadId};
use crate::message::Turn;
use crate::reply::{CollectedReply, Ending};

/// The state of a task. The states are A2A's, the widest set of the five protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Accepted, not yet begun.
    Submitted,
    /// The agent works on it.
    Working,
    /// Waits for an answer, a consent or a payment.
    InputRequired,
    /// Waits for credentials.
    AuthRequired,
    /// Done.
    Completed,
    /// Could not be done.
    Failed,
    /// Given up on request.
    Canceled,
    /// Declined for good.
    Rejected,
}

impl TaskState {
    /// All states, in the order of a task's life.
    pub const ALL: [Self; 8] = [
        Self::Submitted,
        Self::Working,
        Self::InputRequired,
        Self::AuthRequired,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::Rejected,
    ];

    /// The state in words, for people and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::AuthRequired => "auth_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Rejected => "rejected",
        }
    }

    /// Reads what [`Self::name`] wrote.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether nothing can follow.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }

    /// Whether no agent is at work on it: ended, or waiting for the caller.
    pub fn is_settled(self) -> bool {
        !matches!(self, Self::Submitted | Self::Working)
    }

    /// Whether it waits for the caller's next turn.
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// Whether a task may go from here to `next`. Nothing leaves a final state.
    pub fn may_become(self, next: Self) -> bool {
        match self {
            Self::Submitted => next != Self::Submitted,
            Self::Working => !matches!(next, Self::Submitted | Self::Working),
            // The caller's next turn has it worked on again; cancelling ends it while it waits.
            Self::InputRequired | Self::AuthRequired => next == Self::Working || next.is_final(),
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected => false,
        }
    }

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
