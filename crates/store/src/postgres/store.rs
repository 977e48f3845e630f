//! This module implements the trait `Store` for PostgreSQL: each operation is one call, or one statement that reads.

use forecourt_core::store::{
    Conversation, ConversationAppend, ConversationVersion, Delivery, IfTaskEnded, LedgerEntry, Notification, RunBeat,
    Span, StoreFuture, StoredArtifact, TaskChange, TaskFilter, TaskPage, Webhook, WebhookRegistration,
};
use forecourt_core::{Account, Event, Handle, MachineTime, Store, StoreError, Task, TaskId, ThreadId, Timestamp};
use futures::future::BoxFuture;
use tokio_postgres::Row;

use super::call::{Call, Param, Subject};
use super::read::{column, hash_column, number};
use super::{LeaseClock, Postgres, schema};
use crate::limits::{ENDED_RUNS_KEPT, EXPIRED_ROWS_PER_COMMIT, STRANGERS_REMOVED_AT_ONCE};
use crate::seal::hash;
use crate::sealed::threads::ThreadName;
use crate::sealed::{Holder, signed};
use crate::strangers::{NetworkSums, StrangerRows};
use crate::time::{count, moment, nanos};

/// Bytes that the probe of readiness writes: enough to need a new page, which a full disk would refuse.
const PROBE_BYTES: usize = 32 * 1024;

fn thread_name(thread: &ThreadId, agent: &Handle) -> ThreadName {
    ThreadName { hash: hash(thread.key()), agent: agent.clone() }
}

impl Postgres {
    /// Calls a function in a transaction of its own; its number.
    async fn alone(&self, function: &'static str, params: Vec<Param>) -> Result<u64, StoreError> {
        let answer = self.writer.write_alone(Call::new(function, Subject::New, Holder::HOST, params)).await?;
        answer.done(self.bounds())
    }

    /// What the database's clock said at the call, give or take half of what the way there and back takes.
    async fn database_time(&self) -> Result<Timestamp, StoreError> {
        let asked = std::time::Instant::now();
        let rows = self.read("SELECT forecourt.now_3()", &[]).await?;
        let row = rows.first().ok_or_else(|| StoreError::Unavailable("the database tells no time".to_owned()))?;
        let way = i64::try_from(asked.elapsed().as_nanos() / 2).unwrap_or(i64::MAX);
        Ok(moment(column::<i64>(row, 0)?.saturating_sub(way)))
    }

    async fn probe(&self) -> Result<(), StoreError> {
        let client = self.connections.lend().await?;
        let known = schema::MIGRATIONS.len();
        let look = schema::look(&client, i64::try_from(known).unwrap_or(i64::MAX));
        match tokio::time::timeout(crate::limits::POSTGRES_OPERATION_MAX, look).await {
            Err(_) => return Err(self.connections.give_up(client)),
            Ok(found) => drop(found?),
        }
        drop(client);
        self.has_room(PROBE_BYTES as u64).await?;
        self.alone("probe_1", vec![vec![0u8; PROBE_BYTES].into()]).await.map(drop)
    }
}

impl StrangerRows for Postgres {
    fn sums(&self) -> BoxFuture<'_, Result<NetworkSums, StoreError>> {
        const SUMS: &str = "SELECT narrow, wide, sum(bytes)::bigint FROM forecourt.accounts WHERE narrow IS NOT NULL
            GROUP BY narrow, wide";
        Box::pin(async move {
            let rows = self.read(SUMS, &[]).await?;
            rows.iter().map(|row| Ok(([hash_column(row, 0)?, hash_column(row, 1)?], number(row, 2)?))).collect()
        })
    }

    fn remove_oldest(&self) -> BoxFuture<'_, Result<(u64, u64), StoreError>> {
        let limit = count(STRANGERS_REMOVED_AT_ONCE);
        Box::pin(async move {
            // Apart: what removes things locks accounts before tasks, as all that writes does.
            let bytes = self.alone("end_oldest_4", vec![limit.into()]).await?;
            // Nothing else expires at the beginning of time.
            let removed = self.alone("expire_1", vec![0i64.into(), limit.into()]).await?;
            Ok((removed, bytes))
        })
    }
}

