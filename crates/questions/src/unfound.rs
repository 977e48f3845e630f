//! Counts questions that an agent found nothing for, whether or not the log of questions is kept: a number for each
//! agent, and nothing of what was asked.

use std::sync::Arc;

use forecourt_core::agent::AddressedFiles;
use forecourt_core::{Admitted, Agent, Ending, Event, EventStream, Handle, Language, Part};
use futures::StreamExt;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// How many questions each agent found nothing for.
#[derive(Debug, Default)]
pub struct UnfoundQuestions(Family<AgentLabel, Counter>);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AgentLabel {
    agent: String,
}

/// An agent that answers with items, and the counter of answers without any.
struct CountedAgent {
    agent: Arc<dyn Agent>,
    unfound: Counter,
}

impl UnfoundQuestions {
    /// Names it in `registry`.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Questions that nothing was found for, by agent";
        registry.register("questions_unfound", help, self.0.clone());
    }

    /// Counts what `agent` finds nothing for.
    pub fn counted(&self, handle: &Handle, agent: Arc<dyn Agent>) -> Arc<dyn Agent> {
        let unfound = self.0.get_or_create(&AgentLabel { agent: handle.as_str().to_owned() }).clone();
        Arc::new(CountedAgent { agent, unfound })
    }
}

impl Agent for CountedAgent {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let search = &admitted.message().search;
        // Who is not done typing asks nothing yet, and of several agents asked at once one may well have nothing.
        let counts = !search.completes && !search.asks_several;
        let events = self.agent.handle(admitted);
        if !counts {
            return events;
        }
        let (unfound, mut has_items) = (self.unfound.clone(), false);
        Box::pin(events.inspect(move |event| match event {
            Event::Part(Part::Data(_)) => has_items = true,
            Event::Ending(Ending::Complete | Ending::Message(_)) if !has_items => drop(unfound.inc()),
            _ => {}
        }))
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

#[cfg(test)]
mod tests {
    use forecourt_core::{Message, MessageId, Policy, Timestamp};
    use forecourt_testkit::{ScriptedAgent, Step, card};
    use serde_json::json;

    use super::*;

    async fn unfound(events: &[Event], change: impl Fn(&mut Message)) -> u64 {
        let (counted, chef) = (UnfoundQuestions::default(), Handle::parse("chef").unwrap());
        let agent = counted.counted(&chef, ScriptedAgent::new(events.iter().cloned().map(Step::Do).collect()));
        let id = MessageId::parse("m1").unwrap();
        let mut message = Message::new(id, chef, vec![Part::text("soup")], "test", Timestamp::UNIX_EPOCH);
        change(&mut message);
        let admitted = Policy::new(Vec::new()).admit(Arc::new(card("chef")), message, &[]).await.unwrap();
        let _: Vec<Event> = agent.handle(admitted).collect().await;
        counted.0.get_or_create(&AgentLabel { agent: "chef".to_owned() }).get()
    }

    #[tokio::test]
    async fn a_whole_answer_without_items_counts_and_no_other() {
        let (item, end) = (Event::Part(Part::data(json!({}))), Event::Ending(Ending::Complete));
        let nothing = std::slice::from_ref(&end);
        assert_eq!(unfound(nothing, |_| {}).await, 1);
        assert_eq!(unfound(&[item, end.clone()], |_| {}).await, 0);
        assert_eq!(unfound(&[Event::Ending(Ending::failed("x"))], |_| {}).await, 0);
        assert_eq!(unfound(nothing, |message| message.search.completes = true).await, 0);
        assert_eq!(unfound(nothing, |message| message.search.asks_several = true).await, 0);
    }
}
