//! This module keeps the content of all agents up to date, with one task and few threads however many agents
//! there are.
//!
//! Questions are answered from the old index while a new one is made. Content that could not be indexed is tried
//! again, at once when it changes and else ever more rarely.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant as StdInstant};

use forecourt_agents::{EmbeddingProgress, FetchSummary, IndexReport, IndexedContent, IndexingError};
use forecourt_core::Handle;
use futures::future::BoxFuture;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::content::Content;

/// How often content is looked at, while there are at most [`CONTENT_LOOKS_MAX`] agents with content.
const CONTENT_LOOK_EVERY: Duration = Duration::from_secs(2);
/// Agents whose content is looked at in one round. A look is about 50 µs for a small folder, so that looking takes
/// a quarter of a percent of a processor at most; a thousand agents are seen to change within 20 s.
const CONTENT_LOOKS_MAX: usize = 100;
/// Agents whose content is indexed at once.
const CONTENT_RUNS_MAX: usize = 2;
/// Agents whose sites are visited at once. A visit is mostly waiting.
const CONTENT_FETCHES_MAX: usize = 32;
/// Agents whose content is embedded at once: one uses all processors.
const CONTENT_EMBEDDINGS_MAX: usize = 1;
/// The longest time between two tries to index what could not be indexed.
const CONTENT_RETRY_AFTER_MAX: Duration = Duration::from_secs(5 * 60);
/// How often a long run of indexing says in the log how far it is.
const CONTENT_PROGRESS_EVERY: Duration = Duration::from_secs(10);
/// Reasons of one agent that are remembered, so that each is logged once.
const CONTENT_REASONS_KEPT: usize = 1_000;
/// Reasons of one visit, or of one run of indexing, that reach the log.
const CONTENT_WARNINGS_LOGGED: usize = 10;

/// Looks at the content of all agents in turn. At most [`CONTENT_LOOKS_MAX`] are looked at every
/// [`CONTENT_LOOK_EVERY`]; the more agents there are, the longer it takes until a change is seen.
pub(crate) struct ContentWatcher {
    agents: Vec<AgentContent>,
    /// The first agent of the next round.
    next: usize,
    work: JoinSet<WorkDone>,
    runs: Arc<Semaphore>,
    fetches: Arc<Semaphore>,
    embeddings: Arc<Semaphore>,
    stop: CancellationToken,
}

struct AgentContent {
    watched: Content,
    failures: FailedRuns,
    failed_embeddings: FailedRuns,
    is_indexing: bool,
    is_fetching: bool,
    /// Reasons that were logged already, so that each is logged once.
    told: HashSet<String>,
    is_embedding: bool,
}

/// What one look at an agent's content found.
struct ContentLook {
    agent: usize,
    /// Of the content. `None`: it can't be read.
    fingerprint: Option<u64>,
    is_current: bool,
    is_due: bool,
    /// Files that are not read, and why.
    left_out: Vec<String>,
    /// Items that are not found by meaning yet.
    missing: u64,
}

/// Work that has come to its end, and whose it was.
enum WorkDone {
    Indexed { agent: usize, fingerprint: u64, result: Result<IndexReport, String> },
    Fetched { agent: usize, result: Result<FetchSummary, String> },
    Embedded { agent: usize, missing: u64, result: Result<(), String> },
}

impl ContentWatcher {
    /// Watches nothing until [`ContentWatcher::run`].
    pub(crate) fn new(contents: Vec<Content>, stop: CancellationToken) -> Self {
        let of = |watched| AgentContent {
            watched,
            failures: FailedRuns::default(),
            failed_embeddings: FailedRuns::default(),
            is_indexing: false,
            is_fetching: false,
            is_embedding: false,
            told: HashSet::new(),
        };
        Self {
            agents: contents.into_iter().map(of).collect(),
            next: 0,
            work: JoinSet::new(),
            runs: Arc::new(Semaphore::new(CONTENT_RUNS_MAX)),
            fetches: Arc::new(Semaphore::new(CONTENT_FETCHES_MAX)),
            embeddings: Arc::new(Semaphore::new(CONTENT_EMBEDDINGS_MAX)),
            stop,
        }
    }

