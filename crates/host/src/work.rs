//! One background task at work: each event is in the log before anybody sees it.

use std::sync::Arc;

use forecourt_core::reply::Gathered;
use forecourt_core::store::KeptArtifact;
use forecourt_core::{Admitted, Collected, Ending, Event, FileSource, Part, Task, TaskState, ThreadId, Turn};
use futures::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use crate::directory::Resident;
use crate::metrics::ending_name;
use crate::running;
use crate::tasks::{Tasks, cut_off};

/// Events that are written in one go.
const EVENTS_PER_WRITE_MAX: usize = 256;

/// One background task at work.
pub(crate) struct Work {
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) resident: Arc<Resident>,
    pub(crate) task: Task,
    pub(crate) asked: Option<(ThreadId, Turn)>,
    pub(crate) written: watch::Sender<u64>,
    pub(crate) cancel: CancellationToken,
    pub(crate) permit: OwnedSemaphorePermit,
}

impl Work {
    /// Works to the ending, and records it.
    pub(crate) async fn run(self, admitted: Admitted) {
        let via = admitted.message().received_via;
        let _running = self.tasks.metrics.count_task();
        let outcome = self.work(admitted).await;
        let ending = outcome.ending.clone();
        if let Some((thread, turn)) = &self.asked {
            self.tasks.remember(&self.resident, thread, turn.clone(), outcome.clone()).await;
        }
        if let Err(error) = self.tasks.settle(&self.task.id, TaskState::Working, outcome).await {
            tracing::error!(%error, "the end of a task was not kept");
        }
        self.tasks.metrics.ended(&self.task.agent, via, ending_name(&ending));
        self.tasks.running.lock().remove(self.task.id.expose());
        drop(self.permit);
    }

    /// Drives the agent and logs each event before anybody sees it.
    async fn work(&self, admitted: Admitted) -> Collected {
        let events = running::run(&self.resident, admitted, &self.tasks.site);
        let mut batches = events.ready_chunks(EVENTS_PER_WRITE_MAX);
        let mut gathered = Gathered::default();
        let mut count = 0;
        loop {
            let batch = tokio::select! {
                batch = batches.next() => batch,
                () = self.cancel.cancelled() => Some(vec![Event::Ending(self.stopped())]),
            };
            let Some(batch) = batch else { return gathered.finish(cut_off()) };
            let batch = self.keep_files(batch, count).await;
            let ending = batch.iter().cloned().find_map(|event| gathered.take(event));
            let first = count + 1;
            count += batch.len() as u64;
            if let Err(error) = self.tasks.store.append_events(&self.task.id, first, batch).await {
                tracing::error!(%error, "the events of a task were not kept");
                return gathered.finish(Ending::Failed { reason: "The answer could not be kept.".to_owned() });
            }
            self.written.send_replace(count);
            if let Some(ending) = ending {
                return gathered.finish(ending);
            }
        }
    }

    fn stopped(&self) -> Ending {
        match self.tasks.is_draining() {
            true => Ending::Failed { reason: "The host was shut down before this was done.".to_owned() },
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
            KeptArtifact { id: id.clone(), mime: file.mime.clone(), name: file.name.clone(), bytes: bytes.clone() };
        match self.tasks.store.put_artifact(&self.task.id, artifact).await {
            Ok(()) => {
                file.id = Some(id);
                file.source = FileSource::Kept;
            }
            Err(error) => tracing::warn!(%error, "an artifact was not kept"),
        }
        Event::Part(Part::File(file))
    }
}