impl Store for Postgres {
    fn create_task(&self, task: Task, webhooks: Vec<Webhook>) -> StoreFuture<'_, ()> {
        Box::pin(self.make_task(task, webhooks))
    }

    fn append_events(&self, task: &TaskId, run: &str, first: u64, events: Vec<Event>) -> StoreFuture<'_, ()> {
        Box::pin(self.log_events(hash(task.expose()), run.to_owned(), first, events))
    }

    fn advance_task(&self, task: &TaskId, change: TaskChange) -> StoreFuture<'_, bool> {
        let task = task.clone();
        Box::pin(async move { self.move_task(&task, change).await })
    }

    fn task(&self, id: &TaskId, now: Timestamp) -> StoreFuture<'_, Option<Task>> {
        Box::pin(self.find_task(hash(id.expose()), now))
    }

    fn events(&self, task: &TaskId, after: u64, limit: usize) -> StoreFuture<'_, Vec<(u64, Event)>> {
        Box::pin(self.read_events(hash(task.expose()), after, limit))
    }

    fn last_event(&self, task: &TaskId) -> StoreFuture<'_, u64> {
        Box::pin(self.last_number(hash(task.expose())))
    }

    fn tasks(&self, filter: TaskFilter, now: Timestamp) -> StoreFuture<'_, TaskPage> {
        Box::pin(self.list_tasks(filter, now))
    }

    fn beat(&self, run: &str) -> StoreFuture<'_, bool> {
        let run = run.to_owned();
        Box::pin(async move { Ok(self.call_run("beat_1", run.clone(), vec![run.into()]).await? == 1) })
    }

    fn runs(&self) -> StoreFuture<'_, Vec<RunBeat>> {
        Box::pin(async move {
            let rows = self.read("SELECT run, beat FROM forecourt.runs WHERE NOT ended ORDER BY run", &[]).await?;
            let beat = |row: &Row| Ok(RunBeat { run: column(row, 0)?, beat: number(row, 1)? });
            rows.iter().map(beat).collect()
        })
    }

    fn end_run(&self, seen: &RunBeat) -> StoreFuture<'_, bool> {
        let (run, beat) = (seen.run.clone(), signed(seen.beat));
        Box::pin(async move {
            let params = vec![run.clone().into(), beat.into()];
            Ok(self.call_run("end_run_1", run, params).await? == 1)
        })
    }

    fn orphaned_tasks(&self, limit: usize) -> StoreFuture<'_, Vec<Task>> {
        Box::pin(self.find_orphans(limit))
    }

    fn put_artifact(&self, task: &TaskId, run: &str, artifact: StoredArtifact) -> StoreFuture<'_, ()> {
        Box::pin(self.keep_artifact(hash(task.expose()), run.to_owned(), artifact))
    }

    fn artifact(&self, task: &TaskId, id: &str, now: Timestamp) -> StoreFuture<'_, Option<StoredArtifact>> {
        Box::pin(self.read_artifact(hash(task.expose()), hash(id), now))
    }

    fn add_webhook(
        &self,
        task: &TaskId,
        webhook: Webhook,
        limit: usize,
        at_end: IfTaskEnded,
    ) -> StoreFuture<'_, WebhookRegistration> {
        Box::pin(self.register(hash(task.expose()), webhook, limit, at_end))
    }

    fn webhooks(&self, task: &TaskId) -> StoreFuture<'_, Vec<Webhook>> {
        Box::pin(self.read_webhooks(hash(task.expose())))
    }

    fn remove_webhook(&self, task: &TaskId, id: &str) -> StoreFuture<'_, bool> {
        let (task, id) = (hash(task.expose()), id.to_owned());
        Box::pin(async move { self.unregister(task, &id).await })
    }

    fn enqueue(&self, notice: Notification) -> StoreFuture<'_, ()> {
        Box::pin(self.queue_notice(notice))
    }

    fn claim_deliveries(&self, now: Timestamp, lease: Timestamp, limit: usize) -> StoreFuture<'_, Vec<Delivery>> {
        Box::pin(self.claim_due(now, lease, limit))
    }

    fn settle_delivery(&self, id: u64, retry_at: Option<Timestamp>) -> StoreFuture<'_, ()> {
        Box::pin(self.end_delivery(id, retry_at))
    }

    fn put_off_delivery(&self, id: u64, until: Timestamp) -> StoreFuture<'_, ()> {
        Box::pin(self.put_off(id, until))
    }

    fn release_deliveries(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.alone("release_deliveries_1", vec![nanos(now).into()]))
    }

    fn append_turns(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        addition: ConversationAppend,
    ) -> StoreFuture<'_, Option<ConversationVersion>> {
        Box::pin(self.add_turns(thread_name(thread, agent), addition))
    }

    fn thread(&self, thread: &ThreadId, agent: &Handle, now: Timestamp) -> StoreFuture<'_, Option<Conversation>> {
        Box::pin(self.read_thread(thread_name(thread, agent), now))
    }

    fn thread_version(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        now: Timestamp,
    ) -> StoreFuture<'_, Option<ConversationVersion>> {
        Box::pin(self.read_version(thread_name(thread, agent), now))
    }

    fn set_route(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        expires_at: Timestamp,
        account: &Account,
    ) -> StoreFuture<'_, ()> {
        Box::pin(self.put_route(hash(thread.key()), agent.clone(), expires_at, account.clone()))
    }

    fn route(&self, thread: &ThreadId, now: Timestamp) -> StoreFuture<'_, Option<Handle>> {
        Box::pin(self.read_route(hash(thread.key()), now))
    }

    fn claim_once(&self, key: &str, now: Timestamp, expires_at: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.claim_key(hash(key), now, expires_at))
    }

    fn append_entry(&self, stream: &str, entry: LedgerEntry, last: Option<u64>) -> StoreFuture<'_, Option<u64>> {
        Box::pin(self.add_entry(hash(stream), entry, last))
    }

    fn entries(
        &self,
        stream: &str,
        span: Span,
        limit: usize,
        now: Timestamp,
    ) -> StoreFuture<'_, Vec<(u64, LedgerEntry)>> {
        Box::pin(self.read_entries(hash(stream), span, limit, now))
    }

    fn time(&self, machine: MachineTime) -> StoreFuture<'_, Timestamp> {
        match self.options.lease_clock {
            LeaseClock::Database => Box::pin(self.database_time()),
            LeaseClock::Caller => Box::pin(std::future::ready(Ok(machine.wall))),
        }
    }

    fn expire(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, u64> {
        let (now, rows) = (nanos(now), EXPIRED_ROWS_PER_COMMIT as u64);
        Box::pin(async move {
            // Events first and in steps: deleting a task with its whole log would hold locks for as long as the log is.
            while self.alone("trim_logs_1", vec![now.into(), signed(rows).into()]).await? >= rows {}
            let removed = self.alone("expire_1", vec![now.into(), count(limit).into()]).await?;
            let left = (limit as u64).saturating_sub(removed);
            let kept = i64::try_from(ENDED_RUNS_KEPT.as_nanos()).unwrap_or(i64::MAX);
            let runs = self.alone("forget_runs_2", vec![now.into(), kept.into(), signed(left).into()]).await?;
            if removed > 0 {
                self.strangers.forget();
            }
            Ok(removed + runs)
        })
    }

    fn room(&self, account: &Account, bytes: u64) -> StoreFuture<'_, ()> {
        Box::pin(self.account_room(account.clone(), bytes))
    }

    fn ready(&self) -> StoreFuture<'_, ()> {
        Box::pin(self.probe())
    }
}
