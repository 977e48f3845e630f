//! Tasks whose run is gone: they end as failed, or this run takes them up, as their agent is set.
//!
//! Of all nodes that want a task one gets it: the store compares which run has it. What the agent is asked again is what
//! the journal of the work kept. Limits, consents and payments were met when the message came and are not asked for
//! again; rules that refuse are. A message that used up a consent or a payment has no journal: what was paid may be used
//! again once its run is gone, and must not be answered twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forecourt_core::clock::after;
use forecourt_core::limits::TASK_TTL;
use forecourt_core::reply::{ReplyAccumulator, once};
use forecourt_core::store::TaskChange;
use forecourt_core::{
    Admitted, CallerKey, Ending, Error, Event, FailureCause, Message, PaymentReceipt, StoreError, Task, TaskId,
    TaskState, WorkJournal,
};
use forecourt_telemetry::spans;
use futures::{StreamExt, stream};
use tokio::sync::watch;
use tracing::Instrument;

use crate::catch_up::CatchUp;
use crate::directory::HostedAgent;
use crate::in_flight::Slot;
use crate::journal::{Journal, JournalStream, KeptWork, NOTE_BYTES_MAX, NOTES_BYTES_MAX, NOTES_MAX, WORK_TRIES_MAX};
use crate::on_lost::OnLost;
use crate::request::Request;
use crate::residents::AnsweringHost;
use crate::running;
use crate::tasks::{Live, Tasks, WorkStop, cut_off};
use crate::work::Work;

/// Orphans that are read at once.
const ORPHANS_PER_READ: usize = 200;
/// Orphans that are looked after at once.
const ORPHANS_AT_ONCE: usize = 16;
/// Events that are read of a log in one go.
const EVENTS_PER_READ: usize = 256;

/// How many tasks of runs that are gone were looked after.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OrphanCount {
    /// Those that ended as failed.
    pub(crate) ended: u64,
    /// Those that go on here.
    pub(crate) taken_up: u64,
}

/// What becomes of one of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OrphanFate {
    Ended,
    TakenUp,
    /// Somebody else has it, or there is no place for it now.
    Left,
}

/// A task that this run took up, and what it goes on with.
struct TakenTask {
    resident: Arc<HostedAgent>,
    task: Task,
    kept: KeptWork,
    host: AnsweringHost,
    written: watch::Sender<u64>,
    stop: WorkStop,
    slot: Slot,
}

impl Tasks {
    /// Ends or takes up the tasks of runs that lost their lease. The store compares who holds each, so that it is done
    /// once.
    pub(crate) async fn look_after_orphans(self: &Arc<Self>) -> Result<OrphanCount, Error> {
        let mut count = OrphanCount::default();
        self.has_left_orphans.store(false, Ordering::Relaxed);
        loop {
            let orphans = self.store.orphaned_tasks(ORPHANS_PER_READ).await?;
            let all = orphans.len();
            let fates: Vec<_> = stream::iter(orphans)
                .map(|task| self.look_after(task))
                .buffer_unordered(ORPHANS_AT_ONCE)
                .collect()
                .await;
            let before = count;
            for fate in fates {
                match fate? {
                    OrphanFate::Ended => count.ended += 1,
                    OrphanFate::TakenUp => count.taken_up += 1,
                    OrphanFate::Left => self.has_left_orphans.store(true, Ordering::Relaxed),
                }
            }
            if all < ORPHANS_PER_READ || count == before {
                return Ok(count);
            }
        }
    }

    async fn look_after(self: &Arc<Self>, task: Task) -> Result<OrphanFate, StoreError> {
        let host = self.residents.load_full().and_then(|residents| residents.upgrade());
        let resident = host.as_ref().and_then(|host| host.directory.find(&task.agent)).cloned();
        let (Some(host), Some(resident)) = (host, resident.filter(|resident| resident.on_lost != OnLost::Fail)) else {
            return self.end_lost(&task, cut_off()).await;
        };
        if self.accepting().is_err() || self.news(&task.id).is_some() {
            return Ok(OrphanFate::Left);
        }
        let Some(kept) = KeptWork::read(&*self.store, &task, self.clock.now()).await? else {
            return self.end_lost(&task, cut_off()).await;
        };
        if kept.is_closed {
            return self.end_lost(&task, too_much_to_keep()).await;
        }
        if kept.tries >= WORK_TRIES_MAX {
            return self.end_lost(&task, lost_each_time()).await;
        }
        let Some(slot) = self.in_flight.place_for_lost_work() else { return Ok(OrphanFate::Left) };
        self.take_up(OrphanTask { resident, task, kept, host }, slot).await
    }

