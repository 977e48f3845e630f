//! Why nothing can answer an endpoint, though its definition keeps every rule.

use std::borrow::Cow;
use std::fmt;

/// What is wrong with the handler of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerProblem {
    /// A short name for it, for logs and scripts, such as `function-not-found`.
    pub tag: Cow<'static, str>,
    /// What would be right, in a sentence for the operator.
    pub message: String,
}

impl HandlerProblem {
    pub(crate) fn new(tag: impl Into<Cow<'static, str>>, message: impl Into<String>) -> HandlerProblem {
        HandlerProblem { tag: tag.into(), message: message.into() }
    }
}

impl fmt::Display for HandlerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.tag, self.message)
    }
}
