//! One process that answers: how it is started, written to and ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use forecourt_core::{Ending, Handle};
use forecourt_process::{Program, RunningProgram, each_line, printable};
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStderr, ChildStdin};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::crashed;
use super::lines::Output;
use super::turns::Turns;
use crate::limits::{STDERR_LINE_BYTES_MAX, STDERR_LINES_MAX, TIDY_TIME_MAX};

/// The program of one agent, and whose it is.
pub(super) struct AgentProgram {
    pub(super) program: Program,
    /// Whose program it is, for the log.
    pub(super) agent: Handle,
}

/// A running process and its streams. Dropping it kills it and all processes of its group.
pub(super) struct Process {
    process: forecourt_process::Process,
    pub(super) output: Output,
    /// The turns that it was given so far.
    pub(super) turns: Turns,
    /// The standard input, or the task that writes to it.
    input: Input,
    complaints: ComplaintsLeft,
    /// Whose program it is, for the log.
    agent: Handle,
}

/// The standard input of a process.
pub(super) enum Input {
    Free(ChildStdin),
    /// Gives the input back when all was written.
    Busy(JoinHandle<Option<ChildStdin>>),
    Closed,
}

impl Input {
    /// Waits until all was written. `None` where it is closed.
    pub(super) async fn free(self) -> Option<ChildStdin> {
        match self {
            Self::Free(stdin) => Some(stdin),
            Self::Busy(writing) => writing.await.ok().flatten(),
            Self::Closed => None,
        }
    }
}

impl AgentProgram {
    /// Starts it. Fails when there is no such program, or no room for another process.
    pub(super) fn start(&self) -> std::io::Result<Process> {
        let RunningProgram { process, stdin, stdout, stderr } = self.program.start()?;
        let complaints = ComplaintsLeft::new();
        let agent = self.agent.clone();
        tokio::spawn(log_complaints(stderr, agent.clone(), complaints.clone()));
        let (output, input) = (Output::new(stdout), Input::Free(stdin));
        Ok(Process { process, output, turns: Turns::default(), input, complaints, agent })
    }
}

/// What a process is made of, for who gives it several turns at once.
pub(super) struct ProcessParts {
    pub(super) process: forecourt_process::Process,
    pub(super) output: Output,
    pub(super) input: Input,
    pub(super) complaints: ComplaintsLeft,
}

/// How many lines of its standard error may still go to the log. Clones are one and the same.
#[derive(Clone)]
pub(super) struct ComplaintsLeft(Arc<AtomicU32>);

impl ComplaintsLeft {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicU32::new(STDERR_LINES_MAX)))
    }

    /// Begins to count anew: another turn begins.
    pub(super) fn renew(&self) {
        self.0.store(STDERR_LINES_MAX, Ordering::Relaxed);
    }

    /// Writes a line of `agent` to the log, if there may be one more.
    pub(super) fn log(&self, agent: &Handle, line: &[u8]) {
        let may_log = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if may_log.is_ok() {
            tracing::warn!(%agent, "{}", printable(line));
        }
    }
}

impl Process {
    /// Takes it apart.
    pub(super) fn into_parts(self) -> ProcessParts {
        let Self { process, output, input, complaints, .. } = self;
        ProcessParts { process, output, input, complaints }
    }

    /// Begins the turn of that number: writes `text`, while the output is already being read.
    pub(super) fn begin(&mut self, number: u64, text: String, then_close: bool) {
        self.turns.begin(number);
        self.output.begin();
        self.complaints.renew();
        self.write(text, then_close);
    }

    /// Writes a line behind what it was given.
    pub(super) fn tell(&mut self, line: String) {
        self.write(line, false);
    }

    fn write(&mut self, text: String, then_close: bool) {
        let before = std::mem::replace(&mut self.input, Input::Closed);
        // On a task of its own: a program that writes before it has read everything would fill its output pipe and
        // wait for us, while we wait for it to read.
        self.input = Input::Busy(tokio::spawn(async move {
            let mut stdin = before.free().await?;
            // A program that does not read all of its input may still answer.
            let written = stdin.write_all(text.as_bytes()).await.is_ok() && stdin.flush().await.is_ok();
            (written && !then_close).then_some(stdin)
        }));
    }

    /// Whether it could take another message: it runs, has read all of its input, names the turns that it
    /// answers, and has written nothing since its answer ended.
    pub(super) async fn is_ready(&mut self) -> bool {
        if let Input::Busy(writing) = &mut self.input {
            self.input = match timeout(TIDY_TIME_MAX, writing).await {
                Ok(Ok(Some(stdin))) => Input::Free(stdin),
                _ => Input::Closed,
            };
        }
        matches!(self.input, Input::Free(_)) && self.turns.may_go_on() && self.is_idle()
    }

    /// Whether it has neither exited nor, once it had answered, written anything while it had nothing to do.
    pub(super) fn is_idle(&mut self) -> bool {
        self.process.is_running() && (self.turns.is_fresh() || self.output.is_silent())
    }

    /// How it ended, once its output has: well, or with an answer that is not whole.
    pub(super) async fn exit(&mut self, timeouts: Duration) -> Ending {
        let waited = timeout(timeouts, self.process.wait()).await;
        // After a clean exit too: children that it left behind end with the answer.
        self.process.end();
        match waited {
            Ok(Ok(status)) if status.success() => Ending::Complete,
            Ok(Ok(status)) => {
                tracing::warn!(agent = %self.agent, %status, "an agent's program failed");
                crashed()
            }
            Ok(Err(_)) | Err(_) => crashed(),
        }
    }

    /// Lets it end by itself, for a while.
    pub(super) async fn tidy(mut self) {
        self.input = Input::Closed;
        let _ = timeout(TIDY_TIME_MAX, self.process.wait()).await;
    }
}

/// Writes a program's standard error to the log, line by line. What goes over a bound is dropped, but
/// read on, so that the program is never held up by it.
async fn log_complaints(stderr: ChildStderr, agent: Handle, left: ComplaintsLeft) {
    each_line(stderr, STDERR_LINE_BYTES_MAX, |line| left.log(&agent, line)).await;
}
