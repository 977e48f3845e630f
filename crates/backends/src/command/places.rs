//! Where the next message of an agent goes: to a worker that has room, to one without work, or to a new process. Those
//! who find no place wait for one, in their order.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use forecourt_core::Ending;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::busy;
use super::concurrent::{ConcurrentWorker, TurnSource};
use super::process::Process;
use super::sticky::LastWorkers;
use crate::limits::PROCESSES_WAITING_MAX;

/// A place for one message.
pub(super) enum Place {
    /// In a process that is still to be started.
    New(ProcessSlot),
    /// In a worker of version 1 that has nothing to do, or in one that replaced such a one and was not heard yet.
    Idle(Box<Process>, ProcessSlot),
    /// In a worker that takes several messages at once.
    Seat(Seat),
}

/// Where a message waits among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitingLine {
    /// Behind all others.
    Last,
    /// Before all others: it had a place, with which came nothing.
    First,
}

/// The places of one agent.
pub(super) struct Places {
    /// Messages that one worker is given at once, at most.
    concurrency: usize,
    is_sticky: bool,
    slots: Arc<Semaphore>,
    state: Mutex<PlacesState>,
}

#[derive(Default)]
struct PlacesState {
    idle: Vec<(Process, ProcessSlot)>,
    workers: Vec<WorkerSeats>,
    waiting: VecDeque<Waiting>,
    /// Processes that have not said yet how many messages they take.
    starting: usize,
    last: LastWorkers,
}

/// A worker that takes several messages at once.
struct WorkerSeats {
    worker: Arc<ConcurrentWorker>,
    /// How many it is given at once; none any more, when it is to be ended.
    seats: usize,
    taken: usize,
}

struct Waiting {
    conversation: Option<String>,
    place: oneshot::Sender<Place>,
}

/// The right to run one process, given back when dropped.
pub(super) struct ProcessSlot {
    permit: Option<OwnedSemaphorePermit>,
    places: Weak<Places>,
}

/// The place of one message in a worker, given back when dropped.
pub(super) struct Seat {
    pub(super) worker: Arc<ConcurrentWorker>,
    places: Weak<Places>,
}

/// A process that has not said yet how many messages it takes, for as long as this is there.
pub(super) struct Starting(Weak<Places>);

impl Places {
    pub(super) fn new(processes: usize, concurrency: usize, is_sticky: bool) -> Arc<Self> {
        let slots = Arc::new(Semaphore::new(processes));
        Arc::new(Self { concurrency, is_sticky, slots, state: Mutex::default() })
    }

    /// A place for a message of `conversation`, as soon as there is one; refused when too many wait, unless it has
    /// waited before.
    pub(super) async fn get(
        self: &Arc<Self>,
        conversation: Option<String>,
        line: WaitingLine,
    ) -> Result<Place, Ending> {
        let conversation = conversation.filter(|_| self.is_sticky);
        let waiting = {
            // Dropped behind the lock, which whoever gives a place back takes.
            let mut gone = Vec::new();
            let mut state = self.state();
            state.waiting.retain(|waiting| !waiting.place.is_closed());
            if (state.waiting.is_empty() || line == WaitingLine::First)
                && let Some(place) = self.place(&mut state, conversation.as_deref(), &mut gone)
            {
                return Ok(place);
            }
            // A process that is only starting may have room for more than the message that it was started for.
            let hoped_for = state.starting * (self.concurrency - 1);
            if line == WaitingLine::Last && state.waiting.len() >= PROCESSES_WAITING_MAX + hoped_for {
                return Err(busy());
            }
            let (place, waiting) = oneshot::channel();
            let one = Waiting { conversation, place };
            match line {
                WaitingLine::First => state.waiting.push_front(one),
                WaitingLine::Last => state.waiting.push_back(one),
            }
            waiting
        };
        waiting.await.map_err(|_| busy())
    }

    /// Counts a process that has not said yet how many messages it takes.
    pub(super) fn starting(self: &Arc<Self>) -> Starting {
        self.state().starting += 1;
        Starting(Arc::downgrade(self))
    }

