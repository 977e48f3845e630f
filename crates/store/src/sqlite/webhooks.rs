//! The statements about webhooks and the deliveries that wait for them.

use forecourt_core::store::{Added, Delivery, Webhook, cost};
use forecourt_core::{StoreError, TaskState, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::artifacts::total;
use super::fault::{Fault, corrupt};
use super::quota::{self, Bounds, Kept, signed};
use super::seal::{Hash, Label, Seal, hash};
use super::tasks::SealedTask;
use super::time::{count, nanos};

fn label(task: &Hash) -> Label<'_> {
    Label { kind: "webhook", of: task, part: b"" }
}

/// A webhook as a row, ready to be written.
pub(super) struct NewWebhook {
    hash: Hash,
    body: Vec<u8>,
}

impl NewWebhook {
    pub(super) fn new(seal: &Seal, task: &Hash, webhook: &Webhook) -> Result<Self, StoreError> {
        Ok(Self { hash: hash(&webhook.id), body: seal.seal(label(task), webhook)? })
    }
}

/// Registers a webhook unless the task has `limit`, has ended or is gone; one of its id is replaced.
/// Fails while `pending_max` deliveries wait: registering is what can be put off, settling a task is
/// not.
pub(super) fn add(
    db: &Connection,
    task: &Hash,
    webhook: &NewWebhook,
    limit: usize,
    pending_max: usize,
    bounds: Bounds,
) -> Kept<Added> {
    if let Err(full) = bounds.task_room(db, task, cost(webhook.body.len()))? {
        return Ok(Err(full));
    }
    let mut find = db.prepare_cached("SELECT id, state FROM tasks WHERE hash = ?1")?;
    let found = find.query_row(params![task], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((row, state)): Option<(i64, String)> = found else { return Ok(Ok(Added::NoTask)) };
    if TaskState::from_name(&state).ok_or_else(|| corrupt("a task is in no known state"))?.is_final() {
        return Ok(Ok(Added::Ended));
    }
    let before = body_cost(db, row, &webhook.hash)?;
    let mut replace = db.prepare_cached("UPDATE webhooks SET body = ?3 WHERE task = ?1 AND hash = ?2")?;
    if replace.execute(params![row, webhook.hash, webhook.body])? > 0 {
        quota::add(db, task, signed(cost(webhook.body.len())) - signed(before))?;
        return Ok(Ok(Added::Yes));
    }
    let mut registered = db.prepare_cached("SELECT count(*), ifnull(max(n), 0) FROM webhooks WHERE task = ?1")?;
    let (registered, last): (i64, i64) = registered.query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if registered >= count(limit) {
        return Ok(Ok(Added::TooMany));
    }
    if total(db, "deliveries")? >= count(pending_max) {
        return Err(StoreError::Unavailable(format!("{pending_max} deliveries are waiting")).into());
    }
    let mut insert = db.prepare_cached("INSERT INTO webhooks (task, n, hash, body) VALUES (?1, ?2, ?3, ?4)")?;
    insert.execute(params![row, last + 1, webhook.hash, webhook.body])?;
    quota::add(db, task, signed(cost(webhook.body.len())))?;
    Ok(Ok(Added::Yes))
}

/// What a webhook of a task costs, 0 when there is none of this name.
fn body_cost(db: &Connection, task: i64, webhook: &Hash) -> Result<u64, Fault> {
    let mut select = db.prepare_cached("SELECT length(body) FROM webhooks WHERE task = ?1 AND hash = ?2")?;
    let len: Option<i64> = select.query_row(params![task, webhook], |row| row.get(0)).optional()?;
    Ok(len.map_or(0, |len| cost(usize::try_from(len).unwrap_or_default())))
}

/// The webhooks of a task, in the order in which they were registered.
pub(super) fn of_task(db: &Connection, seal: &Seal, task: &Hash) -> Result<Vec<Webhook>, Fault> {
    let mut select = db.prepare_cached(
        "SELECT webhooks.body FROM webhooks JOIN tasks ON tasks.id = webhooks.task WHERE tasks.hash = ?1 ORDER BY n",
    )?;
    let sealed = select.query_map(params![task], |row| row.get(0))?;
    sealed.map(|row: rusqlite::Result<Vec<u8>>| Ok(seal.open(label(task), row?)?)).collect()
}

/// Removes a webhook, and with it what waits for it.
pub(super) fn remove(db: &Connection, task: &Hash, webhook: &Hash) -> Result<bool, Fault> {
    let mut delete = db.prepare_cached(
        "DELETE FROM webhooks WHERE task = (SELECT id FROM tasks WHERE hash = ?1) AND hash = ?2 RETURNING length(body)",
    )?;
    let lens = delete.query_map(params![task, webhook], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    let given_back: u64 = lens.iter().map(|len| cost(usize::try_from(*len).unwrap_or_default())).sum();
    quota::add(db, task, -signed(given_back))?;
    Ok(!lens.is_empty())
}

/// A delivery as it was read, still sealed.
pub(super) struct SealedDelivery {
    id: i64,
    attempts: u32,
    webhook: Vec<u8>,
    task: SealedTask,
}

impl SealedDelivery {
    pub(super) fn open(self, seal: &Seal) -> Result<Delivery, StoreError> {
        let webhook = seal.open(label(self.task.hash()), self.webhook)?;
        let task = self.task.open(seal)?;
        Ok(Delivery { id: self.id.unsigned_abs(), webhook, task, attempts: self.attempts })
    }
}

/// Takes what is due, the longest due first, and hides it until `lease`. An attempt counts from
/// here: one that a crash cut short has been made.
pub(super) fn claim(
    db: &Connection,
    now: Timestamp,
    lease: Timestamp,
    limit: usize,
) -> Result<Vec<SealedDelivery>, Fault> {
    let mut select = db.prepare_cached(
        "SELECT tasks.hash, tasks.agent, tasks.owner, tasks.run, tasks.created_at, tasks.expires_at, tasks.body,
                deliveries.state, settled_at, iif(own, deliveries.outcome, tasks.outcome), deliveries.id, attempts, webhooks.body
         FROM deliveries JOIN tasks ON tasks.id = deliveries.task
              JOIN webhooks ON webhooks.task = deliveries.task AND webhooks.n = deliveries.webhook
         WHERE due_at <= ?1 AND tasks.expires_at > ?1 ORDER BY due_at, deliveries.id LIMIT ?2",
    )?;
    let read = |row: &rusqlite::Row<'_>| {
        let task = SealedTask::read(row)?;
        Ok(SealedDelivery { task, id: row.get(10)?, attempts: row.get(11)?, webhook: row.get(12)? })
    };
    let due = select.query_map(params![nanos(now), count(limit)], read)?.collect::<Result<Vec<_>, _>>()?;
    let mut take =
        db.prepare_cached("UPDATE deliveries SET due_at = ?2, attempts = attempts + 1, claimed = 1 WHERE id = ?1")?;
    for delivery in &due {
        take.execute(params![delivery.id, nanos(lease)])?;
    }
    Ok(due)
}

/// Has the deliveries that wait keep the outcome that they tell, before their task moves on from `state`.
pub(super) fn keep_outcomes(db: &Connection, task: &Hash, state: TaskState) -> Result<(), Fault> {
    let mut update = db.prepare_cached(
        "UPDATE deliveries SET outcome = tasks.outcome, own = 1
         FROM tasks WHERE tasks.id = deliveries.task AND own = 0 AND tasks.hash = ?1 AND tasks.state = ?2",
    )?;
    update.execute(params![task, state.name()])?;
    Ok(())
}

pub(super) fn settle(db: &Connection, id: u64, retry_at: Option<Timestamp>) -> Result<(), Fault> {
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

/// Makes due what was claimed and never settled.
pub(super) fn release(db: &Connection, now: Timestamp) -> Result<u64, Fault> {
    let mut update = db.prepare_cached("UPDATE deliveries SET due_at = ?1, claimed = 0 WHERE claimed = 1")?;
    Ok(update.execute([nanos(now)])? as u64)
}
