//! This module wraps a store to count how long its operations take and how many fail.

use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt_core::store::{
    Account, Conversation, ConversationAppend, ConversationVersion, Delivery, IfTaskEnded, LedgerEntry, Notification,
    RunBeat, Span, StoreFuture, StoredArtifact, TaskChange, TaskFilter, TaskPage, Webhook, WebhookRegistration,
};
use forecourt_core::{Event, Handle, MachineTime, Store, StoreError, Task, TaskId, ThreadId, Timestamp};
use forecourt_telemetry::spans;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use tracing::Instrument;

use crate::StoreReads;

/// The metrics of a store's operations.
#[derive(Debug)]
pub struct StoreMetrics {
    durations: Family<OperationLabel, Histogram, Buckets>,
    errors: Family<ErrorLabels, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabel {
    operation: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorLabels {
    operation: &'static str,
    kind: &'static str,
}

/// From a tenth of a millisecond to some seconds.
#[derive(Clone, Debug)]
struct Buckets;

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(exponential_buckets(0.0001, 4.0, 9))
    }
}

impl Default for StoreMetrics {
    fn default() -> Self {
        Self { durations: Family::new_with_constructor(Buckets), errors: Family::default() }
    }
}

impl StoreMetrics {
    /// Names every counter in `registry`.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Seconds of operations of the store, waiting included, by operation";
        registry.register("store_operation_seconds", help, self.durations.clone());
        let help = "Operations of the store that failed, by operation and kind";
        registry.register("store_errors", help, self.errors.clone());
    }

    fn ended(&self, operation: &'static str, after: Duration, error: Option<&StoreError>) {
        self.durations.get_or_create(&OperationLabel { operation }).observe(after.as_secs_f64());
        if let Some(error) = error {
            self.errors.get_or_create(&ErrorLabels { operation, kind: kind(error) }).inc();
        }
    }
}

fn kind(error: &StoreError) -> &'static str {
    match error {
        StoreError::Full { .. } => "full",
        StoreError::Unavailable(_) => "unavailable",
        StoreError::NotHeld => "not_held",
        StoreError::Exists => "exists",
        StoreError::Corrupt(_) => "corrupt",
    }
}

/// A store, timed.
pub struct MeteredStore {
    store: Arc<dyn StoreReads>,
    /// The database's name in traces.
    system: &'static str,
    metrics: Arc<StoreMetrics>,
}

impl MeteredStore {
    /// `store` with its operations counted in `metrics`, and traced.
    pub fn new(store: Arc<dyn StoreReads>, metrics: Arc<StoreMetrics>) -> Self {
        Self { system: store.load().system, store, metrics }
    }

    fn timed<'a, T: Send + 'a>(&'a self, operation: &'static str, work: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        // Before the future is polled, so that waiting for the queue and for connections counts as well.
        let begun = Instant::now();
        let span = spans::store(self.system, operation);
        Box::pin(async move {
            let done = work.instrument(span.clone()).await;
            self.metrics.ended(operation, begun.elapsed(), done.as_ref().err());
            if let Err(error) = &done {
                spans::record_error(&span, kind(error), true);
            }
            done
        })
    }
}

