//! One process that runs functions: asked one thing at a time, and listened to all the while.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use forecourt_process::{LineFault, Process, Program, Started, each_line, line, printable};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::frame::{self, Answer, Request};
use crate::limits::{
    FUNCTION_LINE_BYTES_MAX, FUNCTION_LINES_MAX, FUNCTION_RESULT_BYTES_MAX, WORKER_LAST_WORDS_TIME_MAX,
};

/// What the process runs. It is sent over its pipe, so that it need not lie in a file anywhere.
const SOURCE: &str = include_str!("worker.py");

/// What fetches it.
const BOOT: &str = "import os,sys;f=open(os.dup(0),'rb');exec(compile(f.read(int(sys.argv[1])),'<forecourt>','exec'))";

/// What a line begins with that says whose output follows.
const MARK: &[u8] = b"\x1e";

/// A process that runs functions. Dropping it kills it and its children.
pub(super) struct Worker {
    process: Process,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Lines of output that may still go to the log.
    lines_left: Arc<AtomicU32>,
    /// The functions that it has imported.
    imported: BTreeSet<String>,
    /// Which edition of the files it may have read.
    pub(super) edition: u64,
}

/// The arguments for the interpreter. It reads no settings and packages of its user.
pub(super) fn arguments(memory_bytes: u64) -> Vec<String> {
    let (source, memory, answer) =
        (SOURCE.len().to_string(), memory_bytes.to_string(), FUNCTION_RESULT_BYTES_MAX.to_string());
    ["-I", "-B", "-c", BOOT].map(str::to_owned).into_iter().chain([source, memory, answer]).collect()
}

impl Worker {
    /// Starts the process. That it runs shows with its first answer.
    ///
    /// # Errors
    /// There is no such program, or no room for another process.
    pub(super) async fn start(program: &Program, edition: u64) -> std::io::Result<Worker> {
        let Started { process, stdin: mut requests, stdout, stderr } = program.start()?;
        let lines_left = Arc::new(AtomicU32::new(FUNCTION_LINES_MAX));
        tokio::spawn(log(stderr, Arc::clone(&lines_left)));
        // A process that ended already is found out with the first request.
        let _ = requests.write_all(SOURCE.as_bytes()).await;
        let answers = BufReader::new(stdout);
        Ok(Worker { process, requests, answers, lines_left, imported: BTreeSet::new(), edition })
    }

    /// Whether it has imported a function.
    pub(super) fn has(&self, function: &str) -> bool {
        self.imported.contains(function)
    }

    /// Whether it has not exited yet.
    pub(super) fn is_running(&mut self) -> bool {
        self.process.is_running()
    }

    /// Asks, and waits for the answer; after `time` the process ends itself. Given up, the worker is of
    /// no use any more.
    ///
    /// # Errors
    /// The process ended, or its answer can't be read: for the log.
    pub(super) async fn ask(&mut self, mut request: Request, time: Duration) -> Result<Answer, String> {
        self.lines_left.store(FUNCTION_LINES_MAX, Ordering::Relaxed);
        let sent = request.line(time)?;
        // One that does not take a request has ended, and why is found below.
        let _ = self.requests.write_all(&sent).await;
        let answer = match line(&mut self.answers, FUNCTION_RESULT_BYTES_MAX).await {
            Ok(Some(line)) => frame::read(&line)?,
            Ok(None) => return Err(self.cause().await),
            Err(fault @ LineFault::TooLong) => return Err(format!("what it returned is too large: {fault}")),
            Err(LineFault::Broken(error)) => return Err(format!("the pipe to its worker broke: {error}")),
        };
        if answer.outcome == frame::Outcome::Ready {
            self.imported.insert(request.function);
        }
        Ok(answer)
    }

    /// Why it ended without an answer.
    async fn cause(&mut self) -> String {
        match timeout(WORKER_LAST_WORDS_TIME_MAX, self.process.wait()).await {
            Ok(Ok(status)) => format!("it ended its worker ({status})"),
            Ok(Err(error)) => format!("its worker is lost: {error}"),
            Err(_) => "it closed the pipe of its worker".to_owned(),
        }
    }

    /// Leaves a moment to a process whose time is over, in which it says where it is.
    pub(super) async fn last_words(mut self) {
        let _ = timeout(WORKER_LAST_WORDS_TIME_MAX, self.process.wait()).await;
    }
}

/// Writes what functions print to the log, line by line. What goes over a bound is dropped, but read
/// on, so that no function is ever held up by it.
async fn log(stderr: ChildStderr, left: Arc<AtomicU32>) {
    let mut function = String::new();
    let take = |line: &[u8]| {
        if let Some(name) = line.strip_prefix(MARK) {
            function = printable(name);
            return;
        }
        if line.trim_ascii().is_empty() {
            return;
        }
        match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
            Ok(1) => tracing::warn!(%function, "a function prints more than goes to the log"),
            Ok(_) => tracing::info!(%function, "{}", printable(line)),
            Err(_) => {}
        }
    };
    each_line(stderr, FUNCTION_LINE_BYTES_MAX, take).await;
}
