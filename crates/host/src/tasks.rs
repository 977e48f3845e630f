//! Everything that is being answered: what runs, how it is ended, and what is left of an earlier run.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use forecourt_core::reply::ReplyAccumulator;
use forecourt_core::store::TaskChange;
use forecourt_core::{
    Bus, Clock, CollectedReply, Ending, Entropy, Error, FailureCause, Store, StoreError, Task, TaskId,
};
use forecourt_issuance::HostRun;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::conversations::{Conversations, UserTurn};
use crate::deliver::DeliveryWakeup;
use crate::directory::HostedAgent;
use crate::in_flight::InFlight;
use crate::lease::Lease;
use crate::limits::LimitSettings;
use crate::metrics::Metrics;
use crate::rates::RateTable;
use crate::residents::Residents;
use crate::store_clock::HostClock;
use crate::task_names::TaskNames;
use crate::topics::{task_hash, task_of};
use forecourt_core::Site;

/// How long the first wait is before something is written anew that the store did not take, and the longest.
const WRITE_AGAIN_MIN: Duration = Duration::from_millis(100);
const WRITE_AGAIN_MAX: Duration = Duration::from_secs(2);

/// How often it is looked whether anything is still under way, before a host stops.
const IDLE_LOOK: Duration = Duration::from_millis(20);

/// The replies and background tasks of this process, and what it takes to run, follow, cancel and end them.
pub(crate) struct Tasks {
    pub(crate) site: Arc<Site>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) conversations: Conversations,
    pub(crate) clock: Arc<dyn Clock>,
    /// The same, as far as it is the store's.
    pub(crate) host_clock: HostClock,
    pub(crate) entropy: Arc<dyn Entropy>,
    /// The ids of tasks that their clients name.
    pub(crate) names: TaskNames,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) wakeup: DeliveryWakeup,
    /// The bus to other nodes. What it carries are hints.
    pub(crate) bus: Arc<dyn Bus>,
    pub(crate) in_flight: InFlight,
    /// How often callers came lately.
    pub(crate) rates: Arc<RateTable>,
    /// This run of the host, and how it holds its tasks.
    pub(crate) lease: Lease,
    /// Tells that this node ended a run that had fallen silent.
    pub(crate) run_ended: Notify,
    /// Whether the last beat found no store.
    pub(crate) is_store_away: AtomicBool,
    /// Whether the store as a whole did not take the last task that was begun.
    pub(crate) has_refused_task: AtomicBool,
    /// By the hash of a task's id. Several, while one ends and the next begins, or two answer the same question.
    pub(crate) running: Mutex<HashMap<String, Vec<Live>>>,
    /// Tells that something was put on the list.
    pub(crate) begun: Notify,
    pub(crate) tracker: TaskTracker,
    /// The agents that go on with the tasks of lost nodes; none before the first host has taken over.
    pub(crate) residents: ArcSwapOption<Residents>,
    /// Whether the last look left tasks of runs that are gone to a later one.
    pub(crate) has_left_orphans: AtomicBool,
    /// Whether agents can reach what they need of the host: work that was taken up before waits for it.
    pub(crate) is_open: watch::Sender<bool>,
    draining: AtomicBool,
}

/// A background task of this process.
pub(crate) struct Live {
    pub(crate) stop: WorkStop,
    /// The number of the last event in the log. Closed when nobody works on the task any more.
    pub(crate) written: watch::Receiver<u64>,
}

/// Stops one piece of work, and says why.
#[derive(Clone)]
pub(crate) struct WorkStop {
    task: TaskId,
    token: CancellationToken,
    is_lost: Arc<AtomicBool>,
}

impl WorkStop {
    pub(crate) fn new(task: TaskId) -> Self {
        Self { task, token: CancellationToken::new(), is_lost: Arc::default() }
    }

    /// The task that is worked on.
    pub(crate) fn task(&self) -> &TaskId {
        &self.task
    }

    /// Stops it: nobody wants it any more.
    pub(crate) fn cancel(&self) {
        self.token.cancel();
    }

    /// Stops it: the task is another run's by now.
    pub(crate) fn lose(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
        self.token.cancel();
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.token.is_cancelled()
    }

    pub(crate) async fn stopped(&self) {
        self.token.cancelled().await;
    }
}

/// The parts that [`Tasks`] is made of.
pub(crate) struct TaskParts {
    pub(crate) site: Arc<Site>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) conversations: Conversations,
    pub(crate) host_clock: HostClock,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) wakeup: DeliveryWakeup,
    pub(crate) bus: Arc<dyn Bus>,
    pub(crate) rates: Arc<RateTable>,
    pub(crate) lease: Lease,
}

impl Tasks {
    pub(crate) fn new(parts: TaskParts, limits: &LimitSettings) -> Self {
        let TaskParts { site, store, conversations, host_clock, entropy, metrics, wakeup, bus, rates, lease } = parts;
        Self {
            rates,
            lease,
            run_ended: Notify::new(),
            is_store_away: AtomicBool::new(false),
            has_refused_task: AtomicBool::new(false),
            in_flight: InFlight::new(limits),
            running: Mutex::new(HashMap::new()),
            begun: Notify::new(),
            tracker: TaskTracker::new(),
            residents: ArcSwapOption::empty(),
            has_left_orphans: AtomicBool::new(false),
            is_open: watch::Sender::new(false),
            draining: AtomicBool::new(false),
            names: TaskNames::new(store.clone(), host_clock.clock(), entropy.clone()),
            site,
            store,
            conversations,
            clock: host_clock.clock(),
            host_clock,
            entropy,
            metrics,
            wakeup,
            bus,
        }
    }

