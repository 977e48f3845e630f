//! This module finds the row of a task: from memory for tasks used lately, else by the number that its hash begins
//! with.

use std::collections::HashMap;

use forecourt_core::StoreError;
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::error::SqliteError;
use super::unnamed::UnnamedTasks;
use crate::limits::{TASK_ROWS_AT_HAND, TASKS_UNNAMED_MAX};
use crate::seal::Hash;
use crate::sealed::tasks::SealedTask;

/// The number that a task is looked up by: what its hash begins with.
pub(super) fn name(hash: &[u8]) -> i64 {
    hash.first_chunk().map_or(0, |first| i64::from_be_bytes(*first))
}

/// A task and its row.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaskRow {
    pub(super) hash: Hash,
    pub(super) id: i64,
    /// Whether its bytes may be charged to somebody: whose they are is settled as it is made.
    pub(super) may_be_charged: bool,
}

/// Rows of tasks that were used lately. What stands here is looked at again before it is believed: a write that
/// was taken back, or a task that expired, left none.
#[derive(Default)]
pub(super) struct TaskRows {
    lately: Mutex<Generations>,
    unnamed: Mutex<UnnamedTasks>,
}

/// Rows used lately, and those used before that: a bounded cache without a list by last use.
#[derive(Default)]
struct Generations {
    new: HashMap<Hash, AtHand>,
    old: HashMap<Hash, AtHand>,
}

/// A remembered row of a task.
#[derive(Debug, Clone, Copy, PartialEq)]
struct AtHand {
    id: i64,
    may_be_charged: bool,
}

impl TaskRows {
    fn at_hand(&self, task: &Hash) -> Option<TaskRow> {
        let rows = self.lately.lock();
        let found = rows.new.get(task).or_else(|| rows.old.get(task));
        found.map(|AtHand { id, may_be_charged }| TaskRow { hash: *task, id: *id, may_be_charged: *may_be_charged })
    }

    /// Remembers where a task is.
    pub(super) fn put(&self, row: TaskRow) {
        let mut rows = self.lately.lock();
        if rows.new.len() >= TASK_ROWS_AT_HAND {
            rows.old = std::mem::take(&mut rows.new);
        }
        rows.new.insert(row.hash, AtHand { id: row.id, may_be_charged: row.may_be_charged });
    }

    /// Remembers where a task is that was made now, in the row that [`next`] gave.
    pub(super) fn put_new(&self, row: TaskRow) {
        self.unnamed.lock().add(row.hash, row.id);
        self.put(row);
    }

    /// Whether there is a task of this id: in memory, by its name, or among those that are not named yet. `next` is
    /// what [`next`] gave in this transaction.
    pub(super) fn is_taken(&self, db: &Connection, task: &Hash, next: (i64, i64)) -> Result<bool, SqliteError> {
        let mut unnamed = self.unnamed.lock();
        unnamed.follow(db, next.0 - 1, next.1)?;
        let is_known = unnamed.may_have(task);
        drop(unnamed);
        if is_known || self.at_hand(task).is_some() {
            return Ok(self.find(db, task)?.is_some());
        }
        let mut named = db.prepare_cached("SELECT 1 FROM task_names WHERE name = ?1")?;
        Ok(named.exists([name(task)])?)
    }

    /// The row of a task, `None` when there is no such task.
    pub(super) fn find(&self, db: &Connection, task: &Hash) -> Result<Option<TaskRow>, SqliteError> {
        if let Some(row) = self.at_hand(task) {
            // Asked again: the write that made the row may have been rolled back, or the task have expired and its
            // number be another's.
            let mut is_there = db.prepare_cached("SELECT 1 FROM tasks WHERE id = ?1 AND hash = ?2")?;
            if is_there.exists(params![row.id, task])? {
                return Ok(Some(row));
            }
        }
        self.look_up(db, task)
    }

    /// What `look` reads of a task that is at hand, which gets its row and its hash; else `None`, as for one that is
    /// not there any more.
    pub(super) fn look<T>(
        &self,
        db: &Connection,
        task: &Hash,
        look: impl FnOnce(&Connection, &TaskRow) -> Result<Option<T>, SqliteError>,
    ) -> Result<Option<(TaskRow, T)>, SqliteError> {
        let Some(row) = self.at_hand(task) else { return Ok(None) };
        Ok(look(db, &row)?.map(|found| (row, found)))
    }

