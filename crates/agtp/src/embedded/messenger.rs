//! A method as a message to an agent, and what the agent made of it. Base 3.1.

use std::time::Duration;

use forecourt_contract::ScopeSet;
use forecourt_core::policy::Submission;
use forecourt_core::{
    Authority, CollectedReply, Ending, Error, Handle, Message, MessageId, Part, Reply, Sender, TaskId, ThreadId,
};
use forecourt_host::{Host, Run};
use forecourt_identity::Verifier;
use futures::StreamExt;
use serde_json::{Map, Value, json};

use crate::NAME;
use crate::ask::Ask;
use crate::reply::Problem;

/// The outcome of a message to an agent: its answer, or the task that it goes on as.
pub(super) enum CarriedMessage {
    /// The answer was there in time.
    Answered {
        /// What was said.
        answer: CollectedReply,
        /// The task that recorded it, when there is one.
        task: Option<TaskId>,
    },
    /// The agent is still working; its answer will be in this task.
    Working(TaskId),
}

/// Sends messages to agents here, in the name of whoever calls.
#[derive(Clone, Copy)]
pub(super) struct Messenger<'a> {
    host: &'a Host,
    verifier: &'a Verifier,
    ask: &'a Ask,
}

impl<'a> Messenger<'a> {
    pub(super) fn new(host: &'a Host, verifier: &'a Verifier, ask: &'a Ask) -> Self {
        Self { host, verifier, ask }
    }

    /// A message of these parts to an agent here, in the caller's name.
    pub(super) fn message(&self, to: &Handle, parts: Vec<Part>) -> Message {
        let host = self.host;
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
            None if self.host.contract().rules.scope_required => own.within(&ScopeSet::default()),
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
            false => self.verifier.authority(&sender.identities).0.continuing(&own),
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
    pub(super) async fn ask(&self, message: Message) -> Result<CollectedReply, Problem> {
        require_answer(self.host.receive(message, Run::without_task()).await?.collect().await)
    }

    /// Asks an agent and waits for a while; then the host goes on alone.
    pub(super) async fn run(&self, message: Message, run: Run, patience: Duration) -> Result<CarriedMessage, Problem> {
        let reply = self.host.receive(message, run).await?;
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

    /// Hands a message to an agent for work in the background.
    pub(super) async fn hand_over(&self, message: Message) -> Result<Reply, Problem> {
        Ok(self.host.receive(message, Run::in_background(None)).await?)
    }

    /// The message as an agent would be given it, after its gate: with what its attachments hold.
    pub(super) async fn with_attachments(&self, message: Message) -> Result<Result<Message, Problem>, Error> {
        Ok(self.host.with_attachments(message).await?.map_err(|refusal| (*refusal).into()))
    }

    /// Counts a call that no agent is asked for, since nobody else does.
    pub(super) fn meter(&self) -> Result<(), Problem> {
        self.host.meter(self.ask.call.caller.sender.peer).map_err(|part| Problem::from(*part))
    }
}

/// An answer that says something, or asks back. Whatever else it ended in is a problem.
pub(super) fn require_answer(answer: CollectedReply) -> Result<CollectedReply, Problem> {
    Problem::of_ending(&answer.ending).map_or(Ok(answer), Err)
}

/// What an agent said, as members of an answer: its words, its parts, and what it asks back.
pub(super) fn members_of(answer: &CollectedReply) -> Map<String, Value> {
    let mut members = Map::new();
    members.insert("content".to_owned(), answer.text().into());
    let others: Vec<&Part> = answer.parts.iter().filter(|part| part.as_text().is_none()).collect();
    if !others.is_empty() {
        members.insert("parts".to_owned(), json!(others));
    }
    if let Some(question) = answer.ending.question() {
        members.insert("question".to_owned(), json!(question));
    }
    members
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

/// How work stands that nobody goes on with.
pub(super) fn work_status(ending: &Ending) -> &'static str {
    if ending.question().is_some() { "input_required" } else { "completed" }
}
