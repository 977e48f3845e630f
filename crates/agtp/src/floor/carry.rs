//! A method as a message to an agent, and what the agent made of it. Base 3.1.

use std::time::Duration;

use forecourt_contract::ScopeSet;
use forecourt_core::policy::Submission;
use forecourt_core::{
    AgentCard, Authority, CollectedReply, Ending, Handle, Message, MessageId, Part, Sender, TaskId, ThreadId,
};
use forecourt_host::Run;
use futures::StreamExt;
use serde_json::{Map, Value, json};

use super::Floor;
use crate::NAME;
use crate::reply::Problem;

/// What came of a message that the host keeps working on.
pub(super) enum CarriedMessage {
    /// The answer was there in time.
    Answered {
        /// What was said.
        answer: CollectedReply,
        /// The task that recorded it, when there is one.
        task: Option<TaskId>,
    },
    /// It goes on as this task.
    Working(TaskId),
}

impl Floor<'_> {
    /// A message of these parts to an agent here, in the caller's name.
    pub(super) fn message(&self, to: &Handle, parts: Vec<Part>) -> Message {
        let host = &self.service.host;
        let named = self.ask.call.thread.request_id.as_deref().and_then(MessageId::parse);
        let id = named.unwrap_or_else(|| MessageId::mint(host.entropy().as_ref()));
        Message {
            sender: self.sender(),
            thread: self.thread(),
            // Agents that call endpoints that ask agents come to an end as chains of agents do.
            hop: self.ask.call.depth,
            submission: self.submission(),
            ..Message::new(id, to.clone(), parts, NAME, host.clock().now())
        }
    }

    /// The caller, whose agents may do no more in its name than it claims: nothing that needs a scope when
    /// it claims none although the host wants claims, as with the endpoints that it calls itself. 8.7.
    fn sender(&self) -> Sender {
        let own = self.ask.call.caller.authority().clone();
        self.acting(match own.claimed() {
            None if self.service.contract().rules.scope_required => own.within(&ScopeSet::default()),
            _ => own.handed_on(),
        })
    }

    /// The caller, in whose name this may be done. A name that was only claimed grants nothing, but what was proven
    /// beside it does.
    pub(super) fn acting(&self, own: Authority) -> Sender {
        let caller = &self.ask.call.caller;
        let sender = caller.sender.as_ref().clone();
        let authority = match caller.is_proven {
            true => own,
            false => self.service.verifier.authority(&sender.identities).0.continuing(&own),
        };
        Sender { authority, ..sender }
    }

    /// What the caller brings to go on after a refusal. PolicyPart 5.5.
    fn submission(&self) -> Option<Box<Submission>> {
        let state = self.ask.state.clone()?;
        Some(Box::new(Submission { state: Some(state), payment: None }))
    }

    /// The conversation that the caller's session is. A name that was only claimed is one machine's.
    fn thread(&self) -> Option<ThreadId> {
        let call = &self.ask.call;
        let caller = &call.caller;
        let (session, agent) = (call.thread.session_id.as_deref()?, caller.agent_id.as_deref()?);
        match (caller.is_proven, caller.sender.peer) {
            (true, _) => ThreadId::adopt_for(agent, session),
            (false, Some(peer)) => ThreadId::adopt_for(&format!("{agent}|{peer}"), session),
            (false, None) => None,
        }
    }

    /// Asks an agent and waits for its answer. A question back is an answer.
    pub(super) async fn heard(&self, message: Message) -> Result<CollectedReply, Problem> {
        answered(self.service.host.receive(message, Run::without_task()).await?.collect().await)
    }

    /// Asks an agent and waits for a while; then the host goes on alone.
    pub(super) async fn carried(
        &self,
        message: Message,
        run: Run,
        patience: Duration,
    ) -> Result<CarriedMessage, Problem> {
        let reply = self.service.host.receive(message, run).await?;
        let (task, mut events) = (reply.task, reply.events);
        let mut gathered = forecourt_core::reply::ReplyAccumulator::default();
        let rest = async {
            while let Some(event) = events.next().await {
                if let Some(ending) = gathered.take(event) {
                    return ending;
                }
            }
            Ending::unfinished()
        };
        let ending = match &task {
            // Nobody keeps it going but us.
            None => Some(rest.await),
            Some(_) => tokio::time::timeout(patience, rest).await.ok(),
        };
        match (ending, task) {
            (None, Some(task)) => Ok(CarriedMessage::Working(task)),
            (ending, task) => {
                let ending = ending.unwrap_or_else(Ending::unfinished);
                Ok(CarriedMessage::Answered { answer: gathered.finish(ending), task })
            }
        }
    }

    /// How an agent here describes itself.
    pub(super) fn card(&self, handle: &Handle) -> Option<&AgentCard> {
        self.service.host.directory().find(handle).map(|resident| resident.card.as_ref())
    }
}

/// An answer that says something, or asks back. Whatever else it ended in is a problem.
pub(super) fn answered(answer: CollectedReply) -> Result<CollectedReply, Problem> {
    Problem::of_ending(&answer.ending).map_or(Ok(answer), Err)
}

/// What an agent said, as members of an answer: its words, its parts, and what it asks back.
pub(super) fn said(answer: &CollectedReply) -> Map<String, Value> {
    let mut said = Map::new();
    said.insert("content".to_owned(), answer.text().into());
    let others: Vec<&Part> = answer.parts.iter().filter(|part| part.as_text().is_none()).collect();
    if !others.is_empty() {
        said.insert("parts".to_owned(), json!(others));
    }
    if let Some(question) = answer.ending.question() {
        said.insert("question".to_owned(), json!(question));
    }
    said
}

/// Text for the agent, then whatever else the caller gave, in one part of data.
pub(super) fn parts<'v>(
    text: impl Into<String>,
    beside: impl IntoIterator<Item = (&'v str, Option<&'v Value>)>,
) -> Vec<Part> {
    let given = beside.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.clone())));
    let data: Map<String, Value> = given.collect();
    let data = (!data.is_empty()).then(|| Part::data(Value::Object(data)));
    std::iter::once(Part::text(text)).chain(data).collect()
}
