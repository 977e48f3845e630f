//! This module has the statements about conversations.

use forecourt_core::store::{Conversation, ConversationVersion, cost};
use forecourt_core::{Timestamp, Turn};
use rusqlite::{Connection, OptionalExtension, params};

use super::error::SqliteError;
use super::quota::{Bounds, HolderRow, QuotaResult};
use crate::seal::{OVERHEAD, Seal};
use crate::sealed::threads::{SealedAddition, ThreadName};
use crate::sealed::{Holder, signed};
use crate::time::{count, moment, nanos};
use crate::turns;

/// Begins the conversation if need be, adds the turns and removes the oldest ones. `None`, and nothing
/// is changed, when it is somebody else's.
pub(super) fn append(
    db: &Connection,
    name: &ThreadName,
    addition: &SealedAddition,
    bounds: Bounds,
) -> QuotaResult<Option<ConversationVersion>> {
    let mut begin = db.prepare_cached(
        "INSERT INTO threads (hash, agent, owner, expires_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (hash, agent) DO UPDATE
         SET expires_at = excluded.expires_at, owner = excluded.owner
         WHERE threads.owner IS NULL OR threads.owner = excluded.owner RETURNING id",
    )?;
    let SealedAddition { owner, holder, turns, keep, expires_at } = addition;
    let values = params![name.hash, name.agent.as_str(), owner, nanos(*expires_at)];
    let begun = begin.query_row(values, |row| row.get(0)).optional()?;
    let Some(thread): Option<i64> = begun else { return Ok(Ok(None)) };
    let mut last = db.prepare_cached("SELECT ifnull(max(n), 0) FROM turns WHERE thread = ?1")?;
    let last: i64 = last.query_row([thread], |row| row.get(0))?;
    let mut insert = db.prepare_cached("INSERT INTO turns (thread, n, body) VALUES (?1, ?2, ?3)")?;
    for (n, turn) in (last + 1..).zip(turns) {
        insert.execute(params![thread, n, turn])?;
    }
    let bytes = trim(db, thread, *keep)?;
    charge(db, thread, *holder, bytes, bounds)?;
    // With nothing kept the next addition counts from 1 again, as `max(n)` of no turns is 0.
    let last_turn = if *keep == 0 { 0 } else { last.unsigned_abs() + turns.len() as u64 };
    Ok(Ok(Some(ConversationVersion { last_turn, expires_at: moment(nanos(*expires_at)) })))
}

/// Has whoever wrote to it last pay for all of a conversation.
fn charge(db: &Connection, thread: i64, holder: Holder, bytes: u64, bounds: Bounds) -> Result<(), SqliteError> {
    let account = holder.row(db)?;
    let mut held = db.prepare_cached("SELECT account, bytes FROM threads WHERE id = ?1")?;
    let (payer, held): (Option<i64>, i64) = held.query_row([thread], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let more = if payer == account { bytes.saturating_sub(held.unsigned_abs()) } else { bytes };
    // Asked after writing, as only now it is known which turns stay and what they cost; an error rolls the writes back.
    bounds.room(db, holder, more)??;
    db.prepare_cached("UPDATE threads SET account = ?2, bytes = ?3 WHERE id = ?1")?.execute(params![
        thread,
        account,
        signed(bytes)
    ])?;
    Ok(())
}

/// Removes the oldest turns; gives what the conversation costs without them.
fn trim(db: &Connection, thread: i64, keep: usize) -> Result<u64, SqliteError> {
    let mut sizes = db.prepare_cached("SELECT length(body) FROM turns WHERE thread = ?1 ORDER BY n DESC")?;
    let sizes = sizes.query_map([thread], |row| row.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?;
    let plain = sizes.iter().map(|size| usize::try_from(*size).unwrap_or_default().saturating_sub(OVERHEAD));
    let kept = turns::kept(plain, keep);
    let lens = sizes.iter().take(kept).map(|size| usize::try_from(*size).unwrap_or_default());
    let bytes = cost(0) + lens.map(cost).sum::<u64>();
    if kept == sizes.len() {
        return Ok(bytes);
    }
    let mut remove = db.prepare_cached(
        "DELETE FROM turns WHERE thread = ?1
         AND n <= (SELECT n FROM turns WHERE thread = ?1 ORDER BY n DESC LIMIT 1 OFFSET ?2)",
    )?;
    remove.execute(params![thread, count(kept)])?;
    Ok(bytes)
}

pub(super) fn read(
    db: &Connection,
    seal: &Seal,
    name: &ThreadName,
    now: Timestamp,
) -> Result<Option<Conversation>, SqliteError> {
    let mut find = db.prepare_cached(
        "SELECT id, owner, expires_at FROM threads WHERE hash = ?1 AND agent = ?2 AND expires_at > ?3",
    )?;
    let values = params![name.hash, name.agent.as_str(), nanos(now)];
    let found = find.query_row(values, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
    let Some((thread, owner, expires_at)): Option<(i64, Option<String>, i64)> = found else { return Ok(None) };
    let mut select = db.prepare_cached("SELECT n, body FROM turns WHERE thread = ?1 ORDER BY n")?;
    let mut sealed = select.query([thread])?;
    let (mut turns, mut last): (Vec<Turn>, i64) = (Vec::new(), 0);
    while let Some(row) = sealed.next()? {
        last = row.get(0)?;
        turns.push(name.open(seal, row.get(1)?)?);
    }
    let version = ConversationVersion { last_turn: last.unsigned_abs(), expires_at: moment(expires_at) };
    Ok(Some(Conversation { owner, turns, version }))
}

/// How a conversation stands, without opening a turn of it.
pub(super) fn version(
    db: &Connection,
    name: &ThreadName,
    now: Timestamp,
) -> Result<Option<ConversationVersion>, SqliteError> {
    let mut select = db.prepare_cached(
        "SELECT (SELECT ifnull(max(n), 0) FROM turns WHERE thread = threads.id), expires_at
         FROM threads WHERE hash = ?1 AND agent = ?2 AND expires_at > ?3",
    )?;
    let values = params![name.hash, name.agent.as_str(), nanos(now)];
    let found = select.query_row(values, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(found.map(|(last, expires_at): (i64, i64)| ConversationVersion {
        last_turn: last.unsigned_abs(),
        expires_at: moment(expires_at),
    }))
}
