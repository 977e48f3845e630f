//! This module knows the tasks whose names were not written yet, so that an id is taken once.

use std::collections::HashSet;

use rusqlite::Connection;

use super::error::SqliteError;
use crate::seal::Hash;

/// The hashes of the tasks that are not in `task_names`, fewer than
/// [`TASKS_UNNAMED_MAX`](crate::limits::TASKS_UNNAMED_MAX), as the writer sees them. There may be some of tasks that are
/// gone: what is found here is looked at again.
///
/// None is missing: tasks of an earlier run and of other processes lie behind `last`, and a transaction that was taken
/// back shows in one of the two numbers. But for one case: another process makes tasks in the very rows of those that
/// were taken back here, before the next one is made here. Theirs are not known until they are named.
#[derive(Default)]
pub(super) struct UnnamedTasks {
    hashes: HashSet<Hash>,
    /// Up to which row tasks are named.
    named: i64,
    /// The last row that is looked at.
    last: i64,
}

impl UnnamedTasks {
    /// Reads what changed: up to which row there are tasks, and up to which they are named. Most often nothing did,
    /// and nothing is read.
    pub(super) fn follow(&mut self, db: &Connection, last: i64, named: i64) -> Result<(), SqliteError> {
        if named != self.named || last < self.last {
            *self = Self { hashes: HashSet::new(), named, last: named };
        }
        if last > self.last {
            let mut select = db.prepare_cached("SELECT hash FROM tasks WHERE id > ?1")?;
            let hashes = select.query_map([self.last], |row| row.get(0))?.collect::<Result<Vec<Hash>, _>>()?;
            self.hashes.extend(hashes);
            self.last = last;
        }
        Ok(())
    }

    /// The next task is in this row.
    pub(super) fn add(&mut self, task: Hash, id: i64) {
        self.hashes.insert(task);
        self.last = id;
    }

    /// Whether there may be such a task, not named yet.
    pub(super) fn may_have(&self, task: &Hash) -> bool {
        self.hashes.contains(task)
    }
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

    fn insert(db: &Connection, id: i64) -> Hash {
        let task = hash(&format!("{id} of {}", db.total_changes()));
        let insert = "INSERT INTO tasks VALUES (?1, ?2, ?3, 'chef', NULL, NULL, 'working', 'r', 1, 2, 3, x'00', NULL)";
        db.execute(insert, rusqlite::params![id, id, task]).unwrap();
        task
    }

    #[test]
    fn all_tasks_behind_the_named_ones_are_known_whoever_made_them_and_whatever_was_taken_back() {
        let (db, mut unnamed) = (database(), UnnamedTasks::default());
        let tasks: Vec<Hash> = (1..=4).map(|id| insert(&db, id)).collect();
        let has = |unnamed: &UnnamedTasks| tasks.iter().map(|task| unnamed.may_have(task)).collect::<Vec<_>>();
        unnamed.follow(&db, 4, 2).unwrap();
        assert_eq!(has(&unnamed), [false, false, true, true]);
        db.execute_batch("BEGIN").unwrap();
        let undone = insert(&db, 5);
        unnamed.add(undone, 5);
        unnamed.follow(&db, 5, 5).unwrap();
        assert_eq!((has(&unnamed), unnamed.may_have(&undone)), (vec![false; 4], false), "they were named");
        db.execute_batch("ROLLBACK").unwrap();
        unnamed.follow(&db, 4, 2).unwrap();
        assert_eq!((has(&unnamed), unnamed.may_have(&undone)), (vec![false, false, true, true], false));
        let another = insert(&db, 5);
        unnamed.follow(&db, 5, 2).unwrap();
        assert!(unnamed.may_have(&another), "another process made it");
    }
}
