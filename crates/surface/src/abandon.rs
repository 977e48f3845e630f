//! Work that nobody was told of.

use forecourt_host::TaskPermit;

/// Cancels a task when it is dropped, unless the caller was told of it.
pub struct CancelOnDrop {
    task: Option<TaskPermit>,
}

impl CancelOnDrop {
    /// Cancels `task`, from now on.
    pub fn new(task: TaskPermit) -> Self {
        Self { task: Some(task) }
    }

    /// Lets the task be.
    pub fn no_more(&mut self) {
        self.task = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let (Some(task), Ok(runtime)) = (self.task.take(), tokio::runtime::Handle::try_current()) else { return };
        runtime.spawn(async move {
            // It may have ended in between, which is as good.
            let _ = task.cancel().await;
        });
    }
}
