//! Records on their way from the queue into the store: kept, in their order, until it takes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use forecourt_core::clock::after;
use forecourt_core::limits::ENTRY_BYTES_MAX;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Clock, Store, StoreError};
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::{AUDIT_BATCH_MAX, AUDIT_ENTRIES_PER_READ, AUDIT_STREAM, AuditOutcome, AuditRecord};

/// How long records wait for others to be written with, and a batch that the store did not take, at first.
const WRITE_AFTER: Duration = Duration::from_millis(200);
/// How long a batch waits at most until it is written again.
const RETRY_WAIT_MAX: Duration = Duration::from_secs(5);
/// How often in all a store is asked again that takes nothing while the host stops.
const TRIES_AT_STOP_MAX: usize = 3;

/// The receiving half of the audit: the records that are not written yet.
pub struct PendingRecords {
    records: mpsc::Receiver<AuditRecord>,
    dropped: Arc<AtomicU64>,
}

impl PendingRecords {
    /// What comes out of the queue; `dropped` counts what nobody will read.
    pub(crate) fn new(records: mpsc::Receiver<AuditRecord>, dropped: Arc<AtomicU64>) -> Self {
        Self { records, dropped }
    }

    /// Writes them in batches, and those to come, until `stop`, and then what is left. Each is remembered for as
    /// long as `kept` says. While the store does not take a batch it is tried again and the queue waits; after the stop
    /// a store that is away is asked three times more, and what is left then is dropped.
    pub fn write(
        self,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        kept: Duration,
        stop: CancellationToken,
    ) -> BoxFuture<'static, ()> {
        let Self { records, dropped } = self;
        let writer = AuditWriter { store, clock, kept, stop, dropped, tries_at_stop: Some(TRIES_AT_STOP_MAX) };
        Box::pin(writer.write_all(records))
    }
}

/// Writes records, one batch after the other.
struct AuditWriter {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    kept: Duration,
    stop: CancellationToken,
    dropped: Arc<AtomicU64>,
    /// How often the store is still asked again once the host stops. `None` after the last of them: what is left is
    /// dropped, since each further question may take the store its deadline.
    tries_at_stop: Option<usize>,
}

impl AuditWriter {
    async fn write_all(mut self, mut records: mpsc::Receiver<AuditRecord>) {
        let stop = self.stop.clone();
        let mut batch = Vec::with_capacity(AUDIT_BATCH_MAX);
        loop {
            tokio::select! {
                // None are left only when the queue is closed, after the stop, and all that was in it is written.
                count = records.recv_many(&mut batch, AUDIT_BATCH_MAX) => if count == 0 { return },
                () = stop.cancelled() => records.close(),
            }
            // Records of a moment go into one entry.
            if !stop.is_cancelled() {
                tokio::select! {
                    () = sleep(WRITE_AFTER) => {}
                    () = stop.cancelled() => records.close(),
                }
            }
            while batch.len() < AUDIT_BATCH_MAX
                && let Ok(record) = records.try_recv()
            {
                batch.push(record);
            }
            let dropped: u64 = batch.iter().map(|record| record.dropped).sum();
            if dropped > 0 {
                tracing::warn!(dropped, "audit records found no room, and were dropped");
            }
            // Apart, since versions before this one pass over entries with records of models.
            let used = batch.extract_if(.., |record| record.outcome == AuditOutcome::Used).collect();
            self.write_batch(std::mem::take(&mut batch)).await;
            self.write_batch(used).await;
        }
    }

    /// Writes a batch as one entry, or as several where one has no room for it.
    async fn write_batch(&mut self, batch: Vec<AuditRecord>) {
        let mut parts = vec![batch];
        while let Some(mut part) = parts.pop() {
            if part.is_empty() {
                continue;
            }
            if self.tries_at_stop.is_none() {
                self.drop_records(&part, &"the store was away when the host stopped");
                continue;
            }
            let body = match serde_json::to_value(&part) {
                Ok(body) => body,
                Err(error) => {
                    self.drop_records(&part, &error);
                    continue;
                }
            };
            // No store ever takes an entry that is too long: callers chose the names in it.
            if body.to_string().len() > ENTRY_BYTES_MAX && part.len() > 1 {
                let second = part.split_off(part.len() / 2);
                parts.extend([second, part]);
                continue;
            }
            if let Err(error) = self.append_surely(body).await {
                self.drop_records(&part, &error);
            }
        }
    }

    /// Appends an entry, and tries again as long as the store is away or full.
    async fn append_surely(&mut self, body: Value) -> Result<(), StoreError> {
        let now = self.clock.now();
        let entry = LedgerEntry::new(body, now).until(after(now, self.kept));
        let (mut wait, mut is_first) = (WRITE_AFTER, true);
        loop {
            let error = match self.append(&entry, is_first).await {
                Ok(()) => return Ok(()),
                Err(error @ (StoreError::Unavailable(_) | StoreError::Full { .. })) => error,
                Err(error) => return Err(error),
            };
            if is_first {
                tracing::warn!(%error, "audit records are not kept yet, and are written again");
            }
            is_first = false;
            if self.stop.is_cancelled() {
                self.tries_at_stop = self.tries_at_stop.and_then(|left| left.checked_sub(1));
                if self.tries_at_stop.is_none() {
                    return Err(error);
                }
                sleep(WRITE_AFTER).await;
                continue;
            }
            tokio::select! {
                () = sleep(wait) => {}
                () = self.stop.cancelled() => {}
            }
            wait = (wait * 2).min(RETRY_WAIT_MAX);
        }
    }

    /// Appends an entry, unless a try before took it and the store could not say so.
    async fn append(&self, entry: &LedgerEntry, is_first: bool) -> Result<(), StoreError> {
        if !is_first {
            let (newest, now) = (Span::Before(u64::MAX), self.clock.now());
            let last = self.store.entries(AUDIT_STREAM, newest, AUDIT_ENTRIES_PER_READ, now).await?;
            if last.iter().any(|(_, kept)| kept.body == entry.body) {
                return Ok(());
            }
        }
        self.store.append_entry(AUDIT_STREAM, entry.clone(), None).await.map(drop)
    }

    /// Counts records that are not kept: the next one that is tells how many there were.
    fn drop_records(&self, records: &[AuditRecord], error: &dyn std::fmt::Display) {
        let before: u64 = records.iter().map(|record| record.dropped).sum();
        self.dropped.fetch_add(records.len() as u64 + before, Ordering::Relaxed);
        tracing::warn!(%error, dropped = records.len(), "audit records were not kept");
    }
}
