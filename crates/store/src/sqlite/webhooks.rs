//! This module has the statements about webhooks, and about the deliveries that wait for them.

use forecourt_core::limits::WEBHOOKS_PER_TASK_MAX;
use forecourt_core::store::{IfTaskEnded, Webhook, WebhookRegistration, cost};
use forecourt_core::{StoreError, TaskState, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::artifacts::total;
use super::error::{SqliteError, corrupt};
use super::quota::{self, Bounds, HolderRow, QuotaResult};
use super::rows::{TaskRow, read_task};
use crate::seal::{Hash, Seal};
use crate::sealed::deliveries::SealedDelivery;
use crate::sealed::signed;
use crate::sealed::webhooks::{self, NewNotice, NewWebhook};
use crate::time::{count, nanos};

/// Registers the webhooks that a task begins, or goes on, with. Whether there are bytes for them was asked
/// with what they come with.
pub(super) fn add_all(
    db: &Connection,
    task: &TaskRow,
    webhooks: &[NewWebhook],
    pending_max: usize,
) -> Result<(), SqliteError> {
    for webhook in webhooks {
        if put(db, task, webhook, WEBHOOKS_PER_TASK_MAX, pending_max)? != WebhookRegistration::Yes {
            let reason = format!("a task takes at most {WEBHOOKS_PER_TASK_MAX} webhooks");
            return Err(StoreError::Unavailable(reason).into());
        }
    }
    Ok(())
}

/// The bounds on a webhook that is registered for a task that exists.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Webhooks of one task.
    pub(super) limit: usize,
    /// Deliveries that wait.
    pub(super) pending_max: usize,
    /// Bytes.
    pub(super) bounds: Bounds,
}

/// Registers a webhook unless the task has as many as it may, has ended (but for `at_end`) or is gone; one
/// of its id is replaced. Fails while as many deliveries wait as may: registering is what can be put off,
/// settling a task is not.
pub(super) fn add(
    db: &Connection,
    task: &TaskRow,
    webhook: &NewWebhook,
    room: Room,
    at_end: IfTaskEnded,
) -> QuotaResult<WebhookRegistration> {
    if let Err(full) = room.bounds.task_room(db, task, cost(webhook.body.len()))? {
        return Ok(Err(full));
    }
    let has_ended = state(db, task)?.is_final();
    if has_ended && at_end == IfTaskEnded::Refuse {
        return Ok(Ok(WebhookRegistration::Ended));
    }
    let added = put(db, task, webhook, room.limit, room.pending_max)?;
    if has_ended && added == WebhookRegistration::Yes {
        tell(db, task, Some(&webhook.hash))?;
    }
    Ok(Ok(added))
}

fn state(db: &Connection, task: &TaskRow) -> Result<TaskState, SqliteError> {
    let mut select = db.prepare_cached("SELECT state FROM tasks WHERE id = ?1")?;
    let state: String = select.query_row([task.id], |row| row.get(0))?;
    Ok(TaskState::from_name(&state).ok_or_else(|| corrupt("a task is in no known state"))?)
}

/// Queues a delivery of the task as it is now for each of its webhooks, or for one. The outcome stays with
/// the task until that moves on: [`keep_outcomes`].
pub(super) fn tell(db: &Connection, task: &TaskRow, webhook: Option<&Hash>) -> Result<(), SqliteError> {
    let mut enqueue = db.prepare_cached(
        "INSERT INTO deliveries (task, webhook, state, settled_at, due_at, own)
         SELECT tasks.id, webhooks.n, tasks.state, tasks.updated_at, tasks.updated_at, 0
         FROM tasks JOIN webhooks ON webhooks.task = tasks.id
         WHERE tasks.id = ?1 AND (?2 IS NULL OR webhooks.hash = ?2)",
    )?;
    enqueue.execute(params![task.id, webhook])?;
    Ok(())
}

