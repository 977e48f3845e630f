//! Work beside whoever begins it. All of it is of two kinds, boxed: each place would else bring a copy of what runs tasks.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::sleep;

/// Has something done without waiting for it.
pub(crate) fn spawn(runtime: &Handle, work: BoxFuture<'static, ()>) {
    drop(runtime.spawn(work));
}

/// Has something done with `of` after `first`, and `every` so often again until `step` says that nothing is left, or
/// nobody has `of` any more.
pub(crate) fn repeat<T: Send + Sync + 'static>(
    of: &Arc<T>,
    first: Duration,
    every: Duration,
    step: fn(Arc<T>) -> BoxFuture<'static, bool>,
) {
    let of = Arc::downgrade(of);
    let work = async move {
        let mut wait = first;
        loop {
            sleep(wait).await;
            let Some(of) = of.upgrade() else { return };
            if step(of).await {
                return;
            }
            wait = every;
        }
    };
    spawn(&Handle::current(), Box::pin(work));
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
