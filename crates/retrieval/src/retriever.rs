//! The seam.

use crate::candidates::{Candidate, CandidateQuery, Candidates};
use crate::document::{Change, StoredEntry};
use crate::error::RetrievalError;
use crate::predicate::Predicate;

/// What an engine is, as far as it can be seen without changing anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineState {
    /// What it calls itself, and its version.
    pub name: String,
    /// What it lacks, and what is different without that: nothing is wrong, and the operator wants to know.
    pub notices: Vec<String>,
}

/// An engine that keeps the documents of one agent and finds candidates among them.
///
/// Every call blocks, fails within a deadline, and may be made by several threads at once.
pub trait Retriever: Send + Sync {
    /// Looks whether it can be used. Changes nothing.
    ///
    /// # Errors
    /// It can't be reached, is too old, or what is in the place of our documents is something else.
    fn state(&self) -> Result<EngineState, RetrievalError>;

    /// Makes the place for the documents where there is none.
    ///
    /// # Errors
    /// It can't be made, or something else is there.
    fn prepare(&self) -> Result<(), RetrievalError>;

    /// The summary that the last [`Retriever::commit`] kept. `None`: none was.
    ///
    /// # Errors
    /// The engine gave no answer.
    fn summary(&self) -> Result<Option<String>, RetrievalError>;

    /// Documents that there are.
    ///
    /// # Errors
    /// The engine gave no answer.
    fn items(&self) -> Result<u64, RetrievalError>;

    /// The entries behind a key, in the order of keys, at most [`crate::limits::ENTRIES_READ`]. Empty: there are no more.
    ///
    /// # Errors
    /// The engine gave no answer.
    fn entries(&self, after: Option<u64>) -> Result<Vec<StoredEntry>, RetrievalError>;

    /// The documents with these keys, those that there are.
    ///
    /// # Errors
    /// The engine gave no answer.
    fn by_key(&self, keys: &[u64]) -> Result<Vec<Candidate>, RetrievalError>;

    /// Changes documents, at most [`crate::limits::BULK_ITEMS_MAX`] of them: of several changes of one the last counts
    /// ([`crate::last_changes`]). When it returns they are durable, and found after the next [`Retriever::commit`] at the
    /// latest.
    ///
    /// # Errors
    /// The engine gave no answer, or refuses one of them; each of the others may have been changed, and doing it again
    /// does no harm.
    fn write(&self, changes: &[Change]) -> Result<(), RetrievalError>;

    /// Lets everything be found that was written, and keeps what is to be said of all documents in the place of the
    /// summary `before`. `false`: another one is there by now, which another node kept, and nothing was done.
    ///
    /// # Errors
    /// The engine gave no answer.
    fn commit(&self, before: Option<&str>, summary: &str) -> Result<bool, RetrievalError>;

    /// The best candidates.
    ///
    /// # Errors
    /// The engine gave no answer.
    fn find(&self, query: &CandidateQuery) -> Result<Candidates, RetrievalError>;

    /// How many documents pass, at most `most`.
    ///
    /// # Errors
    /// The engine gave no answer.
    fn count(&self, limits: &Predicate, most: usize) -> Result<u64, RetrievalError>;
}
