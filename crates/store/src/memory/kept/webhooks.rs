//! This module keeps webhooks, and the deliveries that wait for them.

use std::collections::HashMap;

use forecourt_core::limits::{DELIVERIES_PENDING_MAX, WEBHOOKS_PER_TASK_MAX};
use forecourt_core::store::{Delivery, IfTaskEnded, Notification, Webhook, WebhookRegistration, cost};
use forecourt_core::{CollectedReply, StoreError, Task, TaskId, TaskState, Timestamp};

use super::accounts::{Accounts, json_len};
use super::{KeptEntry, Record, room};

/// A delivery.
pub(super) struct Waiting {
    about: About,
    attempts: u32,
    due_at: Timestamp,
    /// Whether somebody has taken it and not settled it yet.
    claimed: bool,
}

/// The subject of a delivery.
enum About {
    /// A task that settled. The fields hold what may have changed by the time it is delivered.
    Task {
        id: TaskId,
        webhook: u64,
        state: TaskState,
        settled_at: Timestamp,
        /// Boxed, as it is much the largest.
        outcome: Box<Option<CollectedReply>>,
    },
    /// Nothing that is kept here.
    Notice(Box<Notification>),
}

/// The bytes that are charged for a notice.
fn notice_cost(notice: &Notification) -> u64 {
    cost(json_len(&notice.webhook))
}

impl Waiting {
    fn new(about: About, due_at: Timestamp) -> Self {
        Self { about, attempts: 0, due_at, claimed: false }
    }

    /// The task that it tells of.
    pub(super) fn task(&self) -> Option<&TaskId> {
        match &self.about {
            About::Task { id, .. } => Some(id),
            About::Notice(_) => None,
        }
    }

    /// Whom it tells; `None` when its task, of which `record` is what is kept, is gone.
    pub(super) fn webhook<'a>(&'a self, record: Option<&'a Record>) -> Option<&'a Webhook> {
        match &self.about {
            About::Task { webhook, .. } => record?.webhooks.get(webhook),
            About::Notice(notice) => Some(&notice.webhook),
        }
    }

    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    pub(super) fn due_at(&self) -> Timestamp {
        self.due_at
    }

    pub(super) fn is_claimed(&self) -> bool {
        self.claimed
    }

    /// Moves when it is due, and until when it is of use.
    pub(super) fn shift(&mut self, shift: impl Fn(&mut Timestamp)) {
        shift(&mut self.due_at);
        if let About::Notice(notice) = &mut self.about {
            shift(&mut notice.expires_at);
        }
    }

    /// The notice that it tells.
    fn notice(&self) -> Option<&Notification> {
        match &self.about {
            About::Task { .. } => None,
            About::Notice(notice) => Some(notice),
        }
    }

    /// The webhook to notify and the task to tell of; `None` when the task is gone.
    fn told(&self, tasks: &HashMap<TaskId, Record>, now: Timestamp) -> Option<(Webhook, Option<Task>)> {
        match &self.about {
            About::Task { id, webhook, state, settled_at, outcome } => {
                let record = tasks.get(id).filter(|record| record.task.expires_at > now)?;
                let (state, updated_at, outcome) = (*state, *settled_at, (**outcome).clone());
                let task = Task { state, updated_at, outcome, ..record.task.clone() };
                Some((record.webhooks.get(webhook)?.clone(), Some(task)))
            }
            About::Notice(notice) => (notice.expires_at > now).then(|| (notice.webhook.clone(), None)),
        }
    }
}

impl Record {
    /// Registers a webhook, in place of one of the same id, and charges for it.
    pub(super) fn put_webhook(&mut self, webhook: Webhook, accounts: &mut Accounts) {
        let bytes = cost(json_len(&webhook));
        self.bytes += bytes;
        accounts.add(&self.account, bytes);
        match self.webhooks.values_mut().find(|earlier| earlier.id == webhook.id) {
            Some(earlier) => {
                let before = cost(json_len(earlier));
                self.bytes -= before;
                accounts.give_back(&self.account, before);
                *earlier = webhook;
            }
            None => {
                let last = self.webhooks.last_key_value().map_or(0, |(n, _)| *n);
                self.webhooks.insert(last + 1, webhook);
            }
        }
    }
}

impl KeptEntry {
    pub(in crate::memory) fn add_webhook(
        &mut self,
        task: &TaskId,
        webhook: Webhook,
        limit: usize,
        at_end: IfTaskEnded,
    ) -> Result<WebhookRegistration, StoreError> {
        let Some(record) = self.tasks.get_mut(task) else { return Ok(WebhookRegistration::NoTask) };
        let has_ended = record.task.state.is_final();
        if has_ended && at_end == IfTaskEnded::Refuse {
            return Ok(WebhookRegistration::Ended);
        }
        let bytes = cost(json_len(&webhook));
        self.accounts.room(&record.account, bytes)?;
        let id = webhook.id.clone();
        if !record.webhooks.values().any(|earlier| earlier.id == webhook.id) {
            if record.webhooks.len() >= limit {
                return Ok(WebhookRegistration::TooMany);
            }
            room(self.deliveries.len(), DELIVERIES_PENDING_MAX, "delivery")?;
        }
        record.put_webhook(webhook, &mut self.accounts);
        if has_ended {
            self.tell_of(task, Some(&id));
        }
        Ok(WebhookRegistration::Yes)
    }

