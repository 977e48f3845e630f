//! This module writes a line for each request, for the operator's other programs to read: who asked, by which wire,
//! what came of it, and how long that took.
//!
//! Paths are written as the patterns that they were mounted under, with the handle of an agent filled in and nothing
//! else: what stands in other places may be an id that opens something. Of a query only `?` is left, and the address of
//! a page that led here loses its own. Lines are written by a thread that requests never wait for; what finds no room in
//! its queue is counted and lost.

mod file;
mod line;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use jiff::Timestamp;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

use file::LogFile;
pub use line::{AccessEntry, AccessFormat};

/// Lines that may wait to be written.
pub(crate) const LINES_WAITING_MAX: usize = 8_192;
/// Bytes of a file before the next one is begun, unless it is configured.
pub const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How long a line rests in memory at most.
const FLUSH_AFTER: Duration = Duration::from_secs(1);
/// Files that are kept beside the one that is written, unless it is configured.
pub const FILES_KEPT: u32 = 5;

/// Where the lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessTarget {
    /// Standard error, among the lines of the log.
    StandardError,
    /// A file.
    File {
        /// The file that is written now; full ones become `.1`, `.2` and so on beside it.
        path: PathBuf,
        /// Bytes before it becomes `.1` and the next one is begun.
        bytes_max: u64,
        /// How many of those are kept.
        kept: u32,
    },
}

/// The access log, to which lines are handed. Cheap to clone; its thread ends with the last clone.
#[derive(Clone)]
pub struct AccessLog {
    format: AccessFormat,
    lines: SyncSender<Job>,
    written: Counter,
    lost: Counter,
}

enum Job {
    Line(String),
    /// Tells that everything before it was written.
    Flush(SyncSender<()>),
}

impl AccessLog {
    /// Begins to write.
    ///
    /// # Errors
    /// The file can't be opened.
    pub fn start(format: AccessFormat, target: AccessTarget) -> io::Result<Self> {
        let writer: Box<dyn Write + Send> = match target {
            AccessTarget::StandardError => Box::new(io::stderr()),
            AccessTarget::File { path, bytes_max, kept } => Box::new(LogFile::open(path, bytes_max, kept)?),
        };
        Self::write_to(format, writer)
    }

    fn write_to(format: AccessFormat, writer: Box<dyn Write + Send>) -> io::Result<Self> {
        let (lines, waiting) = sync_channel(LINES_WAITING_MAX);
        std::thread::Builder::new().name("access-log".to_owned()).spawn(move || write(&waiting, writer))?;
        Ok(Self { format, lines, written: Counter::default(), lost: Counter::default() })
    }

    /// Names its counters in `registry`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("access_log_lines", "Lines of the access log", self.written.clone());
        let help = "Lines of the access log that found no room in the queue, and are lost";
        registry.register("access_log_lost_lines", help, self.lost.clone());
    }

    /// Writes a line for `entry`, soon. Never waits.
    pub fn write(&self, entry: &AccessEntry) {
        let line = entry.line(self.format, Timestamp::now());
        match self.lines.try_send(Job::Line(line)) {
            Ok(()) => self.written.inc(),
            // A full queue loses the line: a slow disk must not slow requests down.
            Err(_) => self.lost.inc(),
        };
    }

    /// Waits until everything so far is written. Blocks.
    pub fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.lines.send(Job::Flush(done)).is_ok() {
            let _ = written.recv();
        }
    }
}

impl std::fmt::Debug for AccessLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AccessLog").field("format", &self.format).finish_non_exhaustive()
    }
}

/// Writes what comes until nobody can send any more.
fn write(waiting: &Receiver<Job>, mut writer: Box<dyn Write + Send>) {
    let mut is_failing = false;
    loop {
        match waiting.recv_timeout(FLUSH_AFTER) {
            // Only when nothing comes: a busy log fills its buffer by itself.
            Err(RecvTimeoutError::Timeout) => drop(writer.flush()),
            Err(RecvTimeoutError::Disconnected) => break,
            Ok(Job::Line(line)) => {
                let written = writer.write_all(line.as_bytes());
                if let Err(error) = &written
                    // Once for each outage: a full disk would otherwise write an error for every request.
                    && !is_failing
                {
                    tracing::error!(%error, "the access log can't be written");
                }
                is_failing = written.is_err();
            }
            Ok(Job::Flush(done)) => {
                let _ = writer.flush();
                let _ = done.send(());
            }
        }
    }
    let _ = writer.flush();
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Writes nothing before it is let go on.
    struct Stuck(Receiver<()>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_disk_that_hangs_costs_lines_and_nobody_waits() {
        let (go_on, stuck) = channel();
        let log = AccessLog::write_to(AccessFormat::Common, Box::new(Stuck(stuck))).unwrap();
        let entry = AccessEntry::default();
        // One may be with the writer already.
        for _ in 0..LINES_WAITING_MAX + 2 {
            log.write(&entry);
        }
        assert!((1..=2).contains(&log.lost.get()), "{}", log.lost.get());
        drop(go_on);
        log.flush();
        log.write(&entry);
        log.flush();
        assert!(log.written.get() > LINES_WAITING_MAX as u64);
    }
}