    /// The row of a task that is not at hand.
    fn look_up(&self, db: &Connection, task: &Hash) -> Result<Option<TaskRow>, SqliteError> {
        let mut named = db.prepare_cached(
            "SELECT id FROM task_names JOIN tasks ON tasks.id = task WHERE task_names.name = ?1 AND hash = ?2",
        )?;
        let id = match named.query_row(params![name(task), task], |row| row.get(0)).optional()? {
            Some(id) => Some(id),
            None => unnamed(db, task)?,
        };
        let row = id.map(|id| TaskRow { hash: *task, id, may_be_charged: true });
        row.into_iter().for_each(|row| self.put(row));
        Ok(row)
    }
}

impl TaskRows {
    /// The row of a task that `run` works on, looked at once where it is at hand; `None` when there is no such task.
    /// Fails as [`holds`] does.
    pub(super) fn find_held(&self, db: &Connection, task: &Hash, run: &str) -> Result<Option<TaskRow>, SqliteError> {
        if let Some(row) = self.at_hand(task) {
            let mut look = db.prepare_cached(
                "SELECT run = ?3 AND state IN ('submitted', 'working') FROM tasks WHERE id = ?1 AND hash = ?2",
            )?;
            match look.query_row(params![row.id, task, run], |row| row.get(0)).optional()? {
                Some(true) => return Ok(Some(row)),
                Some(false) => return Err(StoreError::NotHeld.into()),
                None => {}
            }
        }
        let row = self.find(db, task)?;
        row.iter().try_for_each(|row| holds(db, row, run))?;
        Ok(row)
    }
}

/// Fails when a task is another run's, and when nobody works on it any more: whoever still writes for it has not heard
/// that it was cancelled, or that its run was ended.
fn holds(db: &Connection, task: &TaskRow, run: &str) -> Result<(), SqliteError> {
    let mut select =
        db.prepare_cached("SELECT 1 FROM tasks WHERE id = ?1 AND run = ?2 AND state IN ('submitted', 'working')")?;
    if select.exists(params![task.id, run])? { Ok(()) } else { Err(StoreError::NotHeld.into()) }
}

/// The columns of [`SealedTask`], in its order.
pub(super) const COLUMNS: &str = "tasks.hash, tasks.agent, tasks.owner, tasks.run, tasks.created_at, \
     tasks.expires_at, tasks.body, tasks.state, tasks.updated_at, tasks.outcome";

/// A row of [`COLUMNS`].
pub(super) fn read_task(row: &Row<'_>) -> rusqlite::Result<SealedTask> {
    Ok(SealedTask {
        hash: row.get(0)?,
        agent: row.get(1)?,
        owner: row.get(2)?,
        run: row.get(3)?,
        created_at: row.get(4)?,
        expires_at: row.get(5)?,
        body: row.get(6)?,
        state: row.get(7)?,
        updated_at: row.get(8)?,
        outcome: row.get(9)?,
    })
}

/// A task that is so new that its name was not written yet.
fn unnamed(db: &Connection, task: &Hash) -> Result<Option<i64>, SqliteError> {
    let mut scan = db.prepare_cached(
        "SELECT id FROM tasks WHERE id > (SELECT amount FROM totals WHERE name = 'tasks_named')
         AND +name = ?1 AND hash = ?2",
    )?;
    Ok(scan.query_row(params![name(task), task], |row| row.get(0)).optional()?)
}

/// The id of the next task: above all there are, and above all that were named, which may be gone. And up to which
/// they were named.
pub(super) fn next(db: &Connection) -> Result<(i64, i64), SqliteError> {
    let mut last = db.prepare_cached(
        "SELECT (SELECT ifnull(max(id), 0) FROM tasks), (SELECT amount FROM totals WHERE name = 'tasks_named')",
    )?;
    let (last, named): (i64, i64) = last.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok((last.max(named) + 1, named))
}

