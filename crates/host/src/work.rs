//! One background task at work: each event is in the log before anybody sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use forecourt_core::clock::after;
use forecourt_core::limits::TASK_TTL;
use forecourt_core::reply::ReplyAccumulator;
use forecourt_core::store::StoredArtifact;
use forecourt_core::{
    Account, AnswerUsage, CollectedReply, Ending, Event, EventStream, FailureCause, File, FileSource, Part,
    PaymentReceipt, StopReason, StopSign, StoreError, Task, Transport, UsageMeter,
};
use forecourt_telemetry::spans;
use futures::StreamExt;
use tokio::sync::watch;
use tracing::Span;

use crate::catch_up::{CatchUp, going_on};
use crate::conversations::UserTurn;
use crate::directory::HostedAgent;
use crate::in_flight::Slot;
use crate::journal::{Journal, JournalStream};
use crate::tasks::{Tasks, WorkStop, cut_off};

/// Events that are written in one go.
const EVENTS_PER_WRITE_MAX: usize = 256;

/// One background task at work.
pub(crate) struct Work {
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) resident: Arc<HostedAgent>,
    pub(crate) task: Task,
    pub(crate) via: Transport,
    /// The turn that is stored with the answer; `None` where the agent keeps no conversations.
    pub(crate) asked: Option<UserTurn>,
    /// Events in the log before this work.
    pub(crate) logged: u64,
    /// The number of the last event in the log.
    pub(crate) written: watch::Sender<u64>,
    pub(crate) stop: WorkStop,
    /// By what the agent learns why it is stopped.
    pub(crate) sign: StopSign,
    pub(crate) slot: Slot,
    /// The receipt of what is paid for it.
    pub(crate) receipt: PaymentReceipt,
    /// What models used for it.
    pub(crate) usage: UsageMeter,
    /// What they used for earlier turns of the task.
    pub(crate) used_before: AnswerUsage,
    /// What another run would go on by, where its agent is set so.
    pub(crate) journal: Option<Arc<Journal>>,
    /// Whose bytes that is.
    pub(crate) account: Account,
    /// What is known already to those who follow; `None` in the first try.
    pub(crate) catch_up: Option<CatchUp>,
    /// The how many-th run of the work it is.
    pub(crate) runs: u32,
    /// Files of this try so far, where it is a later one.
    pub(crate) later_files: AtomicU64,
}

impl Work {
    /// Works to the ending, and records it. Whoever sees the ending sees the task settled, and can go
    /// on with it. Work that another run goes on with has no ending here.
    pub(crate) async fn run(mut self, events: EventStream) {
        let _running = self.tasks.metrics.count_task();
        let Some(mut outcome) = self.work(events).await else { return self.hand_over().await };
        // What the turns of one task used adds up: `usage` here is of this turn alone.
        outcome.usage.add_all(&self.used_before);
        outcome.usage.add_all(&self.usage.so_far());
        outcome.receipt = self.receipt.paid_at_the_end().cloned().map(Box::new);
        let ending = outcome.ending.clone();
        spans::record_outcome(&Span::current(), ending.code(), matches!(ending, Ending::Failed { .. }));
        if let Some(asked) = &self.asked {
            self.tasks.remember(&self.resident, asked.clone(), &outcome).await;
        }
        // A task whose end was not written would be stuck: its run is alive.
        let settle = async |outcome: CollectedReply| {
            self.tasks.until_written(&self.stop, || self.tasks.settle(&self.task, outcome.clone())).await
        };
        let settled = match settle(outcome).await {
            // So short an end is always kept.
            Err(StoreError::Full { bound }) => settle(unkept(StoreError::Full { bound })).await,
            settled => settled,
        };
        if let Err(error) = settled {
            tracing::error!(%error, "the end of a task was not kept");
        }
        self.tasks.metrics.ended(&self.task.agent, self.via, ending.code());
        self.tasks.metrics.task_ended(&self.task.agent, ending.code());
        self.tasks.metrics.activity.failed(&self.task.agent, self.via, &ending, self.tasks.clock.now());
        // After the end is in the store: followers take a closed channel for a task that is settled there.
        self.tasks.delist(&self.task.id, &self.written);
        drop(self.slot);
    }

