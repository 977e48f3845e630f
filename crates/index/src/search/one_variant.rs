//! Limits that are kept by one variant of an item, and not one limit by one of them and another by another.

use std::sync::Arc;

use forecourt_retrieval::{Predicate, TermField};

use super::circle::Circle;
use super::clauses::{Clause, clauses};
use super::passing::{ColumnTest, passing_all};
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
    for circle in filters.iter().filter_map(Circle::of) {
        limits = vec![passing_all(limits, circle.test())];
    }
    let tests = VariantTests::of(filters, tongues);
    match snapshot.summary.has_variants && tests.are_needed() {
        true => vec![passing_all(limits, some_variant(tests))],
        false => limits,
    }
}

/// The test of what has a variant that passes, or has none.
fn some_variant(tests: VariantTests) -> ColumnTest {
    Arc::new(move |reader| {
        let (variants, tests, mut numbers) = (reader.fast_fields().u64(VARIANTS)?, tests.clone(), Vec::new());
        Ok(Box::new(move |doc| {
            numbers.clear();
            numbers.extend(variants.values_for_doc(doc));
            tests.passing(&numbers).is_none_or(|passing| !passing.is_empty())
        }))
    })
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