    /// Whether a task that has `had` webhooks may begin, or go on, with `more`.
    pub(super) fn has_room_for(&self, more: &[Webhook], had: usize) -> Result<(), StoreError> {
        if more.is_empty() {
            return Ok(());
        }
        room(had + more.len() - 1, WEBHOOKS_PER_TASK_MAX, "webhook")?;
        room(self.deliveries.len(), DELIVERIES_PENDING_MAX, "delivery")
    }

    pub(in crate::memory) fn enqueue(&mut self, notice: Notification) -> Result<(), StoreError> {
        let bytes = notice_cost(&notice);
        self.room_for_new(&notice.account, bytes)?;
        room(self.deliveries.len(), DELIVERIES_PENDING_MAX, "delivery")?;
        self.accounts.add(&notice.account, bytes);
        let due_at = notice.due_at;
        self.queue(Waiting::new(About::Notice(Box::new(notice)), due_at));
        Ok(())
    }

    fn queue(&mut self, waiting: Waiting) {
        self.last_delivery += 1;
        self.deliveries.insert(self.last_delivery, waiting);
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
        let is_for = |about: &About| matches!(about, About::Task { id, webhook, .. } if id == task && *webhook == n);
        self.deliveries.retain(|_, waiting| !is_for(&waiting.about));
        true
    }

    /// Queues a delivery for each webhook of a task, or for one, as the task is now.
    pub(super) fn tell_of(&mut self, id: &TaskId, one: Option<&str>) {
        let Some(Record { task, webhooks, .. }) = self.tasks.get(id) else { return };
        let about = |webhook: &u64| About::Task {
            id: id.clone(),
            webhook: *webhook,
            state: task.state,
            settled_at: task.updated_at,
            outcome: Box::new(task.outcome.clone()),
        };
        let told = webhooks.iter().filter(|(_, webhook)| one.is_none_or(|id| webhook.id == id));
        let all: Vec<_> = told.map(|(n, _)| Waiting::new(about(n), task.updated_at)).collect();
        all.into_iter().for_each(|waiting| self.queue(waiting));
    }

    pub(in crate::memory) fn claim_deliveries(
        &mut self,
        now: Timestamp,
        lease: Timestamp,
        limit: usize,
    ) -> Vec<Delivery> {
        let tasks = &self.tasks;
        let waiting = self.deliveries.iter_mut().filter(|(_, waiting)| waiting.due_at <= now);
        let mut due: Vec<_> =
            waiting.filter_map(|(id, waiting)| waiting.told(tasks, now).map(|told| (*id, waiting, told))).collect();
        due.sort_by_key(|(_, waiting, _)| waiting.due_at);
        let taken = due.into_iter().take(limit).map(|(id, waiting, (webhook, task))| {
            let attempts = waiting.attempts;
            // Counted before it is made: an attempt that a crash cuts short may have reached its receiver.
            waiting.attempts += 1;
            (waiting.due_at, waiting.claimed) = (lease, true);
            Delivery { id, webhook, task, attempts }
        });
        taken.collect()
    }

    pub(in crate::memory) fn settle_delivery(&mut self, id: u64, retry_at: Option<Timestamp>) {
        match (retry_at, self.deliveries.get_mut(&id)) {
            (Some(at), Some(waiting)) => (waiting.due_at, waiting.claimed) = (at, false),
            _ => self.drop_delivery(id),
        }
    }

    pub(in crate::memory) fn put_off_delivery(&mut self, id: u64, until: Timestamp) {
        if let Some(waiting) = self.deliveries.get_mut(&id).filter(|waiting| waiting.claimed) {
            waiting.attempts = waiting.attempts.saturating_sub(1);
            (waiting.due_at, waiting.claimed) = (until, false);
        }
    }

    /// Removes the notices that are of no use any more.
    pub(super) fn drop_old_notices(&mut self, now: Timestamp) {
        let is_old = |waiting: &Waiting| waiting.notice().is_some_and(|notice| notice.expires_at <= now);
        let old: Vec<_> = self.deliveries.iter().filter(|(_, waiting)| is_old(waiting)).map(|(id, _)| *id).collect();
        old.into_iter().for_each(|id| self.drop_delivery(id));
    }

    fn drop_delivery(&mut self, id: u64) {
        let Some(waiting) = self.deliveries.remove(&id) else { return };
        if let Some(notice) = waiting.notice() {
            self.accounts.give_back(&notice.account, notice_cost(notice));
        }
    }

    pub(in crate::memory) fn release_deliveries(&mut self, now: Timestamp) -> u64 {
        let claimed = self.deliveries.values_mut().filter(|waiting| waiting.claimed);
        claimed.map(|waiting| (waiting.due_at, waiting.claimed) = (now, false)).count() as u64
    }
}
