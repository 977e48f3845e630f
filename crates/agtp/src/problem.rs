//! Why there is no answer, as this wire spells it: a code, and an error object that says what to change.
//! Base 4; AGTP-API 11.
//!
//! Each source of refusals has one `match` without a wildcard arm, so that a new kind has to be given
//! its code here.

mod contract;
mod ending;
mod host;
mod members;
mod native;
mod negotiation;
mod proposal;

pub(crate) use host::STATE;
pub(crate) use members::authority;
pub(crate) use native::refusal;
pub(crate) use proposal::{contract_not_ended, not_yours};

use forecourt_agtp_wire::codec::HeadError;
use forecourt_agtp_wire::status::Status;
use forecourt_contract::Violation;
use forecourt_core::Error;
use forecourt_core::clock::whole_seconds;
use forecourt_core::limits::FULL_RETRY;
use forecourt_identity::certificate::Mismatch;
use forecourt_surface::failure::HostFailure;
use serde_json::Value;

use crate::connection::ConnectionError;
use crate::reply::Problem;

/// What opens things of other agents. Base 3.4, 7.
pub(crate) const OPERATOR_SCOPE: &str = "inspect:all";

/// Why a caller is not taken for who it says it is. Base 4, 6.7, 7.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdentityError {
    /// The name is none, or nobody here knows it.
    Unknown,
    /// The name is known, and nothing proves that it is the caller's.
    Unproven,
    /// The path names another agent than the field does.
    PathNamesAnother,
    /// The certificate can't be read.
    Certificate,
    /// The token does not hold.
    Token,
}

impl From<IdentityError> for Problem {
    fn from(error: IdentityError) -> Self {
        let (code, message) = match error {
            IdentityError::Unknown => {
                ("agent-unauthenticated", "the calling agent is not known here: is `Agent-ID` right?")
            }
            IdentityError::Unproven => (
                "agent-unauthenticated",
                "nothing proves that `Agent-ID` is the caller's: connect with the agent's certificate, or send a token",
            ),
            IdentityError::PathNamesAnother => {
                ("agent-identity-mismatch", "the path names another agent than `Agent-ID`: send one of them")
            }
            IdentityError::Certificate => {
                ("cert-verification-failed", "the client certificate can't be read as an agent's")
            }
            IdentityError::Token => (OAUTH_INVALID, "the token does not hold: send a valid one, or none"),
        };
        unauthorized(code, message)
    }
}

impl From<Mismatch> for Problem {
    fn from(mismatch: Mismatch) -> Self {
        let message = mismatch.to_string();
        match mismatch {
            Mismatch::Time => unauthorized("cert-verification-failed", &message),
            Mismatch::Agent => unauthorized("agent-id-mismatch", &message),
            Mismatch::Principal => unauthorized("principal-id-mismatch", &message),
            Mismatch::Scopes(beyond) => Self::new(Status::SCOPE_VIOLATION, "scope-violation", message.as_str())
                .with("missing_scopes", members::names(&beyond))
                .with("explanation", message),
            Mismatch::Zone { certified } => {
                Self::new(Status::ZONE_VIOLATION, "zone-violation", message).with("target_zone", certified)
            }
        }
    }
}

/// The code of a 401 for tokens that do not hold. Base 7.4.
pub(crate) const OAUTH_INVALID: &str = "oauth-invalid";
/// The field in which callers say who they are.
const NAME_FIELD: &str = "Agent-ID";
/// The code of a 401 for callers that say nothing of themselves.
const UNNAMED: &str = "agent-unauthenticated";

/// A 401; its reason stands under both names that readers look for.
pub(crate) fn unauthorized(code: &str, message: &str) -> Problem {
    let problem = Problem::new(Status::UNAUTHORIZED, code, message).with("reason", code);
    if code == UNNAMED { problem.with("header", NAME_FIELD) } else { problem }
}

/// A 400 about a field of the request.
pub(crate) fn bad_field(name: &'static str, message: &str) -> Problem {
    Problem::new(Status::BAD_REQUEST, "invalid-header", format!("`{name}` {message}")).with("header", name)
}

impl From<ConnectionError> for Problem {
    fn from(refused: ConnectionError) -> Self {
        match refused {
            ConnectionError::Malformed(error) => error.into(),
            ConnectionError::Late => {
                let message = "the rest of the request did not come in time";
                Self::new(Status::TIMEOUT, "request-timeout", message).with("detail", message)
            }
            ConnectionError::Cut => {
                let message = "the request broke off: send as many bytes as `Content-Length` says";
                Self::new(Status::BAD_REQUEST, "invalid-wire-format", message).with("detail", message)
            }
        }
    }
}

impl From<HeadError> for Problem {
    fn from(error: HeadError) -> Self {
        let detail = error.to_string();
        Self::new(Status::BAD_REQUEST, error.code(), detail.as_str()).with("detail", detail)
    }
}

/// A value that breaks a rule, of a method that has no schema of its own.
impl From<Violation> for Problem {
    fn from(violation: Violation) -> Self {
        Self::new(Status::UNPROCESSABLE, "input-validation-failed", violation.detail.as_str())
            .with("detail", violation.detail)
            .with("field", violation.field)
            .with("schema_path", violation.schema_path)
    }
}

impl From<Error> for Problem {
    /// What went wrong inside goes to the log, and nothing of it on the wire.
    fn from(error: Error) -> Self {
        let (code, message) = (error.code(), error.to_string());
        match error {
            Error::NotFound { .. } => Self::new(Status::NOT_FOUND, code, message),
            Error::Gone { .. } => Self::new(Status::GONE, code, message),
            Error::Conflict { state, .. } => Self::new(Status::CONFLICT, code, message).with("state", state.name()),
            Error::Invalid { field, reason } => Violation::new(format!("/{field}"), reason).into(),
            Error::Full { bound } => {
                // A caller can make room within its own bound; for the store's it can only wait.
                let status = if bound.is_callers() { Status::RATE_LIMITED } else { Status::UNAVAILABLE };
                Self::new(status, code, message).retry(Some(FULL_RETRY.as_secs()))
            }
            Error::Unavailable { retry_after } => {
                Self::new(Status::UNAVAILABLE, code, message).retry(Some(whole_seconds(retry_after)))
            }
            Error::Internal(cause) => {
                tracing::error!(%cause, "a request failed");
                Self::new(Status::SERVER_ERROR, code, message)
            }
        }
    }
}

/// A failure of the host as this wire spells it, for the table of errors.
pub(crate) fn spelling(failure: HostFailure) -> Option<String> {
    let problem: Problem = match failure {
        HostFailure::Ended(ending) => Problem::of_ending(&ending)?,
        HostFailure::Error(error) => error.into(),
        HostFailure::Refused(part) => part.into(),
        HostFailure::Call(refusal) => refusal.into(),
    };
    let word = |name| problem.error.get(name).and_then(Value::as_str);
    let (status, code) = (problem.status.code, word("code")?);
    // A 262 has one code for all that is missing, and says in `type` what.
    Some(word("type").map_or_else(|| format!("{status} `{code}`"), |kind| format!("{status} `{code}`, `{kind}`")))
}

#[cfg(test)]
mod tests;
