//! Why an item ranked where it did.

use std::fmt;

use serde::Serialize;
use tantivy::DocAddress;

use super::plan::Plan;
use super::query::Query;
use super::rank::RankedDoc;
use super::{Lists, RankBy, adjust, found};
use crate::analysis::LanguageAnalyzer;
use crate::dense::Model;
use crate::error::Result;
use crate::index::{Snapshot, StoredItem};

/// One item that was found, and what its place comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedHit {
    /// The item's id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The score that its place comes from: BM25, or what words and meaning add up to.
    pub score: f32,
    /// Its place by words, from 1, and its BM25 score.
    pub words: Option<(usize, f32)>,
    /// Its place by meaning, from 1, and its cosine.
    pub meaning: Option<(usize, f32)>,
    /// The terms that it was found by: field, term, and what that adds to the BM25 score.
    pub terms: Vec<(String, String, f32)>,
    /// The filters that it passes, in words.
    pub filters: Vec<String>,
    /// What gives it another place than its score, in words.
    pub adjusted: Vec<String>,
}

/// The best items for a query, explained.
pub(crate) fn explain(
    snapshot: &Snapshot,
    model: Option<&Model>,
    query: &Query,
    default: LanguageAnalyzer,
) -> Result<Vec<ExplainedHit>> {
    let Some((lists, plan, page)) = found(snapshot, model, query, RankBy::Both, default)? else {
        return Ok(Vec::new());
    };
    page.iter().map(|one| one_of(snapshot, &plan, query, one, &lists)).collect()
}

fn one_of(snapshot: &Snapshot, plan: &Plan, query: &Query, one: &RankedDoc, lists: &Lists) -> Result<ExplainedHit> {
    let StoredItem { id, name, .. } = snapshot.stored(one.address)?;
    let by_words = lists.words.iter().zip(1..).find(|(other, _)| other.key == one.key);
    let by_meaning = lists.near.iter().zip(1..).find(|(other, _)| other.key == one.key);
    Ok(ExplainedHit {
        id,
        name,
        score: one.score,
        words: by_words.map(|(ranked, place)| (place, ranked.score)),
        meaning: by_meaning.map(|(near, place)| (place, near.cosine)),
        terms: terms(snapshot, plan, one.address),
        filters: query.filters.iter().map(|filter| filter.words.clone()).collect(),
        adjusted: adjust::explain(snapshot, query, plan, one.key, one.address)?,
    })
}

/// The clauses that a document satisfies, the weightiest first.
fn terms(snapshot: &Snapshot, plan: &Plan, address: DocAddress) -> Vec<(String, String, f32)> {
    let mut terms = Vec::new();
    for clause in plan.clauses() {
        // A clause that the document does not satisfy cannot be explained.
        let Ok(explanation) = clause.explain(&snapshot.searcher, address) else { continue };
        let mut label = ("words".to_owned(), "almost".to_owned());
        clause.query_terms(&mut |term, _| {
            let field = snapshot.searcher.schema().get_field_name(term.field()).to_owned();
            let word = term.value().as_str().unwrap_or_default().to_owned();
            label = (field, word);
        });
        terms.push((label.0, label.1, explanation.value()));
    }
    let words = terms.iter().map(|(_, _, score)| score).sum();
    let kinds = plan.kinds.explain(address, words);
    terms.extend(kinds.into_iter().map(|(word, bonus)| ("kind".to_owned(), word, bonus)));
    terms.sort_by(|a, b| b.2.total_cmp(&a.2));
    terms
}

impl fmt::Display for ExplainedHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4}  {}  <{}>", self.score, self.name, self.id)?;
        if let Some((place, score)) = self.words {
            write!(f, "\n    by words: place {place}, BM25 {score:.3}")?;
        }
        if let Some((place, cosine)) = self.meaning {
            write!(f, "\n    by meaning: place {place}, cosine {cosine:.3}")?;
        }
        for (field, term, score) in &self.terms {
            write!(f, "\n    {field}: {term} adds {score:.3}")?;
        }
        self.adjusted.iter().try_for_each(|adjusted| write!(f, "\n    {adjusted}"))?;
        self.filters.iter().try_for_each(|filter| write!(f, "\n    passes: {filter}"))
    }
}
