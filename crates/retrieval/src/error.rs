//! Why an engine gave no answer.

/// Why an engine gave no answer, in words for the operator, with what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetrievalError {
    /// It can't be reached, is busy or did not answer in time: trying again may work.
    #[error("the search engine is unavailable: {0}")]
    Unavailable(String),
    /// It is not as it has to be, or refuses what it is asked: trying again does not help.
    #[error("the search engine refuses: {0}")]
    Refused(String),
    /// It answers in a way that nobody expects.
    #[error("the search engine answers what can't be read: {0}")]
    Unreadable(String),
}

impl RetrievalError {
    /// What traces call it: the `error.type`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unavailable(_) => "unavailable",
            Self::Refused(_) => "refused",
            Self::Unreadable(_) => "unreadable",
        }
    }

    /// Whether the same may work later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}
