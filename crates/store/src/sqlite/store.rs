//! This module implements the trait `Store` for SQLite: it seals values, hands them to the writer or a reader, and
//! opens what comes back.

use std::sync::Arc;

use forecourt_core::store::{
    Conversation, ConversationAppend, ConversationVersion, Delivery, IfTaskEnded, LedgerEntry, Notification, RunBeat,
    Span, StoreFuture, StoredArtifact, TaskChange, TaskFilter, TaskPage, Webhook, WebhookRegistration, cost,
};
use forecourt_core::{Account, Event, Handle, MachineTime, Store, StoreError, Task, TaskId, ThreadId, Timestamp};
use futures::future::BoxFuture;
use rusqlite::Connection;

use super::error::SqliteError;
use super::quota::Bounds;
use super::rows::TaskRow;
use super::tasks::Step;
use super::webhooks::Room;
use crate::seal::{Hash, Seal, hash};

use super::{Sqlite, artifacts, claims, clock, events, expiry, ledger, quota, routes, runs, tasks, threads, webhooks};
use crate::limits::{EXPIRED_ROWS_PER_COMMIT, FREED_PAGES_PER_COMMIT, STRANGERS_REMOVED_AT_ONCE};
use crate::sealed::artifacts::NewArtifact;
use crate::sealed::ledger::NewEntry;
use crate::sealed::tasks::{Move, NewTask};
use crate::sealed::threads::ThreadName;
use crate::sealed::webhooks::{NewNotice, NewWebhook};
use crate::sealed::{self, Holder, cost_of};
use crate::strangers::{NetworkSums, StrangerRows};
use crate::time::moment;

impl Sqlite {
    fn bounds(&self) -> Bounds {
        Bounds { callers: self.options.callers, store: self.options.database_bytes_max }
    }

    /// Reads with the seal at hand.
    fn read<'a, T: Send + 'static>(
        &'a self,
        work: impl FnOnce(&Connection, &Seal) -> Result<T, SqliteError> + Send + 'static,
    ) -> StoreFuture<'a, T> {
        let seal = Arc::clone(&self.seal);
        Box::pin(self.readers.read(move |db| work(db, &seal)))
    }

    /// Reads something of a task; `none` when there is no such task.
    fn read_task<'a, T: Send + 'static>(
        &'a self,
        task: Hash,
        none: T,
        work: impl FnOnce(&Connection, &Seal, &TaskRow) -> Result<T, SqliteError> + Send + 'static,
    ) -> StoreFuture<'a, T> {
        let rows = Arc::clone(&self.rows);
        self.read(move |db, seal| match rows.find(db, &task)? {
            Some(task) => work(db, seal, &task),
            None => Ok(none),
        })
    }

    /// Writes something of a task; `none`, and nothing is written, when there is no such task.
    async fn write_task<T: Send + 'static>(
        &self,
        task: Hash,
        none: T,
        work: impl Fn(&Connection, &TaskRow) -> Result<T, SqliteError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let rows = Arc::clone(&self.rows);
        let found = self.writer.write(move |db| rows.find(db, &task)?.map(|task| work(db, &task)).transpose());
        Ok(found.await?.unwrap_or(none))
    }

    /// The same, when `run` works on it: [`StoreError::NotHeld`] otherwise.
    async fn write_held<T: Send + 'static>(
        &self,
        task: Hash,
        run: String,
        none: T,
        work: impl Fn(&Connection, &TaskRow) -> Result<T, SqliteError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let rows = Arc::clone(&self.rows);
        let write = move |db: &Connection| rows.find_held(db, &task, &run)?.map(|task| work(db, &task)).transpose();
        Ok(self.writer.write(write).await?.unwrap_or(none))
    }
}

impl StrangerRows for Sqlite {
    fn sums(&self) -> BoxFuture<'_, Result<NetworkSums, StoreError>> {
        Box::pin(self.readers.read(quota::strangers))
    }

    fn remove_oldest(&self) -> BoxFuture<'_, Result<(u64, u64), StoreError>> {
        Box::pin(self.writer.write(|db| expiry::remove_oldest(db, STRANGERS_REMOVED_AT_ONCE)))
    }
}

