//! Answers in the making: attached to their caller, or kept going by the host.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forecourt_core::limits::TASK_TTL;
use forecourt_core::reply::Gathered;
use forecourt_core::store::{TaskChange, Webhook};
use forecourt_core::{
    Admitted, Clock, Collected, Ending, Entropy, Error, Event, EventStream, Handle, Noun, Part, Reply, Store, Task,
    TaskId, TaskState, ThreadId, Turn,
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
use crate::receive::Run;
use crate::running;
use crate::threads::{Threads, after, as_turn};
use crate::work::Work;

/// Events that a subscriber reads in one go.
const EVENTS_PER_READ_MAX: usize = 256;
/// How long to wait before trying again when too much is running.
const BUSY_RETRY: Duration = Duration::from_secs(5);

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
    tracker: TaskTracker,
    draining: AtomicBool,
}

/// A background task of this process.
pub(crate) struct Live {
    caller: String,
    cancel: CancellationToken,
    written: watch::Receiver<u64>,
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
            true => Err(Error::Unavailable { retry_after: Some(BUSY_RETRY) }),
            false => Ok(()),
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Sets an agent to work on an admitted message.
    pub(crate) async fn run(
        self: &Arc<Self>,
        resident: Arc<Resident>,
        admitted: Admitted,
        thread: Option<ThreadId>,
        run: Run,
    ) -> Result<Reply, Error> {
        let (agent, language) = (resident.card.handle().clone(), resident.card.language.clone());
        let (events, task) = match run {
            Run::Attached => (self.attach(resident, admitted, thread.clone())?, None),
            Run::Detached { webhook } => {
                // On the heap, so that answers in the foreground don't carry its size around.
                let task = Box::pin(self.detach(resident, admitted, thread.clone(), webhook)).await?;
                (self.subscribe(&task, 0), Some(task.id))
            }
        };
        Ok(Reply { agent, thread, task, language, events })
    }

    /// An answer that its caller drives: dropping the stream stops the work.
    fn attach(
        self: &Arc<Self>,
        resident: Arc<Resident>,
        admitted: Admitted,
        thread: Option<ThreadId>,
    ) -> Result<EventStream, Error> {
        let permit = permit(&self.replies)?;
        let tasks = self.clone();
        let via = admitted.message().received_via;
        let asked = thread.map(|thread| (thread, as_turn(admitted.message())));
        let mut events = running::run(&resident, admitted, &self.site);
        Ok(Box::pin(async_stream::stream! {
            let _permit = permit;
            let _running = tasks.metrics.count_running();
            let mut gathered = asked.is_some().then(Gathered::default);
            while let Some(event) = events.next().await {
                if let Event::Ending(ending) = &event {
                    tasks.metrics.ended(resident.card.handle(), via, ending_name(ending));
                    if let (Some(gathered), Some((thread, turn))) = (gathered.take(), &asked) {
                        tasks.remember(&resident, thread, turn.clone(), gathered.finish(ending.clone())).await;
                    }
                } else if let Some(gathered) = &mut gathered {
                    gathered.take(event.clone());
                }
                yield event;
            }
        }))
    }

    /// Records a turn. A conversation that can't be kept does not spoil the answer.
    pub(crate) async fn remember(&self, resident: &Resident, thread: &ThreadId, asked: Turn, mut answer: Collected) {
        if let Ending::Message(text) = &answer.ending {
            answer.parts.insert(0, Part::markdown(text.clone()));
        }
        if let Err(error) = self.threads.record(resident, thread, asked, &answer).await {
            tracing::warn!(%error, agent = %resident.card.handle(), "a conversation was not kept");
        }
    }

    /// An answer that the host keeps going: durable before this returns.
    async fn detach(
        self: &Arc<Self>,
        resident: Arc<Resident>,
        admitted: Admitted,
        thread: Option<ThreadId>,
        webhook: Option<Webhook>,
    ) -> Result<Task, Error> {
        let permit = permit(&self.background)?;
        let task = self.new_task(&resident, &admitted, thread.clone());
        let (written, follow) = watch::channel(0);
        let cancel = CancellationToken::new();
        let live = Live { caller: caller(&admitted), cancel: cancel.clone(), written: follow };
        self.enlist(&task.id, live)?;
        if let Err(error) = self.keep(&task, webhook).await {
            self.running.lock().remove(task.id.expose());
            return Err(error);
        }
        let asked = thread.map(|thread| (thread, as_turn(admitted.message())));
        let work = Work { tasks: self.clone(), resident, task: task.clone(), asked, written, cancel, permit };
        self.tracker.spawn(work.run(admitted));
        Ok(task)
    }

