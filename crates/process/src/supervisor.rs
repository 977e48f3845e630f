//! Programs that end when this one does, however that ends, `kill -9` included.
//!
//! Between this process and each program stands a supervisor: our own executable, started with
//! [`ARGUMENT`]. It starts the program, hands on its streams and its exit, and ends the program with
//! everything that came of it (children that left its process group, too) as soon as the program exits,
//! it is told to by SIGTERM, or nobody reads the program's standard error any more, which is what a killed
//! daemon leaves behind. No thread, timer or pid file of ours has to survive for that.
//!
//! Linux only, as only there a process can adopt what its children leave behind. Elsewhere programs are
//! started directly: they end with their process group when they are dropped.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(target_os = "linux")]
mod linux;

/// The first argument of a supervisor; the program and its arguments follow.
pub(crate) const ARGUMENT: &str = "__supervise";

/// Whether this executable can be its own supervisor.
static IS_AVAILABLE: AtomicBool = AtomicBool::new(false);

/// Is a supervisor if this process was started as one, and gives the exit code then. Otherwise every
/// program that is started from now on has one.
///
/// The first thing that `main` calls: before any thread is started and before arguments are read. An
/// executable that does not call it starts its programs without supervisors.
pub fn supervise_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == ARGUMENT) {
        return Some(supervise(arguments.collect()));
    }
    IS_AVAILABLE.store(cfg!(target_os = "linux"), Ordering::Relaxed);
    None
}

/// The executable that supervises. Our own, even if its file was replaced or removed meanwhile. `None`:
/// there is none.
pub(crate) fn executable() -> Option<PathBuf> {
    IS_AVAILABLE.load(Ordering::Relaxed).then(|| PathBuf::from("/proc/self/exe"))
}

#[cfg(target_os = "linux")]
fn supervise(command: Vec<OsString>) -> ExitCode {
    linux::supervise(command).unwrap_or_else(|error| {
        eprintln!("the program could not be started: {error}");
        ExitCode::from(linux::NOT_STARTED)
    })
}

#[cfg(not(target_os = "linux"))]
fn supervise(_: Vec<OsString>) -> ExitCode {
    ExitCode::FAILURE
}
