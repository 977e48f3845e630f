//! The lease of a run on its tasks: who is alive, told by heartbeats in the store.
//!
//! No two clocks are compared. A run counts its beats in the store; each node watches the others' counts, and how
//! long one has stood still is measured by the watcher's own monotonic clock, over looks that the store answered.
//! The store alone decides who lost a lease ([`Store::end_run`] compares the count), so that a run which still beats
//! is ended by nobody.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forecourt_core::store::RunBeat;
use forecourt_core::{Store, StoreError};
use parking_lot::{Mutex, RwLock};
use tokio::time::{Instant, timeout};

use forecourt_issuance::sha256_hex;

/// How long a run may be silent before it has lost its tasks, unless the operator says otherwise.
pub const LEASE: Duration = Duration::from_secs(15);
/// Beats within a lease: so many may get lost in a row, less one.
const BEATS_PER_LEASE: u32 = 5;

/// How runs hold their tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseSettings {
    /// How long a run may be silent before others end it and its tasks.
    pub lease: Duration,
    /// How often a run says that it is alive.
    pub beat_every: Duration,
}

impl LeaseSettings {
    /// A lease of so long, with a beat in each fifth of it.
    pub fn of(lease: Duration) -> Self {
        Self { lease, beat_every: lease / BEATS_PER_LEASE }
    }
}

impl Default for LeaseSettings {
    fn default() -> Self {
        Self::of(LEASE)
    }
}

/// A node of this deployment, as another one sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeStatus {
    /// What it is called in logs and metrics. No secret.
    pub name: String,
    /// Whether it is the one that says so.
    pub is_this: bool,
    /// For how long it has been silent.
    pub silent_for: Duration,
}

/// The lease of this run, and what it knows of others.
pub(crate) struct Lease {
    settings: LeaseSettings,
    /// Whether nobody else has the store: then nobody can end this run.
    alone: bool,
    own: RwLock<OwnRun>,
    others: Mutex<Others>,
    living: AtomicUsize,
}

struct OwnRun {
    run: Arc<str>,
    /// When the last beat that was written began; `None` before the first one.
    beaten_at: Option<Instant>,
}

#[derive(Default)]
struct Others {
    /// In their order, so that of several that are dead the same one is ended first each time.
    runs: BTreeMap<String, OtherRun>,
    /// When the store last said who is alive; `None` after it did not answer.
    looked_at: Option<Instant>,
}

/// Another run, as far as its beats were watched.
struct OtherRun {
    beat: u64,
    silent_for: Duration,
}

/// The result of a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beat {
    /// The lease goes on.
    Kept,
    /// The run was ended by another node.
    Ended,
}

impl Lease {
    pub(crate) fn new(settings: LeaseSettings, alone: bool, run: String) -> Self {
        let own = RwLock::new(OwnRun { run: run.into(), beaten_at: None });
        Self { settings, alone, own, others: Mutex::default(), living: AtomicUsize::new(1) }
    }

    pub(crate) fn settings(&self) -> LeaseSettings {
        self.settings
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.alone
    }

    /// This run, as its tasks are marked.
    pub(crate) fn run(&self) -> Arc<str> {
        self.own.read().run.clone()
    }

    /// What this run is called where anybody may read it.
    pub(crate) fn name(&self) -> String {
        name_of(&self.run())
    }

    /// How many runs are alive, this one included.
    pub(crate) fn living(&self) -> usize {
        self.living.load(Ordering::Relaxed).max(1)
    }

    /// Whether new work is certain to be this run's for a while: not when its beats have not been written for half a
    /// lease, since the others may be about to end it.
    pub(crate) fn is_safe(&self) -> bool {
        let beaten_at = self.own.read().beaten_at;
        self.alone || beaten_at.is_none_or(|at| at.elapsed() <= self.settings.lease / 2)
    }

    /// Says that this run is alive. Waits no longer for it than until the next beat is due.
    pub(crate) async fn beat(&self, store: &dyn Store) -> Result<Beat, StoreError> {
        // From before the write: others may have seen the beat before its answer came back here.
        let (run, begun) = (self.run(), Instant::now());
        if !in_time(self.settings.beat_every, store.beat(&run)).await? {
            return Ok(Beat::Ended);
        }
        let mut own = self.own.write();
        // `begin_anew` may have come in between: the beat of the old run says nothing of the new one.
        if own.run == run {
            own.beaten_at = Some(begun);
        }
        Ok(Beat::Kept)
    }

    /// Goes on as another run: the old one was ended.
    pub(crate) fn begin_anew(&self, run: String) {
        *self.own.write() = OwnRun { run: run.into(), beaten_at: Some(Instant::now()) };
    }

    /// Looks who is alive, and ends runs that were silent for a lease; gives how many it has ended.
    pub(crate) async fn watch(&self, store: &dyn Store) -> Result<usize, StoreError> {
        let read = in_time(self.settings.beat_every, store.runs()).await;
        let silent = match read {
            Ok(runs) => self.others.lock().see(runs, &self.run(), self.settings, &self.living),
            Err(error) => {
                // While the store is away nobody can beat: that time proves nothing.
                self.others.lock().looked_at = None;
                return Err(error);
            }
        };
        let mut ended = 0;
        for run in silent {
            if in_time(self.settings.beat_every, store.end_run(&run)).await? {
                tracing::warn!(node = name_of(&run.run), lease = ?self.settings.lease, "a node was silent for a lease: its tasks are ended");
                self.others.lock().runs.remove(&run.run);
                ended += 1;
            }
        }
        Ok(ended)
    }

