//! One process and all of its children.

use std::process::ExitStatus;

use futures::future::BoxFuture;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::process::Child;

/// A running process. Dropping it kills it and all that came of it.
#[derive(Debug)]
pub struct Process {
    /// The program, or its supervisor.
    child: Child,
    /// The number of its group, which is that of the child itself.
    group: Option<Pid>,
    is_supervised: bool,
}

impl Process {
    /// The child leads a group of its own.
    pub(crate) fn new(child: Child, is_supervised: bool) -> Process {
        let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        Process { child, group, is_supervised }
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
    pub fn wait(&mut self) -> BoxFuture<'_, std::io::Result<ExitStatus>> {
        Box::pin(async move {
            let status = self.child.wait().await;
            self.end();
            status
        })
    }

    /// Kills what is left of it. Once, and at the latest right after the process was waited for: later, its
    /// number may belong to somebody else.
    pub fn end(&mut self) {
        let Some(group) = self.group.take() else { return };
        // A supervisor also finds what has left the group; without one, the group is all that is known.
        let has_supervisor = self.is_supervised && matches!(self.child.try_wait(), Ok(None));
        // Both fail when nothing is left, which is fine.
        let _ = match has_supervisor {
            true => kill(group, Signal::SIGTERM),
            false => killpg(group, Signal::SIGKILL),
        };
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
