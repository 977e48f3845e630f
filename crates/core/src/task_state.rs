//! This module has the states of a task.

use serde::{Deserialize, Serialize};

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
}
