//! Going on with a task that waited: for an answer, a consent or a payment.

use forecourt_core::clock::after;
use forecourt_core::limits::{TASK_TTL, TASK_TURNS_BYTES_MAX, TASK_TURNS_MAX, WEBHOOKS_PER_TASK_MAX};
use forecourt_core::store::{Resumption, TaskChange, Webhook};
use forecourt_core::{Error, Noun, Part, Task, TaskId, TaskState, Turn};

use crate::background::{NotKept, TaskBeginning};
use crate::directory::HostedAgent;
use crate::permit::too_many_webhooks;
use crate::tasks::Tasks;
use crate::turns::asked_back;

impl Tasks {
    /// Moves a task that waited on, with what the agent had asked and what the caller says now.
    pub(crate) async fn resume(
        &self,
        task: Task,
        turn: Turn,
        webhook: Option<Box<Webhook>>,
        by: &TaskBeginning,
    ) -> Result<Task, NotKept> {
        if let Some(new) = &webhook {
            let had = self.store.webhooks(&task.id).await.map_err(Error::from)?;
            if had.len() >= WEBHOOKS_PER_TASK_MAX && had.iter().all(|had| had.id != new.id) {
                return Err(too_many_webhooks().into());
            }
        }
        let now = by.at;
        let turns = vec![asked_back(&task), turn];
        let webhooks = webhook.map(|webhook| *webhook).into_iter().collect();
        let run = by.run.to_string();
        let resumption = Resumption { run: run.clone(), turns, webhooks, expires_at: after(now, TASK_TTL) };
        let advanced = self.store.advance_task(&task.id, TaskChange::resume(&task, resumption, now)).await;
        let resumed = Task { state: TaskState::Working, run, ..task };
        match advanced {
            Ok(true) => {
                self.tell_of_news(&resumed.id);
                Ok(resumed)
            }
            Ok(false) => Err(self.conflict(&resumed.id).await.into()),
            Err(error) => Err(NotKept::of(resumed, error)),
        }
    }

    /// The task that a message goes on with: of this agent, and waiting.
    pub(crate) async fn waiting(&self, resident: &HostedAgent, id: &TaskId) -> Result<Task, Error> {
        let found = self.store.task(id, self.clock.now()).await?;
        let task = found.filter(|task| task.agent == *resident.card.handle());
        let task = task.ok_or_else(|| Error::not_found(Noun::Task))?;
        if !task.state.is_waiting() {
            return Err(Error::Conflict { what: Noun::Task, state: task.state });
        }
        let bytes: usize = task.turns.iter().flat_map(|turn| &turn.parts).filter_map(Part::as_text).map(str::len).sum();
        // Two more: what the agent asked, and what the caller says now.
        if task.turns.len() + 2 > TASK_TURNS_MAX || (task.turns.len() > 1 && bytes > TASK_TURNS_BYTES_MAX) {
            return Err(Error::invalid("task", "this one has gone on for too long; begin another"));
        }
        Ok(task)
    }

    /// What a request contradicts: the state in which the task is by now.
    pub(crate) async fn conflict(&self, id: &TaskId) -> Error {
        match self.store.task(id, self.clock.now()).await {
            Ok(Some(task)) => Error::Conflict { what: Noun::Task, state: task.state },
            Ok(None) => Error::not_found(Noun::Task),
            Err(error) => error.into(),
        }
    }
}
