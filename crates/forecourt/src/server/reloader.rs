//! One attempt after another to serve a deployment as its files are, and the watch over the files.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::Bytes;
use forecourt_admin::editor::EditedBy;
use forecourt_core::Timestamp;
use forecourt_host::topics;
use forecourt_settings::Problems;
use futures::stream::{self, StreamExt};
use parking_lot::Mutex;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::ServerCore;
use crate::editor::{ServedHouse, keep_version};
use crate::error::Error;
use crate::reload::{
    Attempt, AttemptOutcome, CHANGED_SHOWN, FileLook, FixedSettings, ReloadSource, ReloadTrigger, WatchedFiles,
    attempt_problems, relative_path,
};

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Of the time, the part that looking at the files may take: one in so many.
const LOOK_SHARE: u32 = 20;
/// How long files that are written again and again are waited for.
const QUIET_MAX: Duration = Duration::from_secs(2);
/// Requests that may wait for their turn.
const REQUESTS_MAX: usize = 64;

/// Takes the requests to read a deployment again, and knows what came of the last one.
pub(crate) struct Reloader {
    requests: mpsc::Sender<ReloadRequest>,
    /// Until somebody says where the deployment comes from.
    waiting: Mutex<Option<mpsc::Receiver<ReloadRequest>>>,
    /// Where it comes from, once somebody has said so.
    source: OnceLock<ReloadSource>,
    last: Mutex<Option<Attempt>>,
    watches: AtomicBool,
    attempts: Family<OutcomeLabel, Counter>,
}

struct ReloadRequest {
    by: ReloadTrigger,
    /// Who made the change that is to be read, where that is known.
    who: Option<EditedBy>,
    answer: oneshot::Sender<Attempt>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

/// What there is to know about reloading.
#[derive(Debug, Serialize)]
pub(crate) struct ReloadStatus {
    /// Whether the files are watched.
    pub(crate) watch: bool,
    /// Houses that are not gone yet: the one that is served, and those that still have requests under way.
    pub(crate) houses: usize,
    /// The last attempt.
    pub(crate) last: Option<Attempt>,
}

impl Default for Reloader {
    fn default() -> Self {
        let (requests, waiting) = mpsc::channel(REQUESTS_MAX);
        Self {
            requests,
            waiting: Mutex::new(Some(waiting)),
            source: OnceLock::new(),
            last: Mutex::default(),
            watches: AtomicBool::new(false),
            attempts: Family::default(),
        }
    }
}

impl Reloader {
    /// Has the deployment read again, and says what came of it. `None`: nobody said where it comes from, or the
    /// server is ending.
    pub(crate) async fn reload(&self, by: ReloadTrigger) -> Option<Attempt> {
        self.reload_by(by, None).await
    }

    /// The same, in somebody's name.
    pub(crate) async fn reload_by(&self, by: ReloadTrigger, who: Option<EditedBy>) -> Option<Attempt> {
        // Nobody works on requests yet: waiting here would never end.
        if self.waiting.lock().is_some() {
            return None;
        }
        let (answer, answered) = oneshot::channel();
        self.requests.send(ReloadRequest { by, who, answer }).await.ok()?;
        answered.await.ok()
    }

    /// Where the deployment comes from; `None` until somebody has said so.
    pub(crate) fn source(&self) -> Option<ReloadSource> {
        self.source.get().cloned()
    }

    /// The state of reloading for the operator: watch, houses, last attempt.
    pub(crate) fn status(&self, houses: usize) -> ReloadStatus {
        ReloadStatus { watch: self.watches.load(Ordering::Relaxed), houses, last: self.last.lock().clone() }
    }

    pub(crate) fn register(&self, registry: &mut Registry) {
        let about = "Attempts to serve the deployment as its files are, by what came of them";
        registry.register("reloads", about, self.attempts.clone());
    }

    /// Works on requests, and watches the files if the deployment says so, until the server ends. Only the first call
    /// does.
    pub(crate) async fn run(self: Arc<Self>, core: Arc<ServerCore>, source: ReloadSource) {
        let Some(requests) = self.waiting.lock().take() else { return };
        let stop = core.stop.clone();
        let _ = self.source.set(source.clone());
        let (applied, fixed) = source.first.as_ref().clone();
        let seen = applied.clone();
        let mut work = ReloadWork { reloader: self, core, source, fixed, files: None, seen: seen.clone(), applied };
        work.settle(seen).await;
        work.keep_version("start", None).await;
        stop.run_until_cancelled(work.run(requests)).await;
    }

