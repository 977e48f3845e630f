//! How many processes run at once, and which of them may stay.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forecourt_core::{Ending, FailureCause};
use forecourt_process::WaitQueue;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use super::notes::Notes;
use super::process::{Process, Worker};
use super::settings::Mode;
use super::turns::UnnamedTurn;
use super::{busy, crashed};
use crate::limits::PROCESSES_WAITING_MAX;
use forecourt_agents::upstream::{CallTimeouts, UpstreamFailure};

/// The processes of one agent.
pub(super) struct Pool {
    mode: Mode,
    slots: Arc<Semaphore>,
    waiting: WaitQueue,
    /// Turns that were given so far, by whose count each has a number.
    turns: AtomicU64,
    workers: Arc<Workers>,
}

/// Workers without work, and what more are started from.
struct Workers {
    worker: Worker,
    idle: Mutex<Vec<Process>>,
    /// Whether the operator was told that they are replaced after each answer.
    has_warned: AtomicBool,
}

/// A process at work on one answer. Dropping it ends the process.
pub(super) struct Running {
    process: Process,
    mode: Mode,
    slot: OwnedSemaphorePermit,
    pub(super) notes: Notes,
    /// The number of the turn, where the program is told it.
    turn: Option<u64>,
}

impl Pool {
    pub(super) fn new(worker: Worker, mode: Mode, processes: usize) -> Self {
        let workers = Workers { worker, idle: Mutex::default(), has_warned: AtomicBool::new(false) };
        Self {
            mode,
            slots: Arc::new(Semaphore::new(processes)),
            waiting: WaitQueue::new(PROCESSES_WAITING_MAX),
            turns: AtomicU64::new(0),
            workers: Arc::new(workers),
        }
    }

    /// Waits for a slot and hands the input that `input` makes for the number of the turn to a process, a
    /// new one or an idle worker.
    pub(super) async fn start(
        &self,
        notes: Notes,
        input: impl FnOnce(&Notes, u64) -> String,
        timeouts: CallTimeouts,
    ) -> Result<Running, Ending> {
        // As long as an answer may take, and not part of its time: that begins with the slot.
        let slot = timeout(timeouts.total, self.slot()).await.map_err(|_| busy())??;
        let idle = (self.mode == Mode::Worker).then(|| self.workers.idle()).flatten();
        let mut process = match idle {
            Some(process) => process,
            None => self.workers.start()?,
        };
        let number = self.turns.fetch_add(1, Ordering::Relaxed);
        let then_close = self.mode == Mode::Each && !notes.are_answered();
        process.begin(number, input(&notes, number), then_close);
        let turn = (self.mode == Mode::Worker).then_some(number);
        Ok(Running { process, mode: self.mode, slot, notes, turn })
    }

    async fn slot(&self) -> Result<OwnedSemaphorePermit, Ending> {
        let _place = self.waiting.place().ok_or_else(busy)?;
        self.slots.clone().acquire_owned().await.map_err(|_| busy())
    }

    /// Ends an answer. A worker that ended it in good order stays, or is replaced; a process of one answer
    /// gets a moment to tidy up; all others are ended now.
    pub(super) fn finish(&self, running: Running, is_orderly: bool) {
        let Running { mut process, mode, slot, .. } = running;
        // Dropped, and so killed with its group: what a process of a failed answer still writes is for nobody.
        if !is_orderly {
            return;
        }
        let workers = self.workers.clone();
        tokio::spawn(async move {
            match mode {
                Mode::Each => process.tidy().await,
                Mode::Worker if process.is_ready().await => lock(&workers.idle).push(process),
                Mode::Worker => workers.replace(process),
            }
            // Only now: a slot is free when its process is gone, or idle again.
            drop(slot);
        });
    }
}

impl Workers {
    fn start(&self) -> Result<Process, Ending> {
        self.worker.start().map_err(|error| {
            tracing::error!(%error, agent = %self.worker.agent, "an agent's program could not be started");
            FailureCause::Unreachable.ending("The agent's program could not be started.")
        })
    }

    /// A worker that neither exited nor spoke while it had nothing to do. Those that did are ended: what
    /// they wrote is for nobody.
    fn idle(&self) -> Option<Process> {
        let mut idle = lock(&self.idle);
        std::iter::from_fn(|| idle.pop()).find_map(|mut worker| worker.is_idle().then_some(worker))
    }

    /// Ends a worker that can't be given another turn, and starts another in its place, so that the next
    /// message need not wait for that.
    fn replace(&self, process: Process) {
        if !process.turns.may_go_on() && !self.has_warned.swap(true, Ordering::Relaxed) {
            let agent = &self.worker.agent;
            tracing::warn!(%agent, "an agent's worker is replaced after each answer, as its lines do not repeat `turn`");
        }
        drop(process);
        if let Ok(process) = self.start() {
            lock(&self.idle).push(process);
        }
    }
}

fn lock(idle: &Mutex<Vec<Process>>) -> MutexGuard<'_, Vec<Process>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    /// Keeps a note of the program's, and tells it so.
    pub(super) async fn keep(&mut self, note: Value) -> Result<(), Ending> {
        let line = self.notes.keep(note, self.turn).await?;
        self.process.tell(line);
        Ok(())
    }

    /// The value of a line, if it is of this answer. `None`: it belongs to an earlier one.
    pub(super) fn judge(&mut self, value: Value) -> Result<Option<Value>, UnnamedTurn> {
        match self.mode {
            Mode::Each => Ok(Some(value)),
            Mode::Worker => self.process.turns.judge(value),
        }
    }

    /// The next line of output.
    pub(super) async fn line(
        &mut self,
        timeouts: CallTimeouts,
        deadline: Instant,
    ) -> Result<Option<Vec<u8>>, UpstreamFailure> {
        let line = timeout(timeouts.idle, self.process.output.line());
        timeout_at(deadline, line)
            .await
            .map_err(|_| UpstreamFailure::Overtime)?
            .map_err(|_| UpstreamFailure::Stalled)?
    }

    /// The next piece of output.
    pub(super) async fn text(
        &mut self,
        timeouts: CallTimeouts,
        deadline: Instant,
    ) -> Result<Option<Vec<u8>>, UpstreamFailure> {
        let text = timeout(timeouts.idle, self.process.output.text());
        timeout_at(deadline, text)
            .await
            .map_err(|_| UpstreamFailure::Overtime)?
            .map_err(|_| UpstreamFailure::Stalled)?
    }

    /// The ending of an answer whose output has ended without one.
    pub(super) async fn exit(&mut self, timeouts: CallTimeouts) -> Ending {
        match (self.mode, self.process.exit(timeouts.idle).await) {
            (Mode::Each, ending) => ending,
            // A worker that leaves in the middle of an answer has not answered, whatever its status.
            (Mode::Worker, _) => crashed(),
        }
    }
}
