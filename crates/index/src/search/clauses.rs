//! Tests of documents in the words of the index here.

use std::ops::Bound;

use forecourt_retrieval::{Predicate, TermField};
use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, EmptyQuery, Occur, Query as Search, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use super::range::range;
use crate::index::Snapshot;

/// A clause of a query.
pub(super) type Clause = (Occur, Box<dyn Search>);

/// Tests as clauses beside one that finds something.
pub(super) fn clauses(snapshot: &Snapshot, predicates: &[Predicate]) -> Vec<Clause> {
    let clause = |predicate: &Predicate| match predicate {
        Predicate::Not(not) => (Occur::MustNot, query(snapshot, not)),
        // A filter lets documents through and adds nothing to their scores.
        _ => (Occur::Must, Box::new(ConstScoreQuery::new(query(snapshot, predicate), 0.0)) as Box<dyn Search>),
    };
    predicates.iter().map(clause).collect()
}

/// The documents that pass a test.
pub(super) fn query(snapshot: &Snapshot, predicate: &Predicate) -> Box<dyn Search> {
    match predicate {
        Predicate::All(all) => every(snapshot, all),
        Predicate::Any(any) => match &any[..] {
            [] => Box::new(EmptyQuery),
            [one] => query(snapshot, one),
            _ => Box::new(BooleanQuery::union(any.iter().map(|one| query(snapshot, one)).collect())),
        },
        Predicate::Not(_) => every(snapshot, std::slice::from_ref(predicate)),
        Predicate::Term(field, term) => one(Term::from_field_text(field_of(snapshot, *field), term)),
        Predicate::FactBegins(beginning) => {
            let term = |text: &str| Term::from_field_text(snapshot.fields.facts, text);
            let behind = format!("{beginning}{}", char::MAX);
            Box::new(RangeQuery::new(Bound::Included(term(beginning)), Bound::Excluded(term(&behind))))
        }
        Predicate::Key(key) => one(Term::from_field_u64(snapshot.fields.key, *key)),
        Predicate::Within { path, from, to } => range(snapshot, path, *from, *to),
    }
}

/// The field of a list of terms.
pub(crate) fn field_of(snapshot: &Snapshot, field: TermField) -> Field {
    match field {
        TermField::Words => snapshot.fields.text,
        TermField::Pairs => snapshot.fields.pairs,
        TermField::Spelled => snapshot.fields.spelled,
        TermField::Facts => snapshot.fields.facts,
    }
}

fn every(snapshot: &Snapshot, all: &[Predicate]) -> Box<dyn Search> {
    if let [one] = all
        && !matches!(one, Predicate::Not(_))
    {
        return query(snapshot, one);
    }
    let mut clauses = clauses(snapshot, all);
    // What is only forbidden something finds nothing by itself.
    if clauses.iter().all(|(occur, _)| *occur == Occur::MustNot) {
        clauses.push((Occur::Must, Box::new(AllQuery)));
    }
    Box::new(BooleanQuery::new(clauses))
}

fn one(term: Term) -> Box<dyn Search> {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}