    /// Watches until `stop` is cancelled. Work that is under way then goes on by itself.
    pub(crate) fn run(mut self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let stop = self.stop.clone();
            let mut rounds = interval(CONTENT_LOOK_EVERY);
            // After a long round the next one waits as long as ever: rounds in a row would make up for nothing.
            rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
            // Whoever starts a host wants what changed meanwhile, so the first round is of all.
            let mut count = self.agents.len();
            loop {
                tokio::select! {
                    () = stop.cancelled() => break self.work.detach_all(),
                    _ = rounds.tick() => {
                        self.round(count).await;
                        count = CONTENT_LOOKS_MAX;
                    }
                    Some(done) = self.work.join_next() => self.finish(done),
                }
            }
        })
    }

    /// Looks at the next `count` agents, and begins what has to be done.
    async fn round(&mut self, count: usize) {
        let total = self.agents.len();
        let agents = (0..count.min(total)).map(|offset| (self.next + offset) % total);
        let idle = agents.filter(|agent| !self.agents[*agent].is_indexing);
        // An agent that is being indexed would look changed all the while; it is looked at when that is done.
        let contents: Vec<_> = idle.map(|agent| (agent, self.agents[agent].watched.indexing.clone())).collect();
        self.next = (self.next + count.min(total)).checked_rem(total).unwrap_or(0);
        // One thread for all of them: looking is a few system calls each, and nobody waits for it.
        let looks = tokio::task::spawn_blocking(move || contents.into_iter().map(look).collect::<Vec<_>>());
        for look in looks.await.unwrap_or_default() {
            self.act_on(&look);
        }
    }

    fn act_on(&mut self, look: &ContentLook) {
        let agent = &mut self.agents[look.agent];
        agent.tell("not read", &look.left_out, look.left_out.len() as u64);
        if look.is_due && !agent.is_fetching {
            agent.is_fetching = true;
            self.work.spawn(fetch(look.agent, agent.watched.clone(), self.fetches.clone(), self.stop.clone()));
        }
        let must_wait = agent.failed_embeddings.must_wait(look.missing, Instant::now());
        if look.missing > 0 && !agent.is_embedding && !must_wait {
            agent.is_embedding = true;
            let (watched, places) = (agent.watched.clone(), self.embeddings.clone());
            self.work.spawn(embed(look.agent, watched, look.missing, places, self.stop.clone()));
        }
        // A source that can't be read (a folder that is being replaced) leaves the old index in use.
        let Some(fingerprint) = look.fingerprint else { return };
        if look.is_current {
            agent.failures = FailedRuns::default();
        } else if !agent.failures.must_wait(fingerprint, Instant::now()) {
            agent.is_indexing = true;
            tracing::info!(agent = %agent.watched.handle, "content has changed, indexing it");
            self.work.spawn(index(look.agent, agent.watched.clone(), fingerprint, self.runs.clone()));
        }
    }

    fn finish(&mut self, done: Result<WorkDone, JoinError>) {
        match done {
            Ok(WorkDone::Indexed { agent, fingerprint, result }) => {
                let agent = &mut self.agents[agent];
                agent.is_indexing = false;
                agent.indexed(fingerprint, result);
            }
            Ok(WorkDone::Fetched { agent, result }) => {
                self.agents[agent].is_fetching = false;
                fetched(&self.agents[agent].watched.handle, result);
            }
            Ok(WorkDone::Embedded { agent, missing, result }) => {
                let agent = &mut self.agents[agent];
                agent.is_embedding = false;
                agent.embedded(missing, result);
            }
            // The work is on threads of its own whose panics are results; these futures only wait for it.
            Err(error) => tracing::error!(%error, "a task that waits for indexing failed"),
        }
    }
}

