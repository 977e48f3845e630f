//! This module has the reads that only the operator may do, for [`Memory`].

use forecourt_core::store::{StoreFuture, TaskFilter, TaskPage};
use forecourt_core::{Task, Timestamp};

use super::Memory;
use crate::reads::{
    ConversationPlace, ConversationSummary, DeliveryAttempts, QueuedDelivery, StoreLoad, StoreOverview, StoreReads,
    TaskSummary,
};

impl StoreReads for Memory {
    fn tasks_of_all(&self, filter: TaskFilter, now: Timestamp) -> StoreFuture<'_, TaskPage> {
        self.step(move |kept| Ok(kept.tasks_of_all(&filter, now)))
    }

    fn task_by_reference(&self, reference: &str, now: Timestamp) -> StoreFuture<'_, Option<Task>> {
        let reference = reference.to_owned();
        self.step(move |kept| Ok(kept.task_by_reference(&reference, now)))
    }

    fn delivery_attempts(&self) -> StoreFuture<'_, Vec<DeliveryAttempts>> {
        self.step(|kept| Ok(kept.delivery_attempts()))
    }

    fn deliveries(&self, after: u64, limit: usize) -> StoreFuture<'_, Vec<QueuedDelivery>> {
        self.step(move |kept| Ok(kept.deliveries(after, limit)))
    }

    fn task_summaries(&self, before: u64, limit: usize, now: Timestamp) -> StoreFuture<'_, Vec<TaskSummary>> {
        self.step(move |kept| Ok(kept.task_summaries(before, limit, now)))
    }

    fn conversation_summaries(
        &self,
        place: ConversationPlace,
        limit: usize,
        now: Timestamp,
    ) -> StoreFuture<'_, Vec<ConversationSummary>> {
        self.step(move |kept| Ok(kept.conversation_summaries(place, limit, now)))
    }

    fn overview(&self, now: Timestamp) -> StoreFuture<'_, StoreOverview> {
        self.step(move |kept| Ok(kept.overview(now)))
    }

    fn load(&self) -> StoreLoad {
        let strangers_tasks_removed = self.kept.lock().strangers_tasks_removed;
        StoreLoad { system: "memory", writes_waiting: None, strangers_tasks_removed, pool: None }
    }
}