    /// The nodes that are alive as far as is known here, this one first.
    pub(crate) fn nodes(&self) -> Vec<NodeStatus> {
        let silent_for = self.own.read().beaten_at.map(|at| at.elapsed()).unwrap_or_default();
        let mut nodes = vec![NodeStatus { name: self.name(), is_this: true, silent_for }];
        let others = self.others.lock();
        nodes.extend(others.runs.iter().map(|(run, other)| NodeStatus {
            name: name_of(run),
            is_this: false,
            silent_for: other.silent_for,
        }));
        nodes[1..].sort_by(|a, b| a.name.cmp(&b.name));
        nodes
    }
}

impl Others {
    /// Takes notice of who is alive; gives those that were silent for a lease. Only time between two looks that the
    /// store answered counts, and of a look that came late no more than what two beats take.
    fn see(&mut self, runs: Vec<RunBeat>, own: &str, settings: LeaseSettings, living: &AtomicUsize) -> Vec<RunBeat> {
        let now = Instant::now();
        let passed = self.looked_at.map(|at| now.duration_since(at)).unwrap_or_default().min(2 * settings.beat_every);
        self.looked_at = Some(now);
        let mut before = std::mem::take(&mut self.runs);
        let mut silent = Vec::new();
        for RunBeat { run, beat } in runs.into_iter().filter(|seen| seen.run != own) {
            let silent_for = match before.remove(&run) {
                Some(known) if known.beat == beat => known.silent_for + passed,
                _ => Duration::ZERO,
            };
            if silent_for >= settings.lease {
                silent.push(RunBeat { run: run.clone(), beat });
            }
            self.runs.insert(run, OtherRun { beat, silent_for });
        }
        living.store(1 + self.runs.len() - silent.len(), Ordering::Relaxed);
        silent
    }
}

/// What a run is called where anybody may read it: enough to tell nodes apart.
pub(crate) fn name_of(run: &str) -> String {
    sha256_hex(run.as_bytes()).chars().take(8).collect()
}

pub(crate) async fn in_time<T>(
    time_max: Duration,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    match timeout(time_max, work).await {
        Ok(done) => done,
        Err(_) => Err(StoreError::Unavailable(format!("no answer within {} ms", time_max.as_millis()))),
    }
}

#[cfg(test)]
mod tests {
    use forecourt_store::Memory;

    use super::*;

    const TEN: Duration = Duration::from_secs(10);

    fn lease(run: &str) -> Lease {
        Lease::new(LeaseSettings::of(TEN), false, run.to_owned())
    }

    async fn pass(time: Duration) {
        tokio::time::advance(time).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_run_is_ended_after_a_lease_and_no_moment_earlier() {
        let (store, watcher) = (Memory::new(), lease("watcher"));
        lease("dead").beat(&store).await.unwrap();
        let mut ended = 0;
        watcher.watch(&store).await.unwrap();
        for look in 1..=5 {
            pass(TEN / 5 - Duration::from_millis(u64::from(look == 5))).await;
            ended += watcher.watch(&store).await.unwrap();
        }
        assert_eq!(ended, 0, "a millisecond is missing");
        pass(Duration::from_millis(1)).await;
        assert_eq!(watcher.watch(&store).await.unwrap(), 1);
        assert!(store.runs().await.unwrap().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn who_beats_is_ended_by_nobody_and_a_watcher_that_slept_ends_nobody() {
        let (store, watcher, living) = (Memory::new(), lease("watcher"), lease("living"));
        for _ in 0..30 {
            assert_eq!(living.beat(&store).await.unwrap(), Beat::Kept);
            assert_eq!(watcher.watch(&store).await.unwrap(), 0);
            pass(TEN / 5).await;
        }
        // The watcher stands still for an hour: that is no silence of anybody else.
        pass(360 * TEN).await;
        assert_eq!(watcher.watch(&store).await.unwrap(), 0);
        assert_eq!(living.beat(&store).await.unwrap(), Beat::Kept);
        assert_eq!((watcher.living(), watcher.nodes().len()), (2, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn half_a_lease_without_a_beat_is_too_long_for_new_work() {
        let (store, own) = (Memory::new(), lease("own"));
        own.beat(&store).await.unwrap();
        pass(TEN / 2).await;
        assert!(own.is_safe());
        pass(Duration::from_millis(1)).await;
        assert!(!own.is_safe());
        own.beat(&store).await.unwrap();
        assert!(own.is_safe());
        let alone = Lease::new(LeaseSettings::of(TEN), true, "alone".to_owned());
        alone.beat(&store).await.unwrap();
        pass(TEN).await;
        assert!(alone.is_safe(), "nobody could end it");
    }

    #[tokio::test]
    async fn who_was_ended_is_told_and_goes_on_as_another_run() {
        let (store, own) = (Memory::new(), lease("own"));
        own.beat(&store).await.unwrap();
        assert!(store.end_run(&RunBeat { run: "own".to_owned(), beat: 1 }).await.unwrap());
        assert_eq!(own.beat(&store).await.unwrap(), Beat::Ended);
        own.begin_anew("other".to_owned());
        assert_eq!(own.beat(&store).await.unwrap(), Beat::Kept);
        assert_eq!(&*own.run(), "other");
    }
}
