//! What a run does for its lease: it beats, looks after the tasks of runs that fell silent, and gives up its own work once
//! it was ended itself. It also hears which of its tasks were cancelled on another node.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use forecourt_core::clock::after;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Bus, Error, Store, StoreError, Timestamp};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::lease::{Beat, in_time};
use crate::ledger::ENTRIES_PER_READ_MAX;
use crate::lifecycle::Lifecycle;
use crate::take_up::OrphanCount;
use crate::tasks::Tasks;
use crate::topics;

/// The stream of tasks that were cancelled on a node where nobody works on them.
const CANCELLED: &str = "host:cancelled";
/// How long such an entry is kept: far longer than any work goes on, whatever the clocks of nodes say.
const CANCELLED_KEPT: Duration = Duration::from_secs(6 * 60 * 60);
/// An entry of [`CANCELLED`].
#[derive(Serialize, Deserialize)]
struct CancelledTask {
    /// The hash of its id; empty in the first entry, which stays, so that numbers are never given twice.
    task: String,
}

impl Tasks {
    /// Says that this run is alive, and ends those that died: all others at once, when nobody else has this store.
    pub(crate) async fn recover(&self) -> Result<(), Error> {
        if self.lease.beat(&*self.store).await? == Beat::Ended {
            return Err(Error::unavailable());
        }
        if self.lease.is_alone() {
            let own = self.lease.run();
            for dead in self.store.runs().await?.iter().filter(|run| *run.run != *own) {
                self.store.end_run(dead).await?;
            }
        } else {
            self.lease.watch(&*self.store).await?;
            self.share_limits();
        }
        Ok(())
    }

    /// Beats until `stop`, then gives its lease back, so that nobody has to wait for its end.
    pub(crate) async fn keep_lease(self: Arc<Self>, stop: CancellationToken) {
        let every = self.lease.settings().beat_every;
        let mut cancelled = CancelledReader::default();
        let mut next = Instant::now();
        loop {
            // On a grid, so that slow writes don't stretch the pace. After a stall it goes on from now: missed beats
            // are not made up for.
            next = (next + every).max(Instant::now());
            if stop.run_until_cancelled(sleep_until(next)).await.is_none() {
                break;
            }
            self.beat_once(&mut cancelled).await;
        }
        if let Err(error) = self.give_back_lease().await {
            tracing::debug!(%error, "the lease was not given back: others wait until it is over");
        }
    }

    async fn beat_once(self: &Arc<Self>, cancelled: &mut CancelledReader) {
        let was_away = self.is_store_away.load(Ordering::Relaxed);
        // Together, so that a store that writes for both does it in one commit.
        let (beat, measured) = futures::join!(self.lease.beat(&*self.store), self.measure_clock());
        match beat {
            Ok(Beat::Kept) => {}
            Ok(Beat::Ended) => self.lose_lease().await,
            Err(error) => {
                if !self.is_store_away.swap(true, Ordering::Relaxed) {
                    tracing::error!(%error, "the store is away: nothing new is taken until it is back");
                }
                return;
            }
        }
        if let Err(error) = measured {
            tracing::warn!(%error, "the store did not say what time it is");
        }
        if was_away {
            self.is_store_away.store(false, Ordering::Relaxed);
            tracing::info!("the store is back");
        }
        if let Err(error) = self.look_around(cancelled).await {
            tracing::warn!(%error, "a node could not look after the others");
        }
    }

    /// Asks the store what time it is, where the clock is the store's.
    async fn measure_clock(&self) -> Result<(), StoreError> {
        let Some(clock) = self.host_clock.of_store() else { return Ok(()) };
        let time_max = self.lease.settings().beat_every;
        in_time(time_max, clock.measure(&*self.store, time_max / 2)).await?;
        self.metrics.tell_skew(clock.skew());
        Ok(())
    }

    async fn look_around(self: &Arc<Self>, cancelled: &mut CancelledReader) -> Result<(), StoreError> {
        if self.lease.is_alone() {
            // Of an earlier run, where not all of them had a place at once.
            return match self.has_left_orphans.load(Ordering::Relaxed) {
                true => self.go_on_with_orphans().await,
                false => Ok(()),
            };
        }
        let ended = self.lease.watch(&*self.store).await?;
        if ended > 0 {
            self.metrics.count_ended_nodes(ended);
            self.run_ended.notify_one();
        }
        // Asked for each time: whoever ended a run may have died before it ended the run's tasks.
        self.go_on_with_orphans().await?;
        for task in cancelled.read(&*self.store, self.clock.now()).await? {
            self.check_cancelled(&task).await;
        }
        self.share_limits();
        Ok(())
    }

    async fn go_on_with_orphans(self: &Arc<Self>) -> Result<(), StoreError> {
        let looked = self.look_after_orphans().await;
        let OrphanCount { ended, taken_up } = looked.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        if ended > 0 {
            tracing::warn!(ended, "tasks of a node that is gone have been ended as failed");
        }
        if taken_up > 0 {
            tracing::warn!(taken_up, "tasks of a node that is gone go on here");
        }
        Ok(())
    }

