//! This module lists tasks.

use std::cmp::Reverse;

use forecourt_core::store::{Cursor, TaskFilter, TaskPage};
use forecourt_core::{Task, Timestamp};

use super::{KeptEntry, Record};

impl KeptEntry {
    pub(in crate::memory) fn tasks(&self, filter: &TaskFilter, now: Timestamp) -> TaskPage {
        self.page(filter, |task| fits(filter, task, now))
    }

    /// The page of those that suit.
    pub(super) fn page(&self, filter: &TaskFilter, suits: impl Fn(&Task) -> bool) -> TaskPage {
        let mut found: Vec<&Record> = self.tasks.values().filter(|record| suits(&record.task)).collect();
        let total = found.len() as u64;
        found.sort_by_key(|record| Reverse(place(record)));
        if let Some(cursor) = filter.cursor {
            found.retain(|record| place(record) < (cursor.updated_at, cursor.place));
        }
        let more = found.len() > filter.limit;
        found.truncate(filter.limit);
        let next = found.last().filter(|_| more).map(|record| cursor(record));
        TaskPage { tasks: found.into_iter().map(|record| record.task.clone()).collect(), next, total }
    }
}

fn fits(filter: &TaskFilter, task: &Task, now: Timestamp) -> bool {
    let in_one = |task: &Task| task.thread.as_ref().is_some_and(|thread| filter.threads.contains(thread));
    task.owner == filter.owner && (filter.threads.is_empty() || in_one(task)) && suits(filter, task, now)
}

/// Whether it is one that `filter` asks for, whosever it is.
pub(super) fn suits(filter: &TaskFilter, task: &Task, now: Timestamp) -> bool {
    task.expires_at > now
        && filter.agent.as_ref().is_none_or(|agent| task.agent == *agent)
        && filter.state.is_none_or(|state| task.state == state)
        && filter.since.is_none_or(|since| task.updated_at >= since)
}

fn place(record: &Record) -> (Timestamp, i64) {
    (record.task.updated_at, record.place)
}

fn cursor(record: &Record) -> Cursor {
    let (updated_at, place) = place(record);
    Cursor { updated_at, place }
}
