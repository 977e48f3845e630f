//! What a caller gets back for each document.

use serde_json::Value;
use tantivy::schema::Value as _;
use tantivy::{DocAddress, TantivyDocument};

use super::plan::Plan;
use super::query::{Filter, Query, Test};
use super::rank::Ranked;
use super::snippet::snippet;
use crate::analysis::{LanguageAnalyzer, Words, fold_text};
use crate::error::Result;
use crate::facts;
use crate::index::Snapshot;
use crate::item;

/// One item that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Higher is better. Comparable within one answer only.
    pub score: f32,
    /// The item's id, stable over re-indexing.
    pub id: String,
    /// The item as it was loaded, and where it is from.
    pub item: Value,
    /// Its name.
    pub name: String,
    /// Its link, if it has one.
    pub url: Option<String>,
    /// The sentence of its text that says most about the query, at most
    /// [`crate::limits::SNIPPET_CHARS_MAX`] characters. Empty when it has no prose.
    pub snippet: String,
    /// The query's constraints, with the facts that satisfy them, in the query's order.
    pub matched: Vec<MatchedConstraint>,
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
}

/// Reads a document from the store and makes a hit of it.
pub(super) fn read(snapshot: &Snapshot, ranked: &Ranked, query: &Query, plan: &Plan) -> Result<Hit> {
    let (id, item) = stored(snapshot, ranked.address)?;
    let snippet = item::prose(&item).map(|prose| snippet(prose, &plan.words.stems(), plan.tongue)).unwrap_or_default();
    Ok(Hit {
        score: ranked.score,
        id,
        name: item::name(&item).unwrap_or_default().to_owned(),
        url: item::first_text(&item, &["url"]).map(str::to_owned),
        snippet,
        matched: query.filters.iter().map(|filter| matched(&item, filter, plan.tongue)).collect(),
        item,
    })
}

/// The id and the JSON of a document, from the store.
pub(crate) fn stored(snapshot: &Snapshot, address: DocAddress) -> Result<(String, Value)> {
    let document: TantivyDocument = snapshot.searcher.doc(address)?;
    let bytes = document.get_first(snapshot.fields.item).and_then(|value| value.as_bytes()).unwrap_or_default();
    let id = document.get_first(snapshot.fields.id).and_then(|value| value.as_str()).unwrap_or_default();
    // What lies in the store was parsed before it was put there.
    Ok((id.to_owned(), serde_json::from_slice(bytes).unwrap_or_default()))
}

fn matched(item: &Value, filter: &Filter, tongue: LanguageAnalyzer) -> MatchedConstraint {
    let (field, value) = satisfying(item, filter, tongue).unzip();
    MatchedConstraint { constraint: filter.words.clone(), field, value }
}

/// The first fact of an item that passes a filter: its path and its value as text.
fn satisfying(item: &Value, filter: &Filter, tongue: LanguageAnalyzer) -> Option<(String, String)> {
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
        Test::OneOf(texts) => texts.iter().any(|text| passes(fact, &Test::Mentions(text.clone()), tongue)),
        Test::Lacks { .. } => false,
        Test::Within { from, to } => {
            fact.number.is_some_and(|number| from.is_none_or(|from| number >= from) && to.is_none_or(|to| number <= to))
        }
    }
}
