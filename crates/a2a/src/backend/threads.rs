//! Which conversation of the remote agent belongs to which of ours.

use forecourt_core::ThreadId;
use forecourt_core::limits::THREAD_TTL;
use moka::sync::Cache;

use crate::client::TaskCursor;
use crate::client::limits::THREADS_MAX;

/// The other end of a conversation.
#[derive(Debug, Clone, Default)]
pub(super) struct RemoteThread {
    /// Its `contextId`.
    pub(super) context: Option<String>,
    /// The task that waits for the next turn.
    pub(super) waiting: Option<String>,
    /// Whether it waits for a payment: then one that a caller brings, and that is none of ours, is for it.
    pub(super) wants_payment: bool,
    /// What was taken of that task.
    pub(super) taken: TaskCursor,
}

/// The other ends, for as long as a conversation is kept. A restart forgets them: the remote agent
/// then begins anew, and is told the history if the settings want that.
pub(super) struct Threads {
    remotes: Cache<ThreadId, RemoteThread>,
}

impl Default for Threads {
    fn default() -> Self {
        Self { remotes: Cache::builder().max_capacity(THREADS_MAX).time_to_idle(THREAD_TTL).build() }
    }
}

impl Threads {
    /// The other end of `thread`, empty when there is none.
    pub(super) fn of(&self, thread: Option<&ThreadId>) -> RemoteThread {
        thread.and_then(|thread| self.remotes.get(thread)).unwrap_or_default()
    }

    pub(super) fn keep(&self, thread: Option<&ThreadId>, remote: RemoteThread) {
        if let Some(thread) = thread {
            self.remotes.insert(thread.clone(), remote);
        }
    }
}
