//! Everything that is being answered: what runs, how it is ended, and what is left of an earlier run.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forecourt_core::reply::ReplyAccumulator;
use forecourt_core::store::TaskChange;
use forecourt_core::{Clock, CollectedReply, Ending, Entropy, Error, Store, Task, TaskId};
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::conversations::{Conversations, UserTurn};
use crate::deliver::DeliveryWakeup;
use crate::directory::{HostedAgent, Site};
use crate::in_flight::InFlight;
use crate::limits::LimitSettings;
use crate::metrics::Metrics;

/// Everything that is being answered.
pub(crate) struct Tasks {
    pub(crate) site: Arc<Site>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) conversations: Conversations,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) wakeup: DeliveryWakeup,
    pub(crate) in_flight: InFlight,
    /// This run of the host, as its tasks are marked.
    pub(crate) run: String,
    /// By task. Several, while one ends and the next begins, or two answer the same question.
    pub(crate) running: Mutex<HashMap<String, Vec<Live>>>,
    /// Tells that something was put on the list.
    pub(crate) begun: Notify,
    pub(crate) tracker: TaskTracker,
    draining: AtomicBool,
}

/// A background task of this process.
pub(crate) struct Live {
    pub(crate) cancel: CancellationToken,
    /// The number of the last event in the log. Closed when nobody works on the task any more.
    pub(crate) written: watch::Receiver<u64>,
}

/// The parts that [`Tasks`] is made of.
pub(crate) struct TaskParts {
    pub(crate) site: Arc<Site>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) conversations: Conversations,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) wakeup: DeliveryWakeup,
}

impl Tasks {
    pub(crate) fn new(parts: TaskParts, limits: &LimitSettings) -> Self {
        let TaskParts { site, store, conversations, clock, entropy, metrics, wakeup } = parts;
        Self {
            run: forecourt_core::ids::mint(&*entropy),
            in_flight: InFlight::new(limits),
            running: Mutex::new(HashMap::new()),
            begun: Notify::new(),
            tracker: TaskTracker::new(),
            draining: AtomicBool::new(false),
            site,
            store,
            conversations,
            clock,
            entropy,
            metrics,
            wakeup,
        }
    }

    /// Fails while the host drains.
    pub(crate) fn accepting(&self) -> Result<(), Error> {
        match self.is_draining() {
            true => Err(Error::unavailable()),
            false => Ok(()),
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Records a turn. A conversation that can't be kept does not spoil the answer.
    pub(crate) async fn remember(&self, resident: &HostedAgent, asked: UserTurn, answer: &CollectedReply) {
        self.conversations.record(resident, asked, answer).await;
    }

    /// Puts work on the list, so that it can be followed and cancelled. How much there may be is for
    /// [`InFlight`] to say.
    pub(crate) fn enlist(&self, id: &TaskId, live: Live) {
        self.running.lock().entry(id.expose().to_owned()).or_default().push(live);
        self.begun.notify_waiters();
    }

    /// Takes the work that writes to `written` off the list. The task may be on it again already.
    pub(crate) fn delist(&self, id: &TaskId, written: &watch::Sender<u64>) {
        let mut running = self.running.lock();
        let Some(all) = running.get_mut(id.expose()) else { return };
        all.retain(|live| !live.written.same_channel(&written.subscribe()));
        if all.is_empty() {
            running.remove(id.expose());
        }
    }

    /// Cancels a task, wherever it runs and even when it waits. Fails with [`Error::Conflict`] when it
    /// has ended.
    pub(crate) async fn cancel(&self, id: &TaskId) -> Result<(), Error> {
        loop {
            let task = self.store.task(id, self.clock.now()).await?;
            let Some(task) = task.filter(|task| !task.state.is_final()) else { return Err(self.conflict(id).await) };
            // Otherwise it has moved on in between, which can't go on forever: its turns are bounded.
            if self.settle(&task, ReplyAccumulator::default().finish(Ending::Canceled)).await? {
                break;
            }
        }
        for live in self.running.lock().get(id.expose()).into_iter().flatten() {
            live.cancel.cancel();
        }
        Ok(())
    }

    /// Ends a task, or lets it wait, and wakes whoever makes its deliveries. `false` when it had moved on
    /// already, or is another run's by now.
    pub(crate) async fn settle(&self, task: &Task, outcome: CollectedReply) -> Result<bool, Error> {
        let moved = self.store.advance_task(&task.id, TaskChange::settle(task, outcome, self.clock.now())).await?;
        self.wakeup.wake();
        Ok(moved)
    }

    /// Ends the tasks of a run that died, so that none is stuck.
    pub(crate) async fn recover(&self) -> Result<u64, Error> {
        const AT_ONCE: usize = 200;
        let mut ended = 0;
        loop {
            let orphans = self.store.orphaned_tasks(&self.run, AT_ONCE).await?;
            if orphans.is_empty() {
                return Ok(ended);
            }
            for task in orphans {
                self.settle(&task, ReplyAccumulator::default().finish(cut_off())).await?;
                ended += 1;
            }
        }
    }

    /// Waits for background tasks; what is left after `wait_max` ends as failed. Then writes the
    /// conversations that wait.
    pub(crate) async fn drain(&self, wait_max: Duration) {
        self.draining.store(true, Ordering::Relaxed);
        self.tracker.close();
        if tokio::time::timeout(wait_max, self.tracker.wait()).await.is_err() {
            for live in self.running.lock().values().flatten() {
                live.cancel.cancel();
            }
            self.tracker.wait().await;
        }
        self.conversations.writer.write_all().await;
    }
}

/// The host stops, or has too much to do.
pub(crate) fn busy() -> Error {
    Error::unavailable()
}

/// What is said of work that stopped without an ending.
pub(crate) fn cut_off() -> Ending {
    Ending::Failed { reason: "The host stopped while this was running.".to_owned() }
}
