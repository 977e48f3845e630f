//! This module lists tasks from an index, and opens only the rows of the page.

use forecourt_core::Timestamp;
use forecourt_core::store::{Cursor, TaskFilter, TaskPage};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::seal::{Seal, hash};
use crate::sealed::tasks::SealedTask;
use crate::sqlite::error::SqliteError;
use crate::sqlite::rows::{COLUMNS, read_task};
use crate::time::{count, moment, nanos};

/// Conditions in fixed text, and what is bound to them.
#[derive(Default)]
struct Conditions {
    text: String,
    values: Vec<Value>,
}

impl Conditions {
    fn add(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        let joint = if self.text.is_empty() { "" } else { " AND " };
        self.text.push_str(joint);
        self.text.push_str(condition);
        self.values.extend(values);
    }

    /// What `filter` asks for, its cursor and limit aside. A plus before a column keeps its index
    /// out: tasks of a conversation are few, those of an owner, or of nobody, are many.
    fn of(filter: &TaskFilter, now: Timestamp) -> Self {
        let mut all = Self::default();
        all.add_owner(filter);
        all.add_rest(filter, now);
        all
    }

    /// The same, of everybody.
    fn of_all(filter: &TaskFilter, now: Timestamp) -> Self {
        let mut all = Self::default();
        all.add_rest(filter, now);
        all
    }

    fn add_owner(&mut self, filter: &TaskFilter) {
        let plus = if filter.threads.is_empty() { "" } else { "+" };
        match &filter.owner {
            Some(owner) => self.add(&format!("{plus}owner = ?"), [Value::Text(owner.clone())]),
            None => self.add(&format!("{plus}owner IS NULL"), []),
        }
        if !filter.threads.is_empty() {
            let places = vec!["?"; filter.threads.len()].join(", ");
            let hashes = filter.threads.iter().map(|thread| Value::Blob(hash(thread.key()).to_vec()));
            self.add(&format!("thread IN ({places})"), hashes);
        }
    }

    fn add_rest(&mut self, filter: &TaskFilter, now: Timestamp) {
        self.add("+expires_at > ?", [Value::Integer(nanos(now))]);
        if let Some(agent) = &filter.agent {
            self.add("agent = ?", [Value::Text(agent.as_str().to_owned())]);
        }
        if let Some(state) = filter.state {
            self.add("state = ?", [Value::Text(state.name().to_owned())]);
        }
        if let Some(since) = filter.since {
            self.add("updated_at >= ?", [Value::Integer(nanos(since))]);
        }
    }
}

/// The tasks that `filter` asks for, and how many there are without its cursor and limit.
pub(in crate::sqlite) fn tasks(
    db: &Connection,
    seal: &Seal,
    filter: &TaskFilter,
    now: Timestamp,
) -> Result<TaskPage, SqliteError> {
    listed(db, seal, filter, Conditions::of(filter, now))
}

/// The same, of everybody: owners and conversations are not looked at.
pub(in crate::sqlite) fn tasks_of_all(
    db: &Connection,
    seal: &Seal,
    filter: &TaskFilter,
    now: Timestamp,
) -> Result<TaskPage, SqliteError> {
    listed(db, seal, filter, Conditions::of_all(filter, now))
}

fn listed(
    db: &Connection,
    seal: &Seal,
    filter: &TaskFilter,
    mut conditions: Conditions,
) -> Result<TaskPage, SqliteError> {
    let total = total(db, &conditions)?;
    if let Some(cursor) = filter.cursor {
        let place = [Value::Integer(nanos(cursor.updated_at)), Value::Integer(cursor.place)];
        // By the last row that was shown, and not by its number: tasks that come meanwhile do not shift the pages.
        conditions.add("(updated_at, id) < (?, ?)", place);
    }
    let (found, more) = page(db, &conditions, filter.limit)?;
    let next = found.last().filter(|_| more).map(|(place, task)| cursor(*place, task));
    let tasks = found.into_iter().map(|(_, task)| task.open(seal)).collect::<Result<_, _>>()?;
    Ok(TaskPage { tasks, next, total })
}

fn total(db: &Connection, conditions: &Conditions) -> Result<u64, SqliteError> {
    let mut select = db.prepare_cached(&format!("SELECT count(*) FROM tasks WHERE {}", conditions.text))?;
    let total: i64 = select.query_row(params_from_iter(&conditions.values), |row| row.get(0))?;
    Ok(total.unsigned_abs())
}

/// At most `limit` rows with their numbers, still sealed, and whether there are more.
fn page(db: &Connection, conditions: &Conditions, limit: usize) -> Result<(Vec<(i64, SealedTask)>, bool), SqliteError> {
    let mut select = db.prepare_cached(&select(conditions))?;
    // One more than is wanted, to know whether there is a next page.
    let values = conditions.values.iter().cloned().chain([Value::Integer(count(limit.saturating_add(1)))]);
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(10)?, read_task(row)?));
    let mut found = select.query_map(params_from_iter(values), read)?.collect::<Result<Vec<_>, _>>()?;
    let more = found.len() > limit;
    found.truncate(limit);
    Ok((found, more))
}

fn select(conditions: &Conditions) -> String {
    let conditions = &conditions.text;
    format!("SELECT {COLUMNS}, tasks.id FROM tasks WHERE {conditions} ORDER BY updated_at DESC, id DESC LIMIT ?")
}

fn cursor(place: i64, task: &SealedTask) -> Cursor {
    Cursor { updated_at: moment(task.updated_at), place }
}

#[cfg(test)]
mod tests {
    use forecourt_core::ThreadId;
    use forecourt_testkit::store_suite::{some_thread, start};

    use super::*;
    use crate::sqlite::schema;

    /// How SQLite goes about a list.
    fn plan(filter: &TaskFilter) -> String {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db, schema::MIGRATIONS).unwrap();
        let mut conditions = Conditions::of(filter, start());
        let place = [Value::Integer(1), Value::Integer(1)];
        conditions.add("(updated_at, id) < (?, ?)", place);
        let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {}", select(&conditions))).unwrap();
        let values = conditions.values.into_iter().chain([Value::Integer(5)]);
        let steps = explain.query_map(params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
        steps.collect::<Result<Vec<_>, _>>().unwrap().join("; ")
    }

    #[test]
    fn a_list_of_an_owner_comes_from_an_index_in_its_order() {
        let ann = TaskFilter { owner: Some("ann".to_owned()), ..TaskFilter::default() };
        let plan = plan(&ann);
        assert!(plan.contains("tasks_of_owner (owner=? AND updated_at<?)"), "{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }

    #[test]
    fn a_list_of_conversations_comes_from_their_index() {
        let threads: Vec<ThreadId> = vec![some_thread(), some_thread()];
        for owner in [None, Some("ann".to_owned())] {
            let plan = plan(&TaskFilter { owner, threads: threads.clone(), ..TaskFilter::default() });
            assert!(plan.contains("tasks_of_thread (thread=?"), "{plan}");
        }
    }
}
