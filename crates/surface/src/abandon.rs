//! This module cancels tasks whose caller left before it learned their ids: nobody could read or cancel them.

use forecourt_host::TaskPermit;

/// Cancels a task when it is dropped, unless the caller was told of it.
pub struct CancelOnDrop {
    task: Option<TaskPermit>,
}

impl CancelOnDrop {
    /// Guards `task`: dropping this value cancels it.
    pub fn new(task: TaskPermit) -> Self {
        Self { task: Some(task) }
    }

    /// Disarms the guard, once the caller was told the task's id.
    pub fn no_more(&mut self) {
        self.task = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        // `try_current`, as a drop may happen when the runtime is gone already, and spawning would panic.
        let (Some(task), Ok(runtime)) = (self.task.take(), tokio::runtime::Handle::try_current()) else { return };
        runtime.spawn(async move {
            // The only error is that the task has ended in between, which needs no cancelling.
            let _ = task.cancel().await;
        });
    }
}
