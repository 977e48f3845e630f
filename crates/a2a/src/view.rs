//! A task of the host as A2A shows it, the same over every binding and from read to read.

use forecourt_core::message::RECEIPT;
use forecourt_core::reply::ReplyAccumulator;
use forecourt_core::{
    CollectedReply, Ending, Error, Event, Part as CorePart, PolicyPart, Question, Role as Speaker, Task, Turn,
};
use forecourt_host::TaskPermit;
use forecourt_surface::ending::put_code;
use forecourt_surface::usage::put_usage;
use serde_json::{Value, json};

use crate::annotations;
use crate::card::names;
use crate::limits::SNAPSHOT_EVENTS_MAX;
use crate::model::{Artifact, Message, Metadata, Part, Role, Status, Task as Shown};
use crate::parts::{FileBase, PartPlacement, answer, near, of_turn};
use crate::payment;
use crate::policy::{self, OfferOrder};

/// How much of a task is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskDetail {
    /// The newest messages; all for `None`.
    pub(crate) history: Option<u32>,
    /// Whether artifacts are.
    pub(crate) artifacts: bool,
    /// In which order ways to pay are shown.
    pub(crate) offers: OfferOrder,
}

impl TaskDetail {
    /// All messages and all artifacts, with offers in the order in which they were made.
    pub(crate) const ALL: Self = Self { history: None, artifacts: true, offers: OfferOrder::AsMade };
}

/// A task as it stands, with what it has made so far. Files here are under `origin`.
pub(crate) async fn task(task: &TaskPermit, want: TaskDetail, origin: &str) -> Shown {
    let parts = match &task.outcome {
        Some(outcome) if !outcome.parts.is_empty() => outcome.parts.clone(),
        // Still at work, or broken off: what it has given stands in its log.
        Some(_) | None if want.artifacts => so_far(task).await,
        Some(_) | None => Vec::new(),
    };
    let parts = all_near(task, parts).await;
    shown(task, parts, want, origin)
}

/// A settled task as a push notification carries it. Files are given by their address under `origin`.
pub(crate) fn told(task: &Task, origin: &str) -> Shown {
    let parts = task.outcome.as_ref().map(|outcome| outcome.parts.clone()).unwrap_or_default();
    shown(task, parts, TaskDetail::ALL, origin)
}

/// The parts with the bytes of small files in place.
pub(crate) async fn all_near(task: &TaskPermit, parts: Vec<CorePart>) -> Vec<CorePart> {
    let mut near_ones = Vec::with_capacity(parts.len());
    for part in parts {
        near_ones.push(near(task, part).await);
    }
    near_ones
}

/// A task with the parts that it has given.
pub(crate) fn shown(task: &Task, parts: Vec<CorePart>, want: TaskDetail, origin: &str) -> Shown {
    let (artifacts, tools) = made(task, parts, origin);
    let mandates = refusal(task).map(|part| policy::mandates(&policy::outgoing(part, want.offers))).unwrap_or_default();
    let artifacts = if want.artifacts { artifacts.into_iter().chain(mandates).collect() } else { Vec::new() };
    Shown {
        id: task.id.expose().to_owned(),
        context: context(task),
        status: status(task, want.offers),
        artifacts,
        history: history(task, tools, want.history),
        metadata: usage(task),
    }
}

/// The conversation of a task. A task that was begun outside of one is one of its own.
pub(crate) fn context(task: &Task) -> String {
    task.thread.as_ref().map_or_else(|| task.id.expose(), |thread| thread.expose()).to_owned()
}

/// What a task has given so far.
async fn so_far(task: &TaskPermit) -> Vec<CorePart> {
    let events = log(task).await.unwrap_or_default();
    gathered(events.into_iter().map(|(_, event)| event))
}

/// All events of a task so far, each with its number.
pub(crate) async fn log(task: &TaskPermit) -> Result<Vec<(u64, Event)>, Error> {
    let mut log: Vec<(u64, Event)> = Vec::new();
    loop {
        let after = log.last().map_or(0, |(number, _)| *number);
        let page = task.events(after, SNAPSHOT_EVENTS_MAX).await?;
        let last = page.len() < SNAPSHOT_EVENTS_MAX;
        log.extend(page);
        if last {
            return Ok(log);
        }
    }
}

