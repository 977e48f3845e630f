//! This module says why a model was of no help. That is never the end of an answer.

use forecourt_core::Ending;

/// Why the model was of no help, in a sentence for the caller that tells nothing of the inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RerankError(String);

impl RerankError {
    pub(super) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// The sentence.
    pub(super) fn words(&self) -> &str {
        &self.0
    }
}

impl From<Ending> for RerankError {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Declined { reason } | Ending::Failed { reason, .. } => Self(reason),
            Ending::Refused(part) => Self(part.message.clone()),
            _ => Self::new("The model provider gave no answer."),
        }
    }
}