    async fn end_lost(&self, task: &Task, ending: Ending) -> Result<OrphanFate, StoreError> {
        self.settle(task, ReplyAccumulator::default().finish(ending)).await?;
        Ok(OrphanFate::Ended)
    }

    /// Has this run go on with the task, once it holds it.
    async fn take_up(self: &Arc<Self>, mut orphan: OrphanTask, slot: Slot) -> Result<OrphanFate, StoreError> {
        // Counted before it begins, so that what kills its process is counted each time.
        let journal = self.journal_of(&orphan.task, &orphan.kept);
        if !orphan.kept.take_up(&journal).await? {
            return Ok(OrphanFate::Left);
        }
        let (written, news) = watch::channel(orphan.kept.asked.begun.logged);
        let stop = WorkStop::new(orphan.task.id.clone());
        // On the list before it is this run's: whoever finds the task can follow and cancel it here.
        self.enlist(&orphan.task.id, Live { stop: stop.clone(), written: news });
        self.metrics.count_taken_up();
        let span = spans::task(orphan.resident.card.handle().as_str());
        let tasks = self.clone();
        // By itself: a store that is away in the middle must not keep this run from its heartbeat.
        let work = async move {
            let OrphanTask { resident, task, kept, host } = orphan;
            match tasks.hold(&stop, &task).await {
                Ok(Some(task)) => {
                    tasks.work_anew(TakenTask { resident, task, kept, host, written, stop, slot }).await;
                }
                // It was cancelled, or another node has it.
                Ok(None) => tasks.delist(&task.id, &written),
                Err(error) => {
                    tasks.delist(&task.id, &written);
                    tasks.end_unheld(&task, error).await;
                }
            }
        };
        self.tracker.spawn(work.instrument(span));
        Ok(OrphanFate::TakenUp)
    }

    /// Has this run hold the task: it as it is then, `None` when somebody else was first. Of two answers of a store
    /// that went away in between the second one tells whether it was this run.
    async fn hold(&self, stop: &WorkStop, task: &Task) -> Result<Option<Task>, StoreError> {
        let (run, now) = (self.lease.run().to_string(), self.clock.now());
        let change = TaskChange::take_up(task, run.clone(), after(now, TASK_TTL), now);
        let taken = Task { state: TaskState::Working, run, ..task.clone() };
        let moved = self.until_written(stop, || self.store.advance_task(&task.id, change.clone())).await?;
        let is_ours = moved || {
            let found = self.until_written(stop, || self.store.task(&task.id, self.clock.now())).await?;
            found.is_some_and(|found| found.run == taken.run && !found.state.is_settled())
        };
        if is_ours {
            self.tell_of_news(&task.id);
        }
        Ok(is_ours.then_some(taken))
    }

    /// Ends a task that this run could not hold.
    async fn end_unheld(&self, task: &Task, error: StoreError) {
        let ended = match error {
            // Its caller has no room left for its next step; so short an end is always kept.
            StoreError::Full { bound } => {
                let ending = FailureCause::OverBound.ending(format!("The work could not go on: {bound}."));
                self.end_lost(task, ending).await.map(drop)
            }
            error => Err(error),
        };
        if let Err(error) = ended {
            tracing::warn!(%error, "a task of a node that is gone was not taken up");
        }
    }

    /// Where the journal of an orphan is written.
    fn journal_of<'a>(&'a self, task: &'a Task, kept: &KeptWork) -> JournalStream<'a> {
        let now = self.clock.now();
        JournalStream {
            store: &*self.store,
            task: &task.id,
            account: kept.account(),
            now,
            expires_at: after(now, TASK_TTL),
        }
    }