/// Writes a webhook of a task, and charges for it.
fn put(
    db: &Connection,
    task: &TaskRow,
    webhook: &NewWebhook,
    limit: usize,
    pending_max: usize,
) -> Result<WebhookRegistration, SqliteError> {
    let (bytes, row) = (signed(cost(webhook.body.len())), task.id);
    let before = body_cost(db, row, &webhook.hash)?;
    let mut replace = db.prepare_cached("UPDATE webhooks SET body = ?3 WHERE task = ?1 AND hash = ?2")?;
    // A replacement adds no webhook and no delivery, so that the bounds on these do not apply to it.
    if replace.execute(params![row, webhook.hash, webhook.body])? > 0 {
        quota::add(db, task, bytes - signed(before))?;
        return Ok(WebhookRegistration::Yes);
    }
    let mut registered = db.prepare_cached("SELECT count(*), ifnull(max(n), 0) FROM webhooks WHERE task = ?1")?;
    let (registered, last): (i64, i64) = registered.query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if registered >= count(limit) {
        return Ok(WebhookRegistration::TooMany);
    }
    has_room(db, pending_max)?;
    let mut insert = db.prepare_cached("INSERT INTO webhooks (task, n, hash, body) VALUES (?1, ?2, ?3, ?4)")?;
    insert.execute(params![row, last + 1, webhook.hash, webhook.body])?;
    quota::add(db, task, bytes)?;
    Ok(WebhookRegistration::Yes)
}

/// What a webhook of a task costs, 0 when there is none of this name.
fn body_cost(db: &Connection, task: i64, webhook: &Hash) -> Result<u64, SqliteError> {
    let mut select = db.prepare_cached("SELECT length(body) FROM webhooks WHERE task = ?1 AND hash = ?2")?;
    let len: Option<i64> = select.query_row(params![task, webhook], |row| row.get(0)).optional()?;
    Ok(len.map_or(0, |len| cost(usize::try_from(len).unwrap_or_default())))
}

fn has_room(db: &Connection, pending_max: usize) -> Result<(), SqliteError> {
    match total(db, "deliveries")? < count(pending_max) {
        true => Ok(()),
        false => Err(StoreError::Unavailable(format!("{pending_max} deliveries are waiting")).into()),
    }
}

