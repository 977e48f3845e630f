//! The statements about tasks.

use forecourt_core::reply::CollectedReply;
use forecourt_core::store::{Resumption, TaskChange, Webhook, cost};
use forecourt_core::{
    Account, Ending, Event, Handle, Part, Role, StoreError, Task, TaskId, TaskState, ThreadId, Timestamp, Turn,
};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use serde::{Deserialize, Serialize};

use super::fault::{Fault, corrupt};
use super::quota::{Bounds, Holder, Kept, cost_of, is_free, signed};
use super::rows::{self, TaskRow, TaskRows};
use super::seal::{Hash, Label, Seal, hash};
use super::time::{count, moment, nanos};
use super::webhooks::NewWebhook;
use super::{events, quota, webhooks};
use crate::slim;

mod list;

pub(super) use list::tasks;

/// What of a task is sealed: its ids, where it came from and what was said.
#[derive(Serialize, Deserialize)]
struct Body {
    id: TaskId,
    thread: Option<ThreadId>,
    received_via: String,
    #[serde(default)]
    turns: Vec<Turn>,
    /// What was asked, in databases of version 1, which knew no turns.
    #[serde(default, skip_serializing)]
    request: Vec<Part>,
}

impl Body {
    fn turns(turns: Vec<Turn>, request: Vec<Part>) -> Vec<Turn> {
        let asked = |parts| vec![Turn::new(Role::User, parts)];
        if turns.is_empty() && !request.is_empty() { asked(request) } else { turns }
    }
}

/// A task as a row, ready to be written.
pub(super) struct NewTask {
    hash: Hash,
    thread: Option<Hash>,
    agent: String,
    owner: Option<String>,
    state: TaskState,
    run: String,
    created_at: i64,
    updated_at: i64,
    expires_at: i64,
    body: Vec<u8>,
    outcome: Option<Vec<u8>>,
    webhooks: Vec<NewWebhook>,
    holder: Holder,
}

/// A move as it is written.
pub(super) struct Move {
    from: TaskState,
    run: String,
    to: TaskState,
    at: i64,
    outcome: Option<Vec<u8>>,
    ending: Option<Ending>,
    resume: Option<Resumption>,
    webhooks: Vec<NewWebhook>,
    /// What the turns of `resume` have as JSON.
    resume_bytes: usize,
}

fn body_label(task: &Hash) -> Label<'_> {
    Label { kind: "task", of: task, part: b"" }
}

fn outcome_label(task: &Hash) -> Label<'_> {
    Label { kind: "outcome", of: task, part: b"" }
}

fn seal_outcome(seal: &Seal, task: &Hash, outcome: Option<&CollectedReply>) -> Result<Option<Vec<u8>>, StoreError> {
    outcome.map(|outcome| seal.seal(outcome_label(task), &slim::with_parts(outcome)?)).transpose()
}

impl NewTask {
    pub(super) fn new(seal: &Seal, task: Task, webhooks: &[Webhook]) -> Result<Self, StoreError> {
        let name = hash(task.id.expose());
        let webhooks = NewWebhook::all(seal, &name, webhooks)?;
        let outcome = seal_outcome(seal, &name, task.outcome.as_ref())?;
        let thread = task.thread.as_ref().map(|thread| hash(thread.key()));
        let (id, received_via, turns) = (task.id, task.received_via, task.turns);
        let body = Body { id, thread: task.thread, received_via, turns, request: Vec::new() };
        Ok(Self {
            hash: name,
            thread,
            agent: task.agent.into(),
            owner: task.owner,
            state: task.state,
            run: task.run,
            created_at: nanos(task.created_at),
            updated_at: nanos(task.updated_at),
            expires_at: nanos(task.expires_at),
            body: seal.seal(body_label(&name), &slim::with_turns(&body)?)?,
            outcome,
            webhooks,
            holder: Holder::new(seal, &task.account),
        })
    }
}

impl Move {
    pub(super) fn new(seal: &Seal, task: &TaskId, change: TaskChange) -> Result<Self, StoreError> {
        let hash = hash(task.expose());
        let outcome = seal_outcome(seal, &hash, change.outcome.as_ref())?;
        let ending = change.outcome.map(|outcome| outcome.ending);
        let told = change.resume.as_ref().map(|resumption| &resumption.webhooks[..]).unwrap_or_default();
        let webhooks = NewWebhook::all(seal, &hash, told)?;
        let turns = change.resume.as_ref().map(|resumption| serde_json::to_vec(&resumption.turns));
        let resume_bytes = turns.and_then(Result::ok).map_or(0, |json| json.len());
        Ok(Self {
            webhooks,
            from: change.from,
            run: change.run,
            to: change.to,
            at: nanos(change.at),
            outcome,
            ending,
            resume: change.resume,
            resume_bytes,
        })
    }
}

