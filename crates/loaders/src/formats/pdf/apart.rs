//! A process of our own executable that reads one PDF and ends: what it holds and how long it takes is bounded
//! by the system, and what it does to itself is done to nobody else.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use super::{Document, Unreadable, text};
use crate::limits::{PACKED_FILE_BYTES_MAX, PDF_MEMORY_BYTES_MAX, PDF_TIME_MAX};

/// The first argument of a process that reads a PDF.
const ARGUMENT: &str = "__read-pdf";
/// Bytes of what such a process says.
const ANSWER_BYTES_MAX: u64 = 4 * PACKED_FILE_BYTES_MAX;
/// Bytes of stack for a document that refers to itself many levels deep.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Whether this executable can be started to read PDFs.
static IS_AVAILABLE: AtomicBool = AtomicBool::new(false);

/// Reads a PDF from standard input if this process was started to do that, and gives the exit code then.
/// Otherwise every PDF is read in a process of its own from now on.
///
/// To be called by `main` before any thread is started and before arguments are read. An executable that does
/// not call it reads PDFs in its own process.
pub fn read_pdf_if_asked() -> Option<ExitCode> {
    if std::env::args_os().nth(1).is_some_and(|first| first == ARGUMENT) {
        return Some(answer());
    }
    // Linux alone has `/proc/self/exe`, by which the executable finds itself.
    IS_AVAILABLE.store(cfg!(target_os = "linux"), Ordering::Relaxed);
    None
}

/// The text of a PDF.
pub(super) fn read(bytes: Vec<u8>) -> Result<Document, Unreadable> {
    match IS_AVAILABLE.load(Ordering::Relaxed) {
        true => in_a_process(bytes),
        false => in_a_thread(bytes),
    }
}

/// The work of such a process: takes its limits, reads a PDF from standard input, writes the text as JSON.
fn answer() -> ExitCode {
    let bounds = limit().and_then(|()| {
        let mut bytes = Vec::new();
        std::io::stdin().take(PACKED_FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        let read = in_a_thread(bytes);
        let mut out = std::io::stdout().lock();
        serde_json::to_writer(&mut out, &read)?;
        out.flush()
    });
    if bounds.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(unix)]
fn limit() -> std::io::Result<()> {
    use nix::sys::resource::{Resource, setrlimit};
    let seconds = PDF_TIME_MAX.as_secs();
    setrlimit(Resource::RLIMIT_CPU, seconds, seconds)?;
    // A core file would leave the document on the disk.
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    // It has its three streams and opens nothing.
    setrlimit(Resource::RLIMIT_FSIZE, 0, 0)?;
    setrlimit(Resource::RLIMIT_DATA, PDF_MEMORY_BYTES_MAX, PDF_MEMORY_BYTES_MAX)?;
    Ok(())
}

#[cfg(not(unix))]
fn limit() -> std::io::Result<()> {
    Ok(())
}

/// On a thread with a stack that is large enough, and whose panics are results.
fn in_a_thread(bytes: Vec<u8>) -> Result<Document, Unreadable> {
    let deadline = Instant::now() + PDF_TIME_MAX;
    let work = move || {
        let read = catch_unwind(AssertUnwindSafe(|| text::read(bytes, deadline)));
        read.unwrap_or_else(|_| Err(Unreadable::Other("reading it failed".to_owned())))
    };
    let thread = thread::Builder::new().name("pdf".to_owned()).stack_size(STACK_BYTES).spawn(work);
    let failed = || Unreadable::Other("reading it failed".to_owned());
    thread.map_err(|error| Unreadable::Other(error.to_string()))?.join().map_err(|_| failed())?
}

fn in_a_process(bytes: Vec<u8>) -> Result<Document, Unreadable> {
    let other =
        |error: std::io::Error| Unreadable::Other(format!("it cannot be read in a process of its own: {error}"));
    // The file that this process runs, even when an upgrade has replaced it at its path.
    let mut command = Command::new("/proc/self/exe");
    // Without the environment: what a PDF might do to its reader finds no keys there.
    command.arg(ARGUMENT).env_clear().current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(other)?;
    let answer = talk(&mut child, bytes);
    if answer.is_none() {
        // It may be at work still: the limit on its processor time does not end one that waits.
        let _ = child.kill();
    }
    let ended = child.wait();
    match answer {
        Some(answer) if ended.is_ok_and(|status| status.success()) => {
            serde_json::from_slice(&answer).unwrap_or_else(|_| Err(Unreadable::Other("reading it failed".to_owned())))
        }
        _ => Err(Unreadable::Other(format!(
            "reading it takes more than {} s or {} MiB of memory, or fails",
            PDF_TIME_MAX.as_secs(),
            PDF_MEMORY_BYTES_MAX / (1024 * 1024)
        ))),
    }
}

/// Gives a process its document and takes what it says. `None` when that is nothing in time.
fn talk(child: &mut Child, bytes: Vec<u8>) -> Option<Vec<u8>> {
    let (mut stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
    let (sender, answer) = mpsc::channel();
    // On a thread of its own: a pipe holds little, and the process may answer before it has read all. What it does not
    // read is no error.
    thread::spawn(move || drop(stdin.write_all(&bytes)));
    thread::spawn(move || {
        let mut answer = Vec::new();
        // Bounded here, since a reader that a PDF has taken over may say anything.
        let read = stdout.take(ANSWER_BYTES_MAX).read_to_end(&mut answer);
        drop(sender.send(read.is_ok().then_some(answer)));
    });
    answer.recv_timeout(PDF_TIME_MAX).ok().flatten()
}
