//! What an agent that was asked comes to when that is no answer.

use forecourt_agtp_wire::status::Status;
use forecourt_core::{Ending, FailureCause};

use super::unauthorized;
use crate::limits::RETRY_BUSY_SECONDS;
use crate::reply::Problem;

impl Problem {
    /// What an ending without an answer comes to. `None` for answers, and for what is asked back.
    pub(crate) fn of_ending(ending: &Ending) -> Option<Self> {
        let reason = ending.reason().unwrap_or_default();
        let problem = match ending {
            Ending::Complete | Ending::Message(_) | Ending::Question(_) => return None,
            Ending::Refused(part) => return Some((**part).clone().into()),
            Ending::SignIn(_) => unauthorized(Ending::SIGN_IN, &reason),
            Ending::Declined { .. } => Self::new(Status::FORBIDDEN, Ending::DECLINED, reason),
            Ending::Failed { cause, .. } => {
                let problem = Self::new(status(*cause), cause.code(), reason);
                if problem.status == Status::UNAVAILABLE { problem.retry(Some(RETRY_BUSY_SECONDS)) } else { problem }
            }
            Ending::Canceled => {
                Self::new(Status::UNAVAILABLE, Ending::CANCELED, reason).retry(Some(RETRY_BUSY_SECONDS))
            }
        };
        Some(problem.into_outcome())
    }
}

/// Base 4: what may do another time is 503.
fn status(cause: FailureCause) -> Status {
    match cause.is_passing() {
        true => Status::UNAVAILABLE,
        false => Status::SERVER_ERROR,
    }
}
