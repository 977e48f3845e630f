//! Tasks of everybody, by references that open nothing.

use forecourt_core::store::{Cursor, TaskFilter};
use forecourt_core::{Ending, Error, Event, Handle, Part, Role, Task, TaskId, TaskState, Timestamp, ToolCall};
use forecourt_host::{TaskAccess, TaskPermit};
use forecourt_store::reference;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::usage::{self, UsedModel};
use super::{ActionOutcome, Why, shortened};
use crate::access::Command;
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::desk::{Ask, reason};
use crate::limits::{EVENTS_MAX, TEXT_CHARS_MAX};

/// A page of tasks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tasks {
    /// The last updated first.
    pub tasks: Vec<TaskLine>,
    /// How many there are with this filter.
    pub total: u64,
    /// What to give as `cursor` for the next page; none at the end.
    pub next: Option<String>,
}

/// A task in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskLine {
    /// Names it to operators. Opens nothing: it is not the id that callers have.
    pub task: String,
    /// Whose task it is to do.
    pub agent: String,
    /// Where it stands.
    pub state: String,
    /// The protocol it was begun over.
    pub via: String,
    /// The proven subject that began it, if there is one.
    pub owner: Option<String>,
    /// When it was accepted.
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    /// When its state last changed.
    #[schemars(with = "String")]
    pub updated_at: Timestamp,
    /// When it stops being readable.
    #[schemars(with = "String")]
    pub expires_at: Timestamp,
    /// The node that works on it, or did last.
    pub node: String,
}

/// A task with all that was said in it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskDetail {
    /// What lists show of it.
    #[serde(flatten)]
    pub line: TaskLine,
    /// What was said, oldest first.
    pub turns: Vec<SpokenTurn>,
    /// What came of it so far, in markdown.
    pub answer: Option<String>,
    /// How it ended, in a word.
    pub ending: Option<String>,
    /// Why it failed.
    pub failure: Option<String>,
    /// Why it was refused, as its caller was told.
    pub refusal: Option<Value>,
    /// What language models used for it, by model.
    pub usage: Vec<UsedModel>,
    /// Its events, the first ones; more of them are at `/events`.
    pub events: Vec<TaskEvent>,
    /// The number of the last event.
    pub last_event: u64,
}

/// Something that was said.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SpokenTurn {
    /// `caller` or `agent`.
    pub who: String,
    /// What.
    pub text: String,
    /// Parts that are no text, by what they are.
    pub others: Vec<String>,
}

/// Events of a task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskEvents {
    /// In their order.
    pub events: Vec<TaskEvent>,
    /// The number of the last one that there is.
    pub last_event: u64,
}

/// An event.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TaskEvent {
    /// Its number, counted from 1.
    pub number: u64,
    /// What it is: `text`, `part`, `findings`, `tool`, `progress`, `task` or `ending`.
    pub kind: String,
    /// What it says.
    pub text: String,
}

/// The parameters of a list, with what they mean.
pub(crate) const QUERY: &[(&str, &str)] = &[
    (
        "state",
        "Only tasks in this state: submitted, working, input_required, auth_required, completed, failed, canceled, rejected",
    ),
    ("agent", "Only tasks of this agent"),
    ("cursor", "What `next` of the page before was"),
    ("limit", "At most so many, up to 200"),
];

pub(crate) async fn list(ask: Ask) -> Result<Tasks, ApiError> {
    let state = match ask.query("state") {
        None => None,
        Some(name) => Some(TaskState::from_name(name).ok_or_else(|| {
            let names: Vec<&str> = TaskState::ALL.iter().map(|state| state.name()).collect();
            ApiError::invalid(format!("`{name}` is no state")).hint(format!("there are {}", names.join(", ")))
        })?),
    };
    let agent = ask.query("agent").map(|text| Handle::parse(text.trim_start_matches('@')));
    let agent = agent.transpose().map_err(|error| ApiError::invalid(format!("`agent`: {error}")))?;
    let cursor = ask.query("cursor").map(Cursor::from_text).transpose()?;
    let filter = TaskFilter { agent, state, cursor, limit: ask.limit()?, ..TaskFilter::default() };
    let page = ask.desk.reads.tasks_of_all(filter, ask.now()).await?;
    let tasks = page.tasks.iter().map(line).collect();
    Ok(Tasks { tasks, total: page.total, next: page.next.map(Cursor::to_text) })
}

pub(crate) fn line(task: &Task) -> TaskLine {
    TaskLine {
        task: reference(&task.id),
        agent: task.agent.to_string(),
        state: task.state.name().to_owned(),
        via: task.received_via.clone(),
        owner: task.owner.clone(),
        created_at: task.created_at,
        updated_at: task.updated_at,
        expires_at: task.expires_at,
        node: super::nodes::mark(&task.run),
    }
}

pub(crate) async fn one(ask: Ask) -> Result<TaskDetail, ApiError> {
    let permit = permit(&ask).await?;
    let task = permit.task();
    let events = permit.events(0, EVENTS_MAX).await?;
    let outcome = task.outcome.as_ref();
    let (failure, refusal) = match outcome.map(|outcome| &outcome.ending) {
        Some(Ending::Refused(part)) => (None, serde_json::to_value(Part::Policy((**part).clone())).ok()),
        Some(Ending::Declined { reason } | Ending::Failed { reason, .. }) => (Some(reason.clone()), None),
        _ => (None, None),
    };
    let answer = outcome.map(|outcome| match &outcome.ending {
        Ending::Message(text) => text.clone(),
        _ => outcome.text(),
    });
    Ok(TaskDetail {
        line: line(task),
        turns: task.turns.iter().map(|turn| spoken_turn(turn.role, &turn.parts)).collect(),
        answer: answer.filter(|text| !text.is_empty()).map(|text| shortened(&text, TEXT_CHARS_MAX)),
        ending: outcome.map(|outcome| outcome.ending.code().to_owned()),
        failure,
        refusal,
        usage: outcome.map(|outcome| usage::used(&outcome.usage)).unwrap_or_default(),
        events: events.into_iter().map(|(number, event)| event_of(number, &event)).collect(),
        last_event: permit.last_event().await?,
    })
}

