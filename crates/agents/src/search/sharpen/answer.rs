//! A sharpened answer, from its question to its last event.
//!
//! Items go out as soon as their place is sure: those that the model is sure of window by window, the others
//! when all windows are ranked or the time is over. The summary comes last, sentence by sentence. A model that
//! is of no help leaves the answer that the search gives by itself, with a note that says so.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use async_stream::stream;
use forecourt_content::{Error, Hit, Library};
use forecourt_core::findings::Reason;
use forecourt_core::{Admitted, Ending, Event, EventStream, Findings, Part};
use futures::{Stream, StreamExt, pin_mut, stream};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::answer::Words;
use super::super::conversation::Asked;
use super::super::find::Found;
use super::super::{Desk, broken};
use super::Sharpener;
use super::ask::{Model, Trouble};
use super::budget::Budget;
use super::clean::Source;
use super::order::Order;
use super::prompt::{Prompt, quoted};
use super::rank::{self, Judgements};
use super::rewrite::{self, Rewritten, Said};
use super::shown::shown;
use super::summary::{self, End, NOT_ANSWERED, Summary};
use crate::limits::{PROMPT_TEXT_BYTES_MAX, RANK_CALLS_MAX, RANK_WINDOW_ITEMS, SUMMARIZED_MAX};

/// The events of an answer.
pub(in crate::search) fn events(desk: Arc<Desk>, sharpener: Arc<Sharpener>, admitted: Arc<Admitted>) -> EventStream {
    Box::pin(stream! {
        let mut answer = match begin(desk, sharpener, admitted).await {
            Ok(answer) => answer,
            Err(told) => {
                for event in told {
                    yield event;
                }
                return;
            }
        };
        let ranking = answer.ranking();
        pin_mut!(ranking);
        while let Some(judged) = ranking.next().await {
            for event in answer.judged(judged) {
                yield event;
            }
            if answer.is_full() {
                break;
            }
        }
        for event in answer.rest() {
            yield event;
        }
        if answer.wants_summary() {
            let (mut summary, words) = answer.summary();
            pin_mut!(words);
            let mut trouble = None;
            while let Some(next) = words.next().await {
                match next {
                    Ok(words) => {
                        let ready = summary.take(&words);
                        if let Some(event) = answer.summed_up(&ready) {
                            yield event;
                        }
                    }
                    Err(reason) => trouble = Some(reason),
                }
            }
            for event in answer.summary_ended(summary, trouble) {
                yield event;
            }
        }
        yield Event::Ending(Ending::Complete);
    })
}

/// An answer whose candidates are known.
struct Answer {
    sharpener: Arc<Sharpener>,
    desk: Arc<Desk>,
    library: Arc<Library>,
    admitted: Arc<Admitted>,
    budget: Arc<Budget>,
    asked: Asked,
    /// What was found, but for the hits.
    found: Found,
    /// The candidates.
    hits: Vec<Hit>,
    /// The question, as a model is told it.
    question: Value,
    order: Order,
    /// Why candidates are where they are.
    whys: BTreeMap<usize, String>,
    /// Candidates that earlier answers gave.
    skip: usize,
    /// Items of this answer.
    count: usize,
    /// Candidates that were given, in their order.
    given: Vec<usize>,
    /// What is told beside the answer, if anybody wishes for it.
    findings: Option<Findings>,
    /// What was said in place of a list.
    lead: String,
    summary: String,
    notes: Vec<String>,
}