impl AgentContent {
    /// Tells what was left out and why, as far as that was not told before, and within a bound.
    fn tell(&mut self, what: &str, reasons: &[String], count: u64) {
        let new: Vec<&String> = reasons.iter().filter(|reason| !self.told.contains(*reason)).collect();
        for reason in new.iter().take(CONTENT_WARNINGS_LOGGED) {
            tracing::warn!(agent = %self.watched.handle, "{what}: {reason}");
        }
        let more = count.saturating_sub((reasons.len() - new.len() + new.len().min(CONTENT_WARNINGS_LOGGED)) as u64);
        if more > 0 && !new.is_empty() {
            tracing::warn!(agent = %self.watched.handle, "{what}: {more} more; `forecourt index` and the admin listener tell which");
        }
        if self.told.len() + new.len() > CONTENT_REASONS_KEPT {
            // Bounded by forgetting all: some reasons are then logged once more.
            self.told.clear();
        }
        let new: Vec<String> = new.into_iter().take(CONTENT_REASONS_KEPT).cloned().collect();
        self.told.extend(new);
    }

    fn indexed(&mut self, fingerprint: u64, result: Result<IndexReport, String>) {
        let handle = self.watched.handle.clone();
        match result {
            Ok(report) => {
                self.failures = FailedRuns::default();
                let kinds = report.kinds.iter().map(|kind| format!("{} {}", kind.files, kind.kind));
                tracing::info!(
                    agent = %handle, items = report.items, skipped = report.skipped,
                    files = kinds.collect::<Vec<_>>().join(", "), files_left_out = report.files_left_out, "indexed"
                );
                self.tell("skipped", &report.warnings, report.skipped);
                self.tell("not read", &report.left_out, report.files_left_out);
            }
            Err(error) => {
                let wait = self.failures.add(fingerprint, Instant::now()).as_secs();
                tracing::error!(
                    agent = %handle, %error, "indexing failed, the old index stays; trying again in {wait} s"
                );
            }
        }
    }
}

impl AgentContent {
    fn embedded(&mut self, missing: u64, result: Result<(), String>) {
        let handle = &self.watched.handle;
        match result {
            Ok(()) => {
                self.failed_embeddings = FailedRuns::default();
                let percent = self.watched.indexing.embedding().unwrap_or_default().percent();
                tracing::info!(agent = %handle, "found by meaning: {percent} %");
            }
            Err(error) => {
                let wait = self.failed_embeddings.add(missing, Instant::now()).as_secs();
                tracing::error!(
                    agent = %handle, %error,
                    "some items can be found by their words alone; trying again in {wait} s"
                );
            }
        }
    }
}

fn look((agent, content): (usize, Arc<dyn IndexedContent>)) -> ContentLook {
    let fingerprint = content.fingerprint().ok();
    let is_current = fingerprint.is_some_and(|found| content.is_current(found));
    let missing = content.embedding().map_or(0, |embedding| embedding.missing);
    ContentLook { agent, fingerprint, is_current, is_due: content.is_due(), left_out: content.left_out(), missing }
}

async fn index(agent: usize, watched: Content, fingerprint: u64, runs: Arc<Semaphore>) -> WorkDone {
    // Each run holds a writer's memory: few at once bound what a start with new content takes.
    let _run = runs.acquire_owned().await;
    let work = move || {
        let mut told = StdInstant::now();
        watched.indexing.index(&mut |progress| {
            if told.elapsed() >= CONTENT_PROGRESS_EVERY {
                told = StdInstant::now();
                tracing::info!(agent = %watched.handle, items = progress.items, "indexing");
            }
        })
    };
    WorkDone::Indexed { agent, fingerprint, result: blocking(work).await }
}

/// Asks for what is elsewhere, beside everything else: it may take hours.
async fn fetch(agent: usize, watched: Content, fetches: Arc<Semaphore>, stop: CancellationToken) -> WorkDone {
    let _fetch = fetches.acquire_owned().await;
    let work = move || watched.indexing.fetch(&mut |_| {}, &|| stop.is_cancelled());
    WorkDone::Fetched { agent, result: blocking(work).await }
}

