//! This module keeps everything in maps behind one lock. Nothing outlives the process.

use bytes::Bytes;
use forecourt_core::store::{
    Conversation, ConversationAppend, ConversationVersion, Delivery, IfTaskEnded, LedgerEntry, Notification, RunBeat,
    Span, StoreFuture, StoredArtifact, TaskChange, TaskFilter, TaskPage, Webhook, WebhookRegistration,
};
use forecourt_core::{
    Account, CallerBounds, Event, Handle, MachineTime, Store, StoreError, Task, TaskId, ThreadId, Timestamp,
};
use parking_lot::Mutex;

mod kept;
mod reads;

use kept::{Accounts, KeptEntry, Route};

/// A store that forgets: for tests and for trying things out.
///
/// Bounded by number ([`crate::limits`]) and by the bytes of each caller, not by those of all; over a
/// bound by number things are [`StoreError::Unavailable`].
#[derive(Default)]
pub struct Memory {
    kept: Mutex<KeptEntry>,
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty store that keeps no more for callers than this.
    pub fn bounded(callers: CallerBounds) -> Self {
        let mut kept = KeptEntry::default();
        kept.accounts = Accounts::new(callers);
        Self { kept: Mutex::new(kept) }
    }

    /// Runs `step` under the lock, once the future is awaited.
    fn step<'a, T: Send>(
        &'a self,
        step: impl FnOnce(&mut KeptEntry) -> Result<T, StoreError> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move { step(&mut self.kept.lock()) })
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