    fn new_task(&self, resident: &Resident, admitted: &Admitted, thread: Option<ThreadId>) -> Task {
        let now = self.clock.now();
        Task {
            id: TaskId::mint(&*self.entropy),
            agent: resident.card.handle().clone(),
            thread,
            owner: admitted.message().sender.owner().map(str::to_owned),
            received_via: admitted.message().received_via.to_owned(),
            request: as_turn(admitted.message()).parts,
            state: TaskState::Working,
            outcome: None,
            run: self.run.clone(),
            created_at: now,
            updated_at: now,
            expires_at: after(now, TASK_TTL),
        }
    }

    fn enlist(&self, id: &TaskId, live: Live) -> Result<(), Error> {
        let mut running = self.running.lock();
        if running.values().filter(|other| other.caller == live.caller).count() >= self.per_caller_max {
            return Err(busy());
        }
        running.insert(id.expose().to_owned(), live);
        Ok(())
    }

    async fn keep(&self, task: &Task, webhook: Option<Webhook>) -> Result<(), Error> {
        self.store.create_task(task.clone()).await?;
        if let Some(webhook) = webhook {
            self.store.add_webhook(&task.id, webhook, 1).await?;
        }
        Ok(())
    }

    /// Follows a task from the log, waiting for news while it runs here.
    pub(crate) fn subscribe(self: &Arc<Self>, task: &Task, after: u64) -> EventStream {
        let tasks = self.clone();
        let task = task.clone();
        let live = self.running.lock().get(task.id.expose()).map(|live| live.written.clone());
        Box::pin(async_stream::stream! {
            let mut seen = after;
            let mut live = live;
            loop {
                let over = match &mut live { Some(written) => written.has_changed().is_err(), None => true };
                let Ok(events) = tasks.store.events(&task.id, seen, EVENTS_PER_READ_MAX).await else { break };
                let read = events.len();
                for (number, event) in events {
                    seen = number;
                    let last = matches!(event, Event::Ending(_));
                    yield event;
                    if last { return; }
                }
                if read == EVENTS_PER_READ_MAX { continue; }
                if over { break; }
                if let Some(written) = &mut live { let _ = written.changed().await; }
            }
            yield Event::Ending(tasks.ending_of(&task.id).await);
        })
    }

    /// How a task ended whose log holds no ending: it was cut off, or another run ended it.
    async fn ending_of(&self, id: &TaskId) -> Ending {
        let task = self.store.task(id, self.clock.now()).await.ok().flatten();
        task.and_then(|task| task.outcome).map_or_else(cut_off, |outcome| outcome.ending)
    }

    /// Cancels a task, wherever it runs.
    pub(crate) async fn cancel(&self, task: &Task) -> Result<(), Error> {
        let conflict = |state| Error::Conflict { what: Noun::Task, state };
        if task.state.is_final() {
            return Err(conflict(task.state));
        }
        let cancel = self.running.lock().get(task.id.expose()).map(|live| live.cancel.clone());
        let ended = self.settle(&task.id, task.state, Gathered::default().finish(Ending::Canceled)).await?;
        if let Some(cancel) = cancel {
            cancel.cancel();
        }
        match ended {
            true => Ok(()),
            false => Err(conflict(TaskState::Completed)),
        }
    }

    /// Ends a task and rings for its deliveries. `false` when it had moved on already.
    pub(crate) async fn settle(&self, id: &TaskId, from: TaskState, outcome: Collected) -> Result<bool, Error> {
        let to = TaskState::after(&outcome.ending);
        let change = TaskChange { from, to, outcome: Some(outcome), at: self.clock.now() };
        let moved = self.store.advance_task(id, change).await?;
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

fn busy() -> Error {
    Error::Unavailable { retry_after: Some(BUSY_RETRY) }
}

/// What is said of work that stopped without an ending.
pub(crate) fn cut_off() -> Ending {
    Ending::Failed { reason: "The host stopped while this was running.".to_owned() }
}

/// Whom a background task counts against: the verified owner, else the network address.
fn caller(admitted: &Admitted) -> String {
    let sender = &admitted.message().sender;
    match (sender.owner(), sender.peer) {
        (Some(owner), _) => owner.to_owned(),
        (None, Some(peer)) => peer.to_string(),
        (None, None) => Handle::parse("nobody").map(|h| h.to_string()).unwrap_or_default(),
    }
}