/// Everything up to the candidates. `Err`: the answer is there already.
async fn begin(desk: Arc<Desk>, sharpener: Arc<Sharpener>, admitted: Arc<Admitted>) -> Result<Answer, Vec<Event>> {
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
    let skip = if is_ranked { asked.offset.min(hits.len()) } else { 0 };
    found.has_more |= hits.len() > skip + page;
    Ok(Answer {
        count: (hits.len() - skip).min(page),
        order: Order::new(hits.len()),
        whys: BTreeMap::new(),
        given: Vec::new(),
        lead: String::new(),
        summary: String::new(),
        sharpener,
        desk,
        library,
        admitted,
        budget,
        asked,
        found,
        hits,
        question,
        skip,
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
        let question = question(&said, rewritten.as_ref(), &asked, message.language.as_ref().map(|tag| tag.as_str()));
        let is_ranked = candidates.is_some();
        Ok(ControlFlow::Continue(Looked { asked, found, page, is_ranked, findings, question }))
    }
}

/// The question as a model is told it: in the caller's words, and what it means after the turns before it.
fn question(said: &Said, rewritten: Option<&Rewritten>, asked: &Asked, language: Option<&str>) -> Value {
    let limits = || asked.filters.iter().map(|filter| filter.words.as_str()).collect::<Vec<_>>().join(", ");
    let means = match rewritten {
        Some(rewritten) => rewritten.question.clone(),
        None => quoted(&format!("{} {}", asked.text, limits()), PROMPT_TEXT_BYTES_MAX),
    };
    json!({"asked": quoted(&said.question, PROMPT_TEXT_BYTES_MAX), "means": means, "language": language})
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

impl Answer {
    /// The judgements of all windows, in their order, as they come.
    fn ranking(&self) -> impl Stream<Item = Result<Judgements, Trouble>> + Send + use<> {
        let is_wanted = self.skip < self.hits.len() && self.sharpener.rank > 0 && self.hits.len() > 1;
        let is_wanted = is_wanted && (self.asked.offset == self.skip);
        let candidates: Vec<Option<Value>> = match is_wanted {
            true => self.hits.iter().enumerate().map(|(at, hit)| shown(at + 1, hit)).collect(),
            false => Vec::new(),
        };
        let windows = candidates.chunks(RANK_WINDOW_ITEMS).map(|window| window.iter().flatten().cloned().collect());
        let windows: Vec<Vec<Value>> = windows.filter(|window: &Vec<Value>| !window.is_empty()).collect();
        let (model, budget) = (self.sharpener.model.clone(), self.budget.clone());
        let (question, reasons, known) = (self.question.clone(), self.sharpener.reasons, self.known());
        stream::iter(windows)
            .map(move |entries| {
                judged(model.clone(), budget.clone(), question.clone(), entries, reasons, known.clone())
            })
            .buffered(RANK_CALLS_MAX)
    }

    /// What may be named in what a model writes: the caller's own words.
    fn known(&self) -> String {
        self.question["asked"].as_str().unwrap_or_default().to_owned()
    }

    /// Takes the judgements of a window; gives what can go out now.
    fn judged(&mut self, judged: Result<Judgements, Trouble>) -> Vec<Event> {
        match judged {
            Ok(judgements) => {
                for (number, judged) in judgements {
                    let at = number - 1;
                    self.order.judge(at, judged.score);
                    self.whys.insert(at, judged.why);
                }
            }
            Err(trouble) => {
                let note = format!("Not all items were ranked by the language model. {}", trouble.words());
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
            }
        }
        let sure = self.order.sure();
        self.give(&sure)
    }

    /// Whether the answer has all of its items.
    fn is_full(&self) -> bool {
        self.given.len() == self.skip + self.count
    }

    /// All items that are left, and how to go on.
    fn rest(&mut self) -> Vec<Event> {
        let rest = self.order.rest();
        let mut events = self.give(&rest);
        if self.found.has_more {
            events.push(Event::Text("\n\nSay *more* for the next ones.\n".to_owned()));
        }
        events
    }

    /// These candidates as the next items, as far as they are of this answer.
    fn give(&mut self, candidates: &[usize]) -> Vec<Event> {
        let before = self.given.len().max(self.skip);
        let room = self.skip + self.count - self.given.len();
        self.given.extend(candidates.iter().take(room));
        let new: Vec<usize> = self.given.get(before..).unwrap_or_default().to_vec();
        let (Some(first), words) = (new.first(), self.words()) else { return Vec::new() };
        let mut texts = Vec::new();
        let mut lead = None;
        if before == self.skip {
            lead = Some(words.lead(&self.asked, &self.found, &self.hits[*first], self.count));
            texts.extend(lead.iter().map(|lead| Event::Text(format!("{lead}\n"))));
        }
        for (place, at) in new.iter().enumerate() {
            let (number, hit) = (self.asked.offset + before - self.skip + place + 1, &self.hits[*at]);
            texts.push(Event::Text(words.item(number, hit, &self.asked.text, self.why(*at))));
            texts.push(Event::Part(Part::data(hit.item.clone())));
        }
        self.lead = lead.unwrap_or_else(|| std::mem::take(&mut self.lead));
        self.tell().into_iter().chain(texts).collect()
    }

    fn words(&self) -> Words<'_> {
        self.desk.words(&self.library, &self.admitted)
    }

    fn why(&self, at: usize) -> &str {
        self.whys.get(&at).map(String::as_str).unwrap_or_default()
    }

    /// The candidates of this answer that were given by now.
    fn shown(&self) -> &[usize] {
        self.given.get(self.skip..).unwrap_or_default()
    }

    /// What is told beside the answer, as it is known by now.
    fn tell(&self) -> Option<Event> {
        let words = self.words();
        let reason = |at: &usize| Reason { why: self.why(*at).to_owned(), ..words.reason(&self.hits[*at]) };
        let score = |at: &usize| match self.order.score(*at) {
            Some(score) => f32::from(score),
            None if self.whys.is_empty() => self.hits[*at].score,
            None => 0.0,
        };
        let findings = Findings {
            summary: self.told_summary(),
            count: self.count,
            more: self.found.has_more,
            scores: self.shown().iter().map(score).collect(),
            reasons: self.shown().iter().map(reason).collect(),
            notes: self.notes.clone(),
            ..self.findings.clone()?
        };
        Some(Event::Part(findings.to_part()))
    }

    /// The answer in a sentence or two, when no better one follows.
    fn told_summary(&self) -> String {
        match self.wants_summary() && self.summary.is_empty() {
            true => String::new(),
            false if self.summary.is_empty() => self.lead.clone(),
            false => self.summary.clone(),
        }
    }

    /// Whether the items are summed up: as the settings say, unless the caller wants items alone.
    fn wants_summary(&self) -> bool {
        self.sharpener.summarizes && !self.admitted.message().wants_list()
    }

    /// A summary of the items that were given, and the words that the model has for it.
    fn summary(&self) -> (Summary, impl Stream<Item = Result<String, Trouble>> + Send + use<>) {
        let numbered =
            || self.shown().iter().enumerate().map(|(place, at)| (self.asked.offset + place + 1, &self.hits[*at]));
        let entries: Vec<Value> = numbered().filter_map(|(n, hit)| shown(n, hit)).take(SUMMARIZED_MAX).collect();
        let sources = numbered().map(|(number, hit)| Source { number, url: hit.url.clone() });
        let prompt = summary::prompt(&self.question, &entries);
        let words = self.sharpener.model.words(&self.budget, prompt, self.budget.end_by);
        (Summary::new(sources.collect(), self.known()), words)
    }

    /// The next words of the summary.
    fn summed_up(&mut self, ready: &str) -> Option<Event> {
        if ready.is_empty() {
            return None;
        }
        let is_first = self.summary.is_empty();
        let ready = if is_first { ready.trim_start() } else { ready };
        self.summary.push_str(ready);
        Some(Event::Text(if is_first { format!("\n\n{ready}") } else { ready.to_owned() }))
    }

    /// What is left of the summary, and what is told beside the answer now that all of it is known.
    fn summary_ended(&mut self, summary: Summary, trouble: Option<Trouble>) -> Vec<Event> {
        let (last, end) = summary.finish();
        let mut events = Vec::new();
        match (trouble, end) {
            (Some(trouble), _) => self
                .notes
                .push(format!("The summary is not that of the language model, or not all of it. {}", trouble.words())),
            (None, End::Grounded) => events.extend(self.summed_up(&last)),
            (None, End::NotAnswered) => events.extend(self.summed_up(NOT_ANSWERED)),
            (None, End::Groundless) => {
                self.notes.push("The language model gave no summary that cites the items.".to_owned())
            }
        }
        if self.summary.is_empty() {
            self.summary.clone_from(&self.lead);
        }
        events.extend(self.tell());
        events
    }
}

/// The judgements of one window.
async fn judged(
    model: Arc<Model>,
    budget: Arc<Budget>,
    question: Value,
    entries: Vec<Value>,
    reasons: bool,
    known: String,
) -> Result<Judgements, Trouble> {
    let numbers: Vec<usize> = entries.iter().filter_map(|entry| usize::try_from(entry["n"].as_u64()?).ok()).collect();
    let prompt: Prompt = rank::prompt(&question, &entries, reasons);
    model.answer(&budget, prompt, budget.rank_by, |text| rank::read(text, &numbers, &known)).await
}
