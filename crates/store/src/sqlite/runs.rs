//! This module has the statements about runs: their heartbeats, and which run holds a task.

use forecourt_core::Timestamp;
use forecourt_core::store::RunBeat;
use rusqlite::{Connection, params};

use super::error::SqliteError;
use crate::limits::ENDED_RUNS_KEPT;
use crate::sealed::signed;
use crate::time::count;

/// One more beat; `false` when the run was ended.
pub(super) fn beat(db: &Connection, run: &str) -> Result<bool, SqliteError> {
    let mut insert = db.prepare_cached(
        "INSERT INTO runs (run, beat) VALUES (?1, 1) ON CONFLICT (run) DO UPDATE SET beat = beat + 1 WHERE NOT ended",
    )?;
    Ok(insert.execute([run])? == 1)
}

pub(super) fn living(db: &Connection) -> Result<Vec<RunBeat>, SqliteError> {
    let mut select = db.prepare_cached("SELECT run, beat FROM runs WHERE NOT ended")?;
    let read = |row: &rusqlite::Row<'_>| Ok(RunBeat { run: row.get(0)?, beat: row.get::<_, i64>(1)?.unsigned_abs() });
    Ok(select.query_map([], read)?.collect::<Result<_, _>>()?)
}

/// Ends a run that has not beaten since it was seen.
pub(super) fn end(db: &Connection, seen: &RunBeat) -> Result<bool, SqliteError> {
    let mut insert = db.prepare_cached(
        "INSERT INTO runs (run, beat, ended) VALUES (?1, ?2, 1)
         ON CONFLICT (run) DO UPDATE SET ended = 1 WHERE NOT ended AND beat = ?2",
    )?;
    Ok(insert.execute(params![seen.run, signed(seen.beat)])? == 1)
}

/// Forgets at most `limit` runs that ended long ago; how many.
///
/// `ended` is 1 once a run was ended, and from the first look of ours on the second since 1970 in which that was.
pub(super) fn forget(db: &Connection, now: Timestamp, limit: usize) -> Result<usize, SqliteError> {
    let kept = i64::try_from(ENDED_RUNS_KEPT.as_secs()).unwrap_or(i64::MAX);
    db.prepare_cached("UPDATE runs SET ended = max(?1, 2) WHERE ended = 1")?.execute([now.as_second()])?;
    let mut delete = db.prepare_cached(
        "DELETE FROM runs WHERE run IN (SELECT run FROM runs WHERE ended > 1 AND ended <= ?1 LIMIT ?2)",
    )?;
    Ok(delete.execute(params![now.as_second().saturating_sub(kept), count(limit)])?)
}
