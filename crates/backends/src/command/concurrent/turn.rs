//! One turn in a worker that takes several at once, as its caller's side has it. Dropping it cancels the turn.

use std::collections::VecDeque;
use std::sync::Arc;

use forecourt_agents::upstream::{CallTimeouts, UpstreamFailure};
use forecourt_core::{Ending, Event, StopReason, StopSign};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::super::WHO;
use super::super::input::AskedTurn;
use super::super::notes::Notes;
use super::super::turns::TURN;
use super::calls::OpenCalls;
use super::queue::{TurnItem, TurnQueue};
use super::turns::TurnStart;
use super::worker::{CancelReason, ConcurrentWorker, HeldPlace};
use crate::program::BudgetWatch;

/// When a turn has to have said something, and to be over.
#[derive(Clone, Copy)]
pub(in super::super) struct TurnTimes {
    pub(in super::super) timeouts: CallTimeouts,
    /// When its answer has to be whole: the message may have waited for the process to say hello.
    pub(in super::super) deadline: Instant,
}

/// What a turn may hear of.
enum TurnNews {
    /// A line of its worker's.
    Item(TurnItem),
    /// A call is done: how callers see it, and what the worker is told.
    Called(Event, Value),
    /// More was used of models than there is.
    UsedUp(Ending),
}

/// A turn of a worker.
pub(in super::super) struct ConcurrentTurn {
    worker: Arc<ConcurrentWorker>,
    number: u64,
    queue: Arc<TurnQueue>,
    notes: Notes,
    calls: OpenCalls,
    stop: StopSign,
    budget: BudgetWatch,
    timeouts: CallTimeouts,
    deadline: Instant,
    /// By when something has to be heard.
    heard_by: Instant,
    /// Events that are still to be told.
    ready: VecDeque<Event>,
    is_over: bool,
    is_late: bool,
}

impl ConcurrentTurn {
    /// Opens a turn in the worker whose place it has, and writes the message unless that was written before.
    ///
    /// # Errors
    /// The worker takes no message any more: this one is given back, for another worker.
    pub(in super::super) fn begin(
        worker: Arc<ConcurrentWorker>,
        seat: HeldPlace,
        number: u64,
        (asked, message): (AskedTurn, Option<String>),
        TurnTimes { timeouts, deadline }: TurnTimes,
    ) -> Result<Self, Box<AskedTurn>> {
        let AskedTurn { admitted, fields, reader, toolbox, notes } = asked;
        let budget = reader.watch();
        let start = TurnStart { number, reader, notes_are_kept: notes.are_answered(), seat };
        let queue = match worker.begin(start, message) {
            Ok(queue) => queue,
            Err(start) => {
                let reader = start.reader;
                return Err(Box::new(AskedTurn { admitted, fields, reader, toolbox, notes }));
            }
        };
        Ok(Self {
            worker,
            number,
            queue,
            notes,
            stop: admitted.message().stop.clone(),
            calls: OpenCalls::new(admitted, toolbox),
            budget,
            timeouts,
            deadline,
            heard_by: Instant::now() + timeouts.first,
            ready: VecDeque::new(),
            is_over: false,
            is_late: false,
        })
    }

    /// The next event. `None` after the ending.
    pub(in super::super) async fn next(&mut self) -> Option<Event> {
        while !self.is_over {
            if let Some(event) = self.ready.pop_front() {
                self.is_over = matches!(event, Event::Ending(_));
                return Some(event);
            }
            if let Err(ending) = self.hear().await {
                self.ready.push_back(Event::Ending(ending));
            }
        }
        None
    }

    /// Waits for the next line.
    async fn hear(&mut self) -> Result<(), Ending> {
        // While the host works for it, nothing has to be heard of a worker.
        let until = if self.calls.is_empty() { self.deadline.min(self.heard_by) } else { self.deadline };
        let news = timeout_at(until, async {
            tokio::select! {
                biased;
                (event, result) = self.calls.next() => TurnNews::Called(event, result),
                item = self.queue.next() => TurnNews::Item(item),
                ending = self.budget.used_up() => TurnNews::UsedUp(ending),
            }
        });
        let Ok(news) = news.await else {
            self.is_late = true;
            let is_overtime = self.deadline <= Instant::now();
            let failure = if is_overtime { UpstreamFailure::Overtime } else { UpstreamFailure::Stalled };
            return Err(failure.ending(WHO));
        };
        self.heard_by = Instant::now() + self.timeouts.idle;
        match news {
            TurnNews::Item(TurnItem::Events(events)) => self.ready.extend(events),
            TurnNews::Item(TurnItem::Note(note)) => self.keep(note).await?,
            TurnNews::Item(TurnItem::Call(call)) => self.ready.push_back(self.calls.begin(call)?),
            TurnNews::UsedUp(ending) => return Err(ending),
            TurnNews::Called(event, result) => {
                self.worker.tell(format!("{}\n", json!({ TURN: self.number, "result": result })));
                self.ready.push_back(event);
            }
        }
        Ok(())
    }

    /// Keeps a note of the worker's, and tells it so.
    async fn keep(&mut self, note: Value) -> Result<(), Ending> {
        let kept = timeout_at(self.deadline, self.notes.keep(note, Some(self.number))).await;
        let Ok(line) = kept else {
            self.is_late = true;
            return Err(UpstreamFailure::Overtime.ending(WHO));
        };
        self.worker.tell(line?);
        Ok(())
    }

    /// Why it ends before its end.
    fn reason(&self) -> CancelReason {
        match self.stop.reason() {
            _ if self.is_late => CancelReason::Timeout,
            // The host has ended it: a note could not be kept.
            _ if self.is_over => CancelReason::Failed,
            Some(StopReason::Canceled) => CancelReason::Canceled,
            Some(StopReason::Shutdown) => CancelReason::Shutdown,
            None => CancelReason::CallerLeft,
        }
    }
}

impl Drop for ConcurrentTurn {
    fn drop(&mut self) {
        // Nothing happens where the worker has ended it.
        self.queue.close();
        self.worker.cancel(self.number, self.reason());
    }
}
