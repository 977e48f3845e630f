//! Wraps an agent and counts its questions and their outcomes, without knowing who asks.

use std::sync::Arc;

use async_stream::stream;
use forecourt_core::agent::AddressedFiles;
use forecourt_core::findings::{Suggestion, SuggestionKind};
use forecourt_core::{Admitted, Agent, Clock, Ending, Event, EventStream, Language, Part, Timestamp};
use futures::StreamExt;
use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::AnswerOutcome;
use crate::limits::RESULTS_NOTED_MAX;
use crate::log::{Error, QuestionLog};

/// An agent, and the log that counts what it is asked.
pub struct LoggedAgent {
    agent: Arc<dyn Agent>,
    /// Whether it finds items, so that an answer without any found nothing.
    finds: bool,
    log: Arc<QuestionLog>,
    clock: Arc<dyn Clock>,
}

impl LoggedAgent {
    /// Counts what `agent` is asked. `finds`: whether it answers with items.
    pub fn new(agent: Arc<dyn Agent>, finds: bool, log: Arc<QuestionLog>, clock: Arc<dyn Clock>) -> Self {
        Self { agent, finds, log, clock }
    }
}

impl LoggedAgent {
    /// What somebody types who is not done: it is counted as nothing, and what several others have asked comes first.
    fn suggesting(&self, admitted: Admitted, handle: String, typed: String) -> EventStream {
        let (log, mut events) = (self.log.clone(), self.agent.handle(admitted));
        Box::pin(stream! {
            while let Some(mut event) = events.next().await {
                if let Event::Findings(findings) = &mut event {
                    let asked = asked_by_others(log.clone(), handle.clone(), typed.clone()).await;
                    findings.suggestions.splice(0..0, asked);
                }
                yield event;
            }
        })
    }
}

/// What several people have asked that begins so. A log that can't be read costs nobody the rest of the suggestions.
async fn asked_by_others(log: Arc<QuestionLog>, handle: String, typed: String) -> Vec<Suggestion> {
    let asked = match spawn_blocking(move || log.suggestions(&handle, &typed)).await {
        Ok(Ok(asked)) => asked,
        Ok(Err(error)) => {
            tracing::warn!(%error, "asked questions could not be read");
            Vec::new()
        }
        Err(_) => Vec::new(),
    };
    asked.into_iter().map(|text| Suggestion { text, kind: SuggestionKind::Question }).collect()
}

impl Agent for LoggedAgent {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let (log, clock, finds) = (self.log.clone(), self.clock.clone(), self.finds);
        let handle = admitted.message().recipient.as_str().to_owned();
        let question = admitted.message().addressed_text();
        if admitted.message().search.completes {
            return self.suggesting(admitted, handle, question);
        }
        // A turn that goes on with a conversation ("japanese ones under 20") says nothing to anybody else.
        let stands_alone = admitted.message().history.is_empty();
        let search = &admitted.message().search;
        // Where several agents are asked at once, that one of them has nothing is no question without a result.
        let (asks_several, on_page) = (search.asks_several, search.findings.with_facets());
        let who = admitted.message().sender.account();
        let mut events = self.agent.handle(admitted);
        Box::pin(stream! {
            let mut seen = AnswerObservation::default();
            let mut shown = Vec::new();
            while let Some(event) = events.next().await {
                // Only pages have links that tell of a click: what programs are given is never clicked.
                if on_page && let Event::Part(Part::Data(data)) = &event {
                    note_items(&mut shown, &data.data);
                }
                if let Some(outcome) = seen.outcome(&event, finds)
                    && !(asks_several && outcome == AnswerOutcome::NothingFound)
                    && let Err(error) = counted(&log, (&handle, &question), outcome, &shown, clock.now())
                {
                    // Counting serves the operator: its failure must not cost the caller the answer.
                    tracing::warn!(%error, "a question could not be counted");
                }
                if stands_alone
                    && let Event::Ending(Ending::Complete) = &event
                    && let Err(error) = log.note_person(&handle, &question, &who, clock.now())
                {
                    tracing::warn!(%error, "a question could not be counted");
                }
                yield event;
            }
        })
    }

    fn has_host(&self, host: &str) -> bool {
        self.agent.has_host(host)
    }

    fn addressed_files(&self) -> AddressedFiles {
        self.agent.addressed_files()
    }

    fn answer_language(&self, wanted: Option<&Language>, own: &Language) -> Language {
        self.agent.answer_language(wanted, own)
    }
}

