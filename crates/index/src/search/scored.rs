//! What adds to the score of a document, as data: a query of the search engine is made from it where something limits the
//! documents, else it is run as it is (`pruned`).

use tantivy::Term;
use tantivy::query::{BooleanQuery, BoostQuery, DisjunctionMaxQuery, Occur, Query as Search, TermQuery};
use tantivy::schema::IndexRecordOption;

/// A term, and what it is worth: a factor of its BM25.
#[derive(Debug, Clone)]
pub(super) struct ScoredTerm {
    pub(super) term: Term,
    pub(super) worth: f32,
}

/// One way to say something.
#[derive(Debug, Clone)]
pub(super) struct ScoredName {
    /// Each adds what it is worth.
    pub(super) terms: Vec<ScoredTerm>,
    /// Whether a document has the name only with all of them.
    pub(super) is_whole: bool,
}

/// What is asked for once: the best of its names counts.
#[derive(Debug, Clone)]
pub(super) struct ScoredClause {
    pub(super) names: Vec<ScoredName>,
}

impl ScoredTerm {
    fn query(&self) -> Box<dyn Search> {
        let query = TermQuery::new(self.term.clone(), IndexRecordOption::WithFreqs);
        match self.worth == 1.0 {
            true => Box::new(query),
            false => Box::new(BoostQuery::new(Box::new(query), self.worth)),
        }
    }
}

impl ScoredName {
    fn query(&self) -> Box<dyn Search> {
        let occur = if self.is_whole { Occur::Must } else { Occur::Should };
        Box::new(BooleanQuery::new(self.terms.iter().map(|term| (occur, term.query())).collect()))
    }
}

impl ScoredClause {
    /// A single term.
    pub(super) fn term(term: ScoredTerm) -> Self {
        Self { names: vec![ScoredName { terms: vec![term], is_whole: false }] }
    }

    /// Whether it is one term by itself.
    pub(super) fn is_term(&self) -> bool {
        matches!(self.names.as_slice(), [only] if only.terms.len() == 1)
    }

    /// The same for the search engine.
    pub(super) fn query(&self) -> Box<dyn Search> {
        match self.names.as_slice() {
            [ScoredName { terms, .. }] if terms.len() == 1 => terms[0].query(),
            names => Box::new(DisjunctionMaxQuery::new(names.iter().map(ScoredName::query).collect())),
        }
    }
}
