//! Following a task: from the log, and waiting for news while it is worked on here.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Ending, Event, TaskId, TaskState};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use tokio::sync::watch;

use crate::tasks::{Tasks, cut_off};

/// How often a task that waits is looked at without being told to.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Events that a follower reads in one go.
const EVENTS_PER_READ_MAX: usize = 256;

/// How far a task is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowUntil {
    /// To an ending after which nobody works on it: also to a question that waits for its answer.
    Pause,
    /// To its last ending, however long it waits in between, or until it expires.
    End,
}

/// A place in the log of a task.
struct Follower {
    tasks: Arc<Tasks>,
    id: TaskId,
    /// The number of the last event that was given.
    seen: u64,
    /// The state in which that event left the task, when it was an ending.
    paused: Option<TaskState>,
    until: FollowUntil,
    /// Tells of news while the task is worked on here.
    live: Option<watch::Receiver<u64>>,
}

/// What to do when the log was read to its end.
enum Next {
    /// Read on.
    Read,
    /// Nothing follows.
    Over,
    /// This is the last event, though the log lacks it.
    Last(Ending),
}

impl Tasks {
    /// The events of a task after number `after`, with their numbers. An ending in the middle is a
    /// question, or a refusal, that was answered.
    pub(crate) fn follow(
        self: &Arc<Self>,
        id: &TaskId,
        after: u64,
        until: FollowUntil,
    ) -> BoxStream<'static, (u64, Event)> {
        let live = self.news(id);
        Follower { tasks: self.clone(), id: id.clone(), seen: after, paused: None, until, live }.run().boxed()
    }

    fn news(&self, id: &TaskId) -> Option<watch::Receiver<u64>> {
        self.running.lock().get(id.expose()).and_then(|all| all.last()).map(|live| live.written.clone())
    }
}

impl Follower {
    fn run(mut self) -> impl Stream<Item = (u64, Event)> + Send {
        async_stream::stream! {
            loop {
                // Looked at before the log is read, so that nothing falls in between.
                let over = self.live.as_ref().is_none_or(|written| written.has_changed().is_err());
                if let Some(written) = &mut self.live { written.mark_unchanged(); }
                let read = self.tasks.store.events(&self.id, self.seen, EVENTS_PER_READ_MAX).await;
                let Ok(events) = read else { break };
                let whole = events.len() == EVENTS_PER_READ_MAX;
                for (number, event) in events {
                    self.see(number, &event);
                    yield (number, event);
                    if self.paused.is_some_and(TaskState::is_final) { return; }
                }
                if whole { continue; }
                match self.next(over).await {
                    Next::Read => {}
                    Next::Over => return,
                    Next::Last(ending) => {
                        yield (self.seen + 1, Event::Ending(ending));
                        return;
                    }
                }
            }
            yield (self.seen + 1, Event::Ending(cut_off()));
        }
    }

    fn see(&mut self, number: u64, event: &Event) {
        self.seen = number;
        self.paused = match event {
            Event::Ending(ending) => Some(TaskState::after(ending)),
            _ => None,
        };
    }

    /// Waits for news, or finds out why there will be none.
    async fn next(&mut self, over: bool) -> Next {
        if let (false, Some(written)) = (over, &mut self.live) {
            // An error is the end of the run, which the next look finds out.
            let _ = written.changed().await;
            return Next::Read;
        }
        // Before the task is looked at, so that nothing begins in between.
        let mut begun = std::pin::pin!(self.tasks.begun.notified());
        begun.as_mut().enable();
        let task = self.tasks.store.task(&self.id, self.tasks.clock.now()).await.ok().flatten();
        let waits = task.as_ref().is_some_and(|task| task.state.is_waiting());
        let has_ended = task.as_ref().is_some_and(|task| task.state.is_final());
        let works = task.as_ref().is_some_and(|task| !task.state.is_settled());
        self.live = self.tasks.news(&self.id).filter(|written| works && written.has_changed().is_ok());
        match (&self.live, self.paused) {
            (Some(_), _) => Next::Read,
            (None, _) if waits && self.until == FollowUntil::End && !self.tasks.is_draining() => {
                // Another process may let it go on, and tells nobody here.
                let _ = tokio::time::timeout(LOOK_EVERY, begun).await;
                Next::Read
            }
            // It went on and ended since the log was read: there is more in it.
            (None, Some(paused)) if self.until == FollowUntil::End && has_ended && !paused.is_final() => Next::Read,
            (None, Some(_)) => Next::Over,
            (None, None) if self.is_behind_an_ending().await => Next::Over,
            (None, None) => {
                Next::Last(task.and_then(|task| task.outcome).map_or_else(cut_off, |outcome| outcome.ending))
            }
        }
    }

    /// Whether somebody came back who had seen everything.
    async fn is_behind_an_ending(&self) -> bool {
        let Some(before) = self.seen.checked_sub(1) else { return false };
        let last = self.tasks.store.events(&self.id, before, 1).await;
        last.is_ok_and(|events| matches!(events[..], [(_, Event::Ending(_))]))
    }
}
