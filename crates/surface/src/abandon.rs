//! Work that nobody was told of.

use std::sync::Arc;

use forecourt_core::TaskId;
use forecourt_host::Host;

/// Cancels a task when it is dropped, unless the caller was told of it.
pub struct Abandon {
    host: Arc<Host>,
    task: Option<TaskId>,
}

impl Abandon {
    /// Cancels `task` of `host`, from now on.
    pub fn new(host: Arc<Host>, task: TaskId) -> Self {
        Self { host, task: Some(task) }
    }

    /// Lets the task be.
    pub fn no_more(&mut self) {
        self.task = None;
    }
}

impl Drop for Abandon {
    fn drop(&mut self) {
        let (Some(task), Ok(runtime)) = (self.task.take(), tokio::runtime::Handle::try_current()) else { return };
        let host = self.host.clone();
        runtime.spawn(async move {
            // It may have ended in between, which is as good.
            let _ = host.cancel(&task).await;
        });
    }
}