/// The parts of the last turn among `events`.
pub(crate) fn gathered(events: impl Iterator<Item = Event>) -> Vec<CorePart> {
    let mut gathered = ReplyAccumulator::default();
    let mut over = false;
    for event in events {
        if over {
            gathered = ReplyAccumulator::default();
        }
        over = gathered.take(event).is_some();
    }
    gathered.finish(Ending::Complete).parts
}

/// The artifacts of a task, and what its tools did.
fn made(task: &Task, parts: Vec<CorePart>, origin: &str) -> (Vec<Artifact>, Vec<Part>) {
    let home = FileBase { origin, task: &task.id };
    let (mut said, mut artifacts, mut tools) = (Vec::new(), Vec::new(), Vec::new());
    // The answer stands where it begins.
    let mut answer_at = 0;
    for part in parts {
        match home.place(part, artifacts.len() as u64 + 1) {
            Some(PartPlacement::Answer(part)) => {
                if said.is_empty() {
                    answer_at = artifacts.len();
                }
                said.push(part);
            }
            Some(PartPlacement::Own(artifact)) => artifacts.push(artifact),
            Some(PartPlacement::Tool(event)) => tools.push(event),
            None => {}
        }
    }
    // A direct answer that became a task is told in its status.
    let told = matches!(task.outcome, Some(CollectedReply { ending: Ending::Message(_), .. }));
    if !said.is_empty() && !told {
        artifacts.insert(answer_at, answer(said));
    }
    (artifacts, tools)
}

/// Where a task stands, in words and in data.
pub(crate) fn status(task: &Task, offers: OfferOrder) -> Status {
    let message = task.outcome.as_ref().and_then(|outcome| status_message(task, outcome, offers));
    Status { state: task.state, message, timestamp: Some(task.updated_at) }
}

/// What models used for a task, where its reader may see that.
pub(crate) fn usage(task: &Task) -> Metadata {
    let mut metadata = Metadata::new();
    if let Some(outcome) = &task.outcome {
        put_usage(&mut metadata, &outcome.usage);
    }
    metadata
}

fn refusal(task: &Task) -> Option<&PolicyPart> {
    match &task.outcome.as_ref()?.ending {
        Ending::Refused(part) => Some(part),
        _ => None,
    }
}

/// What is said of an ending. Its id is the same from read to read.
fn status_message(task: &Task, outcome: &CollectedReply, offers: OfferOrder) -> Option<Message> {
    let receipts = receipts(task);
    let (parts, mut metadata) = match &outcome.ending {
        Ending::Complete if receipts.is_empty() => return None,
        Ending::Complete => (vec![Part::text("Payment received.")], Metadata::new()),
        Ending::Message(text) => (vec![crate::parts::fragment(text.clone())], Metadata::new()),
        Ending::Question(question) => (asked(question), Metadata::new()),
        Ending::Refused(part) => {
            (vec![Part::text(part.message.clone())], policy::metadata(&policy::outgoing(part, offers)))
        }
        Ending::SignIn(wanted) => (asked(&wanted.question), Metadata::new()),
        Ending::Declined { reason } => (vec![Part::text(reason.clone())], Metadata::new()),
        Ending::Failed { reason, .. } => {
            let envelope = outcome.parts.iter().find_map(policy::foreign_of);
            (vec![Part::text(reason.clone())], envelope.map(policy::foreign_metadata).unwrap_or_default())
        }
        Ending::Canceled => (vec![Part::text("The task was cancelled.")], Metadata::new()),
    };
    let policy = metadata.contains_key(policy::OWN).then_some(names::POLICY);
    let paid = (!receipts.is_empty()).then_some(names::X402);
    payment::complete(&mut metadata, receipts);
    put_code(&mut metadata, &outcome.ending);
    let extensions = policy.into_iter().chain(paid).map(str::to_owned).collect();
    // The same from read to read (design 20), and another one for the next ending of the task.
    let name = format!("s{}", task.updated_at.as_microsecond());
    Some(Message { extensions, metadata, ..said(task, &name, parts) })
}

