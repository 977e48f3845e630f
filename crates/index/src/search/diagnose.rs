//! Why one item is, or is not, among what a query finds.

use forecourt_core::LazyJson;
use forecourt_understanding::Filter;
use serde_json::Value;
use tantivy::DocAddress;
use tantivy::query::{BooleanQuery, Occur};

use super::explain::{score, terms};
use super::one_variant::limit_clauses;
use super::plan::{Plan, tongues};
use super::query::Query;
use super::{RankBy, found};
use crate::analysis::LanguageAnalyzer;
use crate::dense::Model;
use crate::error::Result;
use crate::facts;
use crate::index::Snapshot;
use crate::limits::{DIAGNOSED_VALUES_MAX, HITS_MAX};

/// What a query comes to for one item.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The item, as it was loaded.
    pub item: LazyJson,
    /// Its name.
    pub name: String,
    /// Its link, if it has one.
    pub url: Option<String>,
    /// The hash of the file that it came from.
    pub origin: u64,
    /// Each limit of the query, in its order.
    pub limits: Vec<LimitVerdict>,
    /// The terms of the query that it has: field, term, and what that adds to its score.
    pub terms: Vec<(String, String, f32)>,
    /// Its place among all that is found, from 1; `None` where it is not among the first [`HITS_MAX`].
    pub rank: Option<usize>,
    /// The score of its place.
    pub score: Option<f32>,
}

/// Whether an item passes a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitVerdict {
    /// The limit, in words.
    pub words: String,
    /// The properties that it asks about.
    pub fields: Vec<String>,
    /// What the item states of them, at most [`DIAGNOSED_VALUES_MAX`] values.
    pub values: Vec<String>,
    /// Whether the item passes.
    pub passes: bool,
}

/// What a query comes to for the item with this key. `None`: it is not in the index.
pub(crate) fn diagnose(
    snapshot: &Snapshot,
    model: Option<&Model>,
    query: &Query,
    key: u64,
    default: LanguageAnalyzer,
) -> Result<Option<Diagnosis>> {
    let Some(address) = snapshot.find(key)? else { return Ok(None) };
    let stored = snapshot.stored(address)?;
    let tongue = query.tongue(default);
    let plan = Plan::of(snapshot, query, tongue)?;
    let all = Query { limit: HITS_MAX, offset: 0, ..query.clone() };
    let page = found(snapshot, model, &all, RankBy::Both, default)?;
    let place = page.iter().flat_map(|page| &page.documents).zip(1..).find(|(one, _)| one.key == key);
    let limits = query.filters.iter().map(|limit| verdict(snapshot, limit, &stored.item, address, tongue));
    Ok(Some(Diagnosis {
        limits: limits.collect(),
        terms: terms(snapshot, &plan, address),
        rank: place.map(|(_, rank)| rank),
        score: place.map(|(one, _)| one.score),
        origin: snapshot.columns[address.segment_ord as usize].origin.get_val(address.doc_id),
        item: stored.item,
        name: stored.name,
        url: stored.url,
    }))
}

fn verdict(
    snapshot: &Snapshot,
    limit: &Filter,
    item: &Value,
    address: DocAddress,
    tongue: LanguageAnalyzer,
) -> LimitVerdict {
    let mut clauses = limit_clauses(snapshot, std::slice::from_ref(limit), &tongues(&snapshot.summary, tongue));
    // What is only forbidden something finds nothing by itself.
    clauses.push((Occur::Must, Box::new(tantivy::query::AllQuery)));
    let mut values: Vec<String> = Vec::new();
    facts::visit(item, |fact| {
        if values.len() < DIAGNOSED_VALUES_MAX && limit.fields.iter().any(|field| field == fact.path) {
            let value = fact.text.map(str::to_owned).or_else(|| fact.number.map(|number| number.to_string()));
            values.extend(value.filter(|value| !values.contains(value)));
        }
    });
    LimitVerdict {
        words: limit.words.clone(),
        fields: limit.fields.clone(),
        values,
        passes: score(snapshot, &BooleanQuery::new(clauses), address).is_some(),
    }
}