    /// Divides the bounds of callers among the nodes that are alive, and counts those nodes.
    fn share_limits(&self) {
        let living = self.lease.living();
        // Without a bus nobody hears what others take: then each node gives out its share and no more.
        self.rates.set_nodes(living, self.bus.fault().is_some());
        self.in_flight.set_nodes(living);
        self.metrics.count_nodes(living);
    }

    /// Another node ended this run: its tasks are not its own any more, so work on them stops, and what comes next
    /// belongs to another run.
    async fn lose_lease(&self) {
        self.metrics.count_lost_lease();
        let run = forecourt_core::ids::mint(&*self.entropy);
        // Before the work is stopped: what begins from here on is the new run's, and must not be stopped with it.
        self.lease.begin_anew(run);
        let lives: Vec<_> = self.running.lock().values().flatten().map(|live| live.stop.clone()).collect();
        tracing::error!(
            tasks = lives.len(),
            "this node was silent for longer than its lease, and another one ended its tasks: it goes on as a new one"
        );
        lives.iter().for_each(|stop| stop.lose());
        if let Err(error) = self.lease.beat(&*self.store).await {
            tracing::warn!(%error, "the first beat of a new run was not written");
        }
    }

    async fn give_back_lease(&self) -> Result<(), StoreError> {
        let own = self.lease.run();
        if let Some(seen) = self.store.runs().await?.iter().find(|seen| *seen.run == *own) {
            self.store.end_run(seen).await?;
        }
        Ok(())
    }

    /// Tells whoever works on a task elsewhere that it was cancelled: at once over the bus, and by the store with its
    /// next beat.
    pub(crate) async fn tell_of_cancellation(&self, task: &str) -> Result<(), Error> {
        if self.lease.is_alone() {
            return Ok(());
        }
        self.bus.publish(topics::CANCEL, Bytes::copy_from_slice(task.as_bytes()));
        let now = self.clock.now();
        let body = serde_json::to_value(CancelledTask { task: task.to_owned() }).map_err(Error::internal)?;
        let entry = LedgerEntry::new(body, now).until(after(now, CANCELLED_KEPT));
        self.store.append_entry(CANCELLED, entry, None).await?;
        Ok(())
    }

    /// Stops the work on a task here, if the store says that it is over or somebody else's: a word on the bus alone
    /// stops nothing.
    pub(crate) async fn check_cancelled(&self, task: &str) {
        let lives: Vec<_> = self.running.lock().get(task).into_iter().flatten().map(|live| live.stop.clone()).collect();
        let Some(first) = lives.first() else { return };
        match self.store.task(first.task(), self.clock.now()).await {
            Ok(Some(task)) if !task.state.is_final() => {}
            Ok(_) => lives.iter().for_each(|stop| stop.cancel()),
            Err(error) => tracing::debug!(%error, "a task that is said to be cancelled can't be looked at"),
        }
    }
}

/// How far [`CANCELLED`] was read.
#[derive(Default)]
struct CancelledReader {
    last: Option<u64>,
}

impl CancelledReader {
    /// The hashes of tasks that were cancelled since the last look; the first one finds none.
    async fn read(&mut self, store: &dyn Store, now: Timestamp) -> Result<Vec<String>, StoreError> {
        let Some(last) = self.last else {
            let first = LedgerEntry::new(serde_json::json!(CancelledTask { task: String::new() }), now);
            store.append_entry(CANCELLED, first, Some(0)).await?;
            let newest = store.entries(CANCELLED, Span::Before(u64::MAX), 1, now).await?;
            self.last = newest.last().map(|(number, _)| *number);
            return Ok(Vec::new());
        };
        let entries = store.entries(CANCELLED, Span::After(last), ENTRIES_PER_READ_MAX, now).await?;
        self.last = entries.last().map(|(number, _)| *number).or(self.last);
        let task = |entry: LedgerEntry| serde_json::from_value::<CancelledTask>(entry.body).ok();
        Ok(entries.into_iter().filter_map(|(_, entry)| task(entry)).map(|cancelled| cancelled.task).collect())
    }
}

/// Hears what other nodes say from here on, until `stop`.
pub(crate) fn hear(
    tasks: Arc<Tasks>,
    lifecycle: Arc<Lifecycle>,
    bus: &dyn Bus,
    stop: CancellationToken,
) -> impl Future<Output = ()> + Send + use<> {
    let topics = [topics::CANCEL, topics::LIFECYCLE, topics::RATES];
    // Subscribed here and not in the future: what is said before its first poll is heard, too.
    let streams = topics.map(|topic| bus.subscribe(topic).map(move |message| (topic, message)).boxed());
    let mut all = futures::stream::select_all(streams);
    async move {
        while let Some(Some((topic, message))) = stop.run_until_cancelled(all.next()).await {
            match (topic, std::str::from_utf8(&message)) {
                (topics::RATES, _) => tasks.rates.hear(&message),
                (topics::CANCEL, Ok(task)) => tasks.check_cancelled(task).await,
                (topics::LIFECYCLE, Ok(agent)) => lifecycle.hear(agent).await,
                _ => {}
            }
        }
    }
}
