//! The outcome of a request: an answer, a failure or a refusal.

use forecourt_core::{Error, PolicyPart};
pub(crate) use forecourt_surface::answer::{Content, HttpAnswer};

use super::errors::Failure;
use super::wire::DecodeError;

/// Why a request is not answered with what it asked for.
#[derive(Debug)]
pub(crate) enum RestError {
    /// The request is wrong, or the host or the agent failed.
    Failure(Failure),
    /// A refusal, which is content. PolicyPart 4.5.
    Refusal(Box<PolicyPart>),
}

/// What becomes of a request.
pub(crate) type Outcome = Result<HttpAnswer, RestError>;

impl From<Failure> for RestError {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<DecodeError> for RestError {
    fn from(error: DecodeError) -> Self {
        Self::Failure(error.into())
    }
}

impl From<Error> for RestError {
    fn from(error: Error) -> Self {
        Self::Failure(error.into())
    }
}

impl From<Box<PolicyPart>> for RestError {
    fn from(refusal: Box<PolicyPart>) -> Self {
        Self::Refusal(refusal)
    }
}
