//! Answers in the making: attached to their caller, or kept going by the host.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forecourt_core::reply::Gathered;
use forecourt_core::store::TaskChange;
use forecourt_core::{
    Admitted, Clock, Collected, Ending, Entropy, Error, Event, EventStream, Reply, Store, TaskId, TaskState, ThreadId,
    Turn,
};
use futures::StreamExt;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::deliver::Bell;
use crate::directory::{Resident, Site};
use crate::limits::LimitSettings;
use crate::metrics::{Metrics, ending_name};
use crate::running;
use crate::threads::{Threads, as_turn};

/// Everything that is being answered.
pub(crate) struct Tasks {
    pub(crate) site: Arc<Site>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) threads: Threads,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) bell: Bell,
    /// This run of the host, as its tasks are marked.
    pub(crate) run: String,
    replies: Arc<Semaphore>,
    background: Arc<Semaphore>,
    per_caller_max: usize,
    pub(crate) running: Mutex<HashMap<String, Live>>,
    pub(crate) tracker: TaskTracker,
    draining: AtomicBool,
}

/// A background task of this process.
pub(crate) struct Live {
    pub(crate) caller: String,
    pub(crate) cancel: CancellationToken,
    /// The number of the last event in the log. Closed when nobody works on the task any more.
    pub(crate) written: watch::Receiver<u64>,
}

/// The parts that [`Tasks`] is made of.
pub(crate) struct TaskParts {
    pub(crate) site: Arc<Site>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) threads: Threads,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) bell: Bell,
}

impl Tasks {
    pub(crate) fn new(parts: TaskParts, limits: &LimitSettings) -> Self {
        let TaskParts { site, store, threads, clock, entropy, metrics, bell } = parts;
        Self {
            run: forecourt_core::ids::mint(&*entropy),
            replies: Arc::new(Semaphore::new(limits.replies_running_max)),
            background: Arc::new(Semaphore::new(limits.tasks_running_max)),
            per_caller_max: limits.tasks_per_caller_max,
            running: Mutex::new(HashMap::new()),
            tracker: TaskTracker::new(),
            draining: AtomicBool::new(false),
            site,
            store,
            threads,
            clock,
            entropy,
            metrics,
            bell,
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

    /// An answer that its caller drives: dropping the stream stops the work.
    pub(crate) fn attach(self: &Arc<Self>, resident: Arc<Resident>, admitted: Admitted) -> Result<Reply, Error> {
        let permit = self.reply_permit()?;
        let tasks = self.clone();
        let via = admitted.message().received_via;
        let thread = admitted.message().thread.clone();
        let (agent, language) = (resident.card.handle().clone(), resident.card.language.clone());
        let recorded = resident.card.remembers && !admitted.message().unrecorded;
        let remembered = thread.clone().filter(|_| recorded);
        let asked = remembered.map(|thread| (thread, as_turn(admitted.message())));
        let mut events = running::run(&resident, admitted, &self.site);
        let events: EventStream = Box::pin(async_stream::stream! {
            let _permit = permit;
            let _running = tasks.metrics.count_running();
            let mut gathered = asked.is_some().then(Gathered::default);
            while let Some(event) = events.next().await {
                if let Some(gathered) = &mut gathered {
                    gathered.take(event.clone());
                }
                if let Event::Ending(ending) = &event {
                    tasks.metrics.ended(resident.card.handle(), via, ending_name(ending));
                    if let (Some(gathered), Some((thread, turn))) = (gathered.take(), &asked) {
                        tasks.remember(&resident, thread, turn.clone(), &gathered.finish(ending.clone())).await;
                    }
                }
                yield event;
            }
        });
        Ok(Reply { agent, thread, task: None, language, events })
    }

    /// Records a turn. A conversation that can't be kept does not spoil the answer.
    pub(crate) async fn remember(&self, resident: &Resident, thread: &ThreadId, asked: Turn, answer: &Collected) {
        if let Err(error) = self.threads.record(resident, thread, asked, answer).await {
            tracing::warn!(%error, agent = %resident.card.handle(), "a conversation was not kept");
        }
    }

    /// Leave to begin an answer that its caller waits for.
    pub(crate) fn reply_permit(&self) -> Result<OwnedSemaphorePermit, Error> {
        permit(&self.replies)
    }

    /// Leave to begin work in the background, before anything is begun.
    pub(crate) fn background_permit(&self, caller: &str) -> Result<OwnedSemaphorePermit, Error> {
        self.has_room(&self.running.lock(), caller)?;
        permit(&self.background)
    }

    fn has_room(&self, running: &HashMap<String, Live>, caller: &str) -> Result<(), Error> {
        match running.values().filter(|live| live.caller == caller).count() < self.per_caller_max {
            true => Ok(()),
            false => Err(busy()),
        }
    }

    pub(crate) fn enlist(&self, id: &TaskId, live: Live) -> Result<(), Error> {
        let mut running = self.running.lock();
        self.has_room(&running, &live.caller)?;
        running.insert(id.expose().to_owned(), live);
        Ok(())
    }

    /// Takes the work that writes to `written` off the list. The task may be on it again already.
    pub(crate) fn delist(&self, id: &TaskId, written: &watch::Sender<u64>) {
        let mut running = self.running.lock();
        if running.get(id.expose()).is_some_and(|live| live.written.same_channel(&written.subscribe())) {
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
            if self.settle(id, task.state, Gathered::default().finish(Ending::Canceled)).await? {
                break;
            }
        }
        let cancel = self.running.lock().get(id.expose()).map(|live| live.cancel.clone());
        if let Some(cancel) = cancel {
            cancel.cancel();
        }
        Ok(())
    }

    /// Ends a task, or lets it wait, and rings for its deliveries. `false` when it had moved on
    /// already.
    pub(crate) async fn settle(&self, id: &TaskId, from: TaskState, outcome: Collected) -> Result<bool, Error> {
        let moved = self.store.advance_task(id, TaskChange::settle(from, outcome, self.clock.now())).await?;
        self.bell.ring();
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
                self.settle(&task.id, task.state, Gathered::default().finish(cut_off())).await?;
                ended += 1;
            }
        }
    }

    /// Waits for background tasks; what is left after `patience` ends as failed.
    pub(crate) async fn drain(&self, patience: Duration) {
        self.draining.store(true, Ordering::Relaxed);
        self.tracker.close();
        if tokio::time::timeout(patience, self.tracker.wait()).await.is_ok() {
            return;
        }
        for live in self.running.lock().values() {
            live.cancel.cancel();
        }
        self.tracker.wait().await;
    }
}

fn permit(semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Error> {
    semaphore.clone().try_acquire_owned().map_err(|_| busy())
}

/// Too much is running.
pub(crate) fn busy() -> Error {
    Error::unavailable()
}

/// What is said of work that stopped without an ending.
pub(crate) fn cut_off() -> Ending {
    Ending::Failed { reason: "The host stopped while this was running.".to_owned() }
}
