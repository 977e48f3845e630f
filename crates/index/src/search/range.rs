//! What states a quantity between two ends.

use std::ops::Bound;

use tantivy::Term;
use tantivy::query::{EmptyQuery, Query as Search, RangeQuery};

use crate::index::{Snapshot, number_key};

/// What states a quantity at this path between two ends, both included. Without ends, what states any.
pub(super) fn range(snapshot: &Snapshot, field: &str, from: Option<f64>, to: Option<f64>) -> Box<dyn Search> {
    if !snapshot.summary.numbers.contains(field) {
        return Box::new(EmptyQuery);
    }
    let bound = |value: f64| {
        let mut term = Term::from_field_json_path(snapshot.fields.numbers, &number_key(field), false);
        term.append_type_and_fast_value(value);
        Bound::Included(term)
    };
    // An end that is open still asks for a value: what states none passes no range.
    let from = bound(from.unwrap_or(f64::MIN));
    let to = bound(to.unwrap_or(f64::MAX));
    Box::new(RangeQuery::new(from, to))
}
