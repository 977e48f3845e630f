//! A reranked answer from its candidates to its last event.
//!
//! Items go out when all windows are ranked or the time is over: the order is the model's over all of them, and
//! the first window may hold less than the last. The summary comes last, sentence by sentence. A model that
//! is of no help leaves the answer that the search gives by itself, with a note that says so.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_stream::stream;
use forecourt_core::findings::{ItemFindings, MatchReason};
use forecourt_core::{Admitted, Ending, Event, EventStream, Findings, Part};
use forecourt_index::Hit;
use forecourt_sentences::Sentences;
use futures::{Stream, StreamExt, pin_mut, stream};
use serde_json::Value;

use super::Reranker;
use super::budget::Budget;
use super::candidates::{Candidates, find_candidates};
use super::clean::CitedItem;
use super::order::RankOrder;
use super::prompt_item::prompt_entry;
use super::rank::{self, Judgements};
use super::summary::{self, NOT_ANSWERED, Summary, SummaryEnd};
use super::{error::RerankError, model::RerankModel};
use crate::answer_text::{AnswerText, Lead};
use crate::engine::{SearchEngine, sentences};
use crate::limits::{RANK_CALLS_MAX, RANK_WINDOW_ITEMS, SUMMARIZED_MAX};

/// Who decided on the order.
const ORDERED: &str = "A language model put the items in their order.";

/// The events of an answer.
pub(crate) fn events(engine: Arc<SearchEngine>, reranker: Arc<Reranker>, admitted: Arc<Admitted>) -> EventStream {
    Box::pin(stream! {
        let mut answer = match find_candidates(engine, reranker, admitted).await {
            Ok(begun) => RankedAnswer::new(begun),
            Err(told) => {
                for event in told {
                    yield event;
                }
                return;
            }
        };
        let ranking = answer.ranking().enumerate();
        pin_mut!(ranking);
        while let Some((window, judged)) = ranking.next().await {
            answer.judged(window, judged);
        }
        for event in answer.items() {
            yield event;
        }
        if answer.wants_summary() {
            let (mut summary, words) = answer.summary();
            pin_mut!(words);
            let mut error = None;
            while let Some(next) = words.next().await {
                match next {
                    Ok(words) => {
                        let ready = summary.take(&words);
                        if let Some(event) = answer.summed_up(&ready) {
                            yield event;
                            if let Some(told) = answer.partial_findings() {
                                yield told;
                            }
                        }
                    }
                    Err(reason) => error = Some(reason),
                }
            }
            for event in answer.summary_ended(summary, error) {
                yield event;
            }
        }
        yield Event::Ending(Ending::Complete);
    })
}

/// An answer on its way.
struct RankedAnswer {
    begun: Candidates,
    order: RankOrder,
    /// Why candidates are where they are.
    whys: BTreeMap<usize, String>,
    /// Candidates that were given, in their order, those of earlier answers first.
    given: Vec<usize>,
    /// The answer in a sentence or two, by the search itself.
    lead: Lead,
    /// The same by the model.
    summary: String,
}

impl RankedAnswer {
    fn new(begun: Candidates) -> Self {
        Self {
            order: RankOrder::new(begun.hits.len()),
            begun,
            whys: BTreeMap::new(),
            given: Vec::new(),
            lead: Lead::default(),
            summary: String::new(),
        }
    }

    /// The judgements of all windows, in their order, as they come.
    fn ranking(&self) -> impl Stream<Item = Result<Judgements, RerankError>> + Send + use<> {
        let begun = &self.begun;
        let hits = if begun.is_ranked { begun.hits.as_slice() } else { &[] };
        let entries: Vec<Option<Value>> = hits.iter().enumerate().map(|(at, hit)| prompt_entry(at + 1, hit)).collect();
        let windows = entries.chunks(RANK_WINDOW_ITEMS).map(|window| window.iter().flatten().cloned().collect());
        let windows: Vec<Vec<Value>> = windows.collect();
        let judge = Arc::new(RankingCall {
            model: begun.reranker.model.clone(),
            budget: begun.budget.clone(),
            question: begun.question.clone(),
            gives_reasons: begun.reranker.reasons,
            known: self.known(),
        });
        // `buffered` keeps their order, by which a window is known.
        stream::iter(windows).map(move |entries| judge.clone().judged(entries)).buffered(RANK_CALLS_MAX)
    }

