//! A guard that cancels the task of a remote agent when its answer is no longer read.

use std::sync::Arc;

use forecourt_core::{TaskState, WorkJournal};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::client::Peer;
use crate::client::limits::CANCEL_TIME_MAX;
use crate::model::{Metadata, Operation};

/// Held for as long as an answer is read. Dropped before the task has settled, it cancels the task,
/// in the background and within [`CANCEL_TIME_MAX`]; not when another node goes on with it.
pub(super) struct RemoteCancel {
    peer: Peer,
    hop: u32,
    slots: Arc<Semaphore>,
    /// Tells when another node goes on with the task.
    journal: WorkJournal,
    task: Option<String>,
    is_settled: bool,
}

impl RemoteCancel {
    pub(super) fn new(peer: Peer, hop: u32, slots: Arc<Semaphore>, journal: WorkJournal) -> Self {
        Self { peer, hop, slots, journal, task: None, is_settled: false }
    }

    /// Takes notice of where the task stands.
    pub(super) fn note(&mut self, task: Option<&str>, state: Option<TaskState>) {
        if self.task.is_none() {
            self.task = task.map(str::to_owned);
        }
        self.is_settled = state.is_some_and(TaskState::is_settled);
    }
}

impl Drop for RemoteCancel {
    fn drop(&mut self) {
        let Some(task) = self.task.take().filter(|_| !self.is_settled && !self.journal.is_handed_over()) else {
            return;
        };
        // `drop` can't wait, so that the cancellation runs by itself. Without a runtime (the process ends) or a free
        // slot the remote agent's own time-out ends the task.
        let (Ok(runtime), Ok(slot)) = (Handle::try_current(), self.slots.clone().try_acquire_owned()) else { return };
        let (peer, hop) = (self.peer.clone(), self.hop);
        runtime.spawn(async move {
            let _slot = slot;
            let operation = Operation::Cancel { task, metadata: Metadata::new() };
            match timeout(CANCEL_TIME_MAX, peer.call(&operation, hop)).await {
                Ok(Ok(_)) => tracing::debug!("a task of a remote agent was cancelled"),
                Ok(Err(fault)) => tracing::debug!(%fault, "a task of a remote agent was not cancelled"),
                Err(_) => tracing::debug!("a task of a remote agent was not cancelled in time"),
            }
        });
    }
}
