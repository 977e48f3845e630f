//! One process: how it is started, written to, and ended with all of its children.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use forecourt_core::{Ending, Handle};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::crashed;
use super::lines::Output;
use crate::limits::{STDERR_LINE_BYTES_MAX, STDERR_LINES_MAX, TIDY_TIME_MAX};

/// What to start, and in which surroundings.
pub(super) struct Program {
    /// An absolute path.
    pub(super) file: PathBuf,
    pub(super) arguments: Vec<String>,
    /// Where it runs.
    pub(super) folder: PathBuf,
    pub(super) path_variable: Option<String>,
    pub(super) variables: BTreeMap<String, String>,
    /// Whose program it is, for the log.
    pub(super) agent: Handle,
}

/// A running process. Dropping it kills it and all processes of its group.
pub(super) struct Process {
    child: Child,
    /// The number of its group, which is that of the process itself.
    group: Option<Pid>,
    pub(super) output: Output,
    /// The standard input, or the task that writes to it.
    input: Input,
    /// Lines of standard error that may still go to the log.
    complaints_left: Arc<AtomicU32>,
    /// Whose program it is, for the log.
    agent: Handle,
}

enum Input {
    Free(ChildStdin),
    /// Gives the input back when all was written.
    Busy(JoinHandle<Option<ChildStdin>>),
    Closed,
}

impl Program {
    /// Starts it. Fails when there is no such program, or no room for another process.
    pub(super) fn start(&self) -> std::io::Result<Process> {
        let mut command = Command::new(&self.file);
        command.args(&self.arguments).current_dir(&self.folder).env_clear();
        // Output that waits in a buffer is no stream: Python would hold it back until the end.
        command.envs([("LANG", "C.UTF-8"), ("PYTHONUNBUFFERED", "1")]);
        command.envs(self.path_variable.as_ref().map(|path| ("PATH", path))).envs(&self.variables);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).kill_on_drop(true).spawn()?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(std::io::Error::other("a standard stream is missing"));
        };
        let complaints_left = Arc::new(AtomicU32::new(STDERR_LINES_MAX));
        let agent = self.agent.clone();
        tokio::spawn(log_complaints(stderr, agent.clone(), complaints_left.clone()));
        let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        Ok(Process { child, group, output: Output::new(stdout), input: Input::Free(stdin), complaints_left, agent })
    }
}

impl Process {
    /// Begins an answer: writes `text`, while the output is already being read.
    pub(super) fn begin(&mut self, text: String, then_close: bool) {
        self.output.begin();
        self.complaints_left.store(STDERR_LINES_MAX, Ordering::Relaxed);
        if let Input::Free(mut stdin) = std::mem::replace(&mut self.input, Input::Closed) {
            self.input = Input::Busy(tokio::spawn(async move {
                // A program that does not read all of its input may still answer.
                let written = stdin.write_all(text.as_bytes()).await.is_ok() && stdin.flush().await.is_ok();
                (written && !then_close).then_some(stdin)
            }));
        }
    }

    /// Whether it runs, has read all of its input and so could take another message.
    pub(super) async fn is_ready(&mut self) -> bool {
        if let Input::Busy(writing) = &mut self.input {
            self.input = match timeout(TIDY_TIME_MAX, writing).await {
                Ok(Ok(Some(stdin))) => Input::Free(stdin),
                _ => Input::Closed,
            };
        }
        matches!(self.input, Input::Free(_)) && self.is_running()
    }

    /// Whether it has not exited yet.
    pub(super) fn is_running(&mut self) -> bool {
        let is_running = matches!(self.child.try_wait(), Ok(None));
        if !is_running {
            self.end_group();
        }
        is_running
    }

    /// How it ended, once its output has: well, or with an answer that is not whole.
    pub(super) async fn exit(&mut self, patience: Duration) -> Ending {
        let waited = timeout(patience, self.child.wait()).await;
        self.end_group();
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
        let _ = timeout(TIDY_TIME_MAX, self.child.wait()).await;
        self.end_group();
    }

    /// Kills what is left of the group. Once, and at the latest right after the process was waited
    /// for: later, its number may belong to somebody else.
    fn end_group(&mut self) {
        if let Some(group) = self.group.take() {
            // It fails when nothing is left, which is fine.
            let _ = killpg(group, Signal::SIGKILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end_group();
    }
}

/// Writes a program's standard error to the log, line by line. What goes over a bound is dropped, but
/// read on, so that the program is never held up by it.
async fn log_complaints(stderr: ChildStderr, agent: Handle, left: Arc<AtomicU32>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        let bound = STDERR_LINE_BYTES_MAX as u64;
        match (&mut reader).take(bound).read_until(b'\n', &mut line).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let may_log = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        match may_log {
            Ok(_) => tracing::warn!(%agent, "{}", printable(&line)),
            Err(_) => continue,
        }
    }
}

/// The line without characters that could forge another, or move a terminal's cursor.
fn printable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.trim_end().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