    /// Drives the agent and logs each event but the ending, which is logged as the task settles. `None` when another
    /// run goes on with the work.
    async fn work(&mut self, events: EventStream) -> Option<CollectedReply> {
        let mut catch_up = self.catch_up.take();
        let mut batches = events.ready_chunks(EVENTS_PER_WRITE_MAX);
        let mut gathered = ReplyAccumulator::default();
        let mut count = self.logged;
        if catch_up.is_some() {
            match self.log(&mut count, vec![going_on()]).await {
                Ok(()) => {}
                Err(error) => return self.unlogged(error, gathered).await,
            }
        }
        loop {
            // In this order, so that a run can be repeated; an agent that always has more to say is stopped all the same.
            let batch = tokio::select! {
                biased;
                () = self.stop.stopped() => match self.stopped() {
                    Some(ending) => Some(vec![Event::Ending(ending)]),
                    // Before the agent is dropped: it leaves what lives elsewhere as it is.
                    None => return None,
                },
                () = self.journal_news() => match self.write_journal().await {
                    Ok(()) => continue,
                    Err(error) => return self.unlogged(error, gathered).await,
                },
                batch = batches.next() => batch,
            };
            let Some(batch) = batch else { return Some(gathered.finish(cut_off())) };
            let batch = self.keep_files(batch, count, catch_up.as_ref()).await;
            let ending = batch.iter().cloned().find_map(|event| gathered.take(event));
            let mut batch = match &mut catch_up {
                Some(catch_up) => catch_up.take(batch),
                None => batch,
            };
            batch.retain(|event| !matches!(event, Event::Ending(_)));
            // Before what is said from there on: whoever goes on finds both, or the note alone.
            let written = match self.write_journal().await {
                Ok(()) => self.log(&mut count, batch).await,
                lost => lost,
            };
            if let Err(error) = written {
                return self.unlogged(error, gathered).await;
            }
            if let Some(ending) = ending {
                return Some(gathered.finish(ending));
            }
        }
    }

    /// What work comes to whose events are not taken.
    async fn unlogged(&self, error: StoreError, gathered: ReplyAccumulator) -> Option<CollectedReply> {
        match error {
            // It was cancelled, or this node lost it: somebody else has said what became of it.
            StoreError::NotHeld if self.is_taken_up().await => None,
            StoreError::NotHeld => self.stopped().map(|ending| gathered.finish(ending)),
            error => Some(unkept(error)),
        }
    }

    /// Whether another run goes on with it.
    async fn is_taken_up(&self) -> bool {
        let Some(journal) = self.journal.as_ref().filter(|journal| journal.is_kept()) else { return false };
        let found = self.tasks.store.task(&self.task.id, self.tasks.clock.now()).await;
        let goes_on = found.is_ok_and(|task| task.is_some_and(|task| !task.state.is_settled()));
        if goes_on {
            journal.hand_over();
        }
        goes_on
    }

    /// Leaves the work to another run.
    async fn hand_over(self) {
        if let Some(journal) = self.journal.as_ref().filter(|_| !self.stop.is_lost()) {
            // Tried once: without it this was a try, and no more.
            if let Err(error) = journal.note_handed_over(&self.journal_stream()).await {
                tracing::debug!(%error, "a try that was given up in good order counts");
            }
        }
        self.tasks.delist(&self.task.id, &self.written);
    }