/// Makes the vectors of what can be found by words already, beside everything else: it may take hours.
async fn embed(
    agent: usize,
    watched: Content,
    missing: u64,
    places: Arc<Semaphore>,
    stop: CancellationToken,
) -> WorkDone {
    let _place = places.acquire_owned().await;
    let work = move || {
        let mut told = StdInstant::now();
        let mut progress = |progress: EmbeddingProgress| {
            if told.elapsed() >= CONTENT_PROGRESS_EVERY {
                told = StdInstant::now();
                tracing::info!(agent = %watched.handle, "found by meaning: {} %", progress.percent());
            }
        };
        watched.indexing.embed(&mut progress, &|| stop.is_cancelled())
    };
    WorkDone::Embedded { agent, missing, result: blocking(work).await }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, IndexingError> + Send + 'static,
) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn fetched(handle: &Handle, result: Result<FetchSummary, String>) {
    match result {
        Ok(fetched) => {
            tracing::info!(agent = %handle, pages = fetched.pages, skipped = fetched.skipped, "sites were visited");
            for reason in fetched.warnings.iter().take(CONTENT_WARNINGS_LOGGED) {
                tracing::info!(agent = %handle, "left out: {reason}");
            }
        }
        Err(error) => {
            tracing::error!(agent = %handle, %error, "sites could not be visited, what is known of them stays");
        }
    }
}

/// Runs that failed one after another, and when the next one is.
#[derive(Debug, Default)]
struct FailedRuns {
    /// Of the content as it was, and when it is tried again.
    last: Option<(u64, Instant)>,
    /// Failures in a row.
    count: u32,
}

impl FailedRuns {
    /// Whether content that looks like this is left alone for now.
    fn must_wait(&self, fingerprint: u64, now: Instant) -> bool {
        self.last.is_some_and(|(failed, until)| failed == fingerprint && now < until)
    }

