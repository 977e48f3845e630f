//! This module has append-only streams of entries: lifecycle changes, contracts, questions to the operator.

use jiff::Timestamp;
use serde_json::Value;

use super::Account;

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