    /// Works on a task that was taken up, to its end.
    async fn work_anew(self: Arc<Self>, taken: TakenTask) {
        let TakenTask { resident, task, kept, host, written, stop, slot } = taken;
        self.opened(&stop).await;
        let journal = Journal::take_up(&kept);
        let first = kept.asked.begun.logged;
        let read = self.until_written(&stop, || self.events_behind(&task.id, first)).await;
        let (last, earlier) = match read {
            Ok(read) => read,
            Err(error) => {
                // Its run is alive, so nobody else would end it.
                tracing::error!(%error, "the log of a task that goes on can't be read");
                let outcome = ReplyAccumulator::default().finish(cut_off());
                if let Err(error) = self.until_written(&stop, || self.settle(&task, outcome.clone())).await {
                    tracing::error!(%error, "the end of a task was not kept");
                }
                return self.delist(&task.id, &written);
            }
        };
        let (is_known, used) = (kept.asked.is_known, kept.asked.begun.used.clone());
        let runs = kept.runs + 1;
        let message = kept.asked.message.into_message();
        let slots = self.in_flight.slots(&CallerKey::of(task.owner.as_deref(), None, message.sender.network()));
        let request = Request::taken_up(resident.clone(), &message, slots, is_known, host.records.clone());
        let request = Arc::new(request.with_journal(journal.clone()));
        let events = match self.readmitted(&host, &resident, message, &stop).await {
            _ if stop.is_stopped() => stream::empty().boxed(),
            Ok(admitted) => {
                let admitted = admitted.with_usage(request.meter()).with_stop(request.stop.clone());
                let admitted = match resident.on_lost {
                    OnLost::Attach => admitted.with_journal(WorkJournal::new(journal.clone())),
                    OnLost::Fail | OnLost::Restart => admitted,
                };
                running::run(request.clone(), admitted, None, &self.site, &self.metrics)
            }
            Err(ending) => once(ending),
        };
        let (via, asked, usage) = (request.via, request.remembered(), request.meter());
        let work = Work {
            tasks: self,
            resident,
            task,
            via,
            asked,
            logged: last,
            written,
            stop,
            sign: request.stop.clone(),
            slot,
            receipt: PaymentReceipt::default(),
            usage,
            used_before: used,
            journal: Some(journal),
            account: request.account(),
            runs,
            catch_up: Some(CatchUp::after(earlier)),
            later_files: AtomicU64::new(0),
        };
        work.run(events).await;
    }

    /// Waits until agents can reach what they need of the host, or the work is stopped.
    async fn opened(&self, stop: &WorkStop) {
        let mut is_open = self.is_open.subscribe();
        tokio::select! {
            biased;
            () = stop.stopped() => {}
            // The sender is in these very tasks.
            _ = is_open.wait_for(|is_open| *is_open) => {}
        }
    }

    /// The events of a task behind number `first`, and the number of the last one.
    async fn events_behind(&self, task: &TaskId, first: u64) -> Result<(u64, Vec<Event>), StoreError> {
        let (mut last, mut all) = (first, Vec::new());
        loop {
            let read = self.store.events(task, last, EVENTS_PER_READ).await?;
            let is_whole = read.len() < EVENTS_PER_READ;
            for (number, event) in read {
                last = number;
                all.push(event);
            }
            if is_whole {
                return Ok((last, all));
            }
        }
    }

    /// The message, admitted once more; else how its task ends.
    async fn readmitted(
        &self,
        host: &AnsweringHost,
        resident: &HostedAgent,
        message: Message,
        stop: &WorkStop,
    ) -> Result<Admitted, Ending> {
        let reason = || async {
            match host.lifecycle.unavailable_reason(resident.card.handle()).await {
                // Nothing is known of the agent while the store is away, which must not end what was only lost.
                Err(Error::Unavailable { .. }) => Err(StoreError::Unavailable("states of agents".to_owned())),
                known => Ok(known),
            }
        };
        match self.until_written(stop, reason).await {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(part))) => return Err(Ending::Refused(Box::new(part))),
            Ok(Err(error)) => {
                tracing::info!(%error, "work does not go on: nobody may ask its agent any more");
                return Err(cut_off());
            }
            Err(error) => {
                tracing::warn!(%error, "work does not go on");
                return Err(cut_off());
            }
        }
        resident.policy.readmit(resident.card.clone(), message).await.map_err(Ending::Refused)
    }
}

/// A task to be taken up.
struct OrphanTask {
    resident: Arc<HostedAgent>,
    task: Task,
    kept: KeptWork,
    host: AnsweringHost,
}

/// What is said of work of which more happened than is kept.
fn too_much_to_keep() -> Ending {
    FailureCause::NodeLost.ending(format!(
        "The host stopped while this was running, and more had happened by then than is kept to go on by: at most \
         {NOTES_MAX} notes, of {NOTE_BYTES_MAX} bytes each and {NOTES_BYTES_MAX} together."
    ))
}

/// What is said of work whose node was lost in each of its tries.
fn lost_each_time() -> Ending {
    FailureCause::NodeLost.ending(format!("The host stopped each of the {WORK_TRIES_MAX} times that this was started."))
}
