//! Reading, cancelling and following tasks, whatever wire they were begun over.

use std::sync::Arc;

use async_stream::stream;
use forecourt_core::{Error, Event, Sender, Task, TaskState};
use forecourt_host::Host;
use futures::StreamExt;

use super::{Caller, Carried, Service, Trouble};
use crate::frames::Frames;
use crate::limits::WAITING_LOOKED_AT_EVERY;
use crate::model::{Fault, Item, Outcome, Version};
use crate::view::{self, Want};

impl Service {
    pub(super) async fn get(
        &self,
        caller: &Caller<'_>,
        sender: &Sender,
        id: &str,
        history: Option<u32>,
    ) -> Result<Outcome, Trouble> {
        let task = self.readable(caller, sender, id).await?;
        Ok(Outcome::Task(
            view::task(&self.host, &task, Want { history, ..Want::ALL }, self.base(caller).origin()).await,
        ))
    }

    pub(super) async fn cancel(&self, caller: &Caller<'_>, sender: &Sender, id: &str) -> Result<Outcome, Trouble> {
        let task = self.readable(caller, sender, id).await?;
        let canceled = self.host.cancel(&task.id).await.map_err(|error| match error {
            Error::Conflict { .. } => Fault::TaskNotCancelable.into(),
            other => Trouble::from(other),
        })?;
        Ok(Outcome::Task(view::task(&self.host, &canceled, Want::ALL, self.base(caller).origin()).await))
    }

    /// Follows a task: first as it stands, then what happens. A reader that says what it has seen gets
    /// what it missed, even of a task that has ended.
    pub(super) async fn subscribe(
        self: &Arc<Self>,
        caller: &Caller<'_>,
        sender: &Sender,
        id: &str,
    ) -> Result<Carried, Trouble> {
        let task = self.readable(caller, sender, id).await?;
        let seen = caller.last_event();
        if task.state.is_final() && seen.is_none() {
            let words = format!("the task is {}; read it with GetTask", task.state.name());
            return Err(Fault::UnsupportedOperation(words).into());
        }
        let log = view::log(&self.host, &task.id).await?;
        let last = log.last().map_or(0, |(number, _)| *number);
        let seen = seen.unwrap_or(u64::MAX).min(last);
        let passed: Vec<_> = log.into_iter().take_while(|(number, _)| *number <= seen).collect();
        // Read after its log: where that has an ending, the task is settled by now.
        let task = self.host.task(&task.id).await?;
        let is_over = seen == last && matches!(passed.last(), Some((_, Event::Ending(_))));
        let pauses = match caller.version {
            _ if is_over && task.state.is_final() => Pauses::None,
            Version::V1_0 => Pauses::All,
            // 0.3 marks the item after which its streams end; a task that waits by now has had its mark.
            Version::V0_3 if is_over => Pauses::One,
            Version::V0_3 => Pauses::None,
        };
        Ok(self.follow(caller, if is_over { task } else { at_work(task) }, passed, pauses))
    }

    /// The task as it stands after the events that have `passed`, and what comes after them.
    pub(super) fn follow(
        self: &Arc<Self>,
        caller: &Caller<'_>,
        task: Task,
        passed: Vec<(u64, Event)>,
        mut pauses: Pauses,
    ) -> Carried {
        let (host, origin) = (self.host.clone(), self.base(caller).origin().to_owned());
        Carried::Stream(Box::pin(stream! {
            let mut after = passed.last().map_or(0, |(number, _)| *number);
            let parts = view::gathered(passed.iter().map(|(_, event)| event.clone()));
            let parts = view::all_near(&host, &task, parts).await;
            yield (None, Item::Task(view::shown(&task, parts, Want::ALL, &origin)));
            let mut frames = Frames::new(&host, &task, &origin);
            for (number, event) in passed {
                frames.pass(number, event).await;
            }
            loop {
                let Ok(mut events) = host.follow(&task.id, after).await else { return };
                let mut ended = false;
                while let Some((number, event)) = events.next().await {
                    after = number;
                    ended = matches!(&event, Event::Ending(ending) if TaskState::after(ending).is_final());
                    let mut items = frames.items(number, event).await.into_iter().peekable();
                    while let Some(item) = items.next() {
                        // Only the last item of an event may be gone on after.
                        yield (items.peek().is_none().then_some(number), item);
                    }
                }
                if ended || !pauses.take() {
                    return;
                }
                match behind_pause(&host, &task, after).await {
                    Behind::More => {}
                    Behind::Ended(task) => {
                        yield (None, Item::Status(frames.closing(&task)));
                        return;
                    }
                    Behind::Nothing => return,
                }
            }
        }))
    }
}

/// How often a stream of a task stays open while the task waits for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pauses {
    None,
    One,
    /// Always: until the task has ended. A2A 1.0 3.1.6.
    All,
}

impl Pauses {
    /// Whether the stream stays open this time.
    fn take(&mut self) -> bool {
        match self {
            Self::None => false,
            Self::One => {
                *self = Self::None;
                true
            }
            Self::All => true,
        }
    }
}

/// What comes behind a pause.
enum Behind {
    /// Events: somebody went on with the task.
    More,
    /// The end of the task, without a word in its log.
    Ended(Box<Task>),
    /// Nothing any more: the task is gone, or the host stops.
    Nothing,
}

/// Waits until a task that waits for its caller has moved. Looked for in the store, since whoever goes on
/// with it may do so at another node.
async fn behind_pause(host: &Host, task: &Task, after: u64) -> Behind {
    loop {
        // The state before the log: what ended by then has all of its events there.
        let Ok(now) = host.task(&task.id).await else { return Behind::Nothing };
        if host.last_event(&task.id).await.is_ok_and(|last| last > after) {
            return Behind::More;
        }
        if now.state.is_final() {
            return Behind::Ended(Box::new(now));
        }
        tokio::select! {
            () = host.stopping().cancelled() => return Behind::Nothing,
            () = tokio::time::sleep(WAITING_LOOKED_AT_EVERY) => {}
        }
    }
}

/// The task before what has come of it.
pub(super) fn at_work(task: Task) -> Task {
    Task { state: TaskState::Working, outcome: None, ..task }
}