impl Store for Memory {
    fn create_task(&self, task: Task, webhooks: Vec<Webhook>) -> StoreFuture<'_, ()> {
        self.step(move |kept| kept.create_task(task, webhooks))
    }

    fn append_events(&self, task: &TaskId, run: &str, first: u64, events: Vec<Event>) -> StoreFuture<'_, ()> {
        let (task, run) = (task.clone(), run.to_owned());
        self.step(move |kept| kept.append_events(&task, &run, first, events))
    }

    fn advance_task(&self, task: &TaskId, change: TaskChange) -> StoreFuture<'_, bool> {
        let task = task.clone();
        self.step(move |kept| kept.advance_task(&task, change))
    }

    fn task(&self, id: &TaskId, now: Timestamp) -> StoreFuture<'_, Option<Task>> {
        let id = id.clone();
        self.step(move |kept| Ok(kept.task(&id, now)))
    }

    fn events(&self, task: &TaskId, after: u64, limit: usize) -> StoreFuture<'_, Vec<(u64, Event)>> {
        let task = task.clone();
        self.step(move |kept| Ok(kept.events(&task, after, limit)))
    }

    fn last_event(&self, task: &TaskId) -> StoreFuture<'_, u64> {
        let task = task.clone();
        self.step(move |kept| Ok(kept.last_event(&task)))
    }

    fn tasks(&self, filter: TaskFilter, now: Timestamp) -> StoreFuture<'_, TaskPage> {
        self.step(move |kept| Ok(kept.tasks(&filter, now)))
    }

    fn beat(&self, run: &str) -> StoreFuture<'_, bool> {
        let run = run.to_owned();
        self.step(move |kept| Ok(kept.runs.beat(run)))
    }

    fn runs(&self) -> StoreFuture<'_, Vec<RunBeat>> {
        self.step(|kept| Ok(kept.runs.living()))
    }

    fn end_run(&self, seen: &RunBeat) -> StoreFuture<'_, bool> {
        let seen = seen.clone();
        self.step(move |kept| Ok(kept.runs.end(&seen)))
    }

    fn orphaned_tasks(&self, limit: usize) -> StoreFuture<'_, Vec<Task>> {
        self.step(move |kept| Ok(kept.orphaned_tasks(limit)))
    }

    fn put_artifact(&self, task: &TaskId, run: &str, artifact: StoredArtifact) -> StoreFuture<'_, ()> {
        let (task, run) = (task.clone(), run.to_owned());
        // Copied, since `Bytes` may be a slice of a larger buffer (a request body), all of which it would keep alive.
        let artifact = StoredArtifact { bytes: Bytes::copy_from_slice(&artifact.bytes), ..artifact };
        self.step(move |kept| kept.put_artifact(&task, &run, artifact))
    }

    fn artifact(&self, task: &TaskId, id: &str, now: Timestamp) -> StoreFuture<'_, Option<StoredArtifact>> {
        let (task, id) = (task.clone(), id.to_owned());
        self.step(move |kept| Ok(kept.artifact(&task, &id, now)))
    }

    fn add_webhook(
        &self,
        task: &TaskId,
        webhook: Webhook,
        limit: usize,
        at_end: IfTaskEnded,
    ) -> StoreFuture<'_, WebhookRegistration> {
        let task = task.clone();
        self.step(move |kept| kept.add_webhook(&task, webhook, limit, at_end))
    }

    fn webhooks(&self, task: &TaskId) -> StoreFuture<'_, Vec<Webhook>> {
        let task = task.clone();
        self.step(move |kept| Ok(kept.webhooks(&task)))
    }

    fn remove_webhook(&self, task: &TaskId, id: &str) -> StoreFuture<'_, bool> {
        let (task, id) = (task.clone(), id.to_owned());
        self.step(move |kept| Ok(kept.remove_webhook(&task, &id)))
    }

    fn enqueue(&self, notice: Notification) -> StoreFuture<'_, ()> {
        self.step(move |kept| kept.enqueue(notice))
    }

    fn claim_deliveries(&self, now: Timestamp, lease: Timestamp, limit: usize) -> StoreFuture<'_, Vec<Delivery>> {
        self.step(move |kept| Ok(kept.claim_deliveries(now, lease, limit)))
    }

    fn settle_delivery(&self, id: u64, retry_at: Option<Timestamp>) -> StoreFuture<'_, ()> {
        self.step(move |kept| {
            kept.settle_delivery(id, retry_at);
            Ok(())
        })
    }

    fn put_off_delivery(&self, id: u64, until: Timestamp) -> StoreFuture<'_, ()> {
        self.step(move |kept| {
            kept.put_off_delivery(id, until);
            Ok(())
        })
    }

    fn release_deliveries(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        self.step(move |kept| Ok(kept.release_deliveries(now)))
    }

    fn append_turns(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        addition: ConversationAppend,
    ) -> StoreFuture<'_, Option<ConversationVersion>> {
        let name = (thread.clone(), agent.clone());
        self.step(move |kept| kept.append_turns(name, addition))
    }

    fn thread(&self, thread: &ThreadId, agent: &Handle, now: Timestamp) -> StoreFuture<'_, Option<Conversation>> {
        let name = (thread.clone(), agent.clone());
        self.step(move |kept| Ok(kept.thread(&name, now)))
    }

    fn thread_version(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        now: Timestamp,
    ) -> StoreFuture<'_, Option<ConversationVersion>> {
        let name = (thread.clone(), agent.clone());
        self.step(move |kept| Ok(kept.thread_version(&name, now)))
    }

    fn set_route(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        expires_at: Timestamp,
        account: &Account,
    ) -> StoreFuture<'_, ()> {
        let thread = thread.clone();
        let route = Route { agent: agent.clone(), expires_at, account: account.clone() };
        self.step(move |kept| kept.set_route(thread, route))
    }

    fn route(&self, thread: &ThreadId, now: Timestamp) -> StoreFuture<'_, Option<Handle>> {
        let thread = thread.clone();
        self.step(move |kept| Ok(kept.route(&thread, now)))
    }

    fn claim_once(&self, key: &str, now: Timestamp, expires_at: Timestamp) -> StoreFuture<'_, bool> {
        let key = key.to_owned();
        self.step(move |kept| kept.claim_once(key, now, expires_at))
    }

    fn append_entry(&self, stream: &str, entry: LedgerEntry, last: Option<u64>) -> StoreFuture<'_, Option<u64>> {
        let stream = stream.to_owned();
        self.step(move |kept| kept.append_entry(stream, entry, last))
    }

    fn entries(
        &self,
        stream: &str,
        span: Span,
        limit: usize,
        now: Timestamp,
    ) -> StoreFuture<'_, Vec<(u64, LedgerEntry)>> {
        let stream = stream.to_owned();
        self.step(move |kept| Ok(kept.entries(&stream, span, limit, now)))
    }

    fn time(&self, machine: MachineTime) -> StoreFuture<'_, Timestamp> {
        self.step(move |kept| {
            kept.follow(&machine);
            Ok(machine.wall)
        })
    }

    fn expire(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, u64> {
        self.step(move |kept| Ok(kept.expire(now, limit)))
    }

    fn room(&self, account: &Account, bytes: u64) -> StoreFuture<'_, ()> {
        let account = account.clone();
        self.step(move |kept| kept.room_for_new(&account, bytes))
    }

    fn ready(&self) -> StoreFuture<'_, ()> {
        self.step(|_| Ok(()))
    }
}

#[cfg(test)]
mod tests;
