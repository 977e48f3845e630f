//! What a caller gets back for each document.

use forecourt_core::LazyJson;
use serde_json::Value;

use super::card::card;
use super::circle::Circle;
use super::plan::Plan;
use super::query::Query;
use super::rank::RankedDoc;
use super::snippet::snippet;
use super::variant_tests;
use crate::analysis::{LanguageAnalyzer, Words, fold_text};
use crate::error::Result;
use crate::facts;
use crate::index::{Snapshot, StoredItem};
use forecourt_loaders::item;
use forecourt_understanding::{ClassLimit, Filter, Test};

/// One item that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Higher is better. Comparable within one answer only.
    pub score: f32,
    /// The item's id, stable over re-indexing.
    pub id: String,
    /// The item as it was loaded, and where it is from. Parsed when somebody looks into it.
    pub item: LazyJson,
    /// Its name.
    pub name: String,
    /// Its link, if it has one.
    pub url: Option<String>,
    /// The sentence of its text that says most about the query, at most
    /// [`crate::limits::SNIPPET_CHARS_MAX`] characters. Empty when it has no prose, and when
    /// [`Query::items_only`] says so.
    pub snippet: String,
    /// The query's constraints, with the facts that satisfy them, in the query's order. None with
    /// [`Query::items_only`].
    pub matched: Vec<MatchedConstraint>,
    /// Whether a rule of the operator put it where it is, before what fits better.
    pub is_pinned: bool,
}

/// A constraint that an item satisfies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedConstraint {
    /// The constraint, in the words of its filter.
    pub constraint: String,
    /// The property that satisfies it. `None` for what must be absent.
    pub field: Option<String>,
    /// Its value, as it is written in the item.
    pub value: Option<String>,
    /// Whether the value is how far away the item is.
    pub is_distance: bool,
    /// The classes that the item must not be of, where that is the constraint.
    pub unwanted: Vec<ClassLimit>,
}

/// Reads a document from the store and makes a hit of it, of which nothing is told yet.
pub(super) fn read(snapshot: &Snapshot, ranked: &RankedDoc, plan: &Plan) -> Result<Hit> {
    let StoredItem { id, name, url, item } = snapshot.stored(ranked.address)?;
    let (item, url) = as_asked(snapshot, ranked, plan, item, url);
    Ok(Hit {
        score: ranked.score,
        id,
        name,
        url,
        snippet: String::new(),
        matched: Vec::new(),
        item,
        // Told by the place in the whole list, which is not known here.
        is_pinned: false,
    })
}

/// Adds what the text of a hit says about a query, and how it satisfies that.
pub(super) fn tell(hit: &mut Hit, query: &Query, plan: &Plan) {
    hit.snippet =
        item::prose(&hit.item).map(|prose| snippet(prose, &plan.words.stems(), plan.tongue)).unwrap_or_default();
    hit.matched = query.filters.iter().map(|filter| matched(&hit.item, filter, plan.tongue)).collect();
}

/// The item and its link, with what the variant says that was asked for.
fn as_asked(
    snapshot: &Snapshot,
    ranked: &RankedDoc,
    plan: &Plan,
    item: LazyJson,
    url: Option<String>,
) -> (LazyJson, Option<String>) {
    let column = variant_tests::column(snapshot, ranked.address);
    // Nearly all items have none, and are not even parsed.
    if column.is_empty() {
        return (item, url);
    }
    let passing = plan.variants.passing(&column);
    let (card, is_picked) = card(item.into_value(), passing.as_deref(), plan);
    let link = if is_picked { item::first_text(&card, &["url"]).map(str::to_owned) } else { None };
    (card.into(), link.or(url))
}

fn matched(item: &Value, filter: &Filter, tongue: LanguageAnalyzer) -> MatchedConstraint {
    let (field, value) = satisfying(item, filter, tongue).unzip();
    let is_distance = value.is_some() && matches!(filter.test, Test::Near { .. });
    let unwanted = match &filter.test {
        Test::Without { classes, .. } => classes.clone(),
        _ => Vec::new(),
    };
    MatchedConstraint { constraint: filter.words.clone(), field, value, is_distance, unwanted }
}

/// The first fact of an item that passes a filter: its path and its value as text.
fn satisfying(item: &Value, filter: &Filter, tongue: LanguageAnalyzer) -> Option<(String, String)> {
    if let Some(circle) = Circle::of(filter) {
        return circle
            .km_of(item)
            .map(|km| (filter.fields.first().cloned().unwrap_or_default(), format!("{km:.1} km")));
    }
    if let Test::AnyOf(all) = &filter.test {
        return all.iter().find_map(|one| satisfying(item, one, tongue));
    }
    let mut found = None;
    facts::visit(item, |fact| {
        let asked = filter.fields.iter().any(|field| field == fact.path);
        if found.is_none() && asked && passes(&fact, &filter.test, tongue) {
            let value = fact.text.map(str::to_owned).or_else(|| fact.number.map(|number| number.to_string()));
            found = value.map(|value| (fact.path.to_owned(), value));
        }
    });
    found
}

fn passes(fact: &facts::Fact<'_>, test: &Test, tongue: LanguageAnalyzer) -> bool {
    match test {
        Test::Is(value) => fact.text.is_some_and(|text| fold_text(text) == fold_text(value)),
        Test::Mentions(words) => fact.text.is_some_and(|text| {
            let there = Words::of(text, tongue);
            Words::of(words, tongue).iter().any(|word| there.iter().any(|other| other == word))
        }),
        Test::OneOf(texts) | Test::IsOneOf { values: texts, .. } => {
            texts.iter().any(|text| passes(fact, &Test::Mentions(text.clone()), tongue))
        }
        // A warning that permits is quoted; that it does was looked up.
        Test::Permits => fact.text.is_some(),
        // These say something of the whole item: no single fact of it satisfies them.
        Test::Without { .. } | Test::Unstated(_) | Test::OfClass(_) | Test::Overlaps { .. } | Test::Near { .. } => {
            false
        }
        // Each of them was looked at by itself.
        Test::AnyOf(_) => false,
        Test::NoneOf(values) => {
            fact.text.is_some_and(|text| values.iter().all(|value| fold_text(text) != fold_text(value)))
        }
        Test::Within { from, to } => {
            fact.number.is_some_and(|number| from.is_none_or(|from| number >= from) && to.is_none_or(|to| number <= to))
        }
    }
}
