//! This module has tasks and conversations as their operator searches them, in SQLite: rows without what is sealed in them.

use forecourt_core::{Handle, StoreError, TaskState, Timestamp};
use rusqlite::{Connection, params};

use super::error::{SqliteError, corrupt};
use crate::reads::{ConversationPlace, ConversationSummary, TaskSummary, name_of};
use crate::seal::Hash;
use crate::time::{count, moment, nanos};

/// By their numbers, which go by time, so that it needs no index. The columns before the sealed ones, which are not
/// read from disk.
const TASKS: &str = "SELECT id, hash, agent, owner, thread, state, run, created_at, updated_at FROM tasks
    WHERE id < ?1 AND +expires_at > ?2 ORDER BY id DESC LIMIT ?3";
/// In the order of `threads_by_expiry`.
const CONVERSATIONS: &str = "SELECT id, hash, agent, owner, expires_at,
        (SELECT count(*) FROM turns WHERE turns.thread = threads.id)
    FROM threads WHERE (expires_at, id) < (?1, ?2) AND expires_at > ?3 ORDER BY expires_at DESC, id DESC LIMIT ?4";

pub(super) fn tasks(
    db: &Connection,
    before: u64,
    limit: usize,
    now: Timestamp,
) -> Result<Vec<TaskSummary>, SqliteError> {
    let mut select = db.prepare_cached(TASKS)?;
    let mut found = select.query(params![signed(before), nanos(now), count(limit)])?;
    let mut all = Vec::new();
    while let Some(row) = found.next()? {
        let (agent, state): (String, String) = (row.get(2)?, row.get(5)?);
        all.push(TaskSummary {
            number: row.get::<_, i64>(0)?.unsigned_abs(),
            task: name_of(&row.get::<_, Hash>(1)?),
            conversation: row.get::<_, Option<Hash>>(4)?.map(|hash| name_of(&hash)),
            agent: handle(&agent)?,
            owner: row.get(3)?,
            state: TaskState::from_name(&state).ok_or_else(|| corrupt("a task is in no known state"))?,
            run: row.get(6)?,
            created_at: moment(row.get(7)?),
            updated_at: moment(row.get(8)?),
        });
    }
    Ok(all)
}

pub(super) fn conversations(
    db: &Connection,
    place: ConversationPlace,
    limit: usize,
    now: Timestamp,
) -> Result<Vec<ConversationSummary>, SqliteError> {
    let mut select = db.prepare_cached(CONVERSATIONS)?;
    let behind = (nanos(place.expires_at), signed(place.number));
    let mut found = select.query(params![behind.0, behind.1, nanos(now), count(limit)])?;
    let mut all = Vec::new();
    while let Some(row) = found.next()? {
        let agent: String = row.get(2)?;
        all.push(ConversationSummary {
            number: row.get::<_, i64>(0)?.unsigned_abs(),
            conversation: name_of(&row.get::<_, Hash>(1)?),
            agent: handle(&agent)?,
            owner: row.get(3)?,
            turns: row.get::<_, i64>(5)?.unsigned_abs(),
            expires_at: moment(row.get(4)?),
        });
    }
    Ok(all)
}

/// The agent of a row.
pub(super) fn handle(text: &str) -> Result<Handle, StoreError> {
    Handle::parse(text).map_err(|_| corrupt("a task is of no agent"))
}

/// A number as SQLite counts.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    fn plan(sql: &str) -> String {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db, schema::MIGRATIONS).unwrap();
        let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let values = vec![1; explain.parameter_count()];
        let steps = explain.query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
        steps.collect::<Result<Vec<_>, _>>().unwrap().join("; ")
    }

    #[test]
    fn pages_come_from_an_index_in_its_order() {
        let (tasks, conversations) = (plan(TASKS), plan(CONVERSATIONS));
        assert!(tasks.contains("INTEGER PRIMARY KEY (rowid<?)"), "{tasks}");
        assert!(conversations.contains("threads_by_expiry"), "{conversations}");
        assert!(!tasks.contains("TEMP B-TREE") && !conversations.contains("TEMP B-TREE"), "{tasks} {conversations}");
    }
}
