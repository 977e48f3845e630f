//! This module has the reads that only the operator may do, in PostgreSQL.

use forecourt_core::store::{StoreFuture, TaskFilter, TaskPage};
use forecourt_core::{Handle, StoreError, Task, TaskState, Timestamp};
use tokio_postgres::Row;

use super::Postgres;
use super::call::Param;
use super::read::{column, hash_column, number};
use super::tasks::{COLUMNS, sealed_task};
use crate::reads::{
    ConversationPlace, ConversationSummary, DeliveryAttempts, QueuedDelivery, StoreLoad, StoreOverview, StoreReads,
    TaskSummary, name_of, reference_bytes,
};
use crate::seal::Hash;
use crate::sealed::{corrupt, webhooks};
use crate::time::{count, moment, nanos};

/// The columns of a delivery, in the order of [`Postgres::queued`].
const DELIVERIES: &str = "
    SELECT d.id, d.attempts, CASE WHEN d.claimed THEN d.lease_until ELSE d.due_at END, d.claimed, d.notice, w.body,
           t.hash, t.agent
    FROM forecourt.deliveries d LEFT JOIN forecourt.tasks t ON t.id = d.task
         LEFT JOIN forecourt.webhooks w ON w.task = d.task AND w.n = d.webhook
    WHERE d.id > $1 ORDER BY d.id LIMIT $2";

const ATTEMPTS: &str = "
    SELECT id, attempts, CASE WHEN claimed THEN lease_until ELSE due_at END, claimed FROM forecourt.deliveries ORDER BY id";

impl StoreReads for Postgres {
    fn tasks_of_all(&self, filter: TaskFilter, now: Timestamp) -> StoreFuture<'_, TaskPage> {
        Box::pin(self.list_all_tasks(filter, now))
    }

    fn task_by_reference(&self, reference: &str, now: Timestamp) -> StoreFuture<'_, Option<Task>> {
        let begins = reference_bytes(reference);
        Box::pin(async move {
            let Some(begins) = begins else { return Ok(None) };
            let sql = format!(
                "SELECT {COLUMNS} FROM forecourt.tasks t WHERE t.hash BETWEEN $1 AND $2 AND t.expires_at > $3 LIMIT 1"
            );
            let bound = |rest: u8| -> Vec<u8> { begins.into_iter().chain([rest; 32 - 8]).collect() };
            let params = [Param::from(bound(0)), bound(u8::MAX).into(), nanos(now).into()];
            let rows = self.read(&sql, &params.each_ref().map(Param::typed)).await?;
            rows.first().map(|row| sealed_task(row)?.open(&self.seal)).transpose()
        })
    }

    fn deliveries(&self, after: u64, limit: usize) -> StoreFuture<'_, Vec<QueuedDelivery>> {
        Box::pin(async move {
            let params = [Param::from(i64::try_from(after).unwrap_or(i64::MAX)), count(limit).into()];
            let rows = self.read(DELIVERIES, &params.each_ref().map(Param::typed)).await?;
            // A delivery whose task was just deleted is deleted with it; it may still be in this result.
            rows.iter().filter_map(|row| self.queued(row).transpose()).collect()
        })
    }

    fn delivery_attempts(&self) -> StoreFuture<'_, Vec<DeliveryAttempts>> {
        let attempts = |row: &Row| -> Result<DeliveryAttempts, StoreError> {
            Ok(DeliveryAttempts {
                id: number(row, 0)?,
                attempts: u32::try_from(number(row, 1)?).unwrap_or(u32::MAX),
                due_at: moment(column(row, 2)?),
                is_claimed: column(row, 3)?,
            })
        };
        Box::pin(async move { self.read(ATTEMPTS, &[]).await?.iter().map(attempts).collect() })
    }

    fn task_summaries(&self, before: u64, limit: usize, now: Timestamp) -> StoreFuture<'_, Vec<TaskSummary>> {
        Box::pin(self.summed_up_tasks(before, limit, now))
    }

    fn conversation_summaries(
        &self,
        place: ConversationPlace,
        limit: usize,
        now: Timestamp,
    ) -> StoreFuture<'_, Vec<ConversationSummary>> {
        Box::pin(self.summed_up_conversations(place, limit, now))
    }

    fn overview(&self, now: Timestamp) -> StoreFuture<'_, StoreOverview> {
        Box::pin(self.counted(now))
    }

    fn load(&self) -> StoreLoad {
        let pool = Some(self.connections.load());
        StoreLoad {
            system: "postgresql",
            writes_waiting: Some(self.writer.waiting()),
            strangers_tasks_removed: self.strangers.removed(),
            pool,
        }
    }
}

impl Postgres {
    fn queued(&self, row: &Row) -> Result<Option<QueuedDelivery>, StoreError> {
        let (notice, body): (Option<Vec<u8>>, Option<Vec<u8>>) = (column(row, 4)?, column(row, 5)?);
        let (webhook, task) = match (notice, body) {
            (Some(notice), _) => (webhooks::open_notice(&self.seal, notice)?, None),
            (None, Some(body)) => {
                let task: Hash = hash_column(row, 6)?;
                (webhooks::open(&self.seal, &task, body)?, Some(task))
            }
            (None, None) => return Ok(None),
        };
        let agent: Option<String> = column(row, 7)?;
        Ok(Some(QueuedDelivery {
            id: number(row, 0)?,
            webhook,
            task: task.map(|task| name_of(&task)),
            agent: agent.as_deref().map(handle).transpose()?,
            attempts: u32::try_from(number(row, 1)?).unwrap_or(u32::MAX),
            due_at: moment(column(row, 2)?),
            is_claimed: column(row, 3)?,
        }))
    }

    async fn counted(&self, now: Timestamp) -> Result<StoreOverview, StoreError> {
        let of = |sql: &'static str| {
            let params = [Param::from(nanos(now))];
            async move { self.read(sql, &params.each_ref().map(Param::typed)).await }
        };
        let by_state = "SELECT agent, state, count(*) FROM forecourt.tasks WHERE expires_at > $1 GROUP BY agent, state";
        let task = |row: &Row| -> Result<(Handle, TaskState, u64), StoreError> {
            let state = TaskState::from_name(column(row, 1)?).ok_or_else(|| corrupt("a task is in no known state"))?;
            Ok((handle(column(row, 0)?)?, state, number(row, 2)?))
        };
        let by_run = "SELECT run, count(*) FROM forecourt.tasks
             WHERE state IN ('submitted', 'working') AND expires_at > $1 GROUP BY run";
        let run = |row: &Row| -> Result<(String, u64), StoreError> { Ok((column(row, 0)?, number(row, 1)?)) };
        let tasks = of(by_state).await?.iter().map(task).collect::<Result<_, _>>()?;
        let held = of(by_run).await?.iter().map(run).collect::<Result<_, _>>()?;
        let threads = of("SELECT count(*) FROM forecourt.threads WHERE expires_at > $1").await?;
        let deliveries = self.read("SELECT count(*) FROM forecourt.deliveries", &[]).await?;
        let one = |rows: &[Row]| rows.first().map_or(Ok(0), |row| number(row, 0));
        Ok(StoreOverview { tasks, held, conversations: one(&threads)?, deliveries: one(&deliveries)? })
    }
}

pub(super) fn handle(text: &str) -> Result<Handle, StoreError> {
    Handle::parse(text).map_err(|_| corrupt("an agent's name is none"))
}