impl Store for MeteredStore {
    fn create_task(&self, task: Task, webhooks: Vec<Webhook>) -> StoreFuture<'_, ()> {
        self.timed("create_task", self.store.create_task(task, webhooks))
    }

    fn append_events(&self, task: &TaskId, run: &str, first: u64, events: Vec<Event>) -> StoreFuture<'_, ()> {
        self.timed("append_events", self.store.append_events(task, run, first, events))
    }

    fn advance_task(&self, task: &TaskId, change: TaskChange) -> StoreFuture<'_, bool> {
        self.timed("advance_task", self.store.advance_task(task, change))
    }

    fn task(&self, id: &TaskId, now: Timestamp) -> StoreFuture<'_, Option<Task>> {
        self.timed("task", self.store.task(id, now))
    }

    fn events(&self, task: &TaskId, after: u64, limit: usize) -> StoreFuture<'_, Vec<(u64, Event)>> {
        self.timed("events", self.store.events(task, after, limit))
    }

    fn last_event(&self, task: &TaskId) -> StoreFuture<'_, u64> {
        self.timed("last_event", self.store.last_event(task))
    }

    fn tasks(&self, filter: TaskFilter, now: Timestamp) -> StoreFuture<'_, TaskPage> {
        self.timed("tasks", self.store.tasks(filter, now))
    }

    fn beat(&self, run: &str) -> StoreFuture<'_, bool> {
        self.timed("beat", self.store.beat(run))
    }

    fn runs(&self) -> StoreFuture<'_, Vec<RunBeat>> {
        self.timed("runs", self.store.runs())
    }

    fn end_run(&self, seen: &RunBeat) -> StoreFuture<'_, bool> {
        self.timed("end_run", self.store.end_run(seen))
    }

    fn orphaned_tasks(&self, limit: usize) -> StoreFuture<'_, Vec<Task>> {
        self.timed("orphaned_tasks", self.store.orphaned_tasks(limit))
    }

    fn put_artifact(&self, task: &TaskId, run: &str, artifact: StoredArtifact) -> StoreFuture<'_, ()> {
        self.timed("put_artifact", self.store.put_artifact(task, run, artifact))
    }

    fn artifact(&self, task: &TaskId, id: &str, now: Timestamp) -> StoreFuture<'_, Option<StoredArtifact>> {
        self.timed("artifact", self.store.artifact(task, id, now))
    }

    fn add_webhook(
        &self,
        task: &TaskId,
        webhook: Webhook,
        limit: usize,
        at_end: IfTaskEnded,
    ) -> StoreFuture<'_, WebhookRegistration> {
        self.timed("add_webhook", self.store.add_webhook(task, webhook, limit, at_end))
    }

    fn webhooks(&self, task: &TaskId) -> StoreFuture<'_, Vec<Webhook>> {
        self.timed("webhooks", self.store.webhooks(task))
    }

    fn remove_webhook(&self, task: &TaskId, id: &str) -> StoreFuture<'_, bool> {
        self.timed("remove_webhook", self.store.remove_webhook(task, id))
    }

    fn enqueue(&self, notice: Notification) -> StoreFuture<'_, ()> {
        self.timed("enqueue", self.store.enqueue(notice))
    }

    fn claim_deliveries(&self, now: Timestamp, lease: Timestamp, limit: usize) -> StoreFuture<'_, Vec<Delivery>> {
        self.timed("claim_deliveries", self.store.claim_deliveries(now, lease, limit))
    }

    fn settle_delivery(&self, id: u64, retry_at: Option<Timestamp>) -> StoreFuture<'_, ()> {
        self.timed("settle_delivery", self.store.settle_delivery(id, retry_at))
    }

    fn put_off_delivery(&self, id: u64, until: Timestamp) -> StoreFuture<'_, ()> {
        self.timed("put_off_delivery", self.store.put_off_delivery(id, until))
    }

    fn release_deliveries(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        self.timed("release_deliveries", self.store.release_deliveries(now))
    }

    fn append_turns(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        addition: ConversationAppend,
    ) -> StoreFuture<'_, Option<ConversationVersion>> {
        self.timed("append_turns", self.store.append_turns(thread, agent, addition))
    }

    fn thread(&self, thread: &ThreadId, agent: &Handle, now: Timestamp) -> StoreFuture<'_, Option<Conversation>> {
        self.timed("thread", self.store.thread(thread, agent, now))
    }

    fn thread_version(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        now: Timestamp,
    ) -> StoreFuture<'_, Option<ConversationVersion>> {
        self.timed("thread_version", self.store.thread_version(thread, agent, now))
    }

    fn set_route(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        expires_at: Timestamp,
        account: &Account,
    ) -> StoreFuture<'_, ()> {
        self.timed("set_route", self.store.set_route(thread, agent, expires_at, account))
    }

    fn route(&self, thread: &ThreadId, now: Timestamp) -> StoreFuture<'_, Option<Handle>> {
        self.timed("route", self.store.route(thread, now))
    }

    fn claim_once(&self, key: &str, now: Timestamp, expires_at: Timestamp) -> StoreFuture<'_, bool> {
        self.timed("claim_once", self.store.claim_once(key, now, expires_at))
    }

    fn append_entry(&self, stream: &str, entry: LedgerEntry, last: Option<u64>) -> StoreFuture<'_, Option<u64>> {
        self.timed("append_entry", self.store.append_entry(stream, entry, last))
    }

    fn entries(
        &self,
        stream: &str,
        span: Span,
        limit: usize,
        now: Timestamp,
    ) -> StoreFuture<'_, Vec<(u64, LedgerEntry)>> {
        self.timed("entries", self.store.entries(stream, span, limit, now))
    }

    fn time(&self, machine: MachineTime) -> StoreFuture<'_, Timestamp> {
        self.timed("time", self.store.time(machine))
    }

    fn expire(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, u64> {
        self.timed("expire", self.store.expire(now, limit))
    }

    fn room(&self, account: &Account, bytes: u64) -> StoreFuture<'_, ()> {
        self.timed("room", self.store.room(account, bytes))
    }

    fn ready(&self) -> StoreFuture<'_, ()> {
        self.timed("ready", self.store.ready())
    }
}