/// Keeps a task, and charges its caller for it.
pub(super) fn create(db: &Connection, rows: &TaskRows, task: &NewTask, pending_max: usize, bounds: Bounds) -> Kept<()> {
    let bytes = cost_of(task.outcome.iter().chain([&task.body]));
    if let Err(full) = bounds.room(db, task.holder, bytes + webhooks::cost_of_all(&task.webhooks))? {
        return Ok(Err(full));
    }
    if rows.is_taken(db, &task.hash)? {
        return Err(corrupt("a task of this id exists").into());
    }
    let row = TaskRow { hash: task.hash, id: rows::next(db)? };
    let mut insert = db.prepare_cached(
        "INSERT INTO tasks (id, name, hash, agent, owner, thread, state, run,
                            created_at, updated_at, expires_at, body, outcome)
         VALUES (:id, :name, :hash, :agent, :owner, :thread, :state, :run,
                 :created_at, :updated_at, :expires_at, :body, :outcome)",
    )?;
    insert.execute(named_params! {
        ":id": row.id,
        ":name": rows::name(&task.hash),
        ":hash": task.hash,
        ":agent": task.agent,
        ":owner": task.owner,
        ":thread": task.thread,
        ":state": task.state.name(),
        ":run": task.run,
        ":created_at": task.created_at,
        ":updated_at": task.updated_at,
        ":expires_at": task.expires_at,
        ":body": task.body,
        ":outcome": task.outcome,
    })?;
    rows::write_names(db, row.id)?;
    rows.put(row);
    quota::begin(db, row.id, task.holder.row(db)?, bytes)?;
    webhooks::add_all(db, &row, &task.webhooks, pending_max)?;
    Ok(Ok(()))
}

/// How a task stands before a move.
struct TaskStanding {
    state: String,
    run: String,
    outcome_len: Option<i64>,
    has_webhooks: bool,
}

impl TaskStanding {
    fn read(db: &Connection, task: &TaskRow) -> Result<Self, Fault> {
        let mut select = db.prepare_cached(
            "SELECT state, run, length(outcome), EXISTS (SELECT 1 FROM webhooks WHERE task = ?1)
             FROM tasks WHERE id = ?1",
        )?;
        let read = |row: &Row<'_>| {
            let (state, run) = (row.get(0)?, row.get(1)?);
            Ok(Self { state, run, outcome_len: row.get(2)?, has_webhooks: row.get(3)? })
        };
        Ok(select.query_row([task.id], read)?)
    }
}

/// Moves the task, logs its ending and, when that settles it, queues a delivery for each webhook.
pub(super) fn advance(
    db: &Connection,
    seal: &Seal,
    task: &TaskRow,
    change: &Move,
    pending_max: usize,
    bounds: Bounds,
) -> Kept<bool> {
    let outcome = change.outcome.as_ref();
    let bytes = cost_of(outcome) + cost(change.resume_bytes) + webhooks::cost_of_all(&change.webhooks);
    if (change.resume.is_some() || !is_free(outcome))
        && let Err(full) = bounds.task_room(db, task, bytes)?
    {
        return Ok(Err(full));
    }
    let standing = TaskStanding::read(db, task)?;
    if standing.state != change.from.name() || standing.run != change.run {
        return Ok(Ok(false));
    }
    if standing.has_webhooks && change.from.is_settled() {
        webhooks::keep_outcomes(db, task, change.from)?;
    }
    let mut update = db.prepare_cached("UPDATE tasks SET state = ?2, updated_at = ?3, outcome = ?4 WHERE id = ?1")?;
    update.execute(params![task.id, change.to.name(), change.at, change.outcome])?;
    let before = standing.outcome_len.map_or(0, |len| cost(usize::try_from(len).unwrap_or_default()));
    quota::add(db, task, signed(cost_of(outcome)) - signed(before))?;
    if let Some(resumption) = &change.resume {
        resume(db, seal, task, resumption)?;
        webhooks::add_all(db, task, &change.webhooks, pending_max)?;
    }
    if let Some(ending) = &change.ending {
        // Only here is its number known. It is small, so sealing it holds nobody up.
        let next = events::last(db, task)? + 1;
        let sealed = events::seal_all(seal, &task.hash, next, &[Event::Ending(ending.clone())])?;
        events::append(db, task, next, &sealed)?;
    }
    if change.to.is_settled() && (standing.has_webhooks || !change.webhooks.is_empty()) {
        webhooks::tell(db, task, None)?;
    }
    Ok(Ok(true))
}

