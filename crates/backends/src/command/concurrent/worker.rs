//! One worker that takes several messages at once: its turns are begun, cancelled and ended here.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use forecourt_core::{Ending, Handle, json};
use forecourt_process::printable;
use serde_json::{Value, json};
use tokio::runtime::Handle as Runtime;
use tokio::sync::{Notify, mpsc};
use tokio::time::sleep;

use super::super::hello::HELLO;
use super::super::process::ComplaintsLeft;
use super::super::turns::TURN;
use super::queue::TurnQueue;
use super::turns::{LineOutcome, TurnStart, WorkerTurns};
use crate::answer::for_log;
use crate::limits::{INPUT_BYTES_MAX, INPUT_MORE_BYTES_MAX, TIDY_TIME_MAX};
use crate::program::ProgramContext;

/// Bytes of a line without a turn that the log tells.
const LINE_BYTES_LOGGED_MAX: usize = 200;

/// A worker that takes several messages at once.
pub(in super::super) struct ConcurrentWorker {
    /// The number of its first turn, which tells it from the other workers of its agent.
    pub(in super::super) number: u64,
    home: WorkerHome,
    /// What is written to it, until its input is closed.
    lines: Mutex<Option<mpsc::UnboundedSender<String>>>,
    /// Bytes of what it has not been written yet.
    unwritten: AtomicUsize,
    turns: Mutex<WorkerTurns>,
    complaints: ComplaintsLeft,
    /// Tells that it has to be ended now.
    pub(super) ended: Notify,
}

/// What a worker has of its agent.
#[derive(Clone)]
pub(in super::super) struct WorkerHome {
    pub(in super::super) agent: Handle,
    pub(in super::super) program: Arc<ProgramContext>,
    /// How long it may take to end a turn that is cancelled.
    pub(in super::super) grace: Duration,
    /// Who gives it its turns.
    pub(in super::super) source: Weak<dyn TurnSource>,
}

/// Gives workers their turns.
pub(in super::super) trait TurnSource: Send + Sync {
    /// Gives a worker no turn any more.
    fn retire(&self, worker: u64);
    /// Forgets a worker that has ended.
    fn remove(&self, worker: u64);
}

/// The place of a turn or of a process, given back when dropped.
pub(in super::super) type HeldPlace = Box<dyn Send>;

/// Why a turn is cancelled, as the worker is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CancelReason {
    /// Nobody listens any more.
    CallerLeft,
    /// Its task was cancelled.
    Canceled,
    /// It took too long.
    Timeout,
    /// The host stops.
    Shutdown,
    /// The host has ended it as failed: it was over a bound, or could not be read.
    Failed,
}

impl CancelReason {
    fn as_str(self) -> &'static str {
        match self {
            Self::CallerLeft => "caller_left",
            Self::Canceled => "cancelled",
            Self::Timeout => "timeout",
            Self::Shutdown => "shutdown",
            Self::Failed => "failed",
        }
    }
}

/// A line that can't belong to one turn alone, so that nothing of its worker is to be trusted any more.
#[derive(Debug)]
pub(super) struct BrokenWorker;

impl ConcurrentWorker {
    pub(super) fn new(
        number: u64,
        home: WorkerHome,
        lines: mpsc::UnboundedSender<String>,
        complaints: ComplaintsLeft,
    ) -> Arc<Self> {
        let (lines, turns) = (Mutex::new(Some(lines)), Mutex::new(WorkerTurns::new()));
        let unwritten = AtomicUsize::new(0);
        Arc::new(Self { number, home, lines, unwritten, turns, complaints, ended: Notify::new() })
    }

    /// Whose worker it is.
    pub(in super::super) fn agent(&self) -> &Handle {
        &self.home.agent
    }

    /// Opens a turn, and writes its message unless that was written before.
    ///
    /// # Errors
    /// It takes no message any more: it is gone or is to be ended. What the turn would have begun with is given back,
    /// for another worker.
    pub(super) fn begin(&self, start: TurnStart, message: Option<String>) -> Result<Arc<TurnQueue>, Box<TurnStart>> {
        let mut turns = self.turns();
        if turns.is_retiring || turns.is_gone {
            return Err(Box::new(start));
        }
        if !self.may_be_told(message.as_deref().unwrap_or_default(), INPUT_BYTES_MAX) {
            drop(turns);
            tracing::warn!(
                agent = %self.home.agent,
                "an agent's worker does not read what it is written, and is ended once its turns are over"
            );
            self.retire();
            return Err(Box::new(start));
        }
        self.complaints.renew();
        let queue = turns.begin(start);
        if let Some(message) = message {
            self.send(message);
        }
        Ok(queue)
    }

    /// Writes a line to it, behind what it was written before. A worker that reads nothing of it is ended.
    pub(super) fn tell(&self, line: String) {
        if self.may_be_told(&line, INPUT_BYTES_MAX + INPUT_MORE_BYTES_MAX) {
            return self.send(line);
        }
        tracing::error!(agent = %self.home.agent, "an agent's worker does not read what it is written, and is ended");
        self.retire();
        self.ended.notify_one();
    }

