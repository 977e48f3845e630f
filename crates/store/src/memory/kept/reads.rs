//! This module has the reads that only the operator may do.

use std::collections::BTreeMap;

use forecourt_core::store::{TaskFilter, TaskPage};
use forecourt_core::{Task, Timestamp};

use super::webhooks::Waiting;
use super::{KeptEntry, Record};
use crate::reads::{
    ConversationPlace, ConversationSummary, DeliveryAttempts, QueuedDelivery, StoreOverview, TaskSummary,
    conversation_reference, reference,
};

impl KeptEntry {
    pub(in crate::memory) fn tasks_of_all(&self, filter: &TaskFilter, now: Timestamp) -> TaskPage {
        self.page(filter, |task| super::list::suits(filter, task, now))
    }

    pub(in crate::memory) fn task_by_reference(&self, wanted: &str, now: Timestamp) -> Option<Task> {
        let found = self.tasks.values().find(|record| reference(&record.task.id) == wanted)?;
        (found.task.expires_at > now).then(|| found.task.clone())
    }

    pub(in crate::memory) fn delivery_attempts(&self) -> Vec<DeliveryAttempts> {
        let attempts = |(id, waiting): (&u64, &Waiting)| DeliveryAttempts {
            id: *id,
            attempts: waiting.attempts(),
            due_at: waiting.due_at(),
            is_claimed: waiting.is_claimed(),
        };
        self.deliveries.iter().map(attempts).collect()
    }

    pub(in crate::memory) fn deliveries(&self, after: u64, limit: usize) -> Vec<QueuedDelivery> {
        let all = self.deliveries.range(after.saturating_add(1)..);
        let shown = all.filter_map(|(id, waiting)| {
            let record = waiting.task().and_then(|task| self.tasks.get(task));
            Some(QueuedDelivery {
                id: *id,
                webhook: waiting.webhook(record)?.clone(),
                task: record.map(|record| reference(&record.task.id)),
                agent: record.map(|record| record.task.agent.clone()),
                attempts: waiting.attempts(),
                due_at: waiting.due_at(),
                is_claimed: waiting.is_claimed(),
            })
        });
        shown.take(limit).collect()
    }

    pub(in crate::memory) fn task_summaries(&self, before: u64, limit: usize, now: Timestamp) -> Vec<TaskSummary> {
        let is_there = |record: &&Record| record.task.expires_at > now && record.place.unsigned_abs() < before;
        let mut found: Vec<&Record> = self.tasks.values().filter(is_there).collect();
        found.sort_by_key(|record| std::cmp::Reverse(record.place));
        let summary = |record: &Record| {
            let task = &record.task;
            TaskSummary {
                number: record.place.unsigned_abs(),
                task: reference(&task.id),
                conversation: task.thread.as_ref().map(conversation_reference),
                agent: task.agent.clone(),
                owner: task.owner.clone(),
                state: task.state,
                run: task.run.clone(),
                created_at: task.created_at,
                updated_at: task.updated_at,
            }
        };
        found.into_iter().take(limit).map(summary).collect()
    }

    pub(in crate::memory) fn conversation_summaries(
        &self,
        place: ConversationPlace,
        limit: usize,
        now: Timestamp,
    ) -> Vec<ConversationSummary> {
        let mut found: Vec<_> = self.threads.iter().filter(|(_, thread)| thread.expires_at > now).collect();
        // Numbers go by names here: nobody counts the conversations of a store that forgets all of them.
        found.sort_by_cached_key(|((id, agent), _)| (conversation_reference(id), agent.to_string()));
        let summary = |(((id, agent), thread), number): ((&(_, _), &super::Thread), u64)| ConversationSummary {
            number,
            conversation: conversation_reference(id),
            agent: Clone::clone(agent),
            owner: thread.owner.clone(),
            turns: thread.turns.len() as u64,
            expires_at: thread.expires_at,
        };
        let mut all: Vec<ConversationSummary> = found.into_iter().zip(1..).map(summary).collect();
        all.retain(|one| one.place() < place);
        all.sort_by_key(|one| std::cmp::Reverse(one.place()));
        all.truncate(limit);
        all
    }

    pub(in crate::memory) fn overview(&self, now: Timestamp) -> StoreOverview {
        let mut tasks = BTreeMap::new();
        let mut held = BTreeMap::new();
        for task in self.tasks.values().map(|record| &record.task).filter(|task| task.expires_at > now) {
            tasks.entry((task.agent.clone(), task.state.name())).or_insert((task.state, 0)).1 += 1;
            if !task.state.is_settled() {
                *held.entry(task.run.clone()).or_insert(0) += 1;
            }
        }
        StoreOverview {
            tasks: tasks.into_iter().map(|((agent, _), (state, count))| (agent, state, count)).collect(),
            held: held.into_iter().collect(),
            conversations: self.threads.values().filter(|thread| thread.expires_at > now).count() as u64,
            deliveries: self.deliveries.len() as u64,
        }
    }
}
