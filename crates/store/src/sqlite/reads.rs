//! This module has the reads that only the operator may do, in SQLite.

use forecourt_core::store::{StoreFuture, TaskFilter, TaskPage};
use forecourt_core::{Task, TaskState, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Sqlite;
use super::error::{SqliteError, corrupt};
use super::rows::{self, TaskRow};
use super::summaries::{self, handle};
use super::tasks;
use crate::reads::{
    ConversationPlace, ConversationSummary, DeliveryAttempts, QueuedDelivery, StoreLoad, StoreOverview, StoreReads,
    TaskSummary, name_of, reference_bytes,
};
use crate::seal::{Hash, Seal};
use crate::sealed::webhooks;
use crate::time::{count, moment, nanos};

impl StoreReads for Sqlite {
    fn tasks_of_all(&self, filter: TaskFilter, now: Timestamp) -> StoreFuture<'_, TaskPage> {
        let seal = self.seal.clone();
        Box::pin(self.readers.read(move |db| tasks::tasks_of_all(db, &seal, &filter, now)))
    }

    fn task_by_reference(&self, reference: &str, now: Timestamp) -> StoreFuture<'_, Option<Task>> {
        let (seal, name) = (self.seal.clone(), reference_bytes(reference));
        Box::pin(async move {
            let Some(name) = name else { return Ok(None) };
            let find = move |db: &Connection| match row_of(db, &name)? {
                Some(row) => tasks::task(db, &seal, &row, now),
                None => Ok(None),
            };
            self.readers.read(find).await
        })
    }

    fn delivery_attempts(&self) -> StoreFuture<'_, Vec<DeliveryAttempts>> {
        Box::pin(self.readers.read(delivery_attempts))
    }

    fn deliveries(&self, after: u64, limit: usize) -> StoreFuture<'_, Vec<QueuedDelivery>> {
        let seal = self.seal.clone();
        Box::pin(self.readers.read(move |db| deliveries(db, &seal, after, limit)))
    }

    fn task_summaries(&self, before: u64, limit: usize, now: Timestamp) -> StoreFuture<'_, Vec<TaskSummary>> {
        Box::pin(self.readers.read(move |db| summaries::tasks(db, before, limit, now)))
    }

    fn conversation_summaries(
        &self,
        place: ConversationPlace,
        limit: usize,
        now: Timestamp,
    ) -> StoreFuture<'_, Vec<ConversationSummary>> {
        Box::pin(self.readers.read(move |db| summaries::conversations(db, place, limit, now)))
    }

    fn overview(&self, now: Timestamp) -> StoreFuture<'_, StoreOverview> {
        Box::pin(self.readers.read(move |db| overview(db, now)))
    }

    fn load(&self) -> StoreLoad {
        StoreLoad {
            system: "sqlite",
            writes_waiting: Some(self.writer.waiting()),
            strangers_tasks_removed: self.strangers.removed(),
            pool: None,
        }
    }
}

/// The row of the task whose hash begins like this: by its name, and where that was not written yet among the newest.
fn row_of(db: &Connection, begins: &[u8]) -> Result<Option<TaskRow>, SqliteError> {
    let mut select = db.prepare_cached(
        "SELECT tasks.hash, id FROM task_names JOIN tasks ON tasks.id = task WHERE task_names.name = ?1
         UNION ALL
         SELECT hash, id FROM tasks WHERE id > (SELECT amount FROM totals WHERE name = 'tasks_named') AND +name = ?1
         LIMIT 1",
    )?;
    let row = |row: &Row<'_>| Ok(TaskRow { hash: row.get::<_, Hash>(0)?, id: row.get(1)?, may_be_charged: true });
    Ok(select.query_row([rows::name(begins)], row).optional()?)
}

fn deliveries(db: &Connection, seal: &Seal, after: u64, limit: usize) -> Result<Vec<QueuedDelivery>, SqliteError> {
    let mut select = db.prepare_cached(
        "SELECT deliveries.id, attempts, due_at, claimed, notice, webhooks.body, tasks.hash, tasks.agent
         FROM deliveries LEFT JOIN tasks ON tasks.id = deliveries.task
              LEFT JOIN webhooks ON webhooks.task = deliveries.task AND webhooks.n = deliveries.webhook
         WHERE deliveries.id > ?1 ORDER BY deliveries.id LIMIT ?2",
    )?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let mut found = select.query(params![after, count(limit)])?;
    let mut all = Vec::new();
    while let Some(row) = found.next()? {
        let task: Option<Hash> = row.get(6)?;
        let notice: Option<Vec<u8>> = row.get(4)?;
        let (webhook, task) = match (notice, task) {
            (Some(notice), _) => (webhooks::open_notice(seal, notice)?, None),
            (None, Some(task)) => (webhooks::open(seal, &task, row.get(5)?)?, Some(task)),
            // Its task was just deleted, and this row with it.
            (None, None) => continue,
        };
        let agent: Option<String> = row.get(7)?;
        all.push(QueuedDelivery {
            id: row.get::<_, i64>(0)?.unsigned_abs(),
            webhook,
            task: task.map(|task| name_of(&task)),
            agent: agent.as_deref().map(handle).transpose()?,
            attempts: row.get(1)?,
            due_at: moment(row.get(2)?),
            is_claimed: row.get(3)?,
        });
    }
    Ok(all)
}

fn delivery_attempts(db: &Connection) -> Result<Vec<DeliveryAttempts>, SqliteError> {
    let mut select = db.prepare_cached("SELECT id, attempts, due_at, claimed FROM deliveries ORDER BY id")?;
    let attempts = |row: &Row<'_>| {
        Ok(DeliveryAttempts {
            id: row.get::<_, i64>(0)?.unsigned_abs(),
            attempts: row.get(1)?,
            due_at: moment(row.get(2)?),
            is_claimed: row.get(3)?,
        })
    };
    Ok(select.query_map([], attempts)?.collect::<Result<_, _>>()?)
}

fn overview(db: &Connection, now: Timestamp) -> Result<StoreOverview, SqliteError> {
    let now = nanos(now);
    let mut by_state =
        db.prepare_cached("SELECT agent, state, count(*) FROM tasks WHERE expires_at > ?1 GROUP BY agent, state")?;
    let mut found = by_state.query([now])?;
    let mut tasks = Vec::new();
    while let Some(row) = found.next()? {
        let (agent, state): (String, String) = (row.get(0)?, row.get(1)?);
        let state = TaskState::from_name(&state).ok_or_else(|| corrupt("a task is in no known state"))?;
        tasks.push((handle(&agent)?, state, row.get::<_, i64>(2)?.unsigned_abs()));
    }
    let mut by_run = db.prepare_cached(
        "SELECT run, count(*) FROM tasks WHERE state IN ('submitted', 'working') AND +expires_at > ?1 GROUP BY run",
    )?;
    let held = by_run.query_map([now], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?;
    let held = held.collect::<Result<_, _>>()?;
    let conversations: i64 =
        db.prepare_cached("SELECT count(*) FROM threads WHERE expires_at > ?1")?.query_row([now], |row| row.get(0))?;
    let deliveries: i64 =
        db.prepare_cached("SELECT amount FROM totals WHERE name = 'deliveries'")?.query_row([], |row| row.get(0))?;
    Ok(StoreOverview {
        tasks,
        held,
        conversations: conversations.unsigned_abs(),
        deliveries: deliveries.unsigned_abs(),
    })
}