/// Counts a question and the results that were shown for it.
fn counted(
    log: &QuestionLog,
    (agent, question): (&str, &str),
    outcome: AnswerOutcome,
    shown: &[String],
    now: Timestamp,
) -> Result<(), Error> {
    log.count(agent, question, outcome, now)?;
    log.note_shown(agent, question, shown, now)
}

/// Notes the items of a data part as pages know them, [`RESULTS_NOTED_MAX`] at most.
fn note_items(shown: &mut Vec<String>, data: &Value) {
    let items = data.as_array().map_or(std::slice::from_ref(data), Vec::as_slice);
    let room = RESULTS_NOTED_MAX.saturating_sub(shown.len());
    // One without an address has its place all the same.
    shown.extend(items.iter().take(room).map(|item| item_address(item).unwrap_or_default().to_owned()));
}

/// What an item is known by: its address, else its id, of itself or of the object that it wraps.
fn item_address(item: &Value) -> Option<&str> {
    fn own(fields: &Value) -> Option<&str> {
        let texts = ["url", "@id"].iter().filter_map(|key| fields.get(*key)?.as_str());
        texts.into_iter().find(|text| !text.trim().is_empty())
    }
    let wrapped = item.get("schema_object").map(|inner| inner.as_array().and_then(|all| all.first()).unwrap_or(inner));
    own(item).or_else(|| own(wrapped?))
}

/// What has been seen of an answer so far, by which its outcome is told.
#[derive(Debug, Default)]
struct AnswerObservation {
    has_items: bool,
    is_not_understood: bool,
}

