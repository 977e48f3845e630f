//! A reranked answer up to its candidates: the question reworded, and what was found for it.

use std::ops::ControlFlow;
use std::sync::Arc;

use forecourt_core::{Admitted, Ending, Event, Findings, Language};
use forecourt_index::{Error, Hit, Library};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Reranker;
use super::budget::Budget;
use super::error::RerankError;
use super::prompt::quoted;
use super::rewrite::{self, QuestionContext, RewrittenQuestion};
use crate::engine::{SearchEngine, search_failed, sentences};
use crate::find::SearchResults;
use crate::limits::PROMPT_TEXT_BYTES_MAX;
use crate::request::{SearchRequest, answer_language};

/// An answer whose candidates are known.
pub(super) struct Candidates {
    pub(super) engine: Arc<SearchEngine>,
    pub(super) reranker: Arc<Reranker>,
    pub(super) library: Arc<Library>,
    pub(super) admitted: Arc<Admitted>,
    pub(super) budget: Arc<Budget>,
    pub(super) asked: SearchRequest,
    /// The results of the search, without their hits.
    pub(super) found: SearchResults,
    /// The candidates, as the search has them.
    pub(super) hits: Vec<Hit>,
    /// Whether the model is to rank them.
    pub(super) is_ranked: bool,
    /// Candidates that earlier answers gave.
    pub(super) skip: usize,
    /// Items of this answer.
    pub(super) count: usize,
    /// The question in the form that the prompt has it.
    pub(super) question: Value,
    /// The findings of the answer, if the caller asked for them.
    pub(super) findings: Option<Findings>,
    /// Notes on what the model did or failed to do, for the answer.
    pub(super) notes: Vec<String>,
}

/// Everything up to the candidates. `Err`: the answer is there already.
pub(super) async fn find_candidates(
    engine: Arc<SearchEngine>,
    reranker: Arc<Reranker>,
    admitted: Arc<Admitted>,
) -> Result<Candidates, Vec<Event>> {
    let budget = Arc::new(reranker.budget(admitted.message()));
    let asking = admitted.clone();
    let say = sentences(&admitted);
    let wished = engine.with_library(say, move |engine, library| engine.wished(library, &asking)).await;
    let plain = match wished.map_err(ended)? {
        ControlFlow::Continue(asked) => asked,
        ControlFlow::Break(events) => return Err(events),
    };
    let said = QuestionContext::new(admitted.message(), &engine.item_label);
    let mut notes = Vec::new();
    let rewritten = reranker.rewritten(&said, &engine.item_label, &budget).await.unwrap_or_else(|error| {
        notes.push(format!("{} {}", say.model_question_as_it_stands(), error.words()));
        None
    });
    let looking = CandidateSearch { reranker: reranker.clone(), admitted: admitted.clone(), plain, said, rewritten };
    let looked = engine.with_library(say, move |engine, library| looking.look(engine, library)).await;
    let looked = match looked.map_err(ended)? {
        ControlFlow::Continue(looked) => looked,
        ControlFlow::Break(events) => return Err(events),
    };
    // Open since the search just now; it is closed only with the whole deployment.
    let Some(library) = engine.index.opened() else { return Err(ended(search_failed(say))) };
    let CandidateSearchResult { asked, mut found, page, is_ranked, findings, question, lost_words } = looked;
    notes.extend(lost_words.then(|| LOST_WORDS.to_owned()));
    let hits = std::mem::take(&mut found.hits);
    let skip = if is_ranked { asked.offset } else { 0 };
    let count = hits.len().saturating_sub(skip).min(page);
    found.has_more |= hits.len() > skip + count;
    // One item has one order: no call is spent on it.
    let is_ranked = is_ranked && hits.len() > 1;
    Ok(Candidates {
        engine,
        reranker,
        library,
        admitted,
        budget,
        asked,
        found,
        hits,
        is_ranked,
        skip,
        count,
        question,
        findings,
        notes,
    })
}

fn ended(ending: Ending) -> Vec<Event> {
    vec![Event::Ending(ending)]
}

/// What is looked for, and by what words.
struct CandidateSearch {
    reranker: Arc<Reranker>,
    admitted: Arc<Admitted>,
    plain: SearchRequest,
    said: QuestionContext,
    rewritten: Option<RewrittenQuestion>,
}