    /// Counts a line that is to be written, unless more than `bytes_max` would wait with it. One alone always may.
    fn may_be_told(&self, line: &str, bytes_max: usize) -> bool {
        let with_it = |waiting: usize| {
            let sum = waiting.saturating_add(line.len());
            (waiting == 0 || sum <= bytes_max).then_some(sum)
        };
        self.unwritten.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with_it).is_ok()
    }

    fn send(&self, line: String) {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lines) = &*lines {
            // Nobody takes it once the worker has closed its input.
            let _ = lines.send(line);
        }
    }

    /// So many bytes of what it was told are written.
    pub(super) fn written(&self, bytes: usize) {
        self.unwritten.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Has it end a turn that is not over. It has a while for that, then it is ended itself once its other turns are over.
    pub(super) fn cancel(self: &Arc<Self>, number: u64, reason: CancelReason) {
        let is_open = self.turns().cancel(number);
        if is_open {
            self.tell_canceled(number, reason);
        }
    }

    fn tell_canceled(self: &Arc<Self>, number: u64, reason: CancelReason) {
        let grace = self.home.grace;
        let cancel =
            json!({"reason": reason.as_str(), "grace_ms": u64::try_from(grace.as_millis()).unwrap_or(u64::MAX)});
        self.tell(format!("{}\n", json!({ TURN: number, "cancel": cancel })));
        let worker = self.clone();
        match Runtime::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                sleep(grace).await;
                worker.give_up(number);
            })),
            // Nothing runs any more that could wait.
            Err(_) => self.ended.notify_one(),
        }
    }

    /// Gives no further turn to a worker that did not end one in time.
    pub(super) fn give_up(&self, number: u64) {
        let turn = self.turns().remove(number);
        if turn.is_some() {
            tracing::warn!(
                agent = %self.home.agent,
                "an agent's worker did not end a cancelled turn in time, and is ended once its other turns are over"
            );
            // First, so that nobody who waits is given the place that this frees.
            self.retire();
            drop(turn);
        }
    }

    /// Gives it no turn any more, and ends it once it has none. Whoever was given a place in it and has not begun goes
    /// to another.
    pub(super) fn retire(&self) {
        if let Some(source) = self.home.source.upgrade() {
            source.retire(self.number);
        }
        let mut turns = self.turns();
        turns.is_retiring = true;
        self.end_if_idle(&turns);
    }

    fn end_if_idle(&self, turns: &WorkerTurns) {
        if turns.is_retiring && turns.is_empty() {
            self.ended.notify_one();
        }
    }

    /// Closes its input: it may finish what it is at, within a bound.
    pub(in super::super) fn close(self: &Arc<Self>) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).take();
        let worker = self.clone();
        match Runtime::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                sleep(TIDY_TIME_MAX).await;
                worker.ended.notify_one();
            })),
            Err(_) => self.ended.notify_one(),
        }
    }

    /// Remembers that it is gone: each of its turns ends so.
    pub(super) fn gone(&self, ending: &Ending) {
        if let Some(source) = self.home.source.upgrade() {
            source.remove(self.number);
        }
        let mut turns = self.turns();
        let open = turns.len();
        let over = turns.end_all(ending);
        drop(turns);
        drop(over);
        if open > 0 {
            tracing::warn!(agent = %self.home.agent, turns = open, "an agent's worker ended in the middle of its turns");
        }
    }

    /// Takes a line of its output.
    ///
    /// # Errors
    /// It may be of any turn, or half of it is missing.
    pub(super) fn take(self: &Arc<Self>, line: &[u8]) -> Result<(), BrokenWorker> {
        let text = line.trim_ascii();
        if text.is_empty() {
            return Ok(());
        }
        match (json::parse(text), text[0]) {
            (Ok(Value::Object(fields)), _) => match fields.get(TURN).and_then(Value::as_u64) {
                Some(number) => {
                    let outcome = self.turns().take(number, fields, line.len());
                    self.settle(outcome);
                    Ok(())
                }
                None if fields.contains_key(HELLO) => {
                    self.complain("a worker's `hello` is its first line, and there is one");
                    Ok(())
                }
                None if !self.home.program.keys.say_anything(&fields) => Ok(()),
                None => Err(self.broken("a line without the `turn` that it answers", text)),
            },
            (Ok(Value::Array(_) | Value::String(_)), _) => Err(self.broken("a line without its `turn`", text)),
            (Err(reason), b'{' | b'[' | b'"') => Err(self.broken(&reason, text)),
            // Somebody's `print`: the worker's own lines begin otherwise.
            _ => {
                self.complaints.log(&self.home.agent, &text[..text.len().min(LINE_BYTES_LOGGED_MAX)]);
                Ok(())
            }
        }
    }

    /// Does what a line left to be done.
    fn settle(self: &Arc<Self>, outcome: LineOutcome) {
        let LineOutcome { over, canceled } = outcome;
        let has_ended = !over.is_empty();
        drop(over);
        for number in canceled {
            self.tell_canceled(number, CancelReason::Failed);
        }
        if has_ended {
            self.end_if_idle(&self.turns());
        }
    }

    fn broken(&self, reason: &str, line: &[u8]) -> BrokenWorker {
        let line = printable(&line[..line.len().min(LINE_BYTES_LOGGED_MAX)]);
        let reason = for_log(reason);
        tracing::error!(agent = %self.home.agent, reason, line, "an agent's worker wrote a line that can't be read, and is ended");
        BrokenWorker
    }

    fn complain(&self, what: &str) {
        self.complaints.log(&self.home.agent, what.as_bytes());
    }

    fn turns(&self) -> MutexGuard<'_, WorkerTurns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
