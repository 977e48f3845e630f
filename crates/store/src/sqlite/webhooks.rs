//! The statements about webhooks and the deliveries that wait for them.

use forecourt_core::store::{Delivery, Webhook};
use forecourt_core::{StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::artifacts::total;
use super::fault::Fault;
use super::seal::{Hash, Label, Seal};
use super::tasks::SealedTask;
use super::time::{count, nanos};

fn label(task: &Hash) -> Label<'_> {
    Label { kind: "webhook", of: task, part: b"" }
}

pub(super) fn seal(seal: &Seal, task: &Hash, webhook: &Webhook) -> Result<Vec<u8>, StoreError> {
    seal.seal(label(task), webhook)
}

/// Registers a webhook unless the task has `limit` or is gone. Fails while `pending_max` deliveries
/// wait: registering is what can be put off, settling a task is not.
pub(super) fn add(
    db: &Connection,
    task: &Hash,
    webhook: &[u8],
    limit: usize,
    pending_max: usize,
) -> Result<bool, Fault> {
    let mut find = db.prepare_cached(
        "SELECT id, (SELECT count(*) FROM webhooks WHERE task = tasks.id) FROM tasks WHERE hash = ?1",
    )?;
    let found = find.query_row(params![task], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((row, registered)): Option<(i64, i64)> = found.filter(|(_, n)| *n < count(limit)) else {
        return Ok(false);
    };
    if total(db, "deliveries")? >= count(pending_max) {
        return Err(StoreError::Unavailable(format!("{pending_max} deliveries are waiting")).into());
    }
    let mut insert = db.prepare_cached("INSERT INTO webhooks (task, n, body) VALUES (?1, ?2, ?3)")?;
    insert.execute(params![row, registered + 1, webhook])?;
    Ok(true)
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
                deliveries.state, settled_at, deliveries.outcome, deliveries.id, attempts, webhooks.body
         FROM deliveries JOIN tasks ON tasks.id = deliveries.task
              JOIN webhooks ON webhooks.task = deliveries.task AND webhooks.n = deliveries.webhook
         WHERE due_at <= ?1 AND tasks.expires_at > ?1 ORDER BY due_at, deliveries.id LIMIT ?2",
    )?;
    let read = |row: &rusqlite::Row<'_>| {
        let task = SealedTask::read(row)?;
        Ok(SealedDelivery { task, id: row.get(10)?, attempts: row.get(11)?, webhook: row.get(12)? })
    };
    let due = select.query_map(params![nanos(now), count(limit)], read)?.collect::<Result<Vec<_>, _>>()?;
    let mut take = db.prepare_cached("UPDATE deliveries SET due_at = ?2, attempts = attempts + 1 WHERE id = ?1")?;
    for delivery in &due {
        take.execute(params![delivery.id, nanos(lease)])?;
    }
    Ok(due)
}

pub(super) fn settle(db: &Connection, id: u64, retry_at: Option<Timestamp>) -> Result<(), Fault> {
    let id = i64::try_from(id).unwrap_or(i64::MAX);
    match retry_at {
        Some(at) => {
            let mut update = db.prepare_cached("UPDATE deliveries SET due_at = ?2 WHERE id = ?1")?;
            update.execute(params![id, nanos(at)])?
        }
        None => db.prepare_cached("DELETE FROM deliveries WHERE id = ?1")?.execute(params![id])?,
    };
    Ok(())
}
