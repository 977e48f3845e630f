//! Webhooks, and the deliveries that wait for them.

use forecourt_core::limits::DELIVERIES_PENDING_MAX;
use forecourt_core::store::{Added, Delivery, Webhook, cost};
use forecourt_core::{Collected, StoreError, Task, TaskId, TaskState, Timestamp};

use super::accounts::json_len;
use super::{Kept, Record, room};

/// A delivery. Of its task it holds what may have changed before it is made.
pub(super) struct Waiting {
    pub(super) task: TaskId,
    webhook: u64,
    state: TaskState,
    settled_at: Timestamp,
    outcome: Option<Collected>,
    attempts: u32,
    due_at: Timestamp,
    /// Whether somebody has taken it and not settled it yet.
    claimed: bool,
}

impl Waiting {
    /// Takes it: the attempt counts from here.
    fn claim(&mut self, id: u64, record: &Record, lease: Timestamp) -> Option<Delivery> {
        let (state, updated_at, outcome) = (self.state, self.settled_at, self.outcome.clone());
        let task = Task { state, updated_at, outcome, ..record.task.clone() };
        let delivery =
            Delivery { id, webhook: record.webhooks.get(&self.webhook)?.clone(), task, attempts: self.attempts };
        self.attempts += 1;
        self.due_at = lease;
        self.claimed = true;
        Some(delivery)
    }
}

impl Kept {
    pub(in crate::memory) fn add_webhook(
        &mut self,
        task: &TaskId,
        webhook: Webhook,
        limit: usize,
    ) -> Result<Added, StoreError> {
        let Some(record) = self.tasks.get_mut(task) else { return Ok(Added::NoTask) };
        if record.task.state.is_final() {
            return Ok(Added::Ended);
        }
        let bytes = cost(json_len(&webhook));
        self.accounts.room(&record.account, bytes)?;
        if let Some(earlier) = record.webhooks.values_mut().find(|earlier| earlier.id == webhook.id) {
            record.bytes += bytes;
            self.accounts.add(&record.account, bytes);
            let before = cost(json_len(earlier));
            record.bytes -= before;
            self.accounts.give_back(&record.account, before);
            *earlier = webhook;
            return Ok(Added::Yes);
        }
        if record.webhooks.len() >= limit {
            return Ok(Added::TooMany);
        }
        room(self.deliveries.len(), DELIVERIES_PENDING_MAX, "delivery")?;
        let last = record.webhooks.last_key_value().map_or(0, |(n, _)| *n);
        record.bytes += bytes;
        self.accounts.add(&record.account, bytes);
        record.webhooks.insert(last + 1, webhook);
        Ok(Added::Yes)
    }

    pub(in crate::memory) fn webhooks(&self, task: &TaskId) -> Vec<Webhook> {
        self.tasks.get(task).map(|record| record.webhooks.values().cloned().collect()).unwrap_or_default()
    }

    pub(in crate::memory) fn remove_webhook(&mut self, task: &TaskId, id: &str) -> bool {
        let Some(record) = self.tasks.get_mut(task) else { return false };
        let Some(n) = record.webhooks.iter().find(|(_, webhook)| webhook.id == id).map(|(n, _)| *n) else {
            return false;
        };
        if let Some(webhook) = record.webhooks.remove(&n) {
            let bytes = cost(json_len(&webhook));
            record.bytes -= bytes;
            self.accounts.give_back(&record.account, bytes);
        }
        self.deliveries.retain(|_, waiting| waiting.task != *task || waiting.webhook != n);
        true
    }

    /// Queues a delivery for each webhook of a task, as the task is now.
    pub(super) fn enqueue(&mut self, task: &TaskId) {
        let Some(record) = self.tasks.get(task) else { return };
        for webhook in record.webhooks.keys() {
            self.last_delivery += 1;
            let waiting = Waiting {
                task: task.clone(),
                webhook: *webhook,
                state: record.task.state,
                settled_at: record.task.updated_at,
                outcome: record.task.outcome.clone(),
                attempts: 0,
                due_at: record.task.updated_at,
                claimed: false,
            };
            self.deliveries.insert(self.last_delivery, waiting);
        }
    }

    pub(in crate::memory) fn claim_deliveries(
        &mut self,
        now: Timestamp,
        lease: Timestamp,
        limit: usize,
    ) -> Vec<Delivery> {
        let tasks = &self.tasks;
        let living = |task: &TaskId| tasks.get(task).filter(|record| record.task.expires_at > now);
        let waiting = self.deliveries.iter_mut().filter(|(_, waiting)| waiting.due_at <= now);
        let mut due: Vec<_> =
            waiting.filter_map(|(id, waiting)| living(&waiting.task).map(|record| (*id, waiting, record))).collect();
        due.sort_by_key(|(_, waiting, _)| waiting.due_at);
        due.into_iter().take(limit).filter_map(|(id, waiting, record)| waiting.claim(id, record, lease)).collect()
    }

    pub(in crate::memory) fn settle_delivery(&mut self, id: u64, retry_at: Option<Timestamp>) {
        match (retry_at, self.deliveries.get_mut(&id)) {
            (Some(at), Some(waiting)) => (waiting.due_at, waiting.claimed) = (at, false),
            _ => drop(self.deliveries.remove(&id)),
        }
    }

    pub(in crate::memory) fn release_deliveries(&mut self, now: Timestamp) -> u64 {
        let claimed = self.deliveries.values_mut().filter(|waiting| waiting.claimed);
        claimed.map(|waiting| (waiting.due_at, waiting.claimed) = (now, false)).count() as u64
    }
}
