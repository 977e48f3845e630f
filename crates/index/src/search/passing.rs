//! The items of a query that pass a test which reads their columns.

use std::fmt;
use std::sync::Arc;

use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, ConstScorer, EnableScoring, Explanation, Occur, Query, Scorer, Weight,
};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

use super::clauses::Clause;

/// A test of the documents of one segment.
pub(super) type SegmentTest = Box<dyn FnMut(DocId) -> bool + Send>;
/// What makes it for a segment.
pub(super) type ColumnTest = Arc<dyn Fn(&SegmentReader) -> tantivy::Result<SegmentTest> + Send + Sync>;

/// A clause for what passes these clauses and a test, which adds nothing to a score.
pub(super) fn passing_all(clauses: Vec<Clause>, test: ColumnTest) -> Clause {
    // Clauses that only exclude have to exclude from something.
    let mut all: Vec<Clause> = vec![(Occur::Must, Box::new(AllQuery))];
    all.extend(clauses);
    let passing = PassingQuery { items: Box::new(BooleanQuery::new(all)), test };
    (Occur::Must, Box::new(ConstScoreQuery::new(Box::new(passing), 0.0)))
}

/// The items of a query that pass a test.
struct PassingQuery {
    items: Box<dyn Query>,
    test: ColumnTest,
}

impl Clone for PassingQuery {
    fn clone(&self) -> Self {
        Self { items: self.items.box_clone(), test: Arc::clone(&self.test) }
    }
}

impl fmt::Debug for PassingQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PassingQuery").field("items", &self.items).finish_non_exhaustive()
    }
}

impl Query for PassingQuery {
    fn weight(&self, enable_scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(PassingWeight { items: self.items.weight(enable_scoring)?, test: Arc::clone(&self.test) }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.items.query_terms(visitor);
    }
}

struct PassingWeight {
    items: Box<dyn Weight>,
    test: ColumnTest,
}

impl Weight for PassingWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let mut passing = PassingItems { items: self.items.scorer(reader, boost)?, test: (self.test)(reader)? };
        passing.pass();
        Ok(Box::new(ConstScorer::new(passing, boost)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.items.explain(reader, doc)
    }
}

/// Goes through the items, past those that don't pass.
struct PassingItems {
    items: Box<dyn Scorer>,
    test: SegmentTest,
}

impl PassingItems {
    /// Moves on to the next that passes, which may be the one that it is at.
    fn pass(&mut self) -> DocId {
        let mut doc = self.items.doc();
        while doc != TERMINATED && !(self.test)(doc) {
            doc = self.items.advance();
        }
        doc
    }
}

impl DocSet for PassingItems {
    fn advance(&mut self) -> DocId {
        self.items.advance();
        self.pass()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.items.seek(target);
        self.pass()
    }

    fn doc(&self) -> DocId {
        self.items.doc()
    }

    fn size_hint(&self) -> u32 {
        self.items.size_hint()
    }
}
