//! This module has the statements about artifacts.

use forecourt_core::store::StoredArtifact;
use forecourt_core::{StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::error::SqliteError;
use super::quota::{self, Bounds, QuotaResult};
use super::rows::TaskRow;
use crate::seal::{Hash, Seal};
use crate::sealed::artifacts::{self, NewArtifact};
use crate::sealed::{cost_of, signed};
use crate::time::nanos;

/// Keeps an artifact unless there is one of its id. Fails when all of them together would have more
/// than `bytes_max` bytes.
pub(super) fn put(
    db: &Connection,
    task: &TaskRow,
    artifact: &NewArtifact,
    bytes_max: u64,
    bounds: Bounds,
) -> QuotaResult<()> {
    let cost = cost_of([&artifact.body, &artifact.bytes]);
    if let Err(full) = bounds.answer_room(db, task, cost)? {
        return Ok(Err(full));
    }
    let mut insert = db.prepare_cached(
        "INSERT INTO artifacts (task, hash, size, body, bytes) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (task, hash) DO NOTHING",
    )?;
    let values = params![task.id, artifact.hash, artifact.size, artifact.body, artifact.bytes];
    if insert.execute(values)? == 0 {
        return Ok(Ok(()));
    }
    if total(db, "artifact_bytes")?.unsigned_abs() > bytes_max {
        // Asked after the insert, which updates the sum by a trigger; the error rolls the row back.
        return Err(StoreError::Unavailable(format!("all artifacts have at most {bytes_max} bytes")).into());
    }
    quota::add_to_answer(db, task, signed(cost))?;
    Ok(Ok(()))
}

pub(super) fn read(
    db: &Connection,
    seal: &Seal,
    task: &TaskRow,
    id: &Hash,
    now: Timestamp,
) -> Result<Option<StoredArtifact>, SqliteError> {
    let mut select = db.prepare_cached(
        "SELECT artifacts.body, bytes FROM artifacts JOIN tasks ON tasks.id = artifacts.task
         WHERE artifacts.task = ?1 AND artifacts.hash = ?2 AND tasks.expires_at > ?3",
    )?;
    let found = select.query_row(params![task.id, id, nanos(now)], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((body, bytes)): Option<(Vec<u8>, Vec<u8>)> = found else { return Ok(None) };
    Ok(Some(artifacts::open(seal, &task.hash, id, body, bytes)?))
}

/// One of the running sums.
pub(super) fn total(db: &Connection, name: &str) -> Result<i64, SqliteError> {
    let mut select = db.prepare_cached("SELECT amount FROM totals WHERE name = ?1")?;
    Ok(select.query_row([name], |row| row.get(0))?)
}
