//! This module has the statements about a task's event log.

use forecourt_core::Event;
use forecourt_core::store::cost;
use rusqlite::{Connection, params};

use super::error::{SqliteError, corrupt};
use super::quota;
use super::rows::TaskRow;
use crate::seal::Seal;
use crate::sealed::{events, signed};
use crate::time::count;

/// The number of the last event, 0 when there is none.
pub(super) fn last(db: &Connection, task: &TaskRow) -> Result<u64, SqliteError> {
    let mut select = db.prepare_cached("SELECT ifnull(max(n), 0) FROM events WHERE task = ?1")?;
    let last: i64 = select.query_row([task.id], |row| row.get(0))?;
    Ok(last.unsigned_abs())
}

/// Appends what is not there yet, and charges for it.
pub(super) fn append(db: &Connection, task: &TaskRow, first: u64, events: &[Vec<u8>]) -> Result<(), SqliteError> {
    let first = i64::try_from(first).unwrap_or(i64::MAX);
    if let [event] = events
        && let Some(bytes) = append_next(db, task, first, event)?
    {
        return quota::add_to_answer(db, task, signed(bytes));
    }
    let last = signed(last(db, task)?);
    if first < 1 || first > last + 1 {
        return Err(corrupt(format!("event {first} would follow event {last}")).into());
    }
    let mut insert = db.prepare_cached("INSERT INTO events (task, n, body) VALUES (?1, ?2, ?3)")?;
    let mut bytes = 0;
    for (n, event) in (first..).zip(events).filter(|(n, _)| *n > last) {
        insert.execute(params![task.id, n, event])?;
        bytes += cost(event.len());
    }
    quota::add_to_answer(db, task, signed(bytes))
}

/// Appends an event if it is the next one, as it mostly is: one look for both. What it costs.
fn append_next(db: &Connection, task: &TaskRow, n: i64, event: &[u8]) -> Result<Option<u64>, SqliteError> {
    let mut insert = db.prepare_cached(
        "INSERT INTO events (task, n, body) SELECT ?1, ?2, ?3
         WHERE (SELECT ifnull(max(n), 0) FROM events WHERE task = ?1) = ?2 - 1",
    )?;
    Ok((insert.execute(params![task.id, n, event])? == 1).then(|| cost(event.len())))
}

/// Appends the event behind `last`. What it costs.
pub(super) fn append_after(db: &Connection, task: &TaskRow, last: u64, event: &[u8]) -> Result<u64, SqliteError> {
    let mut insert = db.prepare_cached("INSERT INTO events (task, n, body) VALUES (?1, ?2, ?3)")?;
    insert.execute(params![task.id, signed(last) + 1, event])?;
    Ok(cost(event.len()))
}

pub(super) fn read(
    db: &Connection,
    seal: &Seal,
    task: &TaskRow,
    after: u64,
    limit: usize,
) -> Result<Vec<(u64, Event)>, SqliteError> {
    let mut select = db.prepare_cached("SELECT n, body FROM events WHERE task = ?1 AND n > ?2 ORDER BY n LIMIT ?3")?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let rows = select.query_map(params![task.id, after, count(limit)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let open = |row: rusqlite::Result<(i64, Vec<u8>)>| {
        let (n, sealed) = row?;
        let n = n.unsigned_abs();
        Ok((n, events::open(seal, &task.hash, n, sealed)?))
    };
    rows.map(open).collect()
}
