//! Reading, cancelling and following tasks, whatever wire they were begun over.

use std::sync::Arc;

use async_stream::stream;
use forecourt_core::{Error, Event, Sender, Task, TaskState};
use forecourt_host::{FollowUntil, TaskPermit};
use futures::StreamExt;

use super::{Caller, OperationReply, Service, ServiceError};
use crate::frames::Frames;
use crate::model::{Item, OperationError, OperationOutcome, Version};
use crate::view::{self, TaskDetail};

impl Service {
    pub(super) async fn get(
        &self,
        caller: &Caller<'_>,
        sender: &Sender,
        id: &str,
        history: Option<u32>,
    ) -> Result<OperationOutcome, ServiceError> {
        let task = self.readable(caller, sender, id).await?;
        Ok(OperationOutcome::Task(
            view::task(&task, TaskDetail { history, ..caller.detail() }, self.base(caller).as_str()).await,
        ))
    }

    pub(super) async fn cancel(
        &self,
        caller: &Caller<'_>,
        sender: &Sender,
        id: &str,
    ) -> Result<OperationOutcome, ServiceError> {
        let task = self.readable(caller, sender, id).await?;
        let canceled = task.cancel().await.map_err(|error| match error {
            Error::Conflict { .. } => OperationError::TaskNotCancelable.into(),
            other => ServiceError::from(other),
        })?;
        Ok(OperationOutcome::Task(view::task(&canceled, caller.detail(), self.base(caller).as_str()).await))
    }

    /// Follows a task: first as it stands, then what happens. A reader that says what it has seen gets
    /// what it missed, even of a task that has ended.
    pub(super) async fn subscribe(
        self: &Arc<Self>,
        caller: &Caller<'_>,
        sender: &Sender,
        id: &str,
    ) -> Result<OperationReply, ServiceError> {
        let task = self.readable(caller, sender, id).await?;
        let seen = caller.last_event();
        if task.state.is_final() && seen.is_none() {
            let words = format!("the task is {}; read it with GetTask", task.state.name());
            return Err(OperationError::UnsupportedOperation(words).into());
        }
        let log = view::log(&task).await?;
        let last = log.last().map_or(0, |(number, _)| *number);
        // A number beyond the last one (of another task, or made up) would skip what is still to come.
        let seen = seen.unwrap_or(u64::MAX).min(last);
        let passed: Vec<_> = log.into_iter().take_while(|(number, _)| *number <= seen).collect();
        // Read after its log: where that has an ending, the task is settled by now.
        let task = task.reload().await?;
        let is_over = seen == last && matches!(passed.last(), Some((_, Event::Ending(_))));
        let pauses = match caller.version {
            _ if is_over && task.state.is_final() => Pauses::None,
            Version::V1_0 => Pauses::All,
            // 0.3 marks the item after which its streams end; a task that waits by now has had its mark.
            Version::V0_3 if is_over => Pauses::One,
            Version::V0_3 => Pauses::None,
        };
        let shown = task.task().clone();
        Ok(self.follow(caller, task, if is_over { shown } else { at_work(shown) }, passed, pauses))
    }

    /// The task as it stands after the events that have `passed`, and what comes after them.
    pub(super) fn follow(
        self: &Arc<Self>,
        caller: &Caller<'_>,
        permit: TaskPermit,
        task: Task,
        passed: Vec<(u64, Event)>,
        pauses: Pauses,
    ) -> OperationReply {
        let (host, origin) = (self.host.clone(), self.base(caller).as_str().to_owned());
        let want = caller.detail();
        OperationReply::Stream(Box::pin(stream! {
            let after = passed.last().map_or(0, |(number, _)| *number);
            let parts = view::gathered(passed.iter().map(|(_, event)| event.clone()));
            let parts = view::all_near(&permit, parts).await;
            yield (None, Item::Task(view::shown(&task, parts, want, &origin)));
            let mut frames = Frames::new(&host, &permit, &task, &origin, want.offers);
            for (number, event) in passed {
                frames.pass(number, event).await;
            }
            let until = if pauses == Pauses::None { FollowUntil::Pause } else { FollowUntil::End };
            let mut events = permit.follow(after, until);
            while let Some((number, event)) = events.next().await {
                let is_ending = matches!(event, Event::Ending(_));
                let mut items = frames.items(number, event).await.into_iter().peekable();
                while let Some(item) = items.next() {
                    // Only the last item of an event may be gone on after.
                    yield (items.peek().is_none().then_some(number), item);
                }
                if is_ending && pauses == Pauses::One {
                    return;
                }
            }
        }))
    }
}

/// How often a stream of a task stays open while the task waits for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pauses {
    /// It ends there.
    None,
    /// To the next ending.
    One,
    /// Always: until the task has ended. A2A 1.0 3.1.6.
    All,
}

/// The task before what has come of it.
pub(super) fn at_work(task: Task) -> Task {
    Task { state: TaskState::Working, outcome: None, ..task }
}