/// Writes the names of the tasks behind `named`, up to `last`, if there are so many: in their order, so that each
/// page of them is written once.
pub(super) fn write_names(db: &Connection, named: i64, last: i64) -> Result<(), SqliteError> {
    if last - named < TASKS_UNNAMED_MAX {
        return Ok(());
    }
    let mut insert = db.prepare_cached(
        "INSERT OR IGNORE INTO task_names SELECT name, id FROM tasks WHERE id > ?1 AND id <= ?2 ORDER BY name",
    )?;
    insert.execute(params![named, last])?;
    db.prepare_cached("UPDATE totals SET amount = ?1 WHERE name = 'tasks_named'")?.execute([last])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::hash;
    use crate::sqlite::schema::{MIGRATIONS, migrate};

    fn database() -> Connection {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, MIGRATIONS).unwrap();
        db
    }

    fn insert(db: &Connection, task: &Hash) -> i64 {
        let (id, named) = next(db).unwrap();
        let insert = "INSERT INTO tasks VALUES (?1, ?2, ?3, 'chef', NULL, NULL, 'working', 'r', 1, 2, 3, x'00', NULL)";
        db.execute(insert, params![id, name(task), task]).unwrap();
        write_names(db, named, id).unwrap();
        id
    }

    fn named(db: &Connection) -> i64 {
        db.query_row("SELECT count(*) FROM task_names", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn names_are_written_many_at_a_time_and_every_task_is_found_before_and_after() {
        let db = database();
        let tasks: Vec<Hash> = (0..TASKS_UNNAMED_MAX).map(|n| hash(&n.to_string())).collect();
        let found = || {
            let look = |task| TaskRows::default().find(&db, task).unwrap().map(|row| row.id);
            [&tasks[0], &tasks[1], &tasks[500]].map(look)
        };
        for task in &tasks[..tasks.len() - 1] {
            insert(&db, task);
        }
        assert_eq!((named(&db), found()), (0, [Some(1), Some(2), Some(501)]));
        insert(&db, &tasks[tasks.len() - 1]);
        assert_eq!((named(&db), found()), (TASKS_UNNAMED_MAX, [Some(1), Some(2), Some(501)]));
        assert!(TaskRows::default().is_taken(&db, &tasks[3], next(&db).unwrap()).unwrap());
        assert!(TaskRows::default().find(&db, &hash("another")).unwrap().is_none());
    }

    #[test]
    fn a_task_after_all_others_expired_is_found_too() {
        let db = database();
        for n in 0..TASKS_UNNAMED_MAX {
            insert(&db, &hash(&n.to_string()));
        }
        db.execute("DELETE FROM tasks", []).unwrap();
        assert_eq!(named(&db), 0);
        let task = hash("next");
        assert_eq!(insert(&db, &task), TASKS_UNNAMED_MAX + 1);
        assert_eq!(TaskRows::default().find(&db, &task).unwrap().map(|row| row.id), Some(TASKS_UNNAMED_MAX + 1));
    }

    #[test]
    fn what_is_at_hand_is_believed_only_while_it_is_true() {
        let (db, rows, task) = (database(), TaskRows::default(), hash("a"));
        rows.put(TaskRow { hash: task, id: 1, may_be_charged: false });
        assert!(rows.find(&db, &task).unwrap().is_none(), "its write was taken back");
        insert(&db, &hash("b"));
        assert!(rows.find(&db, &task).unwrap().is_none(), "another one has its row");
        insert(&db, &task);
        assert_eq!(rows.find(&db, &task).unwrap().map(|row| row.id), Some(2));
    }

    #[test]
    fn rows_at_hand_are_bounded_and_those_used_lately_stay() {
        let rows = TaskRows::default();
        let task = |n: usize| TaskRow { hash: hash(&n.to_string()), id: n as i64, may_be_charged: true };
        (0..3 * TASK_ROWS_AT_HAND).for_each(|n| rows.put(task(n)));
        let kept = rows.lately.lock();
        assert!(kept.new.len() + kept.old.len() <= 2 * TASK_ROWS_AT_HAND);
        drop(kept);
        let id = |n: usize| rows.at_hand(&task(n).hash).map(|row| row.id);
        assert_eq!((id(3 * TASK_ROWS_AT_HAND - 1), id(0)), (Some(3 * TASK_ROWS_AT_HAND as i64 - 1), None));
    }
}
