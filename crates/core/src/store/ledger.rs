//! This module has append-only streams of entries: lifecycle changes, contracts, questions to the operator.

use jiff::Timestamp;
use serde_json::Value;

use super::{Account, Store, StoreError, StoreFuture};

/// An entry of a stream, written once and never changed.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerEntry {
    /// The content; at most [`crate::limits::ENTRY_BYTES_MAX`] as JSON. Sealed at rest, as conversations are.
    pub body: Value,
    /// When it was written.
    pub at: Timestamp,
    /// When it stops being readable; `None`: never.
    pub expires_at: Option<Timestamp>,
    /// The account that is charged for it. Not read back: an entry that was read has the host's own.
    pub account: Account,
}

impl LedgerEntry {
    /// An entry that stays, on the host's own account.
    pub fn new(body: Value, at: Timestamp) -> Self {
        Self { body, at, expires_at: None, account: Account::HOST }
    }

    /// The same, until a moment.
    #[must_use]
    pub fn until(self, expires_at: Timestamp) -> Self {
        Self { expires_at: Some(expires_at), ..self }
    }

    /// The same, on this account.
    #[must_use]
    pub fn on(self, account: Account) -> Self {
        Self { account, ..self }
    }

    /// Whether it can be read at `now`.
    pub fn is_there(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|expires_at| expires_at > now)
    }
}

/// Which entries of a stream to read, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// Those with numbers above this one, oldest first. 0: from the beginning.
    After(u64),
    /// Those with numbers below this one, newest first. [`u64::MAX`]: from the end.
    Before(u64),
}

/// The number of the first entry of a stream that was written at a moment or later; behind the last one where there is
/// none. Entries of several nodes may lie a little out of their order, so that whoever needs all of a moment begins
/// before it. Reads a few dozen entries at most, however long the stream is.
pub fn number_at<'a>(store: &'a dyn Store, stream: &'a str, at: Timestamp, now: Timestamp) -> StoreFuture<'a, u64> {
    Box::pin(search_number(store, stream, at, now))
}

async fn search_number(store: &dyn Store, stream: &str, at: Timestamp, now: Timestamp) -> Result<u64, StoreError> {
    let first = store.entries(stream, Span::After(0), 1, now).await?;
    let last = store.entries(stream, Span::Before(u64::MAX), 1, now).await?;
    let (Some((first, _)), Some((last, _))) = (first.first(), last.first()) else { return Ok(1) };
    let (mut low, mut high) = (*first, last + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        match store.entries(stream, Span::After(middle - 1), 1, now).await?.first() {
            Some((number, entry)) if entry.at < at => low = number + 1,
            // What is between has expired.
            _ => high = middle,
        }
    }
    Ok(low)
}
