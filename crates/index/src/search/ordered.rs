//! Items in the order of a quantity: "the cheapest". What does not state it is left out; what has the same comes
//! by how well it fits.

use std::cmp::Ordering;

use tantivy::columnar::{Column, DynamicColumn, NumericalType};
use tantivy::query::{EnableScoring, Query as Search};
use tantivy::{DocAddress, DocId, SegmentReader};

use super::matching::{count, matching};
use super::plan::Plan;
use super::query::Query;
use super::rank::RankedDoc;
use super::variant_tests::{self, VariantTests};
use crate::best::Best;
use crate::error::Result;
use crate::index::{Snapshot, number_column};
use forecourt_understanding::SortOrder;

/// A document by its quantity. The greatest comes first.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OrderedDoc {
    /// The quantity, turned around where the least comes first.
    value: f64,
    ranked: RankedDoc,
}

impl Eq for OrderedDoc {}

impl Ord for OrderedDoc {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.total_cmp(&other.value).then_with(|| self.ranked.cmp(&other.ranked))
    }
}

impl PartialOrd for OrderedDoc {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The first `wanted` documents in the order of a query: of those that have all its words, else of those that
/// have any. One pass over them, which keeps no more than are wanted.
pub(super) fn top(
    snapshot: &Snapshot,
    query: &Query,
    order: &SortOrder,
    plan: &Plan,
    wanted: usize,
) -> Result<Vec<RankedDoc>> {
    let fitting = matching(snapshot, &plan.corrected(&query.text), &query.filters);
    let in_order = |query: &dyn Search| in_order(snapshot, query, order, &plan.variants, wanted);
    let found = in_order(&*fitting)?;
    match plan.ranking() {
        // Items that fit without stating the quantity leave nothing to order: then others that have one word of the
        // question are no answer either.
        Some(any) if found.is_empty() && plan.has_text() && count(snapshot, &*fitting, 1)? == 0 => in_order(&*any),
        _ => Ok(found),
    }
}

fn in_order(
    snapshot: &Snapshot,
    query: &dyn Search,
    order: &SortOrder,
    variants: &VariantTests,
    wanted: usize,
) -> Result<Vec<RankedDoc>> {
    let weight = query.weight(EnableScoring::enabled_from_searcher(&snapshot.searcher))?;
    let mut best: Best<OrderedDoc> = Best::of(wanted);
    for ((reader, columns), segment) in snapshot.searcher.segment_readers().iter().zip(&snapshot.columns).zip(0..) {
        let quantities = Quantities::of(reader, order)?;
        weight.for_each(reader, &mut |doc, score| {
            // What a variant costs that nobody asked for does not count.
            let numbers = variant_tests::column(snapshot, DocAddress::new(segment, doc));
            let of_variants = |field: &String| variants.quantities(&numbers, field).filter(|found| !found.is_empty());
            let asked = order.fields.iter().find_map(of_variants);
            let value = match asked {
                Some(asked) => asked.into_iter().map(|value| quantities.turned(value)).reduce(f64::max),
                None => quantities.value(doc),
            };
            let Some(value) = value.filter(|_| columns.is_living(doc)) else { return };
            let ranked = RankedDoc { score, key: columns.key.get_val(doc), address: DocAddress::new(segment, doc) };
            best.offer(OrderedDoc { value, ranked });
        })?;
    }
    Ok(best.into_sorted().into_iter().map(|placed| placed.ranked).collect())
}

/// The columns of one segment that an order goes by.
struct Quantities {
    columns: Vec<Column<f64>>,
    descending: bool,
}

impl Quantities {
    fn of(reader: &SegmentReader, order: &SortOrder) -> Result<Self> {
        let mut columns = Vec::new();
        for field in &order.fields {
            for handle in reader.fast_fields().dynamic_column_handles(&number_column(field))? {
                let column = handle.open().map_err(tantivy::TantivyError::from)?;
                if let Some(DynamicColumn::F64(column)) = column.coerce_numerical(NumericalType::F64) {
                    columns.push(column);
                }
            }
        }
        Ok(Self { columns, descending: order.descending })
    }

    /// A quantity, turned around where the least comes first.
    fn turned(&self, value: f64) -> f64 {
        if self.descending { value } else { -value }
    }

    /// The quantity of a document by the first property that it states: of several values the one that comes
    /// first.
    fn value(&self, doc: DocId) -> Option<f64> {
        let values = |column: &Column<f64>| column.values_for_doc(doc).map(|value| self.turned(value)).reduce(f64::max);
        self.columns.iter().find_map(values)
    }
}
