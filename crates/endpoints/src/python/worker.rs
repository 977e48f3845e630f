//! One process that runs functions: asked one thing at a time, and listened to all the while.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use forecourt_process::{LineError, Process, Program, RunningProgram, line};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::frame::{self, Answer, Request};
use super::output::Output;
use crate::limits::{FUNCTION_RESULT_BYTES_MAX, WORKER_LAST_WORDS_TIME_MAX};

/// What the process runs. It is sent over its pipe, so that it need not lie in a file anywhere.
const SOURCE: &str = include_str!("worker.py");

/// Bytes of the number that an answer begins with, and of the blank behind it.
const NUMBER_BYTES_MAX: usize = 21;

/// What fetches it.
const BOOT: &str = "import os,sys;f=open(os.dup(0),'rb');exec(compile(f.read(int(sys.argv[1])),'<forecourt>','exec'))";

/// A process that runs functions. Dropping it kills it and its children.
pub(super) struct Worker {
    process: Process,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What it prints.
    output: Arc<Output>,
    /// How many requests it was sent.
    sent: u64,
    /// The functions that it has imported.
    imported: BTreeSet<String>,
    /// Which edition of the files it may have read.
    pub(super) edition: u64,
}

/// The arguments for the interpreter. It reads no settings and packages of its user, and keeps no
/// compiled files: one of a file that is edited twice in a second would be taken for the newer one's.
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
        let RunningProgram { process, stdin: mut requests, stdout, stderr } = program.start()?;
        let output = Arc::new(Output::default());
        tokio::spawn(Arc::clone(&output).log(stderr));
        // A process that ended already is found out with the first request.
        let _ = requests.write_all(SOURCE.as_bytes()).await;
        let answers = BufReader::new(stdout);
        Ok(Worker { process, requests, answers, output, sent: 0, imported: BTreeSet::new(), edition })
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
        self.output.expect(&request.function);
        self.sent += 1;
        let sent = request.line(self.sent, time)?;
        // One that does not take a request has ended, and why is found below.
        let _ = self.requests.write_all(&sent).await;
        let answer = match line(&mut self.answers, FUNCTION_RESULT_BYTES_MAX + NUMBER_BYTES_MAX).await {
            Ok(Some(line)) => frame::read(&line, self.sent)?,
            Ok(None) => return Err(self.cause().await),
            Err(fault @ LineError::TooLong) => return Err(format!("what it returned is too large: {fault}")),
            Err(LineError::Broken(error)) => return Err(format!("the pipe to its worker broke: {error}")),
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::frame::Outcome;
    use super::*;
    use crate::limits::FUNCTION_MEMORY_MB_MIN;

    const AMPLE: Duration = Duration::from_secs(60);

    fn program(folder: &std::path::Path, text: &str) -> Program {
        std::fs::write(folder.join("rooms.py"), text).unwrap();
        let path_variable = std::env::var("PATH").unwrap();
        Program {
            file: forecourt_process::find("python3", &path_variable).unwrap(),
            arguments: arguments(FUNCTION_MEMORY_MB_MIN * 1024 * 1024),
            folder: folder.to_owned(),
            path_variable: Some(path_variable),
            variables: BTreeMap::new(),
        }
    }

    #[tokio::test]
    async fn a_worker_needs_no_more_memory_than_the_least_that_may_be_set() {
        let folder = tempfile::tempdir().unwrap();
        let mut worker = Worker::start(&program(folder.path(), "def book(ctx): return {}\n"), 0).await.unwrap();
        let answer = worker.ask(Request::import("rooms.book"), AMPLE).await;
        assert_eq!(answer, Ok(Answer { outcome: Outcome::Ready, is_fit: true }));
        assert!(worker.has("rooms.book") && worker.is_running());
    }

    #[tokio::test]
    async fn a_worker_whose_host_is_gone_ends_by_itself_with_its_children_in_the_middle_of_anything() {
        let folder = tempfile::tempdir().unwrap();
        let text = "import os, subprocess\nchild = subprocess.Popen(['sleep', '3600'])\n\
                    open('child', 'w').write(str(child.pid))\nos.rename('child', 'up')\nwhile True: pass\n";
        let worker = Worker::start(&program(folder.path(), text), 0).await.unwrap();
        let Worker { mut process, mut requests, .. } = worker;
        requests.write_all(&Request::import("rooms.book").line(1, AMPLE).unwrap()).await.unwrap();
        let up = folder.path().join("up");
        while !up.exists() {
            tokio::task::yield_now().await;
        }
        let child = std::fs::read_to_string(up).unwrap();
        let lives = || std::fs::read_to_string(format!("/proc/{child}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
        assert!(lives());
        // All that the system does for a host that was killed.
        drop(requests);
        let began = std::time::Instant::now();
        while lives() {
            assert!(began.elapsed() < AMPLE / 2, "the child is left");
            tokio::task::yield_now().await;
        }
        let status = timeout(AMPLE / 2, process.wait()).await.expect("the worker is left").unwrap();
        assert_eq!(status.to_string(), "signal: 9 (SIGKILL)");
    }
}
