//! Why an item ranked where it did.

use std::fmt;

use serde::Serialize;
use tantivy::query::{EnableScoring, Query as Search};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet, Term};

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
    let Some(page) = found(snapshot, model, query, RankBy::Both, default)? else { return Ok(Vec::new()) };
    page.documents.iter().map(|one| one_of(snapshot, &page.plan, query, one, &page.lists)).collect()
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
pub(super) fn terms(snapshot: &Snapshot, plan: &Plan, address: DocAddress) -> Vec<(String, String, f32)> {
    let mut terms = Vec::new();
    for clause in plan.clauses() {
        let Some(score) = score(snapshot, clause, address) else { continue };
        let (mut field, mut words) = ("words".to_owned(), Vec::new());
        clause.query_terms(&mut |term, _| {
            field = snapshot.searcher.schema().get_field_name(term.field()).to_owned();
            // A clause of several names has those that the document does not have, too.
            if is_in(snapshot, term, address) {
                words.push(term.value().as_str().unwrap_or_default().to_owned());
            }
        });
        words.dedup();
        terms.push((field, words.join(" "), score));
    }
    let words = terms.iter().map(|(_, _, score)| score).sum();
    let kinds = plan.kinds.explain(address, words);
    terms.extend(kinds.into_iter().map(|(word, bonus)| ("kind".to_owned(), word, bonus)));
    terms.sort_by(|a, b| b.2.total_cmp(&a.2));
    terms
}

/// What a clause adds to the score of a document. `None`: the document does not satisfy it, or it can't be read.
pub(super) fn score(snapshot: &Snapshot, clause: &dyn Search, address: DocAddress) -> Option<f32> {
    let weight = clause.weight(EnableScoring::enabled_from_searcher(&snapshot.searcher)).ok()?;
    // Not by the library's explanation: it looks for the document behind the first one of each part of a clause, and stops
    // the program where that is further on.
    let mut scorer = weight.scorer(snapshot.searcher.segment_reader(address.segment_ord), 1.0).ok()?;
    let is_there = scorer.doc() <= address.doc_id && scorer.seek(address.doc_id) == address.doc_id;
    is_there.then(|| scorer.score())
}

/// Whether a document has a term. What can't be read is not told.
fn is_in(snapshot: &Snapshot, term: &Term, address: DocAddress) -> bool {
    let segment = snapshot.searcher.segment_reader(address.segment_ord);
    let postings =
        segment.inverted_index(term.field()).and_then(|index| Ok(index.read_postings(term, IndexRecordOption::Basic)?));
    let Ok(Some(mut postings)) = postings else { return false };
    postings.doc() <= address.doc_id && postings.seek(address.doc_id) == address.doc_id
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
