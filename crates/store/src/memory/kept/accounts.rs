//! This module counts the bytes of each account.

use std::collections::HashMap;

use forecourt_core::limits::STORED_BYTES_PER_CALLER;
use forecourt_core::store::cost;
use forecourt_core::{Account, QuotaBound, StoreError, Task};
use serde::Serialize;

use crate::slim;

/// Bytes by caller. The host's own are not counted.
pub(in crate::memory) struct Accounts {
    stored: HashMap<Account, u64>,
    max: u64,
}

impl Default for Accounts {
    fn default() -> Self {
        Self::new(STORED_BYTES_PER_CALLER)
    }
}

impl Accounts {
    /// With this bound on each.
    pub(in crate::memory) fn new(max: u64) -> Self {
        Self { stored: HashMap::new(), max }
    }

    /// Whether an account may have so many more.
    pub(in crate::memory) fn room(&self, account: &Account, bytes: u64) -> Result<(), StoreError> {
        let stored = self.stored.get(account).copied().unwrap_or_default();
        if account.key().is_none() || stored.saturating_add(bytes) <= self.max {
            return Ok(());
        }
        Err(StoreError::Full { bound: QuotaBound::Caller { max: self.max } })
    }

    /// Counts so many more.
    pub(super) fn add(&mut self, account: &Account, bytes: u64) {
        if account.key().is_some() {
            *self.stored.entry(account.clone()).or_default() += bytes;
        }
    }

    /// Gives so many back.
    pub(super) fn give_back(&mut self, account: &Account, bytes: u64) {
        if let Some(stored) = self.stored.get_mut(account) {
            *stored = stored.saturating_sub(bytes);
            if *stored == 0 {
                self.stored.remove(account);
            }
        }
    }
}

/// Bytes of a turn or an outcome as it is kept.
pub(super) fn said_len<T: Serialize>(said: &T) -> usize {
    slim::with_parts(said).map_or(0, |value| json_len(&value))
}

/// Bytes of a task as it is kept.
pub(super) fn task_len(task: &Task) -> usize {
    slim::with_turns(task).map_or(0, |value| json_len(&value))
}

/// Bytes of a value as JSON.
pub(super) fn json_len<T: Serialize + ?Sized>(value: &T) -> usize {
    serde_json::to_vec(value).map_or(0, |json| json.len())
}

/// The bytes that are charged for values.
pub(super) fn cost_of<'a, T: Serialize + 'a>(values: impl IntoIterator<Item = &'a T>) -> u64 {
    values.into_iter().map(|value| cost(json_len(value))).sum()
}
