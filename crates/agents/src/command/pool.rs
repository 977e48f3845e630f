//! How many processes run at once, and which of them may stay.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forecourt_core::Ending;
use forecourt_process::Queue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use super::process::{Process, Worker};
use super::settings::Mode;
use super::{busy, crashed};
use crate::limits::PROCESSES_WAITING_MAX;
use crate::upstream::{Fault, Patience};

/// The processes of one agent.
pub(super) struct Pool {
    worker: Worker,
    mode: Mode,
    turns: Arc<Semaphore>,
    waiting: Queue,
    /// Workers without work.
    idle: Arc<Mutex<Vec<Process>>>,
}

/// A process at work on one answer. Dropping it ends the process.
pub(super) struct Running {
    process: Process,
    mode: Mode,
    turn: OwnedSemaphorePermit,
}

impl Pool {
    pub(super) fn new(worker: Worker, mode: Mode, processes: usize) -> Self {
        let turns = Arc::new(Semaphore::new(processes));
        Self { worker, mode, turns, waiting: Queue::new(PROCESSES_WAITING_MAX), idle: Arc::default() }
    }

    /// Waits for a turn and hands `input` to a process, a new one or an idle worker.
    pub(super) async fn start(&self, input: String, patience: Patience) -> Result<Running, Ending> {
        let turn = timeout(patience.total, self.turn()).await.map_err(|_| busy())??;
        let idle = (self.mode == Mode::Worker).then(|| self.idle_worker()).flatten();
        let mut process = match idle {
            Some(process) => process,
            None => self.worker.start().map_err(|error| {
                tracing::error!(%error, agent = %self.worker.agent, "an agent's program could not be started");
                Ending::failed("The agent's program could not be started.")
            })?,
        };
        process.begin(input, self.mode == Mode::Each);
        Ok(Running { process, mode: self.mode, turn })
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, Ending> {
        let _place = self.waiting.place().ok_or_else(busy)?;
        self.turns.clone().acquire_owned().await.map_err(|_| busy())
    }

    /// A worker that did not exit while it had nothing to do.
    fn idle_worker(&self) -> Option<Process> {
        let mut idle = lock(&self.idle);
        std::iter::from_fn(|| idle.pop()).find_map(|mut worker| worker.is_running().then_some(worker))
    }

    /// Ends an answer. A worker that ended it in good order stays; a process of one answer gets a
    /// moment to tidy up; all others are ended now.
    pub(super) fn finish(&self, running: Running, is_orderly: bool) {
        let Running { mut process, mode, turn } = running;
        if !is_orderly {
            return;
        }
        let idle = self.idle.clone();
        tokio::spawn(async move {
            match mode {
                Mode::Each => process.tidy().await,
                Mode::Worker if process.is_ready().await => lock(&idle).push(process),
                Mode::Worker => {}
            }
            // Only now: a turn is free when its process is gone, or idle again.
            drop(turn);
        });
    }
}

fn lock(idle: &Mutex<Vec<Process>>) -> MutexGuard<'_, Vec<Process>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    /// The next line of output.
    pub(super) async fn line(&mut self, patience: Patience, deadline: Instant) -> Result<Option<Vec<u8>>, Fault> {
        let line = timeout(patience.idle, self.process.output.line());
        timeout_at(deadline, line).await.map_err(|_| Fault::Overtime)?.map_err(|_| Fault::Stalled)?
    }

    /// The next piece of output.
    pub(super) async fn text(&mut self, patience: Patience, deadline: Instant) -> Result<Option<Vec<u8>>, Fault> {
        let text = timeout(patience.idle, self.process.output.text());
        timeout_at(deadline, text).await.map_err(|_| Fault::Overtime)?.map_err(|_| Fault::Stalled)?
    }

    /// The ending of an answer whose output has ended without one.
    pub(super) async fn exit(&mut self, patience: Patience) -> Ending {
        match (self.mode, self.process.exit(patience.idle).await) {
            (Mode::Each, ending) => ending,
            // A worker that leaves in the middle of an answer has not answered, whatever its status.
            (Mode::Worker, _) => crashed(),
        }
    }
}