impl AnswerObservation {
    /// What became of the question, at the last event of its answer. A question back, and an answer that was
    /// cancelled, count as nothing.
    fn outcome(&mut self, event: &Event, finds: bool) -> Option<AnswerOutcome> {
        match event {
            Event::Part(Part::Data(_)) => self.has_items = true,
            Event::Findings(findings) => self.is_not_understood |= !findings.not_understood.is_empty(),
            Event::Ending(Ending::Complete | Ending::Message(_)) => {
                return Some(match (finds && !self.has_items, self.is_not_understood) {
                    (true, _) => AnswerOutcome::NothingFound,
                    (false, true) => AnswerOutcome::NotUnderstood,
                    (false, false) => AnswerOutcome::Answered,
                });
            }
            Event::Ending(Ending::Declined { .. } | Ending::Failed { .. }) => return Some(AnswerOutcome::NothingFound),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::{
        Findings, FindingsDetail, Handle, Message, MessageId, Policy, Role, SearchOptions, Timestamp, Turn,
    };
    use forecourt_testkit::{HandClock, ScriptedAgent, Step, card};
    use serde_json::json;

    use super::*;

    fn outcome(events: &[Event], finds: bool) -> Option<AnswerOutcome> {
        let mut seen = AnswerObservation::default();
        events.iter().find_map(|event| seen.outcome(event, finds))
    }

    #[test]
    fn the_last_event_says_what_became_of_a_question() {
        let (item, end) = (Event::Part(Part::data(json!({}))), Event::Ending(Ending::Complete));
        let findings = Findings { not_understood: vec!["gluten".to_owned()], ..Findings::default() };
        let unread = Event::Findings(Box::new(findings));
        assert_eq!(outcome(&[item.clone(), end.clone()], true), Some(AnswerOutcome::Answered));
        assert_eq!(outcome(std::slice::from_ref(&end), true), Some(AnswerOutcome::NothingFound));
        assert_eq!(outcome(std::slice::from_ref(&end), false), Some(AnswerOutcome::Answered));
        assert_eq!(outcome(&[unread, item, end], true), Some(AnswerOutcome::NotUnderstood));
        assert_eq!(outcome(&[Event::Ending(Ending::failed("x"))], false), Some(AnswerOutcome::NothingFound));
        assert_eq!(outcome(&[Event::Ending(Ending::Canceled)], true), None);
    }

    async fn ask(agent: &LoggedAgent, text: &str, who: u8, goes_on: bool, completes: bool) -> Vec<Event> {
        let handle = Handle::parse("chef").unwrap();
        let id = MessageId::parse("m1").unwrap();
        let mut message = Message::new(id, handle, vec![Part::text(text)], "test", Timestamp::UNIX_EPOCH);
        message.sender.peer = Some([10, 0, 0, who].into());
        message.search.completes = completes;
        message.history = goes_on.then(|| Turn::text(Role::User, "concerts")).into_iter().collect();
        let admitted = Policy::new(Vec::new()).admit(Arc::new(card("chef")), message, &[]).await.unwrap();
        agent.handle(admitted).collect().await
    }

    #[tokio::test]
    async fn a_turn_that_goes_on_with_a_conversation_is_suggested_to_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(QuestionLog::new(folder.path().join("questions.db"), 30));
        let found = Event::Findings(Box::default());
        let steps = [Event::Part(Part::data(json!({}))), found, Event::Ending(Ending::Complete)];
        let inner = ScriptedAgent::new(steps.map(Step::Do).to_vec());
        let agent = LoggedAgent::new(inner, true, log.clone(), Arc::new(HandClock::new()));
        for who in 1..4 {
            ask(&agent, "japanese concerts", who, false, false).await;
            ask(&agent, "japanese ones", who, true, false).await;
        }
        let suggested = async |typed: &str| -> Vec<String> {
            let events = ask(&agent, typed, 9, false, true).await;
            let findings = events.into_iter().find_map(|event| match event {
                Event::Findings(findings) => Some(findings),
                _ => None,
            });
            findings.unwrap().suggestions.into_iter().map(|suggestion| suggestion.text).collect()
        };
        assert_eq!(suggested("japanese").await, ["japanese concerts"]);
        assert_eq!(log.report(9, HandClock::new().now()).unwrap().asked, 6, "it is counted all the same");
    }

    #[tokio::test]
    async fn what_pages_show_is_counted_and_that_one_of_several_agents_has_nothing_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(QuestionLog::new(folder.path().join("questions.db"), 30));
        let items = json!([{"url": "https://a.example/1"}, {"name": "no address"}, {"schema_object": [{"@id": "b"}]}]);
        let found = vec![Step::Do(Event::Part(Part::data(items))), Step::Do(Event::Ending(Ending::Complete))];
        let nothing = vec![Step::Do(Event::Ending(Ending::Complete))];
        let ask = async |steps: &[Step], text: &str, findings: FindingsDetail, asks_several: bool| {
            let id = MessageId::parse("m1").unwrap();
            let handle = Handle::parse("chef").unwrap();
            let search = SearchOptions { findings, asks_several, ..SearchOptions::default() };
            let message = Message::new(id, handle, vec![Part::text(text)], "test", Timestamp::UNIX_EPOCH);
            let message = Message { search, ..message };
            let admitted = Policy::new(Vec::new()).admit(Arc::new(card("chef")), message, &[]).await.unwrap();
            let inner = ScriptedAgent::new(steps.to_vec());
            let agent = LoggedAgent::new(inner, true, log.clone(), Arc::new(HandClock::new()));
            let _: Vec<Event> = agent.handle(admitted).collect().await;
        };
        ask(&found, "soup", FindingsDetail::Facets, false).await;
        ask(&found, "cake", FindingsDetail::Summary, false).await;
        ask(&nothing, "nowhere", FindingsDetail::Facets, true).await;
        ask(&nothing, "here", FindingsDetail::Facets, false).await;
        let report = log.report(9, HandClock::new().now()).unwrap();
        let shown: Vec<_> = report.never_clicked.iter().map(|one| (one.item.as_str(), one.place)).collect();
        assert_eq!(shown, [("b", 3.0), ("https://a.example/1", 1.0)], "programs are shown nothing to click");
        let asked: Vec<&str> = report.top.iter().map(|one| one.question.as_str()).collect();
        assert_eq!(asked, ["cake", "here", "soup"]);
    }
}
