//! A response before it meets the server: status, fields and content.

use std::pin::Pin;

use bytes::Bytes;
use forecourt_core::{Error, PolicyPart};
use futures::Stream;
use http::{HeaderMap, StatusCode};

use super::errors::Failure;
use super::wire::Fault;

/// A response of this transport.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) head: HeaderMap,
    pub(crate) content: Content,
}

/// What a response holds.
pub(crate) enum Content {
    /// Nothing, on purpose.
    Empty,
    /// All of it.
    Whole(Bytes),
    /// Frames as they come. Dropping it stops the agent.
    Frames(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

/// Why a request is not answered with what it asked for.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// A fault, theirs or ours.
    Failure(Failure),
    /// A refusal, which is content. PolicyPart 4.5.
    Refusal(Box<PolicyPart>),
}

/// What becomes of a request.
pub(crate) type Outcome = Result<Answer, Trouble>;

impl Answer {
    /// A response that is ready as it is.
    pub(crate) fn whole(status: StatusCode, head: HeaderMap, content: impl Into<Bytes>) -> Self {
        Self { status, head, content: Content::Whole(content.into()) }
    }

    /// A response without content.
    pub(crate) fn empty(status: StatusCode, head: HeaderMap) -> Self {
        Self { status, head, content: Content::Empty }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Failure(fault.into())
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Failure(error.into())
    }
}

impl From<Box<PolicyPart>> for Trouble {
    fn from(refusal: Box<PolicyPart>) -> Self {
        Self::Refusal(refusal)
    }
}
