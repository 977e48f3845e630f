//! The two tasks of a worker: one writes to it, one reads what it writes and ends it.

use std::sync::{Arc, Weak};

use forecourt_core::Ending;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::super::lines::Output;
use super::super::process::{Input, Process, ProcessParts};
use super::super::{WHO, crashed};
use super::worker::{ConcurrentWorker, HeldPlace, WorkerHome};
use crate::answer::unreadable_ending;
use crate::limits::TIDY_TIME_MAX;

impl ConcurrentWorker {
    /// Takes over a process that said how many messages it takes at once. Nothing of it is read before
    /// [`WorkerStreams::spawn`], so that it is known whose each line is, and who has to be told when it ends.
    pub(in super::super) fn of(number: u64, home: WorkerHome, process: Process) -> (Arc<Self>, WorkerStreams) {
        let ProcessParts { process, output, input, complaints, .. } = process.into_parts();
        let (lines, to_write) = mpsc::unbounded_channel();
        let worker = Self::new(number, home, lines, complaints);
        (worker, WorkerStreams { process, output, input, to_write })
    }
}

/// The process of a worker, which nobody reads or writes yet.
pub(in super::super) struct WorkerStreams {
    process: forecourt_process::Process,
    output: Output,
    input: Input,
    to_write: mpsc::UnboundedReceiver<String>,
}

impl WorkerStreams {
    /// Has both sides be served, in the place of a process.
    pub(in super::super) fn spawn(self, worker: &Arc<ConcurrentWorker>, slot: HeldPlace) {
        let Self { process, output, input, to_write } = self;
        tokio::spawn(write(input, to_write, Arc::downgrade(worker)));
        tokio::spawn(read(worker.clone(), output, process, slot));
    }
}

/// Writes what the worker is told, until its input is closed from either side.
async fn write(input: Input, mut lines: mpsc::UnboundedReceiver<String>, worker: Weak<ConcurrentWorker>) {
    let Some(mut stdin) = input.free().await else { return retire(&worker) };
    while let Some(line) = lines.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            return retire(&worker);
        }
        if let Some(worker) = worker.upgrade() {
            worker.written(line.len());
        }
    }
}

/// A worker that closed its input hears of no message any more.
fn retire(worker: &Weak<ConcurrentWorker>) {
    if let Some(worker) = worker.upgrade() {
        worker.retire();
    }
}

/// Reads until the output ends, the worker breaks its word or has to be ended. Then all of its turns end, and so does
/// its process.
async fn read(
    worker: Arc<ConcurrentWorker>,
    mut output: Output,
    mut process: forecourt_process::Process,
    slot: HeldPlace,
) {
    let (ending, has_left) = tokio::select! {
        ending = read_lines(&worker, &mut output) => ending,
        () = worker.ended.notified() => (crashed(), false),
    };
    worker.gone(&ending);
    if has_left {
        match timeout(TIDY_TIME_MAX, process.wait()).await {
            Ok(Ok(status)) if !status.success() => {
                tracing::warn!(agent = %worker.agent(), %status, "an agent's program failed");
            }
            _ => {}
        }
    }
    // Killed with its group, unless it has exited.
    drop(process);
    // Only now: the place of a process is free when the process is gone.
    drop(slot);
}

/// How the turns end that are open when nothing more can be read, and whether the worker ended by itself.
async fn read_lines(worker: &Arc<ConcurrentWorker>, output: &mut Output) -> (Ending, bool) {
    loop {
        // Each turn has the bound of an answer for itself.
        output.begin();
        match output.line().await {
            Ok(Some(line)) => {
                if worker.take(&line).is_err() {
                    return (unreadable_ending(), false);
                }
            }
            Ok(None) => return (crashed(), true),
            Err(failure) => return (failure.ending(WHO), false),
        }
    }
}