    /// One more. Each waits twice as long as the one before, within [`CONTENT_RETRY_AFTER_MAX`]; gives the wait.
    fn add(&mut self, fingerprint: u64, now: Instant) -> Duration {
        // Content that has changed may be fine now: the wait begins anew.
        let is_same = self.last.is_some_and(|(failed, _)| failed == fingerprint);
        self.count = if is_same { self.count.saturating_add(1) } else { 0 };
        let factor = 1_u32.checked_shl(self.count).unwrap_or(u32::MAX);
        let wait = CONTENT_LOOK_EVERY.saturating_mul(factor).min(CONTENT_RETRY_AFTER_MAX);
        self.last = Some((fingerprint, now + wait));
        wait
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    use forecourt_index::LoadProgress;
    use tokio::time::advance;

    use super::*;

    /// Content whose fingerprint is `found`, and whose index is of `indexed`.
    #[derive(Default)]
    struct Counted {
        found: AtomicU64,
        indexed: AtomicU64,
        looks: AtomicUsize,
        runs: AtomicUsize,
        fails: bool,
        missing: AtomicU64,
        embeddings: AtomicUsize,
    }

    impl IndexedContent for Counted {
        fn sources(&self) -> Vec<PathBuf> {
            Vec::new()
        }

        fn fingerprint(&self) -> Result<u64, IndexingError> {
            self.looks.fetch_add(1, Ordering::SeqCst);
            Ok(self.found.load(Ordering::SeqCst))
        }

        fn is_current(&self, fingerprint: u64) -> bool {
            self.indexed.load(Ordering::SeqCst) == fingerprint
        }

        fn items(&self) -> u64 {
            0
        }

        fn embedding(&self) -> Option<EmbeddingProgress> {
            Some(EmbeddingProgress { embedded: 1, missing: self.missing.load(Ordering::SeqCst) })
        }

        fn embed(
            &self,
            _: &mut (dyn FnMut(EmbeddingProgress) + Send),
            _: &(dyn Fn() -> bool + Sync),
        ) -> Result<(), IndexingError> {
            self.embeddings.fetch_add(1, Ordering::SeqCst);
            if self.fails {
                return Err(IndexingError("no".to_owned()));
            }
            self.missing.store(0, Ordering::SeqCst);
            Ok(())
        }

        fn index(&self, _: &mut (dyn FnMut(&LoadProgress) + Send)) -> Result<IndexReport, IndexingError> {
            self.runs.fetch_add(1, Ordering::SeqCst);
            if self.fails {
                return Err(IndexingError("no".to_owned()));
            }
            self.indexed.store(self.found.load(Ordering::SeqCst), Ordering::SeqCst);
            Ok(IndexReport::default())
        }
    }

    fn watch(contents: &[Arc<Counted>]) -> CancellationToken {
        let handle = || Handle::parse("agent").unwrap();
        let watched = contents.iter().map(|content| Content { handle: handle(), indexing: content.clone() });
        let stop = CancellationToken::new();
        tokio::spawn(ContentWatcher::new(watched.collect(), stop.clone()).run());
        stop
    }

    /// Lets so many rounds pass.
    async fn rounds(count: u32) {
        for _ in 0..count {
            tokio::time::sleep(CONTENT_LOOK_EVERY).await;
        }
    }

    fn looks(contents: &[Arc<Counted>]) -> usize {
        contents.iter().map(|content| content.looks.load(Ordering::SeqCst)).sum()
    }

    #[tokio::test(start_paused = true)]
    async fn content_is_indexed_when_it_changes_and_only_then() {
        let contents = [Arc::new(Counted::default()), Arc::new(Counted::default())];
        let stop = watch(&contents);
        rounds(3).await;
        assert_eq!(contents[0].runs.load(Ordering::SeqCst), 0);
        contents[0].found.store(7, Ordering::SeqCst);
        rounds(3).await;
        assert_eq!(contents[0].runs.load(Ordering::SeqCst), 1);
        assert_eq!(contents[1].runs.load(Ordering::SeqCst), 0);
        stop.cancel();
        rounds(1).await;
        let before = looks(&contents);
        rounds(3).await;
        assert_eq!(looks(&contents), before, "nobody looks after the end");
    }

    #[tokio::test(start_paused = true)]
    async fn a_round_looks_at_so_many_and_not_one_more() {
        for (count, second_round) in
            [(CONTENT_LOOKS_MAX, CONTENT_LOOKS_MAX), (CONTENT_LOOKS_MAX + 1, CONTENT_LOOKS_MAX)]
        {
            let contents: Vec<_> = (0..count).map(|_| Arc::new(Counted::default())).collect();
            let stop = watch(&contents);
            advance(Duration::from_millis(1)).await;
            rounds(1).await;
            let first = looks(&contents);
            rounds(1).await;
            assert_eq!(looks(&contents) - first, second_round);
            rounds(2).await;
            assert!(contents.iter().all(|content| content.looks.load(Ordering::SeqCst) > 1), "all have their turn");
            stop.cancel();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_missing_is_embedded_and_a_failure_is_tried_again_ever_more_rarely() {
        let of = |fails| Arc::new(Counted { fails, missing: AtomicU64::new(7), ..Counted::default() });
        let contents = [of(false), of(true)];
        let stop = watch(&contents);
        rounds(300).await;
        let [done, failing] = [0, 1].map(|at| contents[at].embeddings.load(Ordering::SeqCst));
        assert_eq!(done, 1);
        assert!((7..=12).contains(&failing), "{failing} attempts in ten minutes");
        stop.cancel();
    }

    #[tokio::test(start_paused = true)]
    async fn content_that_fails_is_tried_again_ever_more_rarely() {
        let content = Arc::new(Counted { found: AtomicU64::new(1), fails: true, ..Counted::default() });
        let stop = watch(std::slice::from_ref(&content));
        rounds(300).await;
        let runs = content.runs.load(Ordering::SeqCst);
        assert!((7..=12).contains(&runs), "{runs} runs in ten minutes");
        stop.cancel();
    }

    #[tokio::test(start_paused = true)]
    async fn waits_double_up_to_their_bound_and_begin_anew_with_other_content() {
        let (mut failed, now) = (FailedRuns::default(), Instant::now());
        assert!(!failed.must_wait(1, now));
        let waits: Vec<u64> = (0..40).map(|_| failed.add(1, now).as_secs()).collect();
        assert_eq!(waits[..5], [2, 4, 8, 16, 32]);
        assert_eq!(waits[9..], [CONTENT_RETRY_AFTER_MAX.as_secs(); 31]);
        assert!(failed.must_wait(1, now) && !failed.must_wait(1, now + CONTENT_RETRY_AFTER_MAX));
        assert!(!failed.must_wait(2, now), "other content");
        assert_eq!(failed.add(2, now), CONTENT_LOOK_EVERY, "counted anew");
    }
}
