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
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facets {
    /// Items that have a word of the query and pass its filters.
    pub total: usize,
    /// The best of them, at most [`FACET_ITEMS_MAX`], in which values were counted.
    pub counted: usize,
    /// For each property that was asked for, in that order. Empty when too few items fit.
    pub facets: Vec<Facet>,
}

/// The values of one property.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facet {
    /// The dot path of the property.
    pub field: String,
    /// Items that have it.
    pub items: usize,
    /// Values as they are written, with how many items have each; the most frequent first, at most
    /// [`FACET_VALUES_MAX`].
    pub values: Vec<(String, usize)>,
    /// The quantities of each item that states one, whose texts are not counted.
    pub numbers: Vec<Vec<f64>>,
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
        let mut stated = vec![ItemValues::default(); fields.len()];
        facts::visit(&item, |fact| {
            let Some(place) = fields.iter().position(|field| *field == fact.path) else { return };
            match (fact.number, fact.text) {
                (Some(number), _) => stated[place].numbers.push(number),
                (None, Some(text)) => stated[place].texts.push(text.to_owned()),
                (None, None) => {}
            }
        });
        counts.iter_mut().zip(stated).for_each(|(counts, stated)| counts.add(stated));
    }
    let facets = fields.iter().zip(counts).map(|(field, counts)| counts.into_facet(field)).collect();
    Ok(Facets { total, counted: best.len(), facets })
}

/// What one item states of one property.
#[derive(Debug, Clone, Default)]
struct ItemValues {
    texts: Vec<String>,
    numbers: Vec<f64>,
}

#[derive(Default)]
struct Counts {
    items: usize,
    values: HashMap<String, usize>,
    numbers: Vec<Vec<f64>>,
}

impl Counts {
    /// Adds the values of one item, each of them once.
    fn add(&mut self, ItemValues { mut texts, numbers }: ItemValues) {
        texts.sort_unstable();
        texts.dedup();
        self.items += usize::from(!(texts.is_empty() && numbers.is_empty()));
        for text in texts {
            *self.values.entry(text).or_default() += 1;
        }
        if !numbers.is_empty() {
            self.numbers.push(numbers);
        }
    }

    fn into_facet(self, field: &str) -> Facet {
        let mut values: Vec<(String, usize)> = self.values.into_iter().collect();
        values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        values.truncate(FACET_VALUES_MAX);
        Facet { field: field.to_owned(), items: self.items, values, numbers: self.numbers }
    }
}