    /// Fails while the host drains, and while it is not certain to keep what it begins.
    pub(crate) fn accepting(&self) -> Result<(), Error> {
        match self.is_draining() || !self.lease.is_safe() {
            true => Err(Error::unavailable()),
            false => Ok(()),
        }
    }

    /// Whether the next task may find no store. Then no agent is asked before its task is kept: a caller who is refused
    /// and tries again would have the same thing done each time.
    pub(crate) fn may_find_no_store(&self) -> bool {
        self.is_store_away.load(Ordering::Relaxed) || self.has_refused_task.load(Ordering::Relaxed)
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
        self.running.lock().entry(task_hash(id)).or_default().push(live);
        // All of them: each follower waits for a task of its own.
        self.begun.notify_waiters();
    }

    /// Takes the work that writes to `written` off the list. The task may be on it again already.
    pub(crate) fn delist(&self, id: &TaskId, written: &watch::Sender<u64>) {
        let hash = task_hash(id);
        let mut running = self.running.lock();
        let Some(all) = running.get_mut(&hash) else { return };
        all.retain(|live| !live.written.same_channel(&written.subscribe()));
        if all.is_empty() {
            running.remove(&hash);
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
        let hash = task_hash(id);
        // After the store, where the cancellation is what counts: the end that the work itself writes comes too late
        // then, and is not taken. In a block, since the lock must not be held over the await below.
        let is_here = {
            let running = self.running.lock();
            let lives = running.get(&hash);
            lives.into_iter().flatten().for_each(|live| live.stop.cancel());
            lives.is_some()
        };
        if !is_here {
            // It is cancelled, whoever hears of it: nothing that is still done for it is kept.
            if let Err(error) = self.tell_of_cancellation(&hash).await {
                tracing::warn!(%error, "another node may go on with a cancelled task for a while");
            }
        }
        Ok(())
    }

    /// Announces on the bus that a task's log has new events. Nothing is sent when nobody else has the store.
    pub(crate) fn tell_of_news(&self, id: &TaskId) {
        if !self.lease.is_alone() {
            self.bus.publish(&task_of(&task_hash(id)), Bytes::new());
        }
    }

    /// Does something until the store takes it or refuses it: while it is away, that is no fault of the work. Gives
    /// up when the host stops in the middle, and when the work is stopped.
    pub(crate) async fn until_written<T, F>(
        &self,
        stop: &WorkStop,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut wait = WRITE_AGAIN_MIN;
        loop {
            match attempt().await {
                Err(StoreError::Unavailable(reason)) if !self.gives_up(stop) => {
                    tracing::debug!(reason, "a task is not written yet: the store is away");
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(WRITE_AGAIN_MAX);
                }
                done => return done,
            }
        }
    }

    /// Whether nobody waits any more for a store that is away.
    fn gives_up(&self, stop: &WorkStop) -> bool {
        // A task that was only cancelled still needs its end written: its run is alive, so nobody else ends it.
        stop.is_lost() || (self.is_draining() && stop.is_stopped())
    }

    /// Ends a task, or lets it wait, and wakes whoever makes its deliveries. `false` when it had moved on
    /// already, or is another run's by now.
    pub(crate) async fn settle(&self, task: &Task, outcome: CollectedReply) -> Result<bool, StoreError> {
        let moved = self.store.advance_task(&task.id, TaskChange::settle(task, outcome, self.clock.now())).await?;
        self.wakeup.wake();
        self.tell_of_news(&task.id);
        Ok(moved)
    }

    /// Waits until neither a reply nor a task is under way, up to `wait_max`, and not while the store is away: what is
    /// left then can't be ended. New ones are still taken.
    pub(crate) async fn idle(&self, wait_max: Duration) {
        let until = Instant::now() + wait_max;
        // Looked at again and again, since places wake nobody, and this happens once in the life of a process.
        let is_over = || self.in_flight.is_idle() && self.tracker.is_empty();
        while !is_over() && !self.is_store_away.load(Ordering::Relaxed) && Instant::now() < until {
            tokio::time::sleep(IDLE_LOOK).await;
        }
    }

    /// Waits for background tasks; what is left after `wait_max` is left to another run where its agent is set so, and
    /// ends as failed otherwise. Then writes the conversations that wait.
    pub(crate) async fn drain(&self, wait_max: Duration) {
        self.draining.store(true, Ordering::Relaxed);
        // `wait` returns for a closed tracker only.
        self.tracker.close();
        if tokio::time::timeout(wait_max, self.tracker.wait()).await.is_err() {
            for live in self.running.lock().values().flatten() {
                live.stop.cancel();
            }
            self.tracker.wait().await;
        }
        // After the tasks: their last turns are among what waits.
        self.conversations.writer.write_all().await;
    }
}

impl HostRun for Tasks {
    fn name(&self) -> Arc<str> {
        self.lease.run()
    }

    fn is_draining(&self) -> bool {
        Self::is_draining(self)
    }

    fn has_ended_another(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.run_ended.notified())
    }
}

/// The host stops, or has too much to do.
pub(crate) fn busy() -> Error {
    Error::unavailable()
}

/// What is said of work that stopped without an ending, since its node did.
pub(crate) fn cut_off() -> Ending {
    FailureCause::NodeLost.ending("The host stopped while this was running.")
}
