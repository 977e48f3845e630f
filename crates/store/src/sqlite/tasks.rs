//! This module has the statements about tasks.

use forecourt_core::store::{Resumption, cost};
use forecourt_core::{Event, StoreError, Task, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

use super::error::SqliteError;
use super::quota::{Bounds, HolderRow, QuotaResult};
use super::rows::{self, COLUMNS, TaskRow, TaskRows, read_task};
use super::{events, quota, webhooks};
use crate::seal::{Hash, Seal};
use crate::sealed::tasks::{Move, NewTask, SealedTask};
use crate::sealed::webhooks::cost_of_all;
use crate::sealed::{self, cost_of, is_free, signed};
use crate::time::{count, nanos};

mod list;

pub(super) use list::{tasks, tasks_of_all};

/// Keeps a task, and charges its caller for it.
pub(super) fn create(
    db: &Connection,
    rows: &TaskRows,
    task: &NewTask,
    until: Timestamp,
    pending_max: usize,
    bounds: Bounds,
) -> QuotaResult<()> {
    let next @ (id, named) = rows::next(db)?;
    if rows.is_taken(db, &task.hash, next)? {
        return if is_made(db, rows, task)? { Ok(Ok(())) } else { Err(StoreError::Exists.into()) };
    }
    let bytes = cost_of(task.outcome.iter().chain([&task.body]));
    let reserved = bounds.reserve(task.holder, task.state);
    if let Err(full) = bounds.room(db, task.holder, task.cost() + reserved)? {
        return Ok(Err(full));
    }
    let account = task.holder.row(db)?;
    let row = TaskRow { hash: task.hash, id, may_be_charged: account.is_some() };
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
        ":expires_at": nanos(until),
        ":body": task.body,
        ":outcome": task.outcome,
    })?;
    rows::write_names(db, named, row.id)?;
    rows.put_new(row);
    quota::begin(db, row.id, account, bytes, reserved)?;
    webhooks::add_all(db, &row, &task.webhooks, pending_max)?;
    Ok(Ok(()))
}

/// Whether a task was made already by the same run at the same moment.
fn is_made(db: &Connection, rows: &TaskRows, task: &NewTask) -> Result<bool, SqliteError> {
    let Some(row) = rows.find(db, &task.hash)? else { return Ok(false) };
    let mut select = db.prepare_cached("SELECT 1 FROM tasks WHERE id = ?1 AND run = ?2 AND created_at = ?3")?;
    Ok(select.exists(params![row.id, task.run, task.created_at])?)
}

/// How a task stands before a move.
struct TaskStanding {
    state: String,
    run: String,
    outcome_len: Option<i64>,
    has_webhooks: bool,
}

impl TaskStanding {
    /// `None` when there is no such task.
    fn read(db: &Connection, task: &TaskRow) -> Result<Option<Self>, SqliteError> {
        let mut select = db.prepare_cached(
            "SELECT state, run, length(outcome), EXISTS (SELECT 1 FROM webhooks WHERE task = ?1)
             FROM tasks WHERE id = ?1 AND hash = ?2",
        )?;
        let read = |row: &Row<'_>| {
            let (state, run) = (row.get(0)?, row.get(1)?);
            Ok(Self { state, run, outcome_len: row.get(2)?, has_webhooks: row.get(3)? })
        };
        Ok(select.query_row(params![task.id, task.hash], read).optional()?)
    }
}

/// A step of a task.
pub(super) struct Step<'a> {
    pub(super) change: &'a Move,
    /// Until when a task that goes on is kept.
    pub(super) until: Option<Timestamp>,
}

/// Moves a task on, once it has been found: [`advance_found`]. `false` when there is no such task.
pub(super) fn advance(
    db: &Connection,
    rows: &TaskRows,
    seal: &Seal,
    task: &Hash,
    step: &Step<'_>,
    bounds: (usize, Bounds),
) -> QuotaResult<bool> {
    // One statement finds the row and reads its state, where the row is remembered.
    let found = match rows.look(db, task, TaskStanding::read)? {
        Some(found) => Some(found),
        None => match rows.find(db, task)? {
            Some(row) => TaskStanding::read(db, &row)?.map(|standing| (row, standing)),
            None => None,
        },
    };
    match found {
        Some((row, standing)) => advance_found(db, seal, &row, &standing, step, bounds),
        None => Ok(Ok(false)),
    }
}

