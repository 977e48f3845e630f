//! This module has the errors of the host, named by what a caller can do about them. Refusals are not among them.

use std::time::Duration;

use crate::limits::RETRY_AFTER;
use crate::quota::QuotaBound;
use crate::task_state::TaskState;

/// The kind of thing that an [`Error`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noun {
    /// An agent of this host.
    Agent,
    /// A task, running or ended.
    Task,
    /// A conversation.
    Thread,
    /// A file made by a task.
    Artifact,
}

impl std::fmt::Display for Noun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent",
            Self::Task => "task",
            Self::Thread => "thread",
            Self::Artifact => "artifact",
        })
    }
}

/// Why the host could not carry a message to an answer, named by what the caller can do about it.
///
/// A refusal is not an error: it is content, and travels in the reply. Each protocol maps these
/// kinds with one `match` without a wildcard arm.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such thing, or not this sender's to see: the two look alike on purpose.
    #[error("no such {what}")]
    NotFound {
        /// The kind of thing. Its id is left out, as it may be a capability.
        what: Noun,
    },
    /// It existed and was retired for good, which is told to the caller, unlike [`Error::NotFound`].
    #[error("the {what} is retired and will not answer again")]
    Gone {
        /// The kind of thing.
        what: Noun,
    },
    /// The request contradicts the state it addresses, such as cancelling a finished task.
    #[error("the {what} is {}", state.name())]
    Conflict {
        /// The kind of thing.
        what: Noun,
        /// The state it is in.
        state: TaskState,
    },
    /// The request is well formed for its protocol but means nothing here.
    #[error("{field}: {reason}")]
    Invalid {
        /// The field to change, in the core's words.
        field: &'static str,
        /// The reason, with what would be right.
        reason: String,
    },
    /// There is no room to keep it. Trying again works once something that is kept has expired.
    #[error("{bound}")]
    Full {
        /// Which bound was met.
        bound: QuotaBound,
    },
    /// Too much to do, or shutting down. Trying again later may work.
    #[error("the service is not available at the moment")]
    Unavailable {
        /// When to try again. Always known, so that no protocol can forget to say it.
        retry_after: Duration,
    },
    /// A fault of the host. The cause goes to the log; the wire says only that it failed, as the cause may name files,
    /// addresses or SQL.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// The code that programs see, the same over every protocol that has a place for one.
    /// [`crate::codes::errors`] says more about each.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { what: Noun::Agent } => "agent-not-found",
            Self::NotFound { what: Noun::Task } => "task-not-found",
            Self::NotFound { what: Noun::Thread } => "thread-not-found",
            Self::NotFound { what: Noun::Artifact } => "artifact-not-found",
            Self::Gone { what: Noun::Agent } => "agent-revoked",
            Self::Gone { what: Noun::Task } => "task-revoked",
            Self::Gone { what: Noun::Thread } => "thread-revoked",
            Self::Gone { what: Noun::Artifact } => "artifact-revoked",
            Self::Conflict { .. } => "state-conflict",
            Self::Invalid { .. } => "input-validation-failed",
            Self::Full { bound } if bound.is_callers() => "storage-quota-exceeded",
            Self::Full { .. } => "storage-full",
            Self::Unavailable { .. } => "unavailable",
            Self::Internal(_) => "server-error",
        }
    }

    /// An [`Error::NotFound`] for `what`.
    pub fn not_found(what: Noun) -> Self {
        Self::NotFound { what }
    }

    /// An [`Error::Invalid`] that names the field and what would be right.
    pub fn invalid(field: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid { field, reason: reason.into() }
    }

    /// An [`Error::Unavailable`] for [`RETRY_AFTER`], where nothing better is known.
    pub fn unavailable() -> Self {
        Self::Unavailable { retry_after: RETRY_AFTER }
    }

    /// An [`Error::Internal`] that keeps `cause` for the log.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(cause.into())
    }
}
