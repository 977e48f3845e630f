//! The statements about conversations.

use forecourt_core::store::{Addition, Conversation};
use forecourt_core::{Handle, StoreError, Timestamp, Turn};
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use super::seal::{Hash, Label, OVERHEAD, Seal};
use super::time::{count, nanos};
use crate::turns;

/// A conversation is one between a caller and one agent.
pub(super) struct ThreadName {
    pub(super) hash: Hash,
    pub(super) agent: Handle,
}

impl ThreadName {
    fn label(&self) -> Label<'_> {
        Label { kind: "turn", of: &self.hash, part: self.agent.as_str().as_bytes() }
    }

    pub(super) fn seal(&self, seal: &Seal, addition: Addition) -> Result<SealedAddition, StoreError> {
        let Addition { owner, turns, keep, expires_at } = addition;
        let turns = turns.iter().map(|turn| seal.seal(self.label(), turn)).collect::<Result<_, _>>()?;
        Ok(SealedAddition { owner, turns, keep, expires_at })
    }
}

/// An [`Addition`], ready to be written.
pub(super) struct SealedAddition {
    owner: Option<String>,
    turns: Vec<Vec<u8>>,
    keep: usize,
    expires_at: Timestamp,
}

/// Begins the conversation if need be, adds the turns and removes the oldest ones. `false`, and nothing
/// is changed, when it is somebody else's.
pub(super) fn append(db: &Connection, name: &ThreadName, addition: &SealedAddition) -> Result<bool, Fault> {
    let mut begin = db.prepare_cached(
        "INSERT INTO threads (hash, agent, owner, expires_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (hash, agent) DO UPDATE
         SET expires_at = excluded.expires_at, owner = excluded.owner
         WHERE threads.owner IS NULL OR threads.owner = excluded.owner RETURNING id",
    )?;
    let SealedAddition { owner, turns, keep, expires_at } = addition;
    let values = params![name.hash, name.agent.as_str(), owner, nanos(*expires_at)];
    let begun = begin.query_row(values, |row| row.get(0)).optional()?;
    let Some(thread): Option<i64> = begun else { return Ok(false) };
    let mut last = db.prepare_cached("SELECT ifnull(max(n), 0) FROM turns WHERE thread = ?1")?;
    let last: i64 = last.query_row([thread], |row| row.get(0))?;
    let mut insert = db.prepare_cached("INSERT INTO turns (thread, n, body) VALUES (?1, ?2, ?3)")?;
    for (n, turn) in (last + 1..).zip(turns) {
        insert.execute(params![thread, n, turn])?;
    }
    trim(db, thread, *keep)?;
    Ok(true)
}

fn trim(db: &Connection, thread: i64, keep: usize) -> Result<(), Fault> {
    let mut sizes = db.prepare_cached("SELECT length(body) FROM turns WHERE thread = ?1 ORDER BY n DESC")?;
    let sizes = sizes.query_map([thread], |row| row.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?;
    let plain = sizes.iter().map(|size| usize::try_from(*size).unwrap_or_default().saturating_sub(OVERHEAD));
    let kept = turns::kept(plain, keep);
    if kept == sizes.len() {
        return Ok(());
    }
    let mut remove = db.prepare_cached(
        "DELETE FROM turns WHERE thread = ?1
         AND n <= (SELECT n FROM turns WHERE thread = ?1 ORDER BY n DESC LIMIT 1 OFFSET ?2)",
    )?;
    remove.execute(params![thread, count(kept)])?;
    Ok(())
}

pub(super) fn read(
    db: &Connection,
    seal: &Seal,
    name: &ThreadName,
    now: Timestamp,
) -> Result<Option<Conversation>, Fault> {
    let mut find =
        db.prepare_cached("SELECT id, owner FROM threads WHERE hash = ?1 AND agent = ?2 AND expires_at > ?3")?;
    let values = params![name.hash, name.agent.as_str(), nanos(now)];
    let found = find.query_row(values, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((thread, owner)): Option<(i64, Option<String>)> = found else { return Ok(None) };
    let mut select = db.prepare_cached("SELECT body FROM turns WHERE thread = ?1 ORDER BY n")?;
    let sealed = select.query_map([thread], |row| row.get(0))?;
    let open = |row: rusqlite::Result<Vec<u8>>| Ok(seal.open(name.label(), row?)?);
    let turns = sealed.map(open).collect::<Result<Vec<Turn>, Fault>>()?;
    Ok(Some(Conversation { owner, turns }))
}
