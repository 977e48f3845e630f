//! The stream of the ledger in which a journal is written.

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Account, Store, StoreError, TaskId, Timestamp};
use serde_json::Value;

use super::entry::JournalEntry;
use crate::topics::task_hash;

/// Entries that are read at once.
const ENTRIES_PER_READ: usize = 64;

/// The stream of one task's journal.
pub(crate) struct JournalStream<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) task: &'a TaskId,
    /// Whose bytes they are.
    pub(crate) account: Account,
    pub(crate) now: Timestamp,
    pub(crate) expires_at: Timestamp,
}

impl JournalStream<'_> {
    async fn append(&self, entry: &JournalEntry, last: Option<u64>) -> Result<Option<u64>, StoreError> {
        // The steps of runs are small and the host's own; what its caller said and what came of it is the caller's.
        let account = match entry {
            JournalEntry::Asked(_) | JournalEntry::Noted { .. } => self.account.clone(),
            JournalEntry::TakenUp { .. } | JournalEntry::HandedOver { .. } | JournalEntry::Closed { .. } => {
                Account::HOST
            }
        };
        let entry = LedgerEntry::new(body(entry)?, self.now).until(self.expires_at).on(account);
        self.store.append_entry(&stream(self.task), entry, last).await
    }

    /// Writes an entry of the run that has the work, behind number `last`; its number. An entry that is there already,
    /// since the store did not say so when it was written, is that entry.
    ///
    /// # Errors
    /// [`StoreError::NotHeld`] when another run has taken the work up.
    pub(super) async fn append_behind(
        &self,
        work: &str,
        entry: &JournalEntry,
        mut last: u64,
    ) -> Result<u64, StoreError> {
        loop {
            // The first one is behind whatever earlier turns of the task have left.
            let behind = (last > 0).then_some(last);
            if let Some(number) = self.append(entry, behind).await? {
                return Ok(number);
            }
            let others = entries(self.store, self.task, Span::After(last), self.now).await?;
            if others.is_empty() {
                return Err(StoreError::Corrupt("the journal of a task has expired before its work".to_owned()));
            }
            let own = body(entry)?;
            for (number, other) in others {
                last = number;
                if other == own {
                    return Ok(number);
                }
                match serde_json::from_value(other) {
                    Ok(JournalEntry::TakenUp { work: taken }) if taken == work => return Err(StoreError::NotHeld),
                    _ => {}
                }
            }
        }
    }

    /// Says that nobody goes on with the work.
    pub(super) async fn close(&self, work: &str) -> Result<(), StoreError> {
        self.append(&JournalEntry::Closed { work: work.to_owned() }, None).await.map(drop)
    }

    /// Says that the run which had it stops in good order.
    pub(super) async fn hand_over(&self, work: &str) -> Result<(), StoreError> {
        self.append(&JournalEntry::HandedOver { work: work.to_owned() }, None).await.map(drop)
    }

    /// Says that this run takes the work up that is kept up to entry `last`; the number of the entry that says so.
    /// `None` when another one was first.
    pub(super) async fn take_up(&self, work: &str, last: u64) -> Result<Option<u64>, StoreError> {
        self.append(&JournalEntry::TakenUp { work: work.to_owned() }, Some(last)).await
    }
}

/// The next entries of a journal in the order of `span`, with their numbers.
pub(super) async fn entries(
    store: &dyn Store,
    task: &TaskId,
    span: Span,
    now: Timestamp,
) -> Result<Vec<(u64, Value)>, StoreError> {
    let read = store.entries(&stream(task), span, ENTRIES_PER_READ, now).await?;
    Ok(read.into_iter().map(|(number, entry)| (number, entry.body)).collect())
}

fn body(entry: &JournalEntry) -> Result<Value, StoreError> {
    serde_json::to_value(entry).map_err(|error| StoreError::Corrupt(error.to_string()))
}

fn stream(task: &TaskId) -> String {
    format!("host:work:{}", task_hash(task))
}