/// Takes along what a task that goes on has new. Its turns are few and bounded, so they are sealed as
/// one.
fn resume(db: &Connection, seal: &Seal, task: &TaskRow, resumption: &Resumption) -> Result<(), Fault> {
    let mut select = db.prepare_cached("SELECT body FROM tasks WHERE id = ?1")?;
    let sealed: Vec<u8> = select.query_row([task.id], |row| row.get(0))?;
    let before = sealed.len();
    let mut body: Body = seal.open(body_label(&task.hash), sealed)?;
    body.turns = Body::turns(body.turns, std::mem::take(&mut body.request));
    body.turns.extend(resumption.turns.iter().cloned());
    let mut update = db.prepare_cached("UPDATE tasks SET run = ?2, expires_at = ?3, body = ?4 WHERE id = ?1")?;
    let sealed = seal.seal(body_label(&task.hash), &slim::with_turns(&body)?)?;
    update.execute(params![task.id, resumption.run, nanos(resumption.expires_at), sealed])?;
    quota::add(db, task, signed(cost(sealed.len())) - signed(cost(before)))
}

/// The columns of [`SealedTask`], in its order.
pub(super) const COLUMNS: &str = "tasks.hash, tasks.agent, tasks.owner, tasks.run, tasks.created_at, \
     tasks.expires_at, tasks.body, tasks.state, tasks.updated_at, tasks.outcome";

/// A task as it was read, still sealed.
pub(super) struct SealedTask {
    hash: Hash,
    agent: String,
    owner: Option<String>,
    run: String,
    created_at: i64,
    expires_at: i64,
    body: Vec<u8>,
    state: String,
    updated_at: i64,
    outcome: Option<Vec<u8>>,
}

impl SealedTask {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            hash: row.get(0)?,
            agent: row.get(1)?,
            owner: row.get(2)?,
            run: row.get(3)?,
            created_at: row.get(4)?,
            expires_at: row.get(5)?,
            body: row.get(6)?,
            state: row.get(7)?,
            updated_at: row.get(8)?,
            outcome: row.get(9)?,
        })
    }

    pub(super) fn hash(&self) -> &Hash {
        &self.hash
    }

    pub(super) fn open(self, seal: &Seal) -> Result<Task, StoreError> {
        let body: Body = seal.open(body_label(&self.hash), self.body)?;
        let outcome = self.outcome.map(|sealed| seal.open(outcome_label(&self.hash), sealed)).transpose()?;
        Ok(Task {
            id: body.id,
            agent: Handle::parse(&self.agent).map_err(|e| corrupt(e.to_string()))?,
            thread: body.thread,
            owner: self.owner,
            account: Account::HOST,
            received_via: body.received_via,
            turns: Body::turns(body.turns, body.request),
            state: TaskState::from_name(&self.state).ok_or_else(|| corrupt("a task is in no known state"))?,
            outcome,
            run: self.run,
            created_at: moment(self.created_at),
            updated_at: moment(self.updated_at),
            expires_at: moment(self.expires_at),
        })
    }
}

pub(super) fn task(db: &Connection, seal: &Seal, task: &TaskRow, now: Timestamp) -> Result<Option<Task>, Fault> {
    let mut select = db.prepare_cached(&format!("SELECT {COLUMNS} FROM tasks WHERE id = ?1 AND expires_at > ?2"))?;
    let found = select.query_row(params![task.id, nanos(now)], SealedTask::read).optional()?;
    Ok(found.map(|task| task.open(seal)).transpose()?)
}

pub(super) fn orphaned(db: &Connection, seal: &Seal, run: &str, limit: usize) -> Result<Vec<Task>, Fault> {
    let mut select = db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM tasks WHERE state IN ('submitted', 'working') AND run <> ?1 LIMIT ?2"
    ))?;
    let found = select.query_map(params![run, count(limit)], SealedTask::read)?;
    open_all(seal, found)
}

fn open_all(seal: &Seal, found: impl Iterator<Item = rusqlite::Result<SealedTask>>) -> Result<Vec<Task>, Fault> {
    found.map(|task| Ok(task?.open(seal)?)).collect()
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::store_suite::some_task;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_asked_in_version_1_is_a_turn() {
        let task = some_task();
        let request = json!([{"kind": "text", "mime": "text/plain", "content": "hi"}]);
        let body = json!({"id": task.id, "thread": null, "received_via": "rest", "request": request});
        let body: Body = serde_json::from_value(body).unwrap();
        let turns = Body::turns(body.turns, body.request);
        assert_eq!((turns.len(), turns[0].role), (1, Role::User));
        assert_eq!(turns[0].parts, [Part::text("hi")]);
    }
}