    /// Takes in a worker that takes `concurrency` messages at once, by its own word; with the place of the message that
    /// it was started for.
    pub(super) fn enlist(self: &Arc<Self>, worker: Arc<ConcurrentWorker>, concurrency: usize) -> Seat {
        let seats = concurrency.min(self.concurrency);
        self.state().workers.push(WorkerSeats { worker: worker.clone(), seats, taken: 1 });
        self.serve();
        Seat { worker, places: Arc::downgrade(self) }
    }

    /// Notes which worker has the turn of a conversation.
    pub(super) fn note(&self, conversation: Option<&str>, worker: u64) {
        if let Some(conversation) = conversation.filter(|_| self.is_sticky) {
            self.state().last.note(conversation.to_owned(), worker);
        }
    }

    /// Keeps a worker of version 1 that has nothing to do, or the one that replaces it.
    pub(super) fn keep(self: &Arc<Self>, process: Process, slot: ProcessSlot) {
        self.state().idle.push((process, slot));
        self.serve();
    }

    /// Gives free places to those who wait.
    fn serve(self: &Arc<Self>) {
        loop {
            let mut gone = Vec::new();
            let (waiting, place) = {
                let mut state = self.state();
                state.waiting.retain(|waiting| !waiting.place.is_closed());
                let Some(conversation) = state.waiting.front().map(|waiting| waiting.conversation.clone()) else {
                    return;
                };
                let Some(place) = self.place(&mut state, conversation.as_deref(), &mut gone) else { return };
                let Some(waiting) = state.waiting.pop_front() else { return };
                (waiting, place)
            };
            // Whoever went away in this moment gives it back by dropping it.
            drop(waiting.place.send(place));
        }
    }

    /// A free place: with the worker that had the last turn of the conversation, with the one that has the least to do,
    /// or in a process of its own.
    fn place(
        self: &Arc<Self>,
        state: &mut PlacesState,
        conversation: Option<&str>,
        gone: &mut Vec<(Process, ProcessSlot)>,
    ) -> Option<Place> {
        let last = conversation.and_then(|conversation| state.last.of(conversation));
        let free = state.workers.iter_mut().filter(|one| one.taken < one.seats);
        let best = free.min_by_key(|one| (Some(one.worker.number) != last, one.taken));
        if let Some(one) = best {
            one.taken += 1;
            return Some(Place::Seat(Seat { worker: one.worker.clone(), places: Arc::downgrade(self) }));
        }
        // Those that exited or spoke while they had nothing to do are ended: what they wrote is for nobody.
        while let Some((mut process, slot)) = state.idle.pop() {
            if process.is_idle() {
                return Some(Place::Idle(Box::new(process), slot));
            }
            gone.push((process, slot));
        }
        if let Some((process, slot)) = gone.pop() {
            drop(process);
            return Some(Place::New(slot));
        }
        let permit = self.slots.clone().try_acquire_owned().ok()?;
        Some(Place::New(ProcessSlot { permit: Some(permit), places: Arc::downgrade(self) }))
    }

    fn state(&self) -> MutexGuard<'_, PlacesState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TurnSource for Places {
    fn retire(&self, worker: u64) {
        self.state().workers.iter_mut().filter(|one| one.worker.number == worker).for_each(|one| one.seats = 0);
    }

    fn remove(&self, worker: u64) {
        let mut gone = None;
        let mut state = self.state();
        if let Some(at) = state.workers.iter().position(|one| one.worker.number == worker) {
            gone = Some(state.workers.swap_remove(at));
        }
        drop(state);
        drop(gone);
    }
}

/// Without an agent nobody is given a message any more: workers end by themselves, or are ended after a while.
impl Drop for Places {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.workers.iter().for_each(|one| one.worker.close());
    }
}

impl Drop for ProcessSlot {
    fn drop(&mut self) {
        self.permit = None;
        if let Some(places) = self.places.upgrade() {
            places.serve();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some(places) = self.places.upgrade() else { return };
        let number = self.worker.number;
        let same = |one: &&mut WorkerSeats| one.worker.number == number;
        places.state().workers.iter_mut().filter(same).for_each(|one| one.taken -= 1);
        places.serve();
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(places) = self.0.upgrade() {
            places.state().starting -= 1;
        }
    }
}
