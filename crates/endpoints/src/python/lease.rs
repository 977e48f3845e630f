//! A worker in use, and what becomes of it afterwards.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::frame::{Answer, Outcome, Request};
use super::pool::Pool;
use super::worker::Worker;
use crate::limits::{LONG_CALL_AFTER, WATCHDOG_DELAY};

/// A turn, and the worker whose it is once there is one. Dropped in mid-call, it ends the worker: the
/// caller has left, or its time is over.
pub(super) struct Lease {
    pool: Arc<Pool>,
    worker: Option<Worker>,
    turn: Option<OwnedSemaphorePermit>,
    /// When the time of the request that is being answered is over.
    deadline: Option<Instant>,
}

impl Lease {
    pub(super) fn new(pool: Arc<Pool>, worker: Option<Worker>, turn: OwnedSemaphorePermit) -> Lease {
        Lease { pool, worker, turn: Some(turn), deadline: None }
    }

    /// Whether there is a worker that has imported the function.
    pub(super) fn has(&self, function: &str) -> bool {
        self.worker.as_ref().is_some_and(|worker| worker.has(function))
    }

    /// Starts a worker if there is none, and has it import the function.
    pub(super) async fn prepare(mut self, function: &str, edition: u64, until: Instant) -> Result<Lease, String> {
        if self.worker.is_none() {
            match Worker::start(&self.pool.program, edition).await {
                Ok(worker) => self.worker = Some(worker),
                Err(error) => {
                    self.give_up();
                    return Err(format!("its worker could not be started: {error}"));
                }
            }
        }
        let Ok(asked) = timeout_at(until, self.exchange(Request::import(function), until)).await else {
            return Err("it was not imported in time".to_owned());
        };
        match asked {
            Ok(Answer { outcome: Outcome::Ready, .. }) => Ok(self),
            Ok(answer) => {
                let Answer { outcome, .. } = self.settle(answer);
                match outcome {
                    Outcome::Fault(fault) => Err(fault),
                    _ => Err("the worker's answer can't be read".to_owned()),
                }
            }
            Err(cause) => {
                self.give_up();
                Err(format!("{cause} while it was imported"))
            }
        }
    }

    /// Asks the worker, and gives it back or up.
    pub(super) async fn ask(mut self, request: Request, deadline: Instant) -> Result<Answer, String> {
        match self.exchange(request, deadline).await {
            Ok(answer) => Ok(self.settle(answer)),
            Err(cause) => {
                self.give_up();
                Err(cause)
            }
        }
    }

    async fn exchange(&mut self, request: Request, deadline: Instant) -> Result<Answer, String> {
        self.deadline = Some(deadline);
        // A little later than our own deadline: the watchdog in the process is for a host that is gone or stands still.
        let time = deadline.saturating_duration_since(Instant::now()) + WATCHDOG_DELAY;
        let worker = self.worker.as_mut().ok_or_else(|| "there is no worker".to_owned())?;
        let mut asked = pin!(worker.ask(request, time));
        if let Ok(answer) = timeout(LONG_CALL_AFTER, &mut asked).await {
            return answer;
        }
        // Functions that hang hold up nobody else, up to a bound.
        if let Some(place) = self.pool.aside() {
            self.turn = Some(place);
        }
        asked.await
    }

    fn settle(self, answer: Answer) -> Answer {
        match answer.is_fit {
            true => self.give_back(),
            false => self.give_up(),
        }
        answer
    }

    /// Ends in good order: the worker may be asked again.
    pub(super) fn give_back(mut self) {
        if let Some(worker) = self.worker.take() {
            self.pool.shelve(worker);
        }
    }

    /// Ends with a crash: the worker is replaced, though not at once when that happens again and again.
    fn give_up(mut self) {
        self.worker = None;
        let pause = self.pool.crashed();
        if pause > Duration::ZERO {
            // The turn is kept through the pause, or the next call would start a process at once and crash it as well.
            let turn = self.turn.take();
            tokio::spawn(async move {
                sleep(pause).await;
                drop(turn);
            });
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Only a call that ran out of time hangs somewhere; a caller that left early leaves a healthy function.
        let is_overdue = self.deadline.is_some_and(|deadline| deadline <= Instant::now() + WATCHDOG_DELAY);
        let (Some(worker), true) = (self.worker.take(), is_overdue) else { return };
        let turn = self.turn.take();
        // The caller has its answer; the operator gets to see where the function hangs.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                worker.last_words().await;
                drop(turn);
            });
        }
    }
}
