//! This module counts the bytes of each account.

use std::collections::HashMap;

use forecourt_core::network::WideNetwork;
use forecourt_core::store::cost;
use forecourt_core::{Account, CallerBounds, QuotaBound, StoreError, Task, TaskState};
use serde::Serialize;

use crate::slim;

/// Bytes by caller. The host's own are not counted.
#[derive(Default)]
pub(in crate::memory) struct Accounts {
    stored: HashMap<Account, u64>,
    /// Those of callers who proved nothing, by the networks around them.
    networks: HashMap<WideNetwork, u64>,
    strangers: u64,
    bounds: CallerBounds,
}

impl Accounts {
    /// With these bounds.
    pub(in crate::memory) fn new(bounds: CallerBounds) -> Self {
        Self { bounds, ..Self::default() }
    }

    /// Whether something new of so many bytes may be kept for an account: by its own bound, and where it is that of a
    /// caller who proved nothing, by those of the networks around it and of all such callers.
    pub(in crate::memory) fn new_room(&self, account: &Account, bytes: u64) -> Result<(), StoreError> {
        self.room(account, bytes)?;
        let Some(around) = account.around() else { return Ok(()) };
        for (level, network) in around.iter().enumerate() {
            let (stored, max) = (self.networks.get(network).copied().unwrap_or_default(), self.bounds.network(level));
            if stored.saturating_add(bytes) > max {
                let bound = QuotaBound::Network { prefix: network.prefix(), max };
                return Err(StoreError::Full { bound });
            }
        }
        match self.bounds.strangers {
            Some(max) if self.strangers.saturating_add(bytes) > max => {
                Err(StoreError::Full { bound: QuotaBound::Strangers { max } })
            }
            _ => Ok(()),
        }
    }

    /// Whether an account may have so many more.
    pub(in crate::memory) fn room(&self, account: &Account, bytes: u64) -> Result<(), StoreError> {
        let stored = self.stored.get(account).copied().unwrap_or_default();
        let max = self.bounds.caller;
        if account.key().is_none() || stored.saturating_add(bytes) <= max {
            return Ok(());
        }
        Err(StoreError::Full { bound: QuotaBound::Caller { max } })
    }

    /// Bytes that a task reserves for its answer when it comes into this state.
    pub(super) fn reserve(&self, account: &Account, state: TaskState) -> u64 {
        if account.key().is_none() || state.is_settled() { 0 } else { self.bounds.answer() }
    }

    /// Counts so many more.
    pub(super) fn add(&mut self, account: &Account, bytes: u64) {
        if account.key().is_some() {
            *self.stored.entry(account.clone()).or_default() += bytes;
        }
        if let Some(around) = account.around() {
            around.iter().for_each(|network| *self.networks.entry(*network).or_default() += bytes);
            self.strangers += bytes;
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
        if let Some(around) = account.around() {
            for network in around {
                let stored = self.networks.entry(network).or_default();
                *stored = stored.saturating_sub(bytes);
                if *stored == 0 {
                    self.networks.remove(&network);
                }
            }
            self.strangers = self.strangers.saturating_sub(bytes);
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
