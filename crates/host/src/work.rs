//! One background task at work: each event is in the log before anybody sees it.

use std::sync::Arc;

use forecourt_core::reply::ReplyAccumulator;
use forecourt_core::store::StoredArtifact;
use forecourt_core::{
    CollectedReply, Ending, Event, EventStream, FailureCause, FileSource, Part, StoreError, Task, Transport, UsageMeter,
};
use forecourt_telemetry::spans;
use futures::StreamExt;
use tokio::sync::watch;
use tracing::Span;

use crate::conversations::UserTurn;
use crate::directory::HostedAgent;
use crate::in_flight::Slot;
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
    pub(crate) slot: Slot,
    /// What models used for it.
    pub(crate) usage: UsageMeter,
}

impl Work {
    /// Works to the ending, and records it. Whoever sees the ending sees the task settled, and can go
    /// on with it.
    pub(crate) async fn run(self, events: EventStream) {
        let _running = self.tasks.metrics.count_task();
        let mut outcome = self.work(events).await;
        // What the turns of one task used adds up: `usage` here is of this turn alone.
        if let Some(earlier) = &self.task.outcome {
            outcome.usage.add_all(&earlier.usage);
        }
        outcome.usage.add_all(&self.usage.so_far());
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
        self.tasks.metrics.activity.failed(&self.task.agent, self.via, &ending, self.tasks.clock.now());
        // After the end is in the store: followers take a closed channel for a task that is settled there.
        self.tasks.delist(&self.task.id, &self.written);
        drop(self.slot);
    }

    /// Drives the agent and logs each event but the ending, which is logged as the task settles.
    async fn work(&self, events: EventStream) -> CollectedReply {
        let mut batches = events.ready_chunks(EVENTS_PER_WRITE_MAX);
        let mut gathered = ReplyAccumulator::default();
        let mut count = self.logged;
        loop {
            // In this order, so that a run can be repeated; an agent that always has more to say is stopped all the same.
            let batch = tokio::select! {
                biased;
                () = self.stop.stopped() => Some(vec![Event::Ending(self.stopped())]),
                batch = batches.next() => batch,
            };
            let Some(batch) = batch else { return gathered.finish(cut_off()) };
            let mut batch = self.keep_files(batch, count).await;
            let ending = batch.iter().cloned().find_map(|event| gathered.take(event));
            batch.retain(|event| !matches!(event, Event::Ending(_)));
            let first = count + 1;
            count += batch.len() as u64;
            match self.log(first, batch).await {
                Ok(()) => {}
                // It was cancelled, or this node lost it: somebody else has said what became of it.
                Err(StoreError::NotHeld) => return gathered.finish(self.stopped()),
                Err(error) => return unkept(error),
            }
            if let Some(ending) = ending {
                return gathered.finish(ending);
            }
        }
    }

    async fn log(&self, first: u64, events: Vec<Event>) -> Result<(), StoreError> {
        if events.is_empty() {
            return Ok(());
        }
        let last = first + events.len() as u64 - 1;
        let (tasks, task) = (&self.tasks, &self.task);
        let append = |events| tasks.store.append_events(&task.id, &task.run, first, events);
        tasks.until_written(&self.stop, || append(events.clone())).await?;
        self.written.send_replace(last);
        tasks.tell_of_news(&task.id);
        Ok(())
    }

    fn stopped(&self) -> Ending {
        match self.tasks.is_draining() {
            _ if self.stop.is_lost() => cut_off(),
            true => FailureCause::NodeLost.ending("The host was shut down before this was done."),
            false => Ending::Canceled,
        }
    }

    /// Files with bytes become artifacts of the task.
    async fn keep_files(&self, batch: Vec<Event>, count: u64) -> Vec<Event> {
        let mut kept = Vec::with_capacity(batch.len());
        for (event, number) in batch.into_iter().zip(count + 1..) {
            kept.push(self.keep_file(event, number).await);
        }
        kept
    }

    async fn keep_file(&self, event: Event, number: u64) -> Event {
        let Event::Part(Part::File(mut file)) = event else { return event };
        let FileSource::Inline(bytes) = &file.source else { return Event::Part(Part::File(file)) };
        let id = format!("artifact-{number}");
        let artifact =
            StoredArtifact { id: id.clone(), mime: file.mime.clone(), name: file.name.clone(), bytes: bytes.clone() };
        match self.tasks.store.put_artifact(&self.task.id, &self.task.run, artifact).await {
            Ok(()) => {
                file.id = Some(id);
                file.source = FileSource::Kept;
            }
            Err(error) => tracing::warn!(%error, "an artifact was not kept"),
        }
        Event::Part(Part::File(file))
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