    fn journal_stream(&self) -> JournalStream<'_> {
        let (store, now) = (&*self.tasks.store, self.tasks.clock.now());
        JournalStream {
            store,
            task: &self.task.id,
            account: self.account.clone(),
            now,
            expires_at: after(now, TASK_TTL),
        }
    }

    /// Waits until there is something to write into the journal; for ever where there is none.
    async fn journal_news(&self) {
        match &self.journal {
            Some(journal) => journal.news().await,
            None => std::future::pending().await,
        }
    }

    /// Fails with [`StoreError::NotHeld`] when another run goes on with the work.
    async fn write_journal(&self) -> Result<(), StoreError> {
        let Some(journal) = &self.journal else { return Ok(()) };
        let write = || async { journal.write(&self.journal_stream()).await };
        match self.tasks.until_written(&self.stop, write).await {
            // This run stops, and the agent waits: it has begun nothing that is not noted.
            Ok(()) | Err(StoreError::Unavailable(_)) => Ok(()),
            Err(StoreError::NotHeld) => Err(StoreError::NotHeld),
            Err(error) => {
                tracing::warn!(%error, "what a task would go on by is not kept");
                journal.give_up(&self.journal_stream()).await;
                Ok(())
            }
        }
    }

    /// Adds to the log, behind its first `count` events.
    async fn log(&self, count: &mut u64, events: Vec<Event>) -> Result<(), StoreError> {
        if events.is_empty() {
            return Ok(());
        }
        let (first, last) = (*count + 1, *count + events.len() as u64);
        let (tasks, task) = (&self.tasks, &self.task);
        let append = |events| tasks.store.append_events(&task.id, &task.run, first, events);
        tasks.until_written(&self.stop, || append(events.clone())).await?;
        *count = last;
        self.written.send_replace(last);
        tasks.tell_of_news(&task.id);
        Ok(())
    }

    /// Why it was stopped; `None` when another run goes on with the work.
    fn stopped(&self) -> Option<Ending> {
        let journal = self.journal.as_ref().filter(|journal| journal.is_kept());
        let (is_lost, is_draining) = (self.stop.is_lost(), self.tasks.is_draining());
        // Before the agent is dropped, which looks at it.
        self.sign.set(if is_lost || is_draining { StopReason::Shutdown } else { StopReason::Canceled });
        if let Some(journal) = journal.filter(|_| is_lost || is_draining) {
            journal.hand_over();
            return None;
        }
        Some(match is_draining {
            _ if is_lost => cut_off(),
            true => FailureCause::NodeLost.ending("The host was shut down before this was done."),
            false => Ending::Canceled,
        })
    }

    /// Files with bytes become artifacts of the task; those that an earlier try has kept stay the ones that they are.
    async fn keep_files(&self, batch: Vec<Event>, count: u64, catch_up: Option<&CatchUp>) -> Vec<Event> {
        let mut kept = Vec::with_capacity(batch.len());
        for (event, number) in batch.into_iter().zip(count + 1..) {
            kept.push(match event {
                Event::Part(Part::File(file)) => Event::Part(Part::File(self.keep_file(file, number, catch_up).await)),
                event => event,
            });
        }
        kept
    }

    async fn keep_file(&self, mut file: File, number: u64, catch_up: Option<&CatchUp>) -> File {
        let FileSource::Inline(bytes) = &file.source else { return file };
        let known = catch_up.and_then(CatchUp::next_file).filter(|known| known.name == file.name);
        if let Some(known) = known.filter(|known| known.mime == file.mime)
            && self.has_kept(known, bytes).await
        {
            return known.clone();
        }
        let id = self.artifact_id(number);
        let artifact =
            StoredArtifact { id: id.clone(), mime: file.mime.clone(), name: file.name.clone(), bytes: bytes.clone() };
        match self.tasks.store.put_artifact(&self.task.id, &self.task.run, artifact).await {
            Ok(()) => {
                file.id = Some(id);
                file.source = FileSource::Kept;
            }
            Err(error) => tracing::warn!(%error, "an artifact was not kept"),
        }
        file
    }

    /// Whether these are the bytes of a file that is kept.
    async fn has_kept(&self, known: &File, bytes: &Bytes) -> bool {
        let Some(id) = &known.id else { return false };
        let found = self.tasks.store.artifact(&self.task.id, id, self.tasks.clock.now()).await;
        found.is_ok_and(|found| found.is_some_and(|found| found.bytes == *bytes))
    }

    /// The id of a file. That of a later try is none of an earlier one: the first file of an id stays.
    fn artifact_id(&self, number: u64) -> String {
        match self.runs {
            0 | 1 => format!("artifact-{number}"),
            runs => {
                let place = self.later_files.fetch_add(1, Ordering::Relaxed);
                format!("artifact-{number}-{runs}-{place}")
            }
        }
    }
}

/// What a task comes to whose answer can't be kept: nothing of it, so that this can. Names the bound.
fn unkept(error: StoreError) -> CollectedReply {
    let ending = match error {
        StoreError::Full { bound } => FailureCause::OverBound.ending(format!("The answer could not be kept: {bound}.")),
        error => {
            tracing::error!(%error, "the events of a task were not kept");
            FailureCause::CutOff.ending("The answer could not be kept.")
        }
    };
    ReplyAccumulator::default().finish(ending)
}
