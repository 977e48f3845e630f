//! What sets the items of an answer apart: values of properties, counted.

use std::collections::HashMap;

use tantivy::collector::Count;

use super::plan::Plan;
use super::query::Query;
use super::rank;
use crate::analysis::LanguageAnalyzer;
use crate::error::Result;
use crate::facts;
use crate::index::Snapshot;
use crate::limits::{FACET_ITEMS_MAX, FACET_VALUES_MAX};
use forecourt_understanding::limits::FILTERS_MAX;

/// How the items that a query finds differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    /// Items that have a word of the query and pass its filters.
    pub total: usize,
    /// The best of them, at most [`FACET_ITEMS_MAX`], in which values were counted.
    pub counted: usize,
    /// For each property that was asked for, in that order. Empty when too few items fit.
    pub facets: Vec<Facet>,
}

/// The values of one property.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facet {
    /// The dot path of the property.
    pub field: String,
    /// Items that have it.
    pub items: usize,
    /// Values as they are written, with how many items have each; the most frequent first, at most
    /// [`FACET_VALUES_MAX`].
    pub values: Vec<(String, usize)>,
}

/// Counts the values of `fields` among the best items by words, unless at most `over` items fit.
pub(crate) fn facets(
    snapshot: &Snapshot,
    query: &Query,
    fields: &[&str],
    over: usize,
    default: LanguageAnalyzer,
) -> Result<Facets> {
    let plan = Plan::of(snapshot, query, query.tongue(default))?;
    let Some(ranking) = plan.ranking().filter(|_| query.filters.len() <= FILTERS_MAX) else {
        return Ok(Facets::default());
    };
    let total = snapshot.searcher.search(&*ranking, &Count)?;
    // Before any item is read: few items need no facets.
    if total <= over {
        return Ok(Facets { total, ..Facets::default() });
    }
    let best = rank::top(snapshot, &plan, FACET_ITEMS_MAX)?;
    let mut counts: Vec<Counts> = fields.iter().map(|_| Counts::default()).collect();
    for ranked in &best {
        let item = snapshot.stored(ranked.address)?.item;
        let mut values = vec![Vec::new(); fields.len()];
        facts::visit(&item, |fact| {
            let place = fields.iter().position(|field| *field == fact.path);
            if let (Some(place), Some(text)) = (place, fact.text) {
                values[place].push(text.to_owned());
            }
        });
        counts.iter_mut().zip(values).for_each(|(counts, values)| counts.add(values));
    }
    let facets = fields.iter().zip(counts).map(|(field, counts)| counts.into_facet(field)).collect();
    Ok(Facets { total, counted: best.len(), facets })
}

#[derive(Default)]
struct Counts {
    items: usize,
    values: HashMap<String, usize>,
}

impl Counts {
    /// Adds the values of one item, each of them once.
    fn add(&mut self, mut values: Vec<String>) {
        values.sort_unstable();
        values.dedup();
        self.items += usize::from(!values.is_empty());
        for value in values {
            *self.values.entry(value).or_default() += 1;
        }
    }

    fn into_facet(self, field: &str) -> Facet {
        let mut values: Vec<(String, usize)> = self.values.into_iter().collect();
        values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        values.truncate(FACET_VALUES_MAX);
        Facet { field: field.to_owned(), items: self.items, values }
    }
}
