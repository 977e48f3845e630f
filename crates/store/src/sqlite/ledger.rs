//! This module has the statements about streams of entries.

use forecourt_core::Timestamp;
use forecourt_core::store::{LedgerEntry, Span, cost};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::error::SqliteError;
use super::quota::{Bounds, HolderRow, QuotaResult};
use crate::seal::{Hash, Seal};
use crate::sealed::ledger::{self, NewEntry};
use crate::sealed::signed;
use crate::time::{count, nanos};

/// Writes an entry, which is kept until a moment or for ever, and gives its number; `None` when `expected` is not the number of the last one.
pub(super) fn append(
    db: &Connection,
    entry: &NewEntry,
    until: Option<Timestamp>,
    expected: Option<u64>,
    bounds: Bounds,
) -> QuotaResult<Option<u64>> {
    let mut find = db.prepare_cached(
        "SELECT id, last, (SELECT max(n) FROM entries WHERE stream = id AND ifnull(expires_at > ?2, 1))
         FROM streams WHERE hash = ?1",
    )?;
    let columns = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let found: Option<(i64, i64, Option<i64>)> =
        find.query_row(params![entry.stream, nanos(entry.at)], columns).optional()?;
    let last = found.and_then(|(_, _, readable)| readable);
    if expected.is_some_and(|expected| expected != last.unwrap_or(0).unsigned_abs()) {
        return Ok(Ok(None));
    }
    let bytes = cost(entry.body.len());
    if let Err(full) = bounds.room(db, entry.holder, bytes)? {
        return Ok(Err(full));
    }
    let account = entry.holder.row(db)?;
    let (stream, next) = match found {
        Some((stream, last, Some(_))) => (stream, last + 1),
        // All entries have expired, whether or not they are deleted yet: how far the removal has come must not show in
        // numbers.
        Some((stream, _, None)) => (begun_anew(db, stream, &entry.stream)?, 1),
        None => (begun(db, &entry.stream)?, 1),
    };
    db.prepare_cached("UPDATE streams SET last = ?2 WHERE id = ?1")?.execute(params![stream, next])?;
    db.prepare_cached(
        "INSERT INTO entries (stream, n, at, expires_at, body, account, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![stream, next, nanos(entry.at), until.map(nanos), entry.body, account, signed(bytes)])?;
    Ok(Ok(Some(next.unsigned_abs())))
}

fn begun(db: &Connection, stream: &Hash) -> Result<i64, SqliteError> {
    db.prepare_cached("INSERT INTO streams (hash, last) VALUES (?1, 0)")?.execute([stream])?;
    Ok(db.last_insert_rowid())
}

/// The stream without what has expired in it, which is everything.
fn begun_anew(db: &Connection, row: i64, stream: &Hash) -> Result<i64, SqliteError> {
    db.prepare_cached("DELETE FROM streams WHERE id = ?1")?.execute([row])?;
    begun(db, stream)
}

pub(super) fn read(
    db: &Connection,
    seal: &Seal,
    stream: &Hash,
    span: Span,
    limit: usize,
    now: Timestamp,
) -> Result<Vec<(u64, LedgerEntry)>, SqliteError> {
    const OLDEST_FIRST: &str = "SELECT n, at, entries.expires_at, body FROM entries JOIN streams ON streams.id = stream
         WHERE hash = ?1 AND n > ?2 AND ifnull(expires_at > ?3, 1) ORDER BY n LIMIT ?4";
    const NEWEST_FIRST: &str = "SELECT n, at, entries.expires_at, body FROM entries JOIN streams ON streams.id = stream
         WHERE hash = ?1 AND n < ?2 AND ifnull(expires_at > ?3, 1) ORDER BY n DESC LIMIT ?4";
    let (statement, n) = match span {
        Span::After(n) => (OLDEST_FIRST, n),
        Span::Before(n) => (NEWEST_FIRST, n),
    };
    let n = i64::try_from(n).unwrap_or(i64::MAX);
    let mut select = db.prepare_cached(statement)?;
    let columns = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let rows = select.query_map(params![stream, n, nanos(now), count(limit)], columns)?;
    let open = |row: rusqlite::Result<(i64, i64, Option<i64>, Vec<u8>)>| {
        let (n, at, expires_at, sealed) = row?;
        Ok((n.unsigned_abs(), ledger::open(seal, stream, at, expires_at, sealed)?))
    };
    rows.map(open).collect()
}
