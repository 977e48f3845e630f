//! The statements about a task's event log.

use forecourt_core::store::cost;
use forecourt_core::{Event, StoreError};
use rusqlite::{Connection, params};

use super::fault::{Fault, corrupt};
use super::quota::{self, signed};
use super::rows::TaskRow;
use super::seal::{Hash, Label, Seal};
use super::time::count;
use crate::slim;

fn label<'a>(task: &'a Hash, n: &'a [u8; 8]) -> Label<'a> {
    Label { kind: "event", of: task, part: n }
}

/// Events sealed one by one, numbered from `first`.
pub(super) fn seal_all(seal: &Seal, task: &Hash, first: u64, events: &[Event]) -> Result<Vec<Vec<u8>>, StoreError> {
    let numbered = (first..).zip(events);
    let sealed = |(n, event): (u64, &Event)| match event {
        Event::Part(_) => seal.seal(label(task, &n.to_be_bytes()), &slim::event(event)?),
        event => seal.seal(label(task, &n.to_be_bytes()), event),
    };
    numbered.map(sealed).collect()
}

/// The number of the last event, 0 when there is none.
pub(super) fn last(db: &Connection, task: &TaskRow) -> Result<u64, Fault> {
    let mut select = db.prepare_cached("SELECT ifnull(max(n), 0) FROM events WHERE task = ?1")?;
    let last: i64 = select.query_row([task.id], |row| row.get(0))?;
    Ok(last.unsigned_abs())
}

/// Appends what is not there yet, and charges for it.
pub(super) fn append(db: &Connection, task: &TaskRow, first: u64, events: &[Vec<u8>]) -> Result<(), Fault> {
    let last = signed(last(db, task)?);
    let first = i64::try_from(first).unwrap_or(i64::MAX);
    if first < 1 || first > last + 1 {
        return Err(corrupt(format!("event {first} would follow event {last}")).into());
    }
    let mut insert = db.prepare_cached("INSERT INTO events (task, n, body) VALUES (?1, ?2, ?3)")?;
    let mut bytes = 0;
    for (n, event) in (first..).zip(events).filter(|(n, _)| *n > last) {
        insert.execute(params![task.id, n, event])?;
        bytes += cost(event.len());
    }
    quota::add(db, task, signed(bytes))
}

pub(super) fn read(
    db: &Connection,
    seal: &Seal,
    task: &TaskRow,
    after: u64,
    limit: usize,
) -> Result<Vec<(u64, Event)>, Fault> {
    let mut select = db.prepare_cached("SELECT n, body FROM events WHERE task = ?1 AND n > ?2 ORDER BY n LIMIT ?3")?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let rows = select.query_map(params![task.id, after, count(limit)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let open = |row: rusqlite::Result<(i64, Vec<u8>)>| {
        let (n, sealed) = row?;
        let n = n.unsigned_abs();
        Ok((n, seal.open(label(&task.hash, &n.to_be_bytes()), sealed)?))
    };
    rows.map(open).collect()
}
