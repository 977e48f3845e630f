//! Wraps an agent and counts its questions and their outcomes, without knowing who asks.

use std::sync::Arc;

use async_stream::stream;
use forecourt_core::agent::AddressedFiles;
use forecourt_core::findings::{Suggestion, SuggestionKind};
use forecourt_core::{Admitted, Agent, Clock, Ending, Event, EventStream, Language, Part};
use futures::StreamExt;
use tokio::task::spawn_blocking;

use crate::AnswerOutcome;
use crate::log::QuestionLog;

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
        let who = admitted.message().sender.account();
        let mut events = self.agent.handle(admitted);
        Box::pin(stream! {
            let mut seen = AnswerObservation::default();
            while let Some(event) = events.next().await {
                if let Some(outcome) = seen.outcome(&event, finds)
                    && let Err(error) = log.count(&handle, &question, outcome, clock.now())
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
    use forecourt_core::{Findings, Handle, Message, MessageId, Policy, Role, Timestamp, Turn};
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
}