/// Moves the task, logs its ending and, when that settles it, queues a delivery for each webhook.
fn advance_found(
    db: &Connection,
    seal: &Seal,
    task: &TaskRow,
    standing: &TaskStanding,
    &Step { change, until }: &Step<'_>,
    (pending_max, bounds): (usize, Bounds),
) -> QuotaResult<bool> {
    let outcome = change.outcome.as_ref();
    // A task that settles gives back what it reserved, and one that goes on reserves anew.
    let reserved = match change.resume.is_some() {
        true => bounds.callers.answer(),
        false => 0,
    };
    let bytes = cost_of(outcome) + cost(change.resume_bytes) + cost_of_all(&change.webhooks) + reserved;
    if (change.resume.is_some() || !is_free(outcome))
        && let Err(full) = bounds.answer_room(db, task, bytes)?
    {
        return Ok(Err(full));
    }
    // Another run may hold the task by now, or somebody may have cancelled it: the compare in this transaction decides.
    if standing.state != change.from.name() || standing.run != change.run {
        return Ok(Ok(false));
    }
    // Deliveries that still wait tell of the state that is left now: they get a copy of its outcome before it is
    // replaced.
    if standing.has_webhooks && change.from.is_settled() {
        webhooks::keep_outcomes(db, task, change.from)?;
    }
    let mut update = db.prepare_cached("UPDATE tasks SET state = ?2, updated_at = ?3, outcome = ?4 WHERE id = ?1")?;
    update.execute(params![task.id, change.to.name(), change.at, change.outcome])?;
    let before = standing.outcome_len.map_or(0, |len| cost(usize::try_from(len).unwrap_or_default()));
    let mut more = signed(cost_of(outcome)) - signed(before);
    if let Some(resumption) = &change.resume {
        resume(db, seal, task, resumption, until.unwrap_or(resumption.expires_at))?;
        webhooks::add_all(db, task, &change.webhooks, pending_max)?;
    }
    if let Some(ending) = &change.ending {
        // Sealed here, on the writer's thread, since only here its number is known; an ending is small.
        let last = events::last(db, task)?;
        for event in sealed::events::seal_all(seal, &task.hash, last + 1, &[Event::Ending(ending.clone())])? {
            more += signed(events::append_after(db, task, last, &event)?);
        }
    }
    match change.to.is_settled() || change.resume.is_some() {
        true => quota::add_at_move(db, task, more, reserved)?,
        false => quota::add_to_answer(db, task, more)?,
    }
    if change.to.is_settled() && (standing.has_webhooks || !change.webhooks.is_empty()) {
        webhooks::tell(db, task, None)?;
    }
    Ok(Ok(true))
}

/// Takes along what a task that goes on has new. Its turns are few and bounded, so they are sealed as
/// one.
fn resume(
    db: &Connection,
    seal: &Seal,
    task: &TaskRow,
    resumption: &Resumption,
    until: Timestamp,
) -> Result<(), SqliteError> {
    let mut select = db.prepare_cached("SELECT body FROM tasks WHERE id = ?1")?;
    let sealed: Vec<u8> = select.query_row([task.id], |row| row.get(0))?;
    let before = sealed.len();
    let mut update = db.prepare_cached("UPDATE tasks SET run = ?2, expires_at = ?3, body = ?4 WHERE id = ?1")?;
    let sealed = sealed::tasks::resumed(seal, &task.hash, sealed, resumption)?;
    update.execute(params![task.id, resumption.run, nanos(until), sealed])?;
    quota::add(db, task, signed(cost(sealed.len())) - signed(cost(before)))
}

pub(super) fn task(db: &Connection, seal: &Seal, task: &TaskRow, now: Timestamp) -> Result<Option<Task>, SqliteError> {
    let mut select = db.prepare_cached(&format!("SELECT {COLUMNS} FROM tasks WHERE id = ?1 AND expires_at > ?2"))?;
    let found = select.query_row(params![task.id, nanos(now)], read_task).optional()?;
    Ok(found.map(|task| task.open(seal)).transpose()?)
}

pub(super) fn orphaned(db: &Connection, seal: &Seal, limit: usize) -> Result<Vec<Task>, SqliteError> {
    let mut select = db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM tasks WHERE state IN ('submitted', 'working')
         AND run NOT IN (SELECT run FROM runs WHERE NOT ended) LIMIT ?1"
    ))?;
    let found = select.query_map([count(limit)], read_task)?;
    open_all(seal, found)
}

fn open_all(seal: &Seal, found: impl Iterator<Item = rusqlite::Result<SealedTask>>) -> Result<Vec<Task>, SqliteError> {
    found.map(|task| Ok(task?.open(seal)?)).collect()
}
