//! This module remembers tasks that this node used lately: guesses that save a query, and that the database checks.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::limits::TASK_ROWS_AT_HAND;
use crate::seal::Hash;
use crate::sealed::Holder;

/// This node's guess about a task, which the database checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct KnownTask {
    /// The number of its last event.
    pub(super) last: u64,
    pub(super) payer: Payer,
    /// What is left of the bytes that it reserved on this node.
    pub(super) reserved: u64,
}

/// The account that is charged for a task. It never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Payer {
    /// Not known: another node made the task, or it was forgotten here.
    #[default]
    Unknown,
    /// The host itself: nobody is charged.
    Host,
    Account(Hash),
}

impl From<Holder> for Payer {
    fn from(holder: Holder) -> Self {
        holder.account.map_or(Self::Host, Self::Account)
    }
}

impl Payer {
    /// The account, where it is known whether there is one.
    pub(super) fn known(self) -> Option<Holder> {
        match self {
            Self::Unknown => None,
            Self::Host => Some(Holder::HOST),
            Self::Account(account) => Some(Holder::known(Some(account))),
        }
    }
}

/// Tasks that were used lately. Bounded: those that were not used longest are forgotten.
#[derive(Default)]
pub(super) struct KnownTasks(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    new: HashMap<Hash, KnownTask>,
    old: HashMap<Hash, KnownTask>,
}

impl KnownTasks {
    pub(super) fn of(&self, task: &Hash) -> KnownTask {
        let known = self.0.lock();
        known.new.get(task).or_else(|| known.old.get(task)).copied().unwrap_or_default()
    }

    pub(super) fn put(&self, task: Hash, is: KnownTask) {
        let mut known = self.0.lock();
        // Two generations instead of a list by last use: a read moves nothing, and whole maps are dropped at once.
        if known.new.len() >= TASK_ROWS_AT_HAND {
            known.old = std::mem::take(&mut known.new);
        }
        known.new.insert(task, is);
    }

    /// Remembers the number of its last event, after so many bytes of events.
    pub(super) fn put_logged(&self, task: Hash, last: u64, bytes: u64) {
        let is = self.of(&task);
        self.put(task, KnownTask { last, reserved: is.reserved.saturating_sub(bytes), ..is });
    }

    /// Remembers what it reserves.
    pub(super) fn put_reserved(&self, task: Hash, reserved: u64) {
        let is = self.of(&task);
        self.put(task, KnownTask { reserved, ..is });
    }

    /// Remembers the number of its last event.
    pub(super) fn put_last(&self, task: Hash, last: u64) {
        let is = self.of(&task);
        self.put(task, KnownTask { last, ..is });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::hash;

    #[test]
    fn what_is_known_is_bounded() {
        let known = KnownTasks::default();
        let task = |n: usize| hash(&n.to_string());
        (0..3 * TASK_ROWS_AT_HAND).for_each(|n| known.put_last(task(n), 7));
        assert_eq!(known.of(&task(3 * TASK_ROWS_AT_HAND - 1)).last, 7);
        assert_eq!(known.of(&task(0)), KnownTask::default());
        let kept = known.0.lock();
        assert!(kept.new.len() + kept.old.len() <= 2 * TASK_ROWS_AT_HAND);
    }
}
