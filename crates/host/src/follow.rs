//! Following a task, whichever node works on it: from the log, told of news by the work itself where that is here,
//! and by the bus where it is elsewhere; whoever is told nothing looks again by itself.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forecourt_core::{Ending, Event, FailureCause, TaskId, TaskState};
use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::tasks::{Tasks, cut_off};
use crate::topics;

/// How often a task that waits, or is worked on elsewhere, is looked at without being told to.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How long a follower waits for a store that is away before it is sent off, to come back by itself.
const STORE_AWAY_MAX: Duration = Duration::from_secs(120);
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

/// A reader of one task's log that waits for what is written next.
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
    /// Tells of news while it is worked on elsewhere; `None` until somebody has to listen.
    heard: Option<BoxStream<'static, Bytes>>,
    /// Since when the store is away.
    away_since: Option<Instant>,
    /// Whether the log was read once more after the task was seen settled, and nothing new was in it.
    has_read_all: bool,
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
        let (tasks, id) = (self.clone(), id.clone());
        Follower {
            tasks,
            id,
            seen: after,
            paused: None,
            until,
            live,
            heard: None,
            away_since: None,
            has_read_all: false,
        }
        .run()
        .boxed()
    }

    /// Tells of events of a task that is worked on here; `None` when it is not.
    pub(crate) fn news(&self, id: &TaskId) -> Option<watch::Receiver<u64>> {
        self.running.lock().get(&topics::task_hash(id)).and_then(|all| all.last()).map(|live| live.written.clone())
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
                let events = match read {
                    Ok(events) => events,
                    Err(_) if self.waits_for_the_store().await => continue,
                    Err(_) => break,
                };
                self.away_since = None;
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
            yield (self.seen + 1, Event::Ending(unreadable()));
        }
    }

    fn see(&mut self, number: u64, event: &Event) {
        self.seen = number;
        self.has_read_all = false;
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
        let tasks = self.tasks.clone();
        let mut begun = std::pin::pin!(tasks.begun.notified());
        begun.as_mut().enable();
        let Ok(task) = self.tasks.store.task(&self.id, self.tasks.clock.now()).await else {
            return if self.waits_for_the_store().await { Next::Read } else { Next::Last(unreadable()) };
        };
        let waits = task.as_ref().is_some_and(|task| task.state.is_waiting());
        let has_ended = task.as_ref().is_some_and(|task| task.state.is_final());
        let works = task.as_ref().is_some_and(|task| !task.state.is_settled());
        self.live = self.tasks.news(&self.id).filter(|written| works && written.has_changed().is_ok());
        match (self.live.is_some(), self.paused) {
            (true, _) => Next::Read,
            // It is worked on elsewhere, or another process may let it go on.
            (false, _) if works || (waits && self.until == FollowUntil::End) => {
                if self.tasks.is_draining() {
                    // Without an ending, so that whoever follows goes on at another node.
                    return Next::Over;
                }
                if self.heard.is_none() && !self.tasks.lease.is_alone() {
                    self.heard = Some(self.tasks.bus.subscribe(&topics::task(&self.id)));
                    // What was written before somebody listened is in the log.
                    return Next::Read;
                }
                let heard = async {
                    match &mut self.heard {
                        Some(heard) => {
                            heard.next().await;
                            // One look is enough for all that was said.
                            while heard.next().now_or_never().flatten().is_some() {}
                        }
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    biased;
                    () = heard => {}
                    () = begun => {}
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                }
                Next::Read
            }
            // It went on and ended since the log was read: there is more in it.
            (false, Some(paused)) if self.until == FollowUntil::End && has_ended && !paused.is_final() => Next::Read,
            (false, Some(_)) => Next::Over,
            // It was settled since the log was read: what was written before that is in it by now.
            (false, None) if !std::mem::replace(&mut self.has_read_all, true) => Next::Read,
            (false, None) if self.is_behind_an_ending().await => Next::Over,
            (false, None) => {
                Next::Last(task.and_then(|task| task.outcome).map_or_else(cut_off, |outcome| outcome.ending))
            }
        }
    }

    /// Waits a little for a store that is away; `false` when it has been for too long.
    async fn waits_for_the_store(&mut self) -> bool {
        let since = *self.away_since.get_or_insert_with(Instant::now);
        let waits = since.elapsed() < STORE_AWAY_MAX && !self.tasks.is_draining();
        if waits {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        waits
    }

    /// Whether somebody came back who had seen everything.
    async fn is_behind_an_ending(&mut self) -> bool {
        let Some(before) = self.seen.checked_sub(1) else { return false };
        let last = self.tasks.store.events(&self.id, before, 1).await;
        last.is_ok_and(|events| matches!(events[..], [(_, Event::Ending(_))]))
    }
}

/// What is said of a task that can't be read: nothing of how it ended.
fn unreadable() -> Ending {
    FailureCause::CutOff.ending("The task can't be read at the moment. Ask for it again in a while.")
}
