//! Work that the host keeps going: durable before anybody is told of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forecourt_core::clock::after;
use forecourt_core::limits::TASK_TTL;
use forecourt_core::reply::ReplyAccumulator;
use forecourt_core::store::Webhook;
use forecourt_core::{
    AnswerUsage, Error, EventStream, QuotaBound, Role, StoreError, Task, TaskId, TaskState, Timestamp, Turn,
};
use forecourt_telemetry::spans;
use tokio::sync::{oneshot, watch};
use tracing::Instrument;

use crate::in_flight::Slot;
use crate::journal::{JournalStream, WorkBeginning};
use crate::request::Request;
use crate::tasks::{Live, Tasks, WorkStop, cut_off};
use crate::topics::task_hash;
use crate::work::Work;

impl Tasks {
    /// Work that the host keeps going: durable before this returns. On its own from the start, so that a
    /// caller that goes away in between leaves no task behind that nobody works on.
    pub(crate) async fn run_in_background(
        self: &Arc<Self>,
        request: Arc<Request>,
        events: EventStream,
        webhook: Option<Box<Webhook>>,
        slot: Slot,
    ) -> Result<BackgroundWork, Error> {
        let (id, logged) = self.place_of(&request).await?;
        let (hand_over, handed_over) = oneshot::channel();
        let tasks = self.clone();
        let span = spans::task(request.resident.card.handle().as_str());
        let work = async move {
            let (resident, via, asked) = (request.resident.clone(), request.via, request.remembered());
            let ListedWork { id, stop, written, task } = tasks.enlist_and_keep(id, logged, &request, webhook).await;
            match task {
                Ok(task) => {
                    // A caller that went away finds the task by itself, or not at all.
                    drop(hand_over.send(Ok(BackgroundWork { task: id, logged })));
                    let (usage, receipt, journal) = (request.meter(), request.receipt.clone(), request.journal.clone());
                    let (account, used_before) = (request.account(), used_in_earlier_turns(&task));
                    let work = Work {
                        tasks,
                        resident,
                        task,
                        via,
                        asked,
                        logged,
                        written,
                        stop,
                        sign: request.stop.clone(),
                        slot,
                        receipt,
                        usage,
                        used_before,
                        journal,
                        account,
                        runs: 1,
                        catch_up: None,
                        later_files: AtomicU64::new(0),
                    };
                    work.run(events).await;
                }
                Err(NotKept { exists: true, .. }) if request.name.is_some() => {
                    // What the message began when it came first goes on, and this agent is told that nobody listens.
                    tasks.delist(&id, &written);
                    drop((events, slot));
                    drop(hand_over.send(Ok(BackgroundWork { task: id, logged })));
                }
                Err(NotKept { unsure, error, .. }) => {
                    tasks.delist(&id, &written);
                    drop(hand_over.send(Err(error)));
                    if let Some(task) = unsure {
                        tasks.end_unheard(&task, request.earlier.is_some(), &stop).await;
                    }
                }
            }
        };
        self.tracker.spawn(work.instrument(span));
        handed_over.await.map_err(Error::internal)?
    }

    /// Which task a message belongs to, and how many events are in its log.
    async fn place_of(&self, request: &Request) -> Result<(TaskId, u64), Error> {
        Ok(match (&request.earlier, &request.name) {
            (Some(earlier), _) => (earlier.id.clone(), self.store.last_event(&earlier.id).await?),
            (None, Some(name)) => (self.names.id(name).await?, 0),
            (None, None) => (TaskId::mint(&*self.entropy), 0),
        })
    }

    /// Puts work on the list and makes it durable. A name whose task has expired is free again, though it may stand in the
    /// store until that is swept: then under another id.
    async fn enlist_and_keep(
        &self,
        mut id: TaskId,
        logged: u64,
        request: &Request,
        webhook: Option<Box<Webhook>>,
    ) -> ListedWork {
        loop {
            let (written, news) = watch::channel(logged);
            let stop = WorkStop::new(id.clone());
            // Of the run of now: one that is lost from here on stops what is on the list, and its tasks go to others.
            let by = TaskBeginning { run: self.lease.run(), at: self.moment_of(request) };
            // On the list before it is in the store: whoever finds the task there can follow and cancel it here.
            self.enlist(&id, Live { stop: stop.clone(), written: news });
            let task = self.keep_with_journal(&id, logged, request, webhook.clone(), &by).await;
            let is_named = matches!(task, Err(NotKept { exists: true, .. })) && request.name.is_some();
            if is_named && matches!(self.store.task(&id, self.clock.now()).await, Ok(None)) {
                self.delist(&id, &written);
                id = TaskId::mint(&*self.entropy);
                continue;
            }
            return ListedWork { id, stop, written, task };
        }
    }

    fn moment_of(&self, request: &Request) -> Timestamp {
        if request.name.is_some() { self.names.moment() } else { self.clock.now() }
    }

