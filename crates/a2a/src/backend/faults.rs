//! What it comes to here that a remote agent was not found or did not answer.

use forecourt_agents::declined::{UpstreamError, unavailable};
use forecourt_core::{Clock, Ending, FailureCause};

use super::FrontedAgent;
use super::place::WorkStart;
use crate::client::DiscoveryError;
use crate::client::limits::{BUSY_RETRY_SECONDS, UNREACHABLE_RETRY_SECONDS};
use crate::model::OperationError;

/// How our own words call the remote agent.
pub(super) const WHO: &str = "The agent behind this one";

/// The ending where the remote agent is not found.
pub(super) fn not_found(front: &FrontedAgent, error: &DiscoveryError, progress: WorkProgress) -> Ending {
    // The error may name addresses inside the operator's network: it goes to the log, and the caller gets the cause
    // alone.
    tracing::warn!(%error, agent = %front.handle, "a remote agent was not found");
    match error {
        DiscoveryError::Declined(declined) => progress.declined(*declined, &*front.clock),
        DiscoveryError::Unreachable(_) => progress.away(),
        _ => FailureCause::Unreachable.ending(format!("{WHO} can't be found at the moment.")),
    }
}

/// Whether the remote agent may have begun with the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkProgress {
    /// It has not: nothing was sent, so that the caller may ask again.
    Untouched,
    /// It may have, in this try or an earlier one: asked again, it might do the same twice.
    Begun,
}

impl WorkProgress {
    /// How far an earlier try has come.
    pub(super) fn of(start: &WorkStart) -> Self {
        match start {
            WorkStart::Send => Self::Untouched,
            WorkStart::SendAgain(_) | WorkStart::Attach(..) => Self::Begun,
        }
    }

    /// The ending where the remote agent can't be reached.
    pub(super) fn away(self) -> Ending {
        let words = format!("{WHO} can't be reached at the moment");
        self.unasked(&format!("{words}."), UNREACHABLE_RETRY_SECONDS, &format!("{words}, and may have begun."))
    }

    /// The ending where too many requests of this host are on their way.
    pub(super) fn busy(self) -> Ending {
        let late = format!("{WHO} may have begun, and this host is too busy to hear the rest.");
        self.unasked("This agent is busy. Please try again in a moment.", BUSY_RETRY_SECONDS, &late)
    }

    /// A refusal with the seconds to wait as long as nothing was begun, else a failure.
    fn unasked(self, refusal: &str, seconds: u64, failure: &str) -> Ending {
        match self {
            Self::Untouched => unavailable(refusal, Some(seconds)),
            Self::Begun => FailureCause::CutOff.ending(failure),
        }
    }

    /// The ending where its server does not serve this host, or not now.
    pub(super) fn declined(self, declined: UpstreamError, clock: &dyn Clock) -> Ending {
        match self {
            Self::Untouched => declined.ending(WHO, clock),
            Self::Begun => FailureCause::UpstreamRefused.ending(format!("{WHO} {declined}.")),
        }
    }
}

/// What a fault that the remote agent names comes to, behind "the agent". Its own words may tell of its
/// inside, so they are for the log.
pub(super) fn translated(fault: &OperationError) -> (FailureCause, &'static str) {
    match fault {
        OperationError::ContentTypeNotSupported(_) => {
            (FailureCause::UpstreamRefused, "does not take a message of this kind")
        }
        OperationError::Parse(_) | OperationError::InvalidRequest(_) | OperationError::InvalidParams(_) => {
            (FailureCause::UpstreamRefused, "did not take the message")
        }
        OperationError::TaskNotFound => (FailureCause::UpstreamRefused, "does not know the conversation any more"),
        OperationError::UnsupportedOperation(_)
        | OperationError::MethodNotFound(_)
        | OperationError::ExtensionSupportRequired(_)
        | OperationError::VersionNotSupported(_) => {
            (FailureCause::UpstreamRefused, "can't be asked the way this host asks")
        }
        _ => (FailureCause::Agent, "failed"),
    }
}
