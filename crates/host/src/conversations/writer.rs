//! Conversations on their way to and from the store: turns are written behind their answers, in batches, and
//! whoever goes on with a conversation finds them all the same.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::store::{ConversationAppend, ConversationVersion};
use forecourt_core::{Clock, Error, Store};
use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::cache::{
    AppendOutcome, CONVERSATION_WRITE_AFTER, CacheLookup, ConversationCache, ConversationName, KnownConversation,
    PendingWrite, VALID_FOR, WriteScope,
};

/// Conversations that are written in one go: as many as the store commits together.
const CONVERSATIONS_PER_WRITE_MAX: usize = 256;
/// How often a conversation is looked up anew that others write to meanwhile.
const READ_TRIES_MAX: usize = 8;

/// Reads and writes conversations.
pub(crate) struct ConversationWriter {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    cache: Mutex<ConversationCache>,
    /// Held while turns are written, so that those of one conversation arrive in their order.
    writing: tokio::sync::Mutex<()>,
    /// Tells that something is due earlier than before.
    sooner: Notify,
    /// Ends when nobody writes behind any more.
    stop: CancellationToken,
    /// Whether nobody else has the store. Otherwise the next turn may come to another node: then what was said is
    /// written before its answer ends, and the store is asked each time whether it changed.
    alone: bool,
}

impl ConversationWriter {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, stop: CancellationToken, alone: bool) -> Self {
        let cache = Mutex::new(ConversationCache::new(Instant::now(), if alone { VALID_FOR } else { Duration::ZERO }));
        Self { store, clock, cache, writing: tokio::sync::Mutex::default(), sooner: Notify::new(), stop, alone }
    }

    /// A conversation with everything that was added to it, whether or not it is written yet.
    pub(super) async fn read(self: &Arc<Self>, name: &ConversationName) -> Result<Option<KnownConversation>, Error> {
        // What was read from here on is as of now, however long it takes.
        let at = Instant::now();
        for _ in 0..READ_TRIES_MAX {
            let now = self.clock.now();
            let lookup = self.cache.lock().look(name, now, at);
            match lookup {
                CacheLookup::Known(known) => return Ok(Some(known)),
                CacheLookup::Stale(version) => {
                    let is_same = self.store.thread_version(&name.0, &name.1, now).await? == Some(version);
                    let mut cache = self.cache.lock();
                    if is_same { cache.confirm(name, version, at) } else { cache.forget(name) }
                }
                CacheLookup::Pending => {
                    let (writer, name) = (self.clone(), name.clone());
                    // Not stopped in the middle, like all that writes.
                    tokio::spawn(async move { writer.write_one(&name).await }).await.map_err(Error::internal)?;
                }
                CacheLookup::Absent => {
                    let Some(mut read) = self.store.thread(&name.0, &name.1, now).await? else {
                        return Ok(None);
                    };
                    self.cache.lock().learn(name, &mut read, at);
                }
            }
        }
        Err(Error::unavailable())
    }

    /// Adds to a conversation; `false` when it is somebody else's. Returns at once, unless too much waits to be
    /// written: then once there is room.
    pub(super) async fn append(
        self: &Arc<Self>,
        name: &ConversationName,
        addition: ConversationAppend,
        begins: bool,
    ) -> bool {
        let (outcome, is_sooner) = {
            let mut cache = self.cache.lock();
            let before = cache.next_due();
            let outcome = cache.append(name, addition, begins, Instant::now());
            (outcome, before.is_none_or(|before| cache.next_due().is_some_and(|due| due < before)))
        };
        // The writer sleeps until the next moment that it knows of: only an earlier one has to wake it.
        if is_sooner {
            self.sooner.notify_one();
        }
        match outcome {
            AppendOutcome::Refused => return false,
            // Nobody would write it later.
            _ if self.stop.is_cancelled() => self.write_all().await,
            _ if !self.alone => self.write_now(name).await,
            AppendOutcome::Full => self.write_apart(WriteScope::Room).await,
            AppendOutcome::Pending => {}
        }
        true
    }

    /// Writes what is due when it is due, and everything at the end.
    pub(crate) async fn run(self: Arc<Self>) {
        loop {
            let due = self.cache.lock().next_due();
            let next = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                // With what becomes due within as long again: otherwise each would have a batch of its own.
                () = next => self.write(WriteScope::Due(Instant::now() + CONVERSATION_WRITE_AFTER)).await,
                () = self.sooner.notified() => {}
                () = self.stop.cancelled() => break,
            }
        }
        self.write_all().await;
    }

    /// Writes everything that waits.
    pub(crate) async fn write_all(self: &Arc<Self>) {
        self.write_apart(WriteScope::All).await;
    }

    /// Writes on a task of its own: whoever waits for it may go away in the middle, and the turns that were taken
    /// must not go with them.
    async fn write_apart(self: &Arc<Self>, scope: WriteScope) {
        let writer = self.clone();
        if tokio::spawn(async move { writer.write(scope).await }).await.is_err() {
            tracing::error!("conversations were not written: the store panicked");
        }
    }

    async fn write(&self, scope: WriteScope) {
        let _writing = self.writing.lock().await;
        loop {
            let batch = self.cache.lock().take(scope, CONVERSATIONS_PER_WRITE_MAX);
            if batch.is_empty() {
                return;
            }
            // At once, so that the store commits them together.
            join_all(batch.into_iter().map(|write| self.store_turns(write))).await;
        }
    }

    /// Writes what waits of one conversation, beside others. Whoever waits for it may go away in the middle.
    async fn write_now(self: &Arc<Self>, name: &ConversationName) {
        let (writer, name) = (self.clone(), name.clone());
        let written = tokio::spawn(async move {
            // The store keeps the order of one conversation: what waits is taken whole, and by one at a time.
            let write = writer.cache.lock().take_one(&name);
            match write {
                Some(write) => writer.store_turns(write).await,
                None => writer.write_one(&name).await,
            }
        });
        if written.await.is_err() {
            tracing::error!("a conversation was not written: the store panicked");
        }
    }

    async fn write_one(&self, name: &ConversationName) {
        // Whoever holds this may be writing just these turns.
        let _writing = self.writing.lock().await;
        let write = self.cache.lock().take_one(name);
        if let Some(write) = write {
            self.store_turns(write).await;
        }
    }

    async fn store_turns(&self, mut write: PendingWrite) {
        let (mut count, mut version) = (0, None);
        for addition in std::mem::take(&mut write.appends) {
            count += addition.turns.len();
            version = self.store_addition(&write.name, addition).await;
        }
        self.cache.lock().written(&write, count, version);
    }

    /// A conversation that can't be kept has spoiled no answer.
    async fn store_addition(
        &self,
        name: &ConversationName,
        addition: ConversationAppend,
    ) -> Option<ConversationVersion> {
        let (thread, agent) = name;
        match self.store.append_turns(thread, agent, addition).await {
            Ok(version) => {
                if version.is_none() {
                    // Its owner signed in elsewhere while this was being answered.
                    tracing::debug!(%agent, "a turn came too late for its conversation");
                }
                version
            }
            Err(error) => {
                tracing::warn!(%error, %agent, "a conversation was not kept");
                None
            }
        }
    }
}