pub(crate) async fn events(ask: Ask) -> Result<TaskEvents, ApiError> {
    let after = ask.number("after")?.unwrap_or_default();
    let permit = permit(&ask).await?;
    let events = permit.events(after, EVENTS_MAX).await?;
    let events = events.into_iter().map(|(number, event)| event_of(number, &event)).collect();
    Ok(TaskEvents { events, last_event: permit.last_event().await? })
}

pub(crate) async fn cancel(ask: Command) -> Result<ActionOutcome, ApiError> {
    let why = reason(ask.body::<Why>()?.reason.as_deref())?;
    let permit = permit(&ask).await?;
    let name = reference(&permit.task().id);
    let (came, answer) = match permit.cancel().await {
        Ok(_) => (Came::Done, Ok("the task is canceled".to_owned())),
        // Somebody else may have cancelled it between the read and this: for the operator that is what was wanted.
        Err(Error::Conflict { .. }) if permit.reload().await?.task().state == TaskState::Canceled => {
            (Came::Already, Ok("the task was canceled already".to_owned()))
        }
        Err(error @ Error::Conflict { .. }) => (Came::Refused, Err(ApiError::from(error))),
        Err(error) => return Err(error.into()),
    };
    account::note(&ask.house.host, &ask.actor.name, "cancel", format!("task {name}"), why.as_deref(), came).await;
    answer.map(|message| ActionOutcome::new(came, message))
}

/// The task of a path, for the operator.
pub(crate) async fn permit(ask: &Ask) -> Result<TaskPermit, ApiError> {
    let unknown = || {
        let error = ApiError::not_found("there is no such task, or it has expired");
        error.hint("GET /api/v1/tasks lists those that there are, and so does `forecourt admin tasks`")
    };
    // By a reference and not by its id: whoever knows a task's id may read and cancel it, so the console never shows
    // one.
    let found = ask.desk.reads.task_by_reference(ask.named("task"), ask.now()).await?;
    let id: TaskId = found.ok_or_else(unknown)?.id;
    Ok(ask.house.host.task(&id, TaskAccess::Operator).await?)
}

fn spoken_turn(role: Role, parts: &[Part]) -> SpokenTurn {
    let who = match role {
        Role::User => "caller",
        Role::Assistant => "agent",
    };
    let others = parts.iter().filter(|part| part.as_text().is_none()).map(part_words).collect();
    let text = shortened(&forecourt_core::message::text_of(parts), TEXT_CHARS_MAX);
    SpokenTurn { who: who.to_owned(), text, others }
}

/// An event as it is shown.
pub(crate) fn event_of(number: u64, event: &Event) -> TaskEvent {
    let (kind, text) = match event {
        Event::Text(text) => ("text", text.clone()),
        Event::Part(part) => ("part", part_words(part)),
        Event::Findings(_) => ("findings", "what a search says of its answer".to_owned()),
        Event::ToolCall(call) => ("tool", tool_words(call)),
        Event::Progress(progress) => {
            let done = progress.fraction.map(|part| format!("{:.0} %", part * 100.0));
            ("progress", [done, progress.note.clone()].into_iter().flatten().collect::<Vec<_>>().join(" · "))
        }
        Event::Task(id) => ("task", format!("goes on as task {}", reference(id))),
        Event::Ending(ending) => ("ending", ending_words(ending)),
    };
    TaskEvent { number, kind: kind.to_owned(), text: shortened(&text, TEXT_CHARS_MAX) }
}

fn ending_words(ending: &Ending) -> String {
    match ending {
        Ending::Complete => "complete".to_owned(),
        Ending::Message(text) => format!("complete: {text}"),
        Ending::Question(_) => "the agent asks back".to_owned(),
        Ending::Refused(part) => format!("refused ({}): {}", part.kind(), part.message),
        Ending::SignIn(_) => "the agent wants its caller to sign in".to_owned(),
        Ending::Declined { reason } => format!("declined: {reason}"),
        Ending::Failed { cause, reason } => format!("failed ({}): {reason}", cause.code()),
        Ending::Canceled => "canceled".to_owned(),
    }
}

fn part_words(part: &Part) -> String {
    match part {
        Part::Text(text) => text.content.clone(),
        Part::File(file) => format!("file {} ({})", file.name.as_deref().unwrap_or("without a name"), file.mime),
        Part::Link(link) => format!("link {}", link.url),
        Part::Artifact(artifact) => format!("artifact {}", artifact.name.as_deref().unwrap_or("without a name")),
        Part::ToolCall(call) => tool_words(call),
        Part::Policy(policy) => format!("refused ({}): {}", policy.kind(), policy.message),
        part => serde_json::to_string(part).unwrap_or_default(),
    }
}

fn tool_words(call: &ToolCall) -> String {
    serde_json::to_string(call).unwrap_or_default()
}
