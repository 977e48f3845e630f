//! Which engine keeps the items, and how it is asked.

use std::fmt;
use std::sync::Arc;

use forecourt_core::Clock;
use forecourt_retrieval::Retriever;

/// The engine that keeps the items of a library.
#[derive(Clone)]
pub struct EngineOptions {
    /// The engine.
    pub retriever: Arc<dyn Retriever>,
    /// What tells it from others: where it is, and what in it. Holds no secret.
    pub place: String,
    /// Candidates of one question, at most [`forecourt_retrieval::limits::CANDIDATES_MAX`].
    pub candidates: usize,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl PartialEq for EngineOptions {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place && self.candidates == other.candidates
    }
}

impl Eq for EngineOptions {}

impl fmt::Debug for EngineOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineOptions").field("place", &self.place).finish_non_exhaustive()
    }
}
