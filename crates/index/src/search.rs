//! Queries in, ranked hits out.

mod adjust;
mod adjustment;
mod answered;
mod card;
mod circle;
mod clauses;
mod complete;
mod compounds;
mod diagnose;
mod dictionary;
mod explain;
mod facets;
mod fuse;
mod hit;
mod kinds;
mod matching;
mod meaning;
mod name_terms;
mod near;
mod one_variant;
mod ordered;
mod other_names;
mod passing;
mod plan;
mod position;
mod predicate;
mod probe;
mod pruned;
mod query;
mod query_words;
mod range;
mod rank;
mod ranked_hits;
mod scope;
mod scored;
mod snippet;
mod spelling;
mod subjects;
mod terms;
mod values;
mod variant_tests;
mod weighted;
mod word_coverage;

pub use adjustment::{Adjustment, Effect};
pub(crate) use answered::{is_answered, names_lacking_kind};
pub(crate) use clauses::field_of;
pub use complete::Completion;
pub(crate) use complete::complete;
pub(crate) use diagnose::diagnose;
pub use diagnose::{Diagnosis, LimitVerdict};
pub use explain::ExplainedHit;
pub(crate) use explain::explain;
pub(crate) use facets::facets;
pub use facets::{Facet, Facets};
pub use hit::{Hit, MatchedConstraint};
pub(crate) use matching::{any_word_predicate, counted_left_out, left_out, matching_predicate, says_all};
pub(crate) use one_variant::limit_predicates;
pub(crate) use plan::tongues;
pub(crate) use probe::{Probe, parts};
pub use query::Query;
pub use ranked_hits::RankedHits;
pub(crate) use scope::Scope;
pub use spelling::Correction;
pub(crate) use terms::knows_all;
pub(crate) use values::{has_property, nearest};
pub use word_coverage::WordCoverage;
pub(crate) use word_coverage::word_coverage;

use circle::Circle;
use fuse::{WordEvidence, fuse};
use meaning::Meaning;
use plan::{Plan, terms_of, words_of};
use rank::RankedDoc;
use terms::ScoredTerms;

use crate::analysis::{LanguageAnalyzer, Words};
use crate::dense::{Model, Near};
use crate::error::Result;
use crate::index::Snapshot;
use crate::limits::HITS_MAX;
use forecourt_understanding::limits::FILTERS_MAX;

/// Hits of each kind of search that are put together.
const FUSE_DEPTH: usize = 100;

/// The evidence by which hits are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RankBy {
    /// Words alone: BM25.
    Words,
    /// Meaning alone: the nearest vectors. Without a model, nothing is found.
    Meaning,
    /// Both rankings put together. Without a model, words alone.
    #[default]
    Both,
}

/// The words of a query that no item has, and what is looked for instead.
pub(crate) fn corrections(snapshot: &Snapshot, query: &Query, default: LanguageAnalyzer) -> Result<Vec<Correction>> {
    let tongue = query.tongue(default);
    // Nearly every question is spelled right, and to see that takes no plan.
    match terms::knows_all(snapshot, &query.text, tongue) {
        true => Ok(Vec::new()),
        false => Ok(Plan::of(snapshot, query, tongue)?.corrections),
    }
}

/// Whether a wording has at least half of the words of a question that items have.
pub(crate) fn keeps_words(snapshot: &Snapshot, question: &str, wording: &str, tongue: LanguageAnalyzer) -> bool {
    let (asked, kept) = (words_of(snapshot, question, tongue), words_of(snapshot, wording, tongue));
    let kept: Vec<&str> = kept.own_stems().collect();
    let lost = asked.own_stems().filter(|stem| !kept.contains(stem)).count();
    2 * lost <= asked.own_stems().count()
}

/// A word of a question that neither items nor the vocabulary have.
pub(crate) struct UnknownWord {
    /// In lower case and without accents.
    pub(crate) word: String,
    /// Words of items that are spelled almost so.
    pub(crate) nearest: Vec<String>,
}