    fn note(&self, attempt: &Attempt) {
        let outcome = match attempt.outcome {
            AttemptOutcome::Applied => "applied",
            AttemptOutcome::Refused => "refused",
            AttemptOutcome::NeedsRestart => "needs_restart",
        };
        self.attempts.get_or_create(&OutcomeLabel { outcome }).inc();
        let (by, took_ms, changed) = (attempt.by.as_str(), attempt.took_ms, attempt.changed_count);
        match attempt.outcome {
            AttemptOutcome::Applied => {
                tracing::info!(by, took_ms, changed, agents = attempt.agents, "the deployment was read again");
                attempt.notes.iter().for_each(|note| tracing::info!("{note}"));
            }
            AttemptOutcome::Refused | AttemptOutcome::NeedsRestart => {
                tracing::error!(by, outcome, changed, "the deployment was read again and nothing has changed:");
                for problem in &attempt.problems {
                    let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
                    let hint = problem.hint.as_ref().map(|hint| format!("; hint: {hint}")).unwrap_or_default();
                    tracing::error!("{}{line}: {}{hint}", problem.file, problem.message);
                }
            }
        }
        *self.last.lock() = Some(attempt.clone());
    }
}

/// The state of the task that reads one domain's deployment again.
struct ReloadWork {
    reloader: Arc<Reloader>,
    core: Arc<ServerCore>,
    source: ReloadSource,
    fixed: FixedSettings,
    files: Option<Arc<WatchedFiles>>,
    /// The files as the last attempt found them, whether or not it was applied.
    seen: FileLook,
    /// The files as they were when the deployment that is served was read.
    applied: FileLook,
}

/// Waits until files that change have been quiet for a look.
#[derive(Default)]
struct Unrest {
    /// The last look, and when the first change was seen.
    last: Option<(FileLook, Instant)>,
}

impl Unrest {
    /// Whether files that look like this are to be read: they have changed, and have been quiet for one look, or are
    /// waited for too long.
    fn is_over(&mut self, seen: &FileLook, now: FileLook, at: Instant) -> bool {
        match self.last.take() {
            None if now == *seen => false,
            None => {
                self.last = Some((now, at));
                false
            }
            // An editor or `git pull` writes several files: a half-written deployment would be refused with problems
            // that are gone a moment later.
            Some((last, since)) if last == now || at.duration_since(since) >= QUIET_MAX => now != *seen,
            Some((_, since)) => {
                self.last = Some((now, since));
                false
            }
        }
    }
}

impl ReloadWork {
    async fn run(mut self, mut requests: mpsc::Receiver<ReloadRequest>) {
        let (mut unrest, mut wait) = (Unrest::default(), LOOK_EVERY);
        let host = self.core.running.host();
        let (node, bus) = (host.node(), host.bus().clone());
        drop(host);
        // A bus that has ended tells nothing any more.
        let mut hints = bus.subscribe(topics::RELOAD).chain(stream::pending());
        loop {
            let watches = self.core.running.deployment().reload.watch;
            self.reloader.watches.store(watches, Ordering::Relaxed);
            tokio::select! {
                request = requests.recv() => {
                    let Some(ReloadRequest { by, who, answer }) = request else { return };
                    let attempt = self.attempt(by, who).await;
                    // Each node reads its own files, and looks at hubs itself.
                    if attempt.outcome == AttemptOutcome::Applied && by != ReloadTrigger::Hub {
                        bus.publish(topics::RELOAD, Bytes::from(node.clone()));
                    }
                    // Whoever asked may have gone.
                    let _ = answer.send(attempt);
                }
                Some(from) = hints.next() => {
                    // A node hears its own message too, and has just read its files.
                    if *from != *node.as_bytes() {
                        self.attempt(ReloadTrigger::Node, None).await;
                    }
                }
                () = tokio::time::sleep(wait), if watches => {
                    let begun = Instant::now();
                    let now = self.look().await;
                    // Looking at a large or slow folder takes longer, so it is done more rarely: at most one part in
                    // `LOOK_SHARE`.
                    wait = LOOK_EVERY.max(begun.elapsed() * LOOK_SHARE);
                    if unrest.is_over(&self.seen, now, Instant::now()) {
                        self.attempt(ReloadTrigger::Files, None).await;
                    }
                }
            }
        }
    }

    /// How the files look that are watched.
    async fn look(&self) -> FileLook {
        let Some(files) = self.files.clone() else { return FileLook::default() };
        blocking(move || files.look()).await.unwrap_or_default()
    }

    /// Watches what is to be watched from here on; `found` is what the deployment was read from.
    async fn settle(&mut self, found: FileLook) {
        let (source, others) = (self.source.clone(), self.others());
        let looked = blocking(move || {
            let files = source.watched(&others);
            let seen = found.still_watched(&files.look());
            (files, seen)
        });
        let Ok((files, seen)) = looked.await else { return };
        self.files = Some(Arc::new(files));
        self.seen = seen;
    }

    /// What has a watch of its own, which is content, and what this process writes itself: the data folder, and the
    /// access log, each line of which would else read the deployment again.
    fn others(&self) -> Vec<PathBuf> {
        let (contents, deployment) = (self.core.running.contents(), self.core.running.deployment());
        let written = std::iter::once(self.core.data.clone()).chain(deployment.access_log());
        written.chain(contents.iter().flat_map(|one| one.indexing.sources())).collect()
    }