/// Every payment of a task with x402, the first one first.
fn receipts(task: &Task) -> Vec<Value> {
    let paid = task.turns.iter().filter_map(|turn| turn.annotations.get(RECEIPT));
    let paid_last = task.outcome.as_ref().and_then(|outcome| outcome.receipt.as_deref());
    let paid = paid.filter_map(Value::as_object).chain(paid_last).filter(|receipt| payment::is_receipt(receipt));
    paid.cloned().map(Value::Object).collect()
}

/// A message of the agent within a task. `name` tells it from the others of the task.
pub(crate) fn said(task: &Task, name: &str, parts: Vec<Part>) -> Message {
    let id: String = task.id.expose().chars().take(22).collect();
    Message {
        id: format!("{id}-{name}"),
        role: Role::Agent,
        parts,
        context: Some(context(task)),
        task: Some(task.id.expose().to_owned()),
        references: Vec::new(),
        extensions: Vec::new(),
        metadata: Metadata::new(),
    }
}

/// A question: its words, and its form for clients that can show one.
fn asked(question: &Question) -> Vec<Part> {
    let form = (!question.questions.is_empty()).then(|| Part::data(json!({"questions": question.questions})));
    std::iter::once(Part::text(question.text.clone())).chain(form).collect()
}

/// The newest messages of a task, oldest first. What its tools did is the last thing the agent said.
fn history(task: &Task, tools: Vec<Part>, length: Option<u32>) -> Vec<Message> {
    let turns = task.turns.iter().zip(1..).map(|(turn, number)| spoken(task, turn, number));
    let tools = (!tools.is_empty())
        .then(|| Message { extensions: vec![names::TOOL_EVENTS.to_owned()], ..said(task, "tools", tools) });
    let mut messages: Vec<Message> = turns.chain(tools).collect();
    let kept = length.map_or(messages.len(), |length| messages.len().min(length as usize));
    messages.drain(..messages.len() - kept);
    messages
}

fn spoken(task: &Task, turn: &Turn, number: usize) -> Message {
    let parts = turn.parts.iter().filter_map(of_turn).collect();
    let mut message = said(task, &format!("t{number}"), parts);
    if let Some(id) = &turn.id {
        message.id.clone_from(id);
    }
    annotations::restore(&mut message, &turn.annotations);
    message.role = match turn.role {
        Speaker::User => Role::User,
        Speaker::Assistant => Role::Agent,
    };
    message
}

/// Something that was refused before there was a task: it looks like one, and can't be read again.
pub(crate) fn refused(id: String, context: String, part: &PolicyPart, now: forecourt_core::Timestamp) -> Shown {
    let part = &policy::outgoing(part, OfferOrder::AsMade);
    let message = Message {
        id: format!("{id}-s"),
        role: Role::Agent,
        parts: vec![Part::text(part.message.clone())],
        context: Some(context.clone()),
        task: Some(id.clone()),
        references: Vec::new(),
        extensions: vec![names::POLICY.to_owned()],
        metadata: policy::metadata(part),
    };
    let status = Status { state: part.task_state(), message: Some(message), timestamp: Some(now) };
    let artifacts = policy::mandates(part);
    Shown { id, context, status, artifacts, history: Vec::new(), metadata: Metadata::new() }
}

/// Something that ended at once: it looks like a task, and can't be read again.
pub(crate) fn ended(
    id: String,
    message: Message,
    state: forecourt_core::TaskState,
    now: forecourt_core::Timestamp,
) -> Shown {
    let context = message.context.clone().unwrap_or_default();
    let message = Message { task: Some(id.clone()), ..message };
    let status = Status { state, message: Some(message), timestamp: Some(now) };
    Shown { id, context, status, artifacts: Vec::new(), history: Vec::new(), metadata: Metadata::new() }
}
