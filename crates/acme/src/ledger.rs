//! A store that nodes share: a stream for each thing, of which the last entry counts. Rows are sealed there.

use std::fmt;
use std::sync::Arc;

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Store, StoreError};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::storage::{AcmeStorage, StorageError, StorageFuture};

/// Keeps everything where all nodes of a deployment find it.
pub struct Ledger(Arc<dyn Store>);

impl Ledger {
    /// In this store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ledger")
    }
}

fn stream(name: &str) -> String {
    format!("acme:{name}")
}

fn wrong(error: StoreError) -> StorageError {
    StorageError(format!("the store: {error}"))
}

impl AcmeStorage for Ledger {
    fn load<'a>(&'a self, name: &'a str, now: Timestamp) -> StorageFuture<'a, Option<Value>> {
        Box::pin(async move {
            let last = self.0.entries(&stream(name), Span::Before(u64::MAX), 1, now).await.map_err(wrong)?;
            let value = last.into_iter().next().map(|(_, mut entry)| entry.body["value"].take());
            Ok(value.filter(|value| !value.is_null()))
        })
    }

    fn save<'a>(
        &'a self,
        name: &'a str,
        value: Value,
        now: Timestamp,
        until: Option<Timestamp>,
    ) -> StorageFuture<'a, ()> {
        Box::pin(async move {
            let entry = LedgerEntry::new(json!({ "value": value }), now);
            let entry = LedgerEntry { expires_at: until, ..entry };
            self.0.append_entry(&stream(name), entry, None).await.map(drop).map_err(wrong)
        })
    }

    fn claim<'a>(&'a self, name: &'a str, now: Timestamp, until: Timestamp) -> StorageFuture<'a, bool> {
        Box::pin(async move { self.0.claim_once(&stream(name), now, until).await.map_err(wrong) })
    }

    fn is_shared(&self) -> bool {
        true
    }
}