    async fn attempt(&mut self, by: ReloadTrigger, who: Option<EditedBy>) -> Attempt {
        let (at, begun) = (self.core.running.host().clock().now(), Instant::now());
        // Looked at before: what is written from here on is seen by the next attempt.
        let (source, others) = (self.source.clone(), self.others());
        let look = blocking(move || source.watched(&others).look()).await.unwrap_or_default();
        let changed = look.changed_since(&self.applied);
        let result = self.core.apply(&self.source, &mut self.fixed).await;
        // Only then: files that were refused still count as changed against what is served.
        if result.is_ok() {
            self.applied = look.clone();
            self.keep_version(by.as_str(), who).await;
        }
        let seen = if takes_note_of_files(by, result.is_ok()) { look } else { self.seen.clone() };
        self.settle(seen).await;
        let attempt = self.report(by, at, begun.elapsed(), &changed, result);
        self.reloader.note(&attempt);
        attempt
    }

    /// Keeps the files that are served now as a version, where the operator changes files from the console.
    async fn keep_version(&self, by: &str, who: Option<EditedBy>) {
        if !self.core.running.deployment().editor {
            return;
        }
        let by = who.unwrap_or_else(|| EditedBy { who: by.to_owned(), reason: None });
        let served = ServedHouse { at: self.core.running.host().clock().now(), by };
        let (folder, data) = (self.source.folder.clone(), self.core.data.clone());
        let _ = blocking(move || keep_version(&folder, &data, served)).await;
    }

    fn report(
        &self,
        by: ReloadTrigger,
        at: Timestamp,
        took: Duration,
        changed: &[PathBuf],
        result: Result<Vec<String>, NotApplied>,
    ) -> Attempt {
        let folder = &self.source.folder;
        let (outcome, notes, problems) = match result {
            Ok(notes) => (AttemptOutcome::Applied, notes, Vec::new()),
            Err(NotApplied::Refused(problems)) => {
                (AttemptOutcome::Refused, Vec::new(), attempt_problems(&problems, folder))
            }
            Err(NotApplied::NeedsRestart(problems)) => {
                (AttemptOutcome::NeedsRestart, Vec::new(), attempt_problems(&problems, folder))
            }
        };
        Attempt {
            outcome,
            by,
            at,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            changed: changed.iter().take(CHANGED_SHOWN).map(|path| relative_path(path, folder)).collect(),
            changed_count: changed.len(),
            notes,
            agents: self.core.running.host().directory().iter().count(),
            problems,
        }
    }
}

/// Whether the files as an attempt found them are done with. Of files that were edited in the moment in which a hub's
/// list was refused nobody has been told yet: the watch has to see them by itself.
fn takes_note_of_files(by: ReloadTrigger, is_applied: bool) -> bool {
    is_applied || by != ReloadTrigger::Hub
}

/// Why a deployment did not take over. Nothing has changed.
pub(crate) enum NotApplied {
    /// Something is wrong with it.
    Refused(Problems),
    /// A setting has changed that is read at the start only.
    NeedsRestart(Problems),
}

/// Work that reads from disk, on a thread that may wait for it.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Error::new("reading the deployment ended in a panic"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn look(folder: &Path, text: &str) -> FileLook {
        std::fs::write(folder.join("forecourt.toml"), text).unwrap();
        WatchedFiles::of(folder, &[]).look()
    }

    #[test]
    fn files_are_read_once_they_are_quiet_and_not_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let seen = look(folder.path(), "");
        let begun = Instant::now();
        let mut unrest = Unrest::default();
        assert!(!unrest.is_over(&seen, seen.clone(), begun), "nothing has changed");
        let first = look(folder.path(), "a = 1");
        assert!(!unrest.is_over(&seen, first, begun), "more may come");
        let second = look(folder.path(), "a = 1\nb = 2");
        assert!(!unrest.is_over(&seen, second.clone(), begun), "more has come");
        assert!(unrest.is_over(&seen, second.clone(), begun), "it is quiet");
        assert!(!unrest.is_over(&second, second.clone(), begun), "and was read");
        // Written again and again.
        let mut at = begun;
        let mut is_over = false;
        for number in 0..30 {
            at += LOOK_EVERY;
            is_over |= unrest.is_over(&second, look(folder.path(), &"x".repeat(number + 20)), at);
        }
        assert!(is_over, "it is read all the same");
    }

    #[test]
    fn an_edit_is_not_passed_over_where_the_list_of_a_hub_is_refused() {
        assert!(!takes_note_of_files(ReloadTrigger::Hub, false) && takes_note_of_files(ReloadTrigger::Hub, true));
        assert!(takes_note_of_files(ReloadTrigger::Files, false), "the problems were told");
    }

    #[test]
    fn what_was_written_and_put_back_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let seen = look(folder.path(), "");
        let mut unrest = Unrest::default();
        assert!(!unrest.is_over(&seen, FileLook::default(), Instant::now()));
        assert!(!unrest.is_over(&seen, seen.clone(), Instant::now()));
        assert!(!unrest.is_over(&seen, seen.clone(), Instant::now()), "it is as it was");
    }
}