/// Queues a notice, and charges for it.
pub(super) fn enqueue(
    db: &Connection,
    notice: &NewNotice,
    [due_at, expires_at]: [Timestamp; 2],
    pending_max: usize,
    bounds: Bounds,
) -> QuotaResult<()> {
    let bytes = cost(notice.body.len());
    if let Err(full) = bounds.room(db, notice.holder, bytes)? {
        return Ok(Err(full));
    }
    has_room(db, pending_max)?;
    let account = notice.holder.row(db)?;
    let mut insert = db.prepare_cached(
        "INSERT INTO deliveries (notice, due_at, expires_at, account, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    insert.execute(params![notice.body, nanos(due_at), nanos(expires_at), account, signed(bytes)])?;
    Ok(Ok(()))
}

/// The webhooks of a task, in the order in which they were registered.
pub(super) fn of_task(db: &Connection, seal: &Seal, task: &TaskRow) -> Result<Vec<Webhook>, SqliteError> {
    let mut select = db.prepare_cached("SELECT body FROM webhooks WHERE task = ?1 ORDER BY n")?;
    let sealed = select.query_map([task.id], |row| row.get(0))?;
    sealed.map(|row: rusqlite::Result<Vec<u8>>| Ok(webhooks::open(seal, &task.hash, row?)?)).collect()
}

/// Removes a webhook, and with it what waits for it.
pub(super) fn remove(db: &Connection, task: &TaskRow, webhook: &Hash) -> Result<bool, SqliteError> {
    let mut delete = db.prepare_cached("DELETE FROM webhooks WHERE task = ?1 AND hash = ?2 RETURNING length(body)")?;
    let lens = delete.query_map(params![task.id, webhook], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    let given_back: u64 = lens.iter().map(|len| cost(usize::try_from(*len).unwrap_or_default())).sum();
    quota::add(db, task, -signed(given_back))?;
    Ok(!lens.is_empty())
}

fn read_delivery(row: &Row<'_>) -> rusqlite::Result<SealedDelivery> {
    let (id, attempts, notice) = (row.get(10)?, row.get(11)?, row.get(13)?);
    match notice {
        Some(webhook) => Ok(SealedDelivery { id, attempts, webhook, task: None }),
        None => Ok(SealedDelivery { id, attempts, webhook: row.get(12)?, task: Some(read_task(row)?) }),
    }
}

/// Takes what is due, the longest due first, and hides it until `lease`. An attempt counts from
/// here: one that a crash cut short has been made.
pub(super) fn claim(
    db: &Connection,
    now: Timestamp,
    lease: Timestamp,
    limit: usize,
) -> Result<Vec<SealedDelivery>, SqliteError> {
    let mut select = db.prepare_cached(
        "SELECT tasks.hash, tasks.agent, tasks.owner, tasks.run, tasks.created_at, tasks.expires_at, tasks.body,
                deliveries.state, settled_at, iif(own, deliveries.outcome, tasks.outcome), deliveries.id, attempts,
                webhooks.body, notice
         FROM deliveries LEFT JOIN tasks ON tasks.id = deliveries.task
              LEFT JOIN webhooks ON webhooks.task = deliveries.task AND webhooks.n = deliveries.webhook
         WHERE due_at <= ?1 AND ifnull(deliveries.expires_at, tasks.expires_at) > ?1
         ORDER BY due_at, deliveries.id LIMIT ?2",
    )?;
    let due = select.query_map(params![nanos(now), count(limit)], read_delivery)?;
    let due = due.collect::<Result<Vec<_>, _>>()?;
    let mut take =
        db.prepare_cached("UPDATE deliveries SET due_at = ?2, attempts = attempts + 1, claimed = 1 WHERE id = ?1")?;
    for delivery in &due {
        take.execute(params![delivery.id, nanos(lease)])?;
    }
    Ok(due)
}

/// Has the deliveries that wait keep the outcome that they tell, before their task moves on from `state`.
pub(super) fn keep_outcomes(db: &Connection, task: &TaskRow, state: TaskState) -> Result<(), SqliteError> {
    let mut update = db.prepare_cached(
        "UPDATE deliveries SET outcome = tasks.outcome, own = 1
         FROM tasks WHERE tasks.id = deliveries.task AND own = 0 AND tasks.id = ?1 AND tasks.state = ?2",
    )?;
    update.execute(params![task.id, state.name()])?;
    Ok(())
}

pub(super) fn settle(db: &Connection, id: u64, retry_at: Option<Timestamp>) -> Result<(), SqliteError> {
    let id = i64::try_from(id).unwrap_or(i64::MAX);
    match retry_at {
        Some(at) => {
            let mut update = db.prepare_cached("UPDATE deliveries SET due_at = ?2, claimed = 0 WHERE id = ?1")?;
            update.execute(params![id, nanos(at)])?
        }
        None => db.prepare_cached("DELETE FROM deliveries WHERE id = ?1")?.execute(params![id])?,
    };
    Ok(())
}

/// Takes back that an attempt was made, and has it due then.
pub(super) fn put_off(db: &Connection, id: u64, until: Timestamp) -> Result<(), SqliteError> {
    let mut update = db.prepare_cached(
        "UPDATE deliveries SET due_at = ?2, claimed = 0, attempts = max(attempts - 1, 0) WHERE id = ?1 AND claimed = 1",
    )?;
    update.execute(params![i64::try_from(id).unwrap_or(i64::MAX), nanos(until)])?;
    Ok(())
}

/// Makes due what was claimed and never settled.
pub(super) fn release(db: &Connection, now: Timestamp) -> Result<u64, SqliteError> {
    let mut update = db.prepare_cached("UPDATE deliveries SET due_at = ?1, claimed = 0 WHERE claimed = 1")?;
    Ok(update.execute([nanos(now)])? as u64)
}