/// The words of a question that say something, and that neither items nor the vocabulary have.
pub(crate) fn unknown_words(snapshot: &Snapshot, question: &str, tongue: LanguageAnalyzer) -> Vec<UnknownWord> {
    let ScoredTerms { words, corrections, .. } = terms_of(snapshot, question, tongue);
    let nearest = |word: &str| {
        let correction = corrections.iter().find(|correction| correction.written == word);
        let readings = correction.into_iter().flat_map(|correction| &correction.readings);
        readings.map(|(reading, _)| reading.clone()).collect()
    };
    let is_corrected = |word: &str| corrections.iter().any(|correction| correction.written == word);
    let unknown =
        words.all().iter().filter(|word| !word.is_lacking && (!word.is_known() || is_corrected(&word.written)));
    unknown.map(|word| UnknownWord { word: word.written.clone(), nearest: nearest(&word.written) }).collect()
}

/// Whether a text has all words of another one, read in one of the languages of the items or in the default one.
pub(crate) fn says(snapshot: &Snapshot, text: &str, words: &str, default: LanguageAnalyzer) -> bool {
    let mut tongues = std::iter::once(default).chain(snapshot.summary.tongues());
    tongues.any(|tongue| {
        let (text, words) = (Words::of(plan::head(text), tongue), Words::of(words, tongue));
        words.len() > 0 && words.iter().all(|word| text.iter().any(|other| other == word))
    })
}

/// What each kind of search has found, the best first.
#[derive(Default)]
struct Lists {
    words: Vec<RankedDoc>,
    near: Vec<Near>,
}

/// A page of documents, and what their places come from.
struct FoundPage {
    lists: Lists,
    plan: Plan,
    documents: Vec<RankedDoc>,
    /// How many of them a rule of the operator pinned, from the first on.
    pinned: usize,
}

/// The page of documents that a query asks for. `None` when it asks for none.
fn found(
    snapshot: &Snapshot,
    model: Option<&Model>,
    query: &Query,
    by: RankBy,
    default: LanguageAnalyzer,
) -> Result<Option<FoundPage>> {
    // Callers choose both numbers: their sum may not wrap around, and has a bound.
    let end = query.offset.saturating_add(query.limit).min(HITS_MAX);
    if end <= query.offset || query.filters.len() > FILTERS_MAX {
        return Ok(None);
    }
    let mut plan = Plan::of(snapshot, query, query.tongue(default))?;
    let depth = adjust::depth(snapshot, query, end);
    let circle = query.filters.iter().find_map(Circle::of);
    let (lists, mut ranked) = match (&query.order, &circle) {
        (Some(order), _) => (Lists::default(), ordered::top(snapshot, query, order, &plan, depth)?),
        // What is asked for near a place comes by how near it is.
        (None, Some(circle)) => {
            let any = plan.ranking().filter(|_| plan.has_text());
            (Lists::default(), near::top(snapshot, query, circle, any, depth)?)
        }
        (None, None) => {
            let (mut lists, mut ranked) = rank_all(snapshot, model, query, by, &plan, depth)?;
            if ranked.is_empty() && plan.relax() {
                lists.words = rank::top(snapshot, &plan, depth)?;
                ranked.clone_from(&lists.words);
            }
            (lists, ranked)
        }
    };
    let pinned = adjust::adjust(snapshot, query, &plan, &mut ranked)?.saturating_sub(query.offset);
    ranked.truncate(end);
    ranked.drain(..query.offset.min(ranked.len()));
    Ok(Some(FoundPage { lists, plan, documents: ranked, pinned }))
}

/// The best `end` documents at least, when there are so many.
fn rank_all(
    snapshot: &Snapshot,
    model: Option<&Model>,
    query: &Query,
    by: RankBy,
    plan: &Plan,
    end: usize,
) -> Result<(Lists, Vec<RankedDoc>)> {
    let depth = end.max(FUSE_DEPTH);
    let model = model.filter(|_| by != RankBy::Words);
    let Some(meaning) = Meaning::of(snapshot, model, &plan.corrected(&query.text), plan) else {
        let words = if by == RankBy::Meaning { Vec::new() } else { rank::top(snapshot, plan, end)? };
        return Ok((Lists { words: words.clone(), near: Vec::new() }, words));
    };
    let near = meaning.nearest(plan, depth)?;
    let words = if by == RankBy::Both { rank::top(snapshot, plan, depth)? } else { Vec::new() };
    let coverage = match words.first() {
        Some(best) => plan.words.coverage(snapshot, best.address)?,
        None => Default::default(),
    };
    let evidence = WordEvidence { asked: plan.words.asked, coverage, documents: snapshot.documents() };
    let ranked = fuse(&words, &near, evidence, meaning.kind, |address| meaning.cosine(address));
    Ok((Lists { words, near }, ranked))
}