    /// Makes the work durable, and with it what another run would go on by.
    async fn keep_with_journal(
        &self,
        id: &TaskId,
        logged: u64,
        request: &Request,
        webhook: Option<Box<Webhook>>,
        by: &TaskBeginning,
    ) -> Result<Task, NotKept> {
        let (now, run) = (by.at, by.run.to_string());
        let Some(journal) = &request.journal else { return self.keep(id, request, webhook, by).await };
        // A journal is kept before it is known whose the name is, and what a copy of the message leaves behind should be
        // rare: most of them come when there is a task of it.
        if request.name.is_some() && self.store.task(id, now).await.map_err(Error::from)?.is_some() {
            return Err(NotKept::taken());
        }
        let begun_at = request.earlier.is_none().then_some(now);
        let used = request.earlier.as_deref().map(used_in_earlier_turns).unwrap_or_default();
        journal.open(WorkBeginning { logged, used, begun_at, run });
        let stream = JournalStream {
            store: &*self.store,
            task: id,
            account: request.account(),
            now,
            expires_at: after(now, TASK_TTL),
        };
        // The journal is never behind the task, which would be lost with a node that is killed between them: a copy of
        // the message that turns out to be too late leaves an entry that is of no task. Together, so that a store that
        // writes for both does it in one commit.
        let (written, task) = futures::join!(journal.write(&stream), self.keep(id, request, webhook, by));
        // The work itself tries again.
        if let Err(error) = written {
            tracing::warn!(%error, "what a task would go on by is not kept yet");
        }
        if task.is_ok() {
            journal.forget_asked();
        }
        task
    }

    /// Makes the work durable: as a new task, or as the next turn of one that waited. When the store goes away in the
    /// middle, nobody knows whether it did: then with the task as it would be.
    async fn keep(
        &self,
        id: &TaskId,
        request: &Request,
        webhook: Option<Box<Webhook>>,
        by: &TaskBeginning,
    ) -> Result<Task, NotKept> {
        let turn = request.turn.clone().unwrap_or_else(|| Turn::new(Role::User, Vec::new()));
        if let Some(earlier) = &request.earlier {
            return self.resume((**earlier).clone(), turn, webhook, by).await;
        }
        let task = Task {
            id: id.clone(),
            agent: request.resident.card.handle().clone(),
            thread: request.thread.clone(),
            owner: request.owner.clone(),
            account: request.account(),
            received_via: request.via.to_owned(),
            trace: request.trace.clone(),
            turns: vec![turn],
            state: TaskState::Working,
            outcome: None,
            run: by.run.to_string(),
            created_at: by.at,
            updated_at: by.at,
            expires_at: after(by.at, TASK_TTL),
        };
        let kept = self.store.create_task(task.clone(), webhook.map(|webhook| *webhook).into_iter().collect()).await;
        let kept = match kept {
            Ok(()) => Ok(task),
            Err(error) => Err(NotKept::of(task, error)),
        };
        if let Ok(task) = &kept {
            self.metrics.task_begun(&task.agent);
        }
        let is_refused = kept.as_ref().is_err_and(|not_kept| not_kept.is_of_store);
        self.has_refused_task.store(is_refused, Ordering::Relaxed);
        kept
    }

    /// Ends a task of which nobody knows whether it was written: nobody works on it and nobody was told of it, and
    /// its run is alive, so that no other node would.
    async fn end_unheard(&self, task: &Task, is_resumed: bool, stop: &WorkStop) {
        let settle = || async {
            let is_ours = match is_resumed {
                // Whoever tried again has it by now.
                true => !self.running.lock().contains_key(&task_hash(&task.id)),
                // Whoever sends a named message again is on the list for a moment, and finds that this one was written.
                false => {
                    let kept = self.store.task(&task.id, self.clock.now()).await?;
                    kept.is_some_and(|kept| kept.created_at == task.created_at)
                }
            };
            if is_ours { self.settle(task, ReplyAccumulator::default().finish(cut_off())).await } else { Ok(false) }
        };
        // A host that stops does not wait for it: its run ends with it.
        stop.cancel();
        if let Err(error) = self.until_written(stop, settle).await {
            tracing::debug!(%error, "a task that may have been written is left to the next run");
        }
    }
}

/// What models used for earlier turns of a task.
fn used_in_earlier_turns(task: &Task) -> AnswerUsage {
    task.outcome.as_ref().map(|outcome| outcome.usage.clone()).unwrap_or_default()
}

/// By which run a task, or a turn of it, is begun, and when.
pub(crate) struct TaskBeginning {
    pub(crate) run: Arc<str>,
    pub(crate) at: Timestamp,
}

/// Work that is on the list, and whether it is durable.
struct ListedWork {
    id: TaskId,
    stop: WorkStop,
    written: watch::Sender<u64>,
    task: Result<Task, NotKept>,
}

/// Why work is not durable.
pub(crate) struct NotKept {
    /// The task as it would be, when it may be durable all the same.
    unsure: Option<Task>,
    /// Whether a task of its id was there before.
    exists: bool,
    /// Whether the store as a whole had no room or was not to be reached, and not this caller alone met a bound.
    is_of_store: bool,
    error: Error,
}

impl NotKept {
    /// There is a task of its id.
    fn taken() -> Self {
        Self { unsure: None, exists: true, is_of_store: false, error: StoreError::Exists.into() }
    }

    /// Why `task`, which the store was asked to write, is not durable.
    pub(crate) fn of(task: Task, error: StoreError) -> Self {
        let exists = matches!(error, StoreError::Exists);
        let is_of_store = match &error {
            StoreError::Full { bound } => matches!(bound, QuotaBound::Store { .. } | QuotaBound::Disk),
            StoreError::Unavailable(_) | StoreError::Corrupt(_) => true,
            StoreError::NotHeld | StoreError::Exists => false,
        };
        let unsure = matches!(error, StoreError::Unavailable(_)).then_some(task);
        Self { unsure, exists, is_of_store, error: error.into() }
    }
}

/// It was not written.
impl From<Error> for NotKept {
    fn from(error: Error) -> Self {
        Self { unsure: None, exists: false, is_of_store: false, error }
    }
}

/// Work that the host keeps going.
pub(crate) struct BackgroundWork {
    pub(crate) task: TaskId,
    /// Events in its log before this work.
    pub(crate) logged: u64,
}