    /// What may be named in what a model writes: the caller's own words.
    fn known(&self) -> String {
        self.begun.question["asked"].as_str().unwrap_or_default().to_owned()
    }

    /// Takes the judgements of a window.
    fn judged(&mut self, window: usize, judged: Result<Judgements, RerankError>) {
        match judged {
            Ok(judgements) => {
                let is_judged = !judgements.is_empty();
                for (number, judged) in judgements {
                    let at = number - 1;
                    self.order.judge(at, judged.score);
                    self.whys.insert(at, judged.why);
                }
                let first = window * RANK_WINDOW_ITEMS;
                if is_judged {
                    self.order.pass_over(first..first + RANK_WINDOW_ITEMS);
                }
            }
            Err(error) => {
                let note = format!("{} {}", self.say().model_not_all_ranked(), error.words());
                if !self.begun.notes.contains(&note) {
                    self.begun.notes.push(note);
                }
            }
        }
    }

    /// All items of the answer, and how to go on.
    fn items(&mut self) -> Vec<Event> {
        if self.order.is_judged() {
            self.begun.notes.insert(0, ORDERED.to_owned());
        }
        let mut events = self.give(&self.order.best_first());
        if self.begun.found.has_more {
            events.push(Event::Text(self.words().more()));
        }
        events
    }

    /// The first of these candidates, as far as they are of this answer or of those before it.
    fn give(&mut self, candidates: &[usize]) -> Vec<Event> {
        self.given.extend(candidates.iter().take(self.begun.skip + self.begun.count));
        if self.given.len() <= self.begun.skip {
            return Vec::new();
        }
        let lead = self.lead_in();
        let items: Vec<Event> = (self.begun.skip..self.given.len()).flat_map(|place| self.item(place)).collect();
        self.tell().into_iter().chain([lead]).chain(items).collect()
    }

    /// What stands before the first item.
    fn lead_in(&mut self) -> Event {
        let (begun, mut best) = (&self.begun, self.hit(self.begun.skip).clone());
        if prompt_entry(1, &best).is_none() {
            // Text that tries to steer models is not quoted in the host's own sentence.
            best.snippet.clear();
        }
        let lead = self.words().lead(&begun.asked, &begun.found, &best, begun.count);
        self.lead = lead;
        Event::Text(format!("{}\n", self.lead.whole()))
    }

    /// The item at this place among those that were given, in words and as data.
    fn item(&self, place: usize) -> [Event; 2] {
        let (hit, why) = (self.hit(place), self.why(self.given[place]));
        let words = self.words().item(self.number(place), hit, &self.begun.asked.text, why);
        [Event::Text(words), Event::Part(Part::data(hit.item.clone()))]
    }

    fn hit(&self, place: usize) -> &Hit {
        &self.begun.hits[self.given[place]]
    }

    /// The number under which an item is listed.
    fn number(&self, place: usize) -> usize {
        self.begun.asked.offset + place - self.begun.skip + 1
    }