impl Store for Sqlite {
    fn create_task(&self, task: Task, webhooks: Vec<Webhook>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let task = NewTask::new(&self.seal, task, &webhooks)?;
            let (pending_max, bounds) = (self.options.deliveries_pending_max, self.bounds());
            let (rows, moved) = (Arc::clone(&self.rows), Arc::clone(&self.moved));
            let bytes = task.cost() + bounds.reserve(task.holder, task.state);
            let claim = self.strangers.claim(self, &task.holder, bytes).await?;
            let create = move |db: &Connection| {
                let until = moved.end(moment(task.updated_at), moment(task.expires_at));
                tasks::create(db, &rows, &task, until, pending_max, bounds)
            };
            claim.done(self.writer.write(create).await?)
        })
    }

    fn append_events(&self, task: &TaskId, run: &str, first: u64, events: Vec<Event>) -> StoreFuture<'_, ()> {
        let (task, run) = (hash(task.expose()), run.to_owned());
        Box::pin(async move {
            let sealed = sealed::events::seal_all(&self.seal, &task, first, &events)?;
            let bounds = self.bounds();
            let bytes = cost_of(&sealed);
            let append = move |db: &Connection, task: &TaskRow| match bounds.answer_room(db, task, bytes)? {
                Ok(()) => events::append(db, task, first, &sealed).map(Ok),
                full => Ok(full),
            };
            self.write_held(task, run, Ok(()), append).await?
        })
    }

    fn advance_task(&self, task: &TaskId, change: TaskChange) -> StoreFuture<'_, bool> {
        let (task, change) = (hash(task.expose()), Move::new(&self.seal, task, change));
        Box::pin(async move {
            let change = change?;
            let seal = Arc::clone(&self.seal);
            let rows = Arc::clone(&self.rows);
            let bounds = (self.options.deliveries_pending_max, self.bounds());
            let moved = Arc::clone(&self.moved);
            let advance = move |db: &Connection| {
                let until = change.resume.as_ref().map(|resumed| moved.end(moment(change.at), resumed.expires_at));
                tasks::advance(db, &rows, &seal, &task, &Step { change: &change, until }, bounds)
            };
            self.writer.write(advance).await?
        })
    }

    fn task(&self, id: &TaskId, now: Timestamp) -> StoreFuture<'_, Option<Task>> {
        let (id, now) = (hash(id.expose()), self.moved.reading(now));
        self.read_task(id, None, move |db, seal, task| tasks::task(db, seal, task, now))
    }

    fn events(&self, task: &TaskId, after: u64, limit: usize) -> StoreFuture<'_, Vec<(u64, Event)>> {
        let task = hash(task.expose());
        self.read_task(task, Vec::new(), move |db, seal, task| events::read(db, seal, task, after, limit))
    }

    fn last_event(&self, task: &TaskId) -> StoreFuture<'_, u64> {
        let task = hash(task.expose());
        self.read_task(task, 0, |db, _, task| events::last(db, task))
    }

    fn tasks(&self, filter: TaskFilter, now: Timestamp) -> StoreFuture<'_, TaskPage> {
        let now = self.moved.reading(now);
        self.read(move |db, seal| tasks::tasks(db, seal, &filter, now))
    }

    fn beat(&self, run: &str) -> StoreFuture<'_, bool> {
        let run = run.to_owned();
        Box::pin(self.writer.write(move |db| runs::beat(db, &run)))
    }

    fn runs(&self) -> StoreFuture<'_, Vec<RunBeat>> {
        self.read(|db, _| runs::living(db))
    }

    fn end_run(&self, seen: &RunBeat) -> StoreFuture<'_, bool> {
        let seen = seen.clone();
        Box::pin(self.writer.write(move |db| runs::end(db, &seen)))
    }

    fn orphaned_tasks(&self, limit: usize) -> StoreFuture<'_, Vec<Task>> {
        self.read(move |db, seal| tasks::orphaned(db, seal, limit))
    }

    fn put_artifact(&self, task: &TaskId, run: &str, artifact: StoredArtifact) -> StoreFuture<'_, ()> {
        let (task, run) = (hash(task.expose()), run.to_owned());
        Box::pin(async move {
            let unavailable = |what: &str| StoreError::Unavailable(what.to_owned());
            let permit = self.artifact_writes.acquire().await.map_err(|_| unavailable("the store is closed"))?;
            let seal = Arc::clone(&self.seal);
            // Sealing megabytes takes milliseconds, in which a thread of the runtime would serve nobody else.
            let sealing = tokio::task::spawn_blocking(move || NewArtifact::new(&seal, task, artifact));
            let artifact = sealing.await.map_err(|_| unavailable("the artifact was not sealed"))??;
            let bytes_max = self.options.artifacts_bytes_max;
            let bounds = self.bounds();
            let put = move |db: &Connection, task: &TaskRow| artifacts::put(db, task, &artifact, bytes_max, bounds);
            let written = self.write_held(task, run, Ok(()), put).await;
            drop(permit);
            written?
        })
    }

    fn artifact(&self, task: &TaskId, id: &str, now: Timestamp) -> StoreFuture<'_, Option<StoredArtifact>> {
        let (task, id, now) = (hash(task.expose()), hash(id), self.moved.reading(now));
        self.read_task(task, None, move |db, seal, task| artifacts::read(db, seal, task, &id, now))
    }

    fn add_webhook(
        &self,
        task: &TaskId,
        webhook: Webhook,
        limit: usize,
        at_end: IfTaskEnded,
    ) -> StoreFuture<'_, WebhookRegistration> {
        let task = hash(task.expose());
        Box::pin(async move {
            let webhook = NewWebhook::new(&self.seal, &task, &webhook)?;
            let pending_max = self.options.deliveries_pending_max;
            let room = Room { limit, pending_max, bounds: self.bounds() };
            let add = move |db: &Connection, task: &TaskRow| webhooks::add(db, task, &webhook, room, at_end);
            self.write_task(task, Ok(WebhookRegistration::NoTask), add).await?
        })
    }

    fn webhooks(&self, task: &TaskId) -> StoreFuture<'_, Vec<Webhook>> {
        let task = hash(task.expose());
        self.read_task(task, Vec::new(), webhooks::of_task)
    }

    fn remove_webhook(&self, task: &TaskId, id: &str) -> StoreFuture<'_, bool> {
        let (task, id) = (hash(task.expose()), hash(id));
        Box::pin(self.write_task(task, false, move |db, task| webhooks::remove(db, task, &id)))
    }

    fn enqueue(&self, notice: Notification) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let notice = NewNotice::new(&self.seal, &notice)?;
            let (pending_max, bounds) = (self.options.deliveries_pending_max, self.bounds());
            let claim = self.strangers.claim(self, &notice.holder, cost(notice.body.len())).await?;
            let moved = Arc::clone(&self.moved);
            let enqueue = move |db: &Connection| {
                let times = [notice.due_at, notice.expires_at].map(|at| moved.end(notice.due_at, at));
                webhooks::enqueue(db, &notice, times, pending_max, bounds)
            };
            claim.done(self.writer.write(enqueue).await?)
        })
    }

    fn claim_deliveries(&self, now: Timestamp, lease: Timestamp, limit: usize) -> StoreFuture<'_, Vec<Delivery>> {
        Box::pin(async move {
            let claimed = self.writer.write(move |db| webhooks::claim(db, now, lease, limit)).await?;
            claimed.into_iter().map(|delivery| delivery.open(&self.seal)).collect()
        })
    }

    fn settle_delivery(&self, id: u64, retry_at: Option<Timestamp>) -> StoreFuture<'_, ()> {
        Box::pin(self.writer.write(move |db| webhooks::settle(db, id, retry_at)))
    }

    fn put_off_delivery(&self, id: u64, until: Timestamp) -> StoreFuture<'_, ()> {
        Box::pin(self.writer.write(move |db| webhooks::put_off(db, id, until)))
    }

    fn release_deliveries(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.writer.write(move |db| webhooks::release(db, now)))
    }

    fn append_turns(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        addition: ConversationAppend,
    ) -> StoreFuture<'_, Option<ConversationVersion>> {
        let bounds = self.bounds();
        let name = ThreadName { hash: hash(thread.key()), agent: agent.clone() };
        Box::pin(async move {
            let addition = name.seal(&self.seal, addition)?;
            let claim = self.strangers.claim(self, &addition.holder, cost_of(&addition.turns)).await?;
            claim.done(self.writer.write(move |db| threads::append(db, &name, &addition, bounds)).await?)
        })
    }

    fn thread(&self, thread: &ThreadId, agent: &Handle, now: Timestamp) -> StoreFuture<'_, Option<Conversation>> {
        let name = ThreadName { hash: hash(thread.key()), agent: agent.clone() };
        let now = self.moved.reading(now);
        self.read(move |db, seal| threads::read(db, seal, &name, now))
    }

    fn thread_version(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        now: Timestamp,
    ) -> StoreFuture<'_, Option<ConversationVersion>> {
        let name = ThreadName { hash: hash(thread.key()), agent: agent.clone() };
        let now = self.moved.reading(now);
        self.read(move |db, _| threads::version(db, &name, now))
    }

    fn set_route(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        expires_at: Timestamp,
        account: &Account,
    ) -> StoreFuture<'_, ()> {
        let (holder, bounds) = (Holder::new(&self.seal, account), self.bounds());
        let thread = hash(thread.key());
        let route = sealed::routes::seal(&self.seal, &thread, agent);
        Box::pin(async move {
            let route = route?;
            let claim = self.strangers.claim(self, &holder, cost(route.len())).await?;
            let set = move |db: &Connection| routes::set(db, &thread, &route, expires_at, holder, bounds);
            claim.done(self.writer.write(set).await?)
        })
    }

    fn route(&self, thread: &ThreadId, now: Timestamp) -> StoreFuture<'_, Option<Handle>> {
        let (thread, now) = (hash(thread.key()), self.moved.reading(now));
        self.read(move |db, seal| routes::read(db, seal, &thread, now))
    }

    fn claim_once(&self, key: &str, now: Timestamp, expires_at: Timestamp) -> StoreFuture<'_, bool> {
        let (key, moved) = (hash(key), Arc::clone(&self.moved));
        let claim =
            move |db: &Connection| claims::claim(db, &key, moved.reading(now), moved.claim_end(now, expires_at));
        Box::pin(self.writer.write(claim))
    }

    fn append_entry(&self, stream: &str, entry: LedgerEntry, last: Option<u64>) -> StoreFuture<'_, Option<u64>> {
        let stream = hash(stream);
        Box::pin(async move {
            let entry = NewEntry::new(&self.seal, stream, &entry)?;
            let bounds = self.bounds();
            let claim = self.strangers.claim(self, &entry.holder, cost(entry.body.len())).await?;
            let moved = Arc::clone(&self.moved);
            let append = move |db: &Connection| {
                let until = entry.expires_at.map(|until| moved.end(entry.at, until));
                ledger::append(db, &entry, until, last, bounds)
            };
            claim.done(self.writer.write(append).await?)
        })
    }

    fn entries(
        &self,
        stream: &str,
        span: Span,
        limit: usize,
        now: Timestamp,
    ) -> StoreFuture<'_, Vec<(u64, LedgerEntry)>> {
        let (stream, now) = (hash(stream), self.moved.reading(now));
        self.read(move |db, seal| ledger::read(db, seal, &stream, span, limit, now))
    }

    fn time(&self, machine: MachineTime) -> StoreFuture<'_, Timestamp> {
        let (wall, moved) = (machine.wall, Arc::clone(&self.moved));
        Box::pin(async move {
            let shift = self.writer.write(move |db| clock::follow(db, &machine, &moved)).await?;
            crate::clock::tell_of(shift);
            Ok(wall)
        })
    }

    fn expire(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            // One commit for each step, so that other writes get in between.
            while self.writer.write(move |db| expiry::trim_logs(db, now, EXPIRED_ROWS_PER_COMMIT)).await? {}
            let removed = self.writer.write(move |db| expiry::remove(db, now, limit)).await?;
            // Only when nothing is left to remove: pages that are about to be filled again are not given back first.
            if removed > 0 {
                self.strangers.forget();
            }
            if removed < limit as u64 {
                while self.writer.write(|db| expiry::give_back(db, FREED_PAGES_PER_COMMIT)).await? {}
            }
            Ok(removed)
        })
    }

    fn room(&self, account: &Account, bytes: u64) -> StoreFuture<'_, ()> {
        let (holder, bounds) = (Holder::new(&self.seal, account), self.bounds());
        Box::pin(async move {
            drop(self.strangers.claim(self, &holder, bytes).await?);
            self.readers.read(move |db| bounds.room(db, holder, bytes)).await?
        })
    }

    fn ready(&self) -> StoreFuture<'_, ()> {
        let bounds = self.bounds();
        Box::pin(async move { self.writer.write(move |db| expiry::probe(db, bounds)).await? })
    }
}