/// What was found.
struct CandidateSearchResult {
    asked: SearchRequest,
    found: SearchResults,
    page: usize,
    /// Whether the hits are candidates from the first one on.
    is_ranked: bool,
    findings: Option<Findings>,
    question: Value,
    /// Whether the model's wording of the question was not used.
    lost_words: bool,
}

/// Why a question is not searched for as a model worded it.
const LOST_WORDS: &str =
    "The language model's wording of the question was not used, since it lost the question's own words.";

impl CandidateSearch {
    fn look(
        self,
        engine: &SearchEngine,
        library: &Library,
    ) -> Result<ControlFlow<Vec<Event>, CandidateSearchResult>, Error> {
        let Self { reranker, admitted, plain, said, rewritten } = self;
        let message = admitted.message();
        let keeps = |rewritten: &RewrittenQuestion| library.keeps_words(&said.question, &rewritten.question);
        let lost = rewritten.as_ref().is_some_and(|rewritten| !keeps(rewritten));
        // A wording that lost half of the question's known words asks something else.
        let rewritten = rewritten.filter(|_| !lost);
        let asked = match &rewritten {
            Some(rewritten) => {
                let answer_in = answer_language(message, admitted.card());
                rewritten.asked(plain, &said, &|text| library.understand(text, answer_in))
            }
            None => plain,
        };
        let words = engine.words(library, &admitted);
        if let Some(question) = engine.question(&words, &asked)? {
            return Ok(ControlFlow::Break(ended(Ending::Question(question))));
        }
        let page = engine.page(&asked);
        let candidates = reranker.candidates(page, asked.offset);
        // The model ranks from the first candidate on, so that each page goes on in the same order as the one before.
        let offset = if candidates.is_some() { 0 } else { asked.offset };
        let also = rewritten.as_ref().map(|rewritten| rewritten.searches(&said)).unwrap_or_default();
        let from_first = SearchRequest { offset, ..asked.clone() };
        let found = rewrite::candidates(library, &from_first, &also, candidates.unwrap_or(page))?;
        let skipped = if candidates.is_some() { asked.offset } else { 0 };
        if found.hits.len() <= skipped {
            let found = SearchResults { hits: Vec::new(), ..found };
            return Ok(ControlFlow::Break(engine.whole_answer(&words, message, &asked, &found)?));
        }
        let mut findings = engine.findings(&words, message, &asked, &found)?;
        let told = rewritten.as_ref().filter(|rewritten| rewritten.question != said.question);
        if let (Some(findings), Some(rewritten)) = (&mut findings, told) {
            findings.decontextualized = Some(rewritten.question.clone());
        }
        let question = question(&said, rewritten.as_ref(), &asked, message.language.as_ref());
        let is_ranked = candidates.is_some();
        Ok(ControlFlow::Continue(CandidateSearchResult {
            asked,
            found,
            page,
            is_ranked,
            findings,
            question,
            lost_words: lost,
        }))
    }
}

/// The question as a model is told it: in the caller's words, and what it means after the turns before it.
fn question(
    said: &QuestionContext,
    rewritten: Option<&RewrittenQuestion>,
    asked: &SearchRequest,
    language: Option<&Language>,
) -> Value {
    let limits = || asked.filters.iter().map(|filter| filter.words.as_str()).collect::<Vec<_>>().join(", ");
    let means = match rewritten {
        Some(rewritten) => rewritten.question.clone(),
        None => quoted(&format!("{} {}", asked.text, limits()), PROMPT_TEXT_BYTES_MAX),
    };
    json!({"asked": quoted(&said.question, PROMPT_TEXT_BYTES_MAX), "means": means, "language": language.map(Language::as_str)})
}

impl Reranker {
    /// What the model makes of a question, when it is asked. Half of the time for ranking, at most.
    async fn rewritten(
        &self,
        said: &QuestionContext,
        item_label: &str,
        budget: &Budget,
    ) -> Result<Option<RewrittenQuestion>, RerankError> {
        if !self.rewrites {
            return Ok(None);
        }
        let now = Instant::now();
        let by = now + budget.rank_by.saturating_duration_since(now) / 2;
        let prompt = rewrite::prompt(said, item_label, &self.language);
        self.model.answer(budget, prompt, by, rewrite::read).await.map(Some)
    }
}
