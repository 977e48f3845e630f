//! A sharpened answer up to its candidates: the question worded anew, and what was found for it.

use std::ops::ControlFlow;
use std::sync::Arc;

use forecourt_content::{Error, Hit, Library};
use forecourt_core::{Admitted, Ending, Event, Findings, Language};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::conversation::Asked;
use super::super::find::Found;
use super::super::{Desk, broken};
use super::Sharpener;
use super::ask::Trouble;
use super::budget::Budget;
use super::prompt::quoted;
use super::rewrite::{self, Rewritten, Said};
use crate::limits::PROMPT_TEXT_BYTES_MAX;

/// An answer whose candidates are known.
pub(super) struct Begun {
    pub(super) desk: Arc<Desk>,
    pub(super) sharpener: Arc<Sharpener>,
    pub(super) library: Arc<Library>,
    pub(super) admitted: Arc<Admitted>,
    pub(super) budget: Arc<Budget>,
    pub(super) asked: Asked,
    /// What was found, but for the hits.
    pub(super) found: Found,
    /// The candidates, as the search has them.
    pub(super) hits: Vec<Hit>,
    /// Whether the model is to rank them.
    pub(super) is_ranked: bool,
    /// Candidates that earlier answers gave.
    pub(super) skip: usize,
    /// Items of this answer.
    pub(super) count: usize,
    /// The question, as a model is told it.
    pub(super) question: Value,
    /// What is told beside the answer, if anybody wishes for it.
    pub(super) findings: Option<Findings>,
    /// What the caller should know of how this came.
    pub(super) notes: Vec<String>,
}

/// Everything up to the candidates. `Err`: the answer is there already.
pub(super) async fn begin(
    desk: Arc<Desk>,
    sharpener: Arc<Sharpener>,
    admitted: Arc<Admitted>,
) -> Result<Begun, Vec<Event>> {
    let budget = Arc::new(sharpener.budget(admitted.message()));
    let asking = admitted.clone();
    let wished = desk.with_library(move |desk, library| Ok(desk.wished(library, &asking))).await;
    let plain = match wished.map_err(ended)? {
        ControlFlow::Continue(asked) => asked,
        ControlFlow::Break(events) => return Err(events),
    };
    let said = Said::new(admitted.message(), &desk.noun);
    let mut notes = Vec::new();
    let rewritten = sharpener.rewritten(&said, &desk.noun, &budget).await.unwrap_or_else(|trouble| {
        notes.push(format!("The question was taken as it stands. {}", trouble.words()));
        None
    });
    let looking = Looking { sharpener: sharpener.clone(), admitted: admitted.clone(), plain, said, rewritten };
    let looked = desk.with_library(move |desk, library| looking.look(desk, library)).await;
    let looked = match looked.map_err(ended)? {
        ControlFlow::Continue(looked) => looked,
        ControlFlow::Break(events) => return Err(events),
    };
    let Some(library) = desk.shelf.opened() else { return Err(ended(broken())) };
    let Looked { asked, mut found, page, is_ranked, findings, question } = looked;
    let hits = std::mem::take(&mut found.hits);
    let skip = if is_ranked { asked.offset } else { 0 };
    let count = hits.len().saturating_sub(skip).min(page);
    found.has_more |= hits.len() > skip + count;
    let is_ranked = is_ranked && hits.len() > 1;
    Ok(Begun {
        desk,
        sharpener,
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
struct Looking {
    sharpener: Arc<Sharpener>,
    admitted: Arc<Admitted>,
    plain: Asked,
    said: Said,
    rewritten: Option<Rewritten>,
}

/// What was found.
struct Looked {
    asked: Asked,
    found: Found,
    page: usize,
    /// Whether the hits are candidates from the first one on.
    is_ranked: bool,
    findings: Option<Findings>,
    question: Value,
}

impl Looking {
    fn look(self, desk: &Desk, library: &Library) -> Result<ControlFlow<Vec<Event>, Looked>, Error> {
        let Self { sharpener, admitted, plain, said, rewritten } = self;
        let message = admitted.message();
        let asked = match &rewritten {
            Some(rewritten) => rewritten.asked(plain, &said, &|text| library.understand(text)),
            None => plain,
        };
        if let Some(question) = desk.question(library, &asked)? {
            return Ok(ControlFlow::Break(ended(Ending::Question(question))));
        }
        let page = desk.page(&asked);
        let candidates = sharpener.candidates(page, asked.offset);
        let offset = if candidates.is_some() { 0 } else { asked.offset };
        let also = rewritten.as_ref().map(|rewritten| rewritten.searches(&said)).unwrap_or_default();
        let from_first = Asked { offset, ..asked.clone() };
        let found = rewrite::candidates(library, &from_first, &also, candidates.unwrap_or(page))?;
        let words = desk.words(library, &admitted);
        let skipped = if candidates.is_some() { asked.offset } else { 0 };
        if found.hits.len() <= skipped {
            let found = Found { hits: Vec::new(), ..found };
            return Ok(ControlFlow::Break(desk.told(&words, message, &asked, &found)?));
        }
        let findings = desk.findings(&words, message, &asked, &found)?;
        let question = question(&said, rewritten.as_ref(), &asked, message.language.as_ref());
        let is_ranked = candidates.is_some();
        Ok(ControlFlow::Continue(Looked { asked, found, page, is_ranked, findings, question }))
    }
}

/// The question as a model is told it: in the caller's words, and what it means after the turns before it.
fn question(said: &Said, rewritten: Option<&Rewritten>, asked: &Asked, language: Option<&Language>) -> Value {
    let limits = || asked.filters.iter().map(|filter| filter.words.as_str()).collect::<Vec<_>>().join(", ");
    let means = match rewritten {
        Some(rewritten) => rewritten.question.clone(),
        None => quoted(&format!("{} {}", asked.text, limits()), PROMPT_TEXT_BYTES_MAX),
    };
    json!({"asked": quoted(&said.question, PROMPT_TEXT_BYTES_MAX), "means": means, "language": language.map(Language::as_str)})
}

impl Sharpener {
    /// What the model makes of a question, when it is asked. Half of the time for ranking, at most.
    async fn rewritten(&self, said: &Said, noun: &str, budget: &Budget) -> Result<Option<Rewritten>, Trouble> {
        if !self.rewrites {
            return Ok(None);
        }
        let now = Instant::now();
        let by = now + budget.rank_by.saturating_duration_since(now) / 2;
        let prompt = rewrite::prompt(said, noun, &self.language);
        self.model.answer(budget, prompt, by, rewrite::read).await.map(Some)
    }
}
