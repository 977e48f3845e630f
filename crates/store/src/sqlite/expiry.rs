//! This module removes what has expired, and probes whether a write would work.

use forecourt_core::Timestamp;
use rusqlite::{Connection, params};

use super::error::SqliteError;
use super::quota::{Bounds, QuotaResult};
use super::runs;
use crate::limits::STRANGERS_BYTES_REMOVED_AT_ONCE;
use crate::time::{count, nanos};

/// Removes at most `limit` rows from the event logs of expired tasks. Whether there may be more.
///
/// A log can be long; taken away with its task it would hold up every other write.
pub(super) fn trim_logs(db: &Connection, now: Timestamp, limit: usize) -> Result<bool, SqliteError> {
    let mut delete = db.prepare_cached(
        "DELETE FROM events WHERE (task, n) IN (
             SELECT task, n FROM tasks JOIN events ON events.task = tasks.id WHERE expires_at <= ?1 LIMIT ?2)",
    )?;
    Ok(delete.execute(params![nanos(now), count(limit)])? >= limit)
}

/// Removes at most `limit` expired tasks with all that hangs on them, conversations, claims, notices,
/// routes and entries.
pub(super) fn remove(db: &Connection, now: Timestamp, limit: usize) -> Result<u64, SqliteError> {
    let statements = [
        "DELETE FROM tasks WHERE id IN (SELECT id FROM tasks WHERE expires_at <= ?1 LIMIT ?2)",
        "DELETE FROM threads WHERE id IN (SELECT id FROM threads WHERE expires_at <= ?1 LIMIT ?2)",
        "DELETE FROM claims WHERE hash IN (SELECT hash FROM claims WHERE expires_at <= ?1 LIMIT ?2)",
        "DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE expires_at <= ?1 LIMIT ?2)",
        "DELETE FROM routes WHERE hash IN (SELECT hash FROM routes WHERE expires_at <= ?1 LIMIT ?2)",
        "DELETE FROM entries WHERE (stream, n) IN (
             SELECT stream, n FROM entries WHERE expires_at <= ?1 LIMIT ?2)",
    ];
    let mut removed = 0;
    for statement in statements {
        let left = limit.saturating_sub(removed);
        removed += db.prepare_cached(statement)?.execute(params![nanos(now), count(left)])?;
    }
    removed += runs::forget(db, now, limit.saturating_sub(removed))?;
    let empty = "DELETE FROM accounts WHERE id IN (SELECT id FROM accounts WHERE bytes <= 0 LIMIT ?1)";
    db.prepare_cached(empty)?.execute([count(limit)])?;
    Ok(removed as u64)
}

/// Removes at most `limit` of the oldest tasks that callers who proved nothing have kept, have ended, and of which
/// nobody waits to be told. How many, and what was charged for them.
pub(super) fn remove_oldest(db: &Connection, limit: usize) -> Result<(u64, u64), SqliteError> {
    let mut select = db.prepare_cached(
        "SELECT tasks.id, charges.bytes FROM charges JOIN accounts ON accounts.id = charges.account
                JOIN tasks ON tasks.id = charges.task
         WHERE accounts.narrow IS NOT NULL AND tasks.state IN ('completed', 'failed', 'canceled', 'rejected')
           AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.task = tasks.id)
         ORDER BY charges.task LIMIT ?1",
    )?;
    let oldest = select.query_map([count(limit)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let oldest: Vec<(i64, i64)> = oldest.collect::<Result<_, _>>()?;
    let (mut removed, mut freed) = (0, 0);
    for (task, bytes) in oldest {
        db.prepare_cached("DELETE FROM tasks WHERE id = ?1")?.execute([task])?;
        (removed, freed) = (removed + 1, freed + bytes.unsigned_abs());
        // Logs may be long, and everybody else waits for the end of this transaction.
        if freed >= STRANGERS_BYTES_REMOVED_AT_ONCE {
            break;
        }
    }
    Ok((removed, freed))
}

/// Pages that are kept for what is written next.
const FREE_PAGES: i64 = 256;

/// Gives at most `limit` pages that nothing is on any more back to the disk. Whether there may be more.
pub(super) fn give_back(db: &Connection, limit: i64) -> Result<bool, SqliteError> {
    let free: i64 = db.query_row("PRAGMA freelist_count", [], |row| row.get(0))?;
    let spare = (free - FREE_PAGES).clamp(0, limit);
    if spare > 0 {
        // Each step of the statement frees one page, so that it must be stepped to its end.
        let mut vacuum = db.prepare(&format!("PRAGMA incremental_vacuum({spare})"))?;
        let mut steps = vacuum.query([])?;
        while steps.next()?.is_some() {}
    }
    let left: i64 = db.query_row("PRAGMA freelist_count", [], |row| row.get(0))?;
    // `left < free`: a database that can't give pages back would be asked for ever.
    Ok(left > FREE_PAGES && left < free)
}

/// Bytes that the probe writes: enough to need fresh pages.
const PROBE_BYTES: i64 = 32 * 1024;

/// Writes something and takes it back: fails when another write would.
pub(super) fn probe(db: &Connection, bounds: Bounds) -> QuotaResult<()> {
    if let Err(full) = bounds.store_room(db, PROBE_BYTES.unsigned_abs())? {
        return Ok(Err(full));
    }
    db.prepare_cached("INSERT INTO probe VALUES (zeroblob(?1))")?.execute([PROBE_BYTES])?;
    db.prepare_cached("DELETE FROM probe")?.execute([])?;
    Ok(Ok(()))
}
