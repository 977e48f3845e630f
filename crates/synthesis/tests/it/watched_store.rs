//! A store of streams that can be away, and that has reads wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use forecourt_core::store::{
    Conversation, ConversationAppend, ConversationVersion, Delivery, IfTaskEnded, LedgerEntry, Notification, RunBeat,
    Span, StoreFuture, StoredArtifact, TaskChange, TaskFilter, TaskPage, Webhook, WebhookRegistration,
};
use forecourt_core::{Account, Event, Handle, MachineTime, Store, StoreError, Task, TaskId, ThreadId, Timestamp};
use forecourt_store::Memory;
use tokio::sync::Semaphore;

pub(crate) struct WatchedStore {
    inner: Memory,
    pub is_away: AtomicBool,
    /// How many reads were begun.
    pub reads: AtomicUsize,
    /// How often somebody else writes just before an entry that is to be written after a known one.
    pub intrusions: AtomicUsize,
    /// How many more reads may go on; each takes one.
    pub may_read: Semaphore,
}

impl WatchedStore {
    pub(crate) fn new() -> Arc<WatchedStore> {
        let may_read = Semaphore::new(Semaphore::MAX_PERMITS);
        Arc::new(WatchedStore {
            inner: Memory::new(),
            is_away: false.into(),
            reads: 0.into(),
            intrusions: 0.into(),
            may_read,
        })
    }
}

fn away<T>() -> Result<T, StoreError> {
    Err(StoreError::Unavailable("it is away".to_owned()))
}

macro_rules! unused {
    ($($name:ident(&self $(, $arg:ty)*) -> $of:ty;)*) => {
        $(fn $name(&self $(, _: $arg)*) -> StoreFuture<'_, $of> { unreachable!("contracts are in streams") })*
    };
}

impl Store for WatchedStore {
    fn append_entry(&self, stream: &str, entry: LedgerEntry, last: Option<u64>) -> StoreFuture<'_, Option<u64>> {
        let stream = stream.to_owned();
        Box::pin(async move {
            if self.is_away.load(Ordering::SeqCst) {
                return away();
            }
            let one_less = |left: usize| left.checked_sub(1);
            let intrudes = |last: &u64| {
                *last > 0 && self.intrusions.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
            };
            if last.as_ref().is_some_and(intrudes) {
                let others = serde_json::json!({"kind": "accepted", "synthesis_id": "anothers"});
                self.inner.append_entry(&stream, LedgerEntry::new(others, entry.at), None).await?;
            }
            self.inner.append_entry(&stream, entry, last).await
        })
    }

    fn entries(
        &self,
        stream: &str,
        span: Span,
        limit: usize,
        now: Timestamp,
    ) -> StoreFuture<'_, Vec<(u64, LedgerEntry)>> {
        let stream = stream.to_owned();
        Box::pin(async move {
            self.reads.fetch_add(1, Ordering::SeqCst);
            // What is read is as of the beginning, and comes back late.
            let found = self.inner.entries(&stream, span, limit, now).await;
            self.may_read.acquire().await.unwrap().forget();
            if self.is_away.load(Ordering::SeqCst) { away() } else { found }
        })
    }

    unused! {
        create_task(&self, Task, Vec<Webhook>) -> ();
        append_events(&self, &TaskId, &str, u64, Vec<Event>) -> ();
        advance_task(&self, &TaskId, TaskChange) -> bool;
        task(&self, &TaskId, Timestamp) -> Option<Task>;
        events(&self, &TaskId, u64, usize) -> Vec<(u64, Event)>;
        last_event(&self, &TaskId) -> u64;
        tasks(&self, TaskFilter, Timestamp) -> TaskPage;
        beat(&self, &str) -> bool;
        runs(&self) -> Vec<RunBeat>;
        end_run(&self, &RunBeat) -> bool;
        orphaned_tasks(&self, usize) -> Vec<Task>;
        put_artifact(&self, &TaskId, &str, StoredArtifact) -> ();
        artifact(&self, &TaskId, &str, Timestamp) -> Option<StoredArtifact>;
        add_webhook(&self, &TaskId, Webhook, usize, IfTaskEnded) -> WebhookRegistration;
        webhooks(&self, &TaskId) -> Vec<Webhook>;
        remove_webhook(&self, &TaskId, &str) -> bool;
        enqueue(&self, Notification) -> ();
        claim_deliveries(&self, Timestamp, Timestamp, usize) -> Vec<Delivery>;
        settle_delivery(&self, u64, Option<Timestamp>) -> ();
        put_off_delivery(&self, u64, Timestamp) -> ();
        release_deliveries(&self, Timestamp) -> u64;
        append_turns(&self, &ThreadId, &Handle, ConversationAppend) -> Option<ConversationVersion>;
        thread(&self, &ThreadId, &Handle, Timestamp) -> Option<Conversation>;
        thread_version(&self, &ThreadId, &Handle, Timestamp) -> Option<ConversationVersion>;
        set_route(&self, &ThreadId, &Handle, Timestamp, &Account) -> ();
        route(&self, &ThreadId, Timestamp) -> Option<Handle>;
        claim_once(&self, &str, Timestamp, Timestamp) -> bool;
        time(&self, MachineTime) -> Timestamp;
        expire(&self, Timestamp, usize) -> u64;
        room(&self, &Account, u64) -> ();
        ready(&self) -> ();
    }
}
