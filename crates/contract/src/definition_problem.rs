//! This module has the problems for which an endpoint is refused at registration.

use std::borrow::Cow;
use std::fmt;

/// One thing that is wrong with a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionProblem {
    /// The field of the definition to change.
    pub key: &'static str,
    /// A short name for the fault, for logs and scripts, such as `semantic-missing-field:intent`.
    pub tag: Cow<'static, str>,
    /// What would be right, in a sentence.
    pub message: String,
}

impl DefinitionProblem {
    pub(crate) fn new(
        key: &'static str,
        tag: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> DefinitionProblem {
        DefinitionProblem { key, tag: tag.into(), message: message.into() }
    }
}

impl fmt::Display for DefinitionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.tag, self.message)
    }
}
