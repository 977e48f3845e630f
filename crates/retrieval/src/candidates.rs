//! What an engine is asked, and what it answers.

use crate::document::StoredEntry;
use crate::predicate::{Predicate, TermField};

/// A term that makes a document a better candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredTerm {
    /// The list that it is looked for in.
    pub field: TermField,
    /// The term.
    pub term: String,
    /// What it counts beside the others.
    pub boost: f32,
}

/// An order by a quantity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantityOrder {
    /// The dot path of the property. What does not state it comes last.
    pub path: String,
    /// Whether the greatest comes first.
    pub descending: bool,
}

/// A question for candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateQuery {
    /// Any of these makes a candidate; the rarer and the more, the better. None: whatever passes, by its key.
    pub terms: Vec<ScoredTerm>,
    /// Words as they are written, which may be misspelled: documents with words that are spelled almost so are candidates
    /// beside the others.
    pub almost: Vec<String>,
    /// What every candidate keeps.
    pub limits: Predicate,
    /// By which quantity they come. Without it, by how good they are.
    pub order: Option<QuantityOrder>,
    /// Candidates at most.
    pub most: usize,
}

/// A document that may be an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its key and hashes.
    pub entry: StoredEntry,
    /// Its id.
    pub id: String,
    /// The item, as it was put.
    pub item: String,
}

/// What an engine found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates {
    /// The best ones, best first, those for misspelled words behind.
    pub found: Vec<Candidate>,
    /// How many documents have each of the terms, in their order; where counting all of them takes long, about.
    pub frequencies: Vec<u64>,
}