    fn words(&self) -> AnswerText<'_> {
        self.begun.engine.words(&self.begun.library, &self.begun.admitted)
    }

    fn say(&self) -> Sentences {
        sentences(&self.begun.admitted)
    }

    fn why(&self, at: usize) -> &str {
        self.whys.get(&at).map(String::as_str).unwrap_or_default()
    }

    /// The candidates of this answer that were given by now.
    fn given_items(&self) -> &[usize] {
        self.given.get(self.begun.skip..).unwrap_or_default()
    }

    /// The findings beside the answer, as far as they are known.
    fn tell(&self) -> Option<Event> {
        let words = self.words();
        let reason = |at: &usize| MatchReason { why: self.why(*at).to_owned(), ..words.reason(&self.begun.hits[*at]) };
        let score = |at: &usize| match self.order.score(*at) {
            Some(score) => f32::from(score),
            // Scores of the search and of the model are no scale: beside judged items, an unjudged one has none.
            None if self.whys.is_empty() => self.begun.hits[*at].score,
            None => 0.0,
        };
        let findings = Findings {
            summary: self.summary_or_lead(),
            caveats: self.lead.caveats.clone(),
            count: self.begun.count,
            more: self.begun.found.has_more,
            items: self
                .given_items()
                .iter()
                .map(|at| ItemFindings { score: score(at), reason: Some(reason(at)) })
                .collect(),
            notes: self.begun.notes.clone(),
            ..self.begun.findings.clone()?
        };
        Some(Event::Findings(Box::new(findings)))
    }

    /// The answer in a sentence or two, when no better one follows.
    fn summary_or_lead(&self) -> String {
        match self.wants_summary() && self.summary.is_empty() {
            true => String::new(),
            false if self.summary.is_empty() => self.lead.answer.clone(),
            false => self.summary.clone(),
        }
    }

    /// Whether the items are summed up: as the settings say, unless the caller wants items alone.
    fn wants_summary(&self) -> bool {
        self.begun.reranker.summarizes && !self.begun.admitted.message().search.list_only
    }

    /// A summary of the items that were given, and the words that the model has for it.
    fn summary(&self) -> (Summary, impl Stream<Item = Result<String, RerankError>> + Send + use<>) {
        let numbered = || (self.begun.skip..self.given.len()).map(|place| (self.number(place), self.hit(place)));
        let entries: Vec<Value> = numbered().filter_map(|(n, hit)| prompt_entry(n, hit)).take(SUMMARIZED_MAX).collect();
        let sources = numbered().map(|(number, hit)| CitedItem { number, url: hit.url.clone() });
        let prompt = summary::prompt(&self.begun.question, &entries);
        let words = self.begun.reranker.model.words(&self.begun.budget, prompt, self.begun.budget.end_by);
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

    /// The summary so far, for a page that shows it as it comes.
    fn partial_findings(&self) -> Option<Event> {
        self.tell().filter(|_| self.begun.admitted.message().search.findings.with_facets())
    }

    /// What is left of the summary, and what is told beside the answer now that all of it is known.
    fn summary_ended(&mut self, summary: Summary, error: Option<RerankError>) -> Vec<Event> {
        let (last, end) = summary.finish();
        let mut events = Vec::new();
        match (error, end) {
            (Some(error), _) => {
                let note = self.say().model_summary_cut();
                self.begun.notes.push(format!("{note} {}", error.words()));
            }
            (None, SummaryEnd::Grounded) => events.extend(self.summed_up(&last)),
            (None, SummaryEnd::NotAnswered) => events.extend(self.summed_up(NOT_ANSWERED)),
            (None, SummaryEnd::Groundless) => {
                let note = self.say().model_summary_groundless();
                self.begun.notes.push(note);
            }
        }
        if self.summary.is_empty() {
            self.summary.clone_from(&self.lead.answer);
        }
        events.extend(self.tell());
        events
    }
}

/// Who judges windows of items.
struct RankingCall {
    model: Arc<RerankModel>,
    budget: Arc<Budget>,
    question: Value,
    gives_reasons: bool,
    /// What may be named in reasons.
    known: String,
}

impl RankingCall {
    async fn judged(self: Arc<Self>, entries: Vec<Value>) -> Result<Judgements, RerankError> {
        if entries.is_empty() {
            return Ok(Judgements::new());
        }
        let numbers = entries.iter().filter_map(|entry| usize::try_from(entry["n"].as_u64()?).ok());
        let numbers: Vec<usize> = numbers.collect();
        let prompt = rank::prompt(&self.question, &entries, self.gives_reasons);
        let read = |text: &str| rank::read(text, &numbers, &self.known);
        self.model.answer(&self.budget, prompt, self.budget.rank_by, read).await
    }
}
