//! Work beside whoever begins it. All of it is of two kinds, boxed: each place would else bring a copy of what runs tasks.

use std::sync::Arc;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};

/// Has something done without waiting for it.
pub(crate) fn spawn(runtime: &Handle, work: BoxFuture<'static, ()>) {
    drop(runtime.spawn(work));
}

/// Has something done on a thread that may wait for a disk.
pub(crate) fn begin_on_thread(work: Box<dyn FnOnce() + Send>) -> JoinHandle<()> {
    spawn_blocking(work)
}

/// The same, and waits for what comes of it; `None`: it panicked, or the runtime ends.
pub(crate) async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let answer = Arc::new(Mutex::new(None));
    let answered = Arc::clone(&answer);
    begin_on_thread(Box::new(move || *answered.lock() = Some(work()))).await.ok()?;
    answer.lock().take()
}
