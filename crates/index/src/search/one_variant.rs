//! Limits that are kept by one variant of an item, and not one limit by one of them and another by another.

use std::fmt;

use forecourt_retrieval::{Predicate, TermField};
use tantivy::columnar::Column;
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, ConstScorer, EnableScoring, Explanation, Occur, Query, Scorer, Weight,
};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

use super::circle::Circle;
use super::clauses::{Clause, clauses};
use super::predicate::predicates;
use super::variant_tests::VariantTests;
use crate::analysis::{LanguageAnalyzer, whole_fact};
use crate::columns::VARIANTS;
use crate::index::{Snapshot, Summary};
use crate::variants::VARIANT_MARK;
use forecourt_understanding::{Filter, Test};

/// The clauses of all of these limits: a variant of an item that has variants passes them, else the item.
pub(super) fn limit_clauses(snapshot: &Snapshot, filters: &[Filter], tongues: &[LanguageAnalyzer]) -> Vec<Clause> {
    let mut limits = clauses(snapshot, &limit_predicates(&snapshot.summary, filters, tongues));
    let circles = filters.iter().filter_map(Circle::of).map(|circle| circle.query(snapshot));
    limits.extend(circles.map(|circle| (Occur::Must, Box::new(ConstScoreQuery::new(circle, 0.0)) as Box<dyn Query>)));
    let tests = VariantTests::of(filters, tongues);
    if !snapshot.summary.has_variants || !tests.are_needed() {
        return limits;
    }
    let mut all: Vec<Clause> = vec![(Occur::Must, Box::new(AllQuery))];
    all.extend(limits);
    let some_passes = SomePasses { items: Box::new(BooleanQuery::new(all)), tests };
    vec![(Occur::Must, Box::new(ConstScoreQuery::new(Box::new(some_passes), 0.0)))]
}

/// What every item passes that passes all of these limits. Of the variants of an item each may keep another one: that is
/// for who reads them.
pub(crate) fn limit_predicates(summary: &Summary, filters: &[Filter], tongues: &[LanguageAnalyzer]) -> Vec<Predicate> {
    let of = |filter: &Filter| predicates(&summary.numbers, filter, tongues);
    let is_loose = summary.has_variants && VariantTests::of(filters, tongues).are_needed();
    filters.iter().flat_map(|filter| if is_loose { loose(filter, &of) } else { of(filter) }).collect()
}

/// What a limit asks, with all items that have variants where some may keep it that others break.
fn loose(filter: &Filter, of: &dyn Fn(&Filter) -> Vec<Predicate>) -> Vec<Predicate> {
    let only = |test: Test| Filter { test, ..filter.clone() };
    let (negated, words) = match &filter.test {
        Test::Without { classes, words } if !classes.is_empty() => {
            (only(Test::Without { classes: classes.clone(), words: Vec::new() }), words.clone())
        }
        Test::NoneOf(_) => (filter.clone(), Vec::new()),
        _ => return of(filter),
    };
    let varied = Predicate::Term(TermField::Facts, whole_fact(VARIANT_MARK, "yes"));
    let mut all = vec![Predicate::Any(vec![Predicate::All(of(&negated)), varied])];
    if !words.is_empty() {
        all.extend(of(&only(Test::Without { classes: Vec::new(), words })));
    }
    all
}

/// The items of a query of which some variant passes the tests, or that have none.
struct SomePasses {
    items: Box<dyn Query>,
    tests: VariantTests,
}

impl Clone for SomePasses {
    fn clone(&self) -> Self {
        Self { items: self.items.box_clone(), tests: self.tests.clone() }
    }
}

impl fmt::Debug for SomePasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SomePasses").field("items", &self.items).field("tests", &self.tests).finish()
    }
}

impl Query for SomePasses {
    fn weight(&self, enable_scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(SomePassesWeight { items: self.items.weight(enable_scoring)?, tests: self.tests.clone() }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.items.query_terms(visitor);
    }
}

struct SomePassesWeight {
    items: Box<dyn Weight>,
    tests: VariantTests,
}

impl Weight for SomePassesWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let items = self.items.scorer(reader, boost)?;
        let column = reader.fast_fields().u64(VARIANTS)?;
        let mut passing = PassingItems { items, column, tests: self.tests.clone(), numbers: Vec::new() };
        passing.pass();
        Ok(Box::new(ConstScorer::new(passing, boost)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.items.explain(reader, doc)
    }
}

/// Goes through the items, past those of which no variant passes.
struct PassingItems {
    items: Box<dyn Scorer>,
    column: Column<u64>,
    tests: VariantTests,
    numbers: Vec<u64>,
}

impl PassingItems {
    /// Moves on to the next that passes, which may be the one that it is at.
    fn pass(&mut self) -> DocId {
        let mut doc = self.items.doc();
        while doc != TERMINATED && !self.passes(doc) {
            doc = self.items.advance();
        }
        doc
    }

    fn passes(&mut self, doc: DocId) -> bool {
        self.numbers.clear();
        self.numbers.extend(self.column.values_for_doc(doc));
        self.tests.passing(&self.numbers).is_none_or(|passing| !passing.is_empty())
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
