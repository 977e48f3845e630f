//! One process and all of its children.

use std::process::ExitStatus;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::Child;

/// A running process. Dropping it kills it and all processes of its group.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// The number of its group, which is that of the process itself.
    group: Option<Pid>,
}

impl Process {
    /// The child leads a group of its own.
    pub(crate) fn new(child: Child) -> Process {
        let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        Process { child, group }
    }

    /// Whether it has not exited yet. Once it has, its children are ended.
    pub fn is_running(&mut self) -> bool {
        let is_running = matches!(self.child.try_wait(), Ok(None));
        if !is_running {
            self.end();
        }
        is_running
    }

    /// Waits until it exits, and ends its children then. Can be given up and begun again.
    ///
    /// # Errors
    /// It can't be waited for.
    pub async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        let status = self.child.wait().await;
        self.end();
        status
    }

    /// Kills what is left of the group. Once, and at the latest right after the process was waited
    /// for: later, its number may belong to somebody else.
    pub fn end(&mut self) {
        if let Some(group) = self.group.take() {
            // It fails when nothing is left, which is fine.
            let _ = killpg(group, Signal::SIGKILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
