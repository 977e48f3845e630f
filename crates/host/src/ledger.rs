//! Streams of entries that protocols keep in words of their own.

use std::sync::Arc;

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Account, Clock, Error, Store, Timestamp};
use futures::future::BoxFuture;
use serde_json::Value;

/// Entries that are read in one go.
pub const ENTRIES_PER_READ_MAX: usize = 500;

/// Streams of one owner: a protocol, or another part of the program by its name. Nobody reaches those of another
/// with it. A cheap clone of the same streams.
#[derive(Clone)]
pub struct Ledger {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    owner: &'static str,
}

impl Ledger {
    /// The streams of `owner` in `store`, whose entries expire by `clock`.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, owner: &'static str) -> Ledger {
        Ledger { store, clock, owner }
    }

    /// Writes an entry into the stream `name`, until a moment or for good. With `last`, only
    /// if that is the number of the last entry, 0 for none: `None` when it is another.
    pub fn append<'a>(
        &'a self,
        name: &'a str,
        body: Value,
        until: Option<Timestamp>,
        last: Option<u64>,
    ) -> BoxFuture<'a, Result<Option<u64>, Error>> {
        Box::pin(async move { self.append_on(Account::HOST, name, body, until, last).await })
    }

    /// The same, with its bytes on the account of whoever had it written.
    pub fn append_on<'a>(
        &'a self,
        account: Account,
        name: &'a str,
        body: Value,
        until: Option<Timestamp>,
        last: Option<u64>,
    ) -> BoxFuture<'a, Result<Option<u64>, Error>> {
        Box::pin(async move {
            let entry = LedgerEntry { expires_at: until, account, ..LedgerEntry::new(body, self.clock.now()) };
            Ok(self.store.append_entry(&self.stream(name), entry, last).await?)
        })
    }

    /// Reads at most `limit` entries, and never more than [`ENTRIES_PER_READ_MAX`], of a stream, with
    /// their numbers.
    pub fn entries<'a>(
        &'a self,
        name: &'a str,
        span: Span,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<(u64, LedgerEntry)>, Error>> {
        Box::pin(async move {
            let limit = limit.min(ENTRIES_PER_READ_MAX);
            Ok(self.store.entries(&self.stream(name), span, limit, self.clock.now()).await?)
        })
    }

    /// The last entry of a stream, with its number.
    pub fn last<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<(u64, LedgerEntry)>, Error>> {
        Box::pin(async move { Ok(self.entries(name, Span::Before(u64::MAX), 1).await?.into_iter().next()) })
    }

    fn stream(&self, name: &str) -> String {
        format!("of:{}:{name}", self.owner)
    }
}
