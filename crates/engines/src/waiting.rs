//! From calls that block to work that is waited for. Who asks an engine is on a thread that may block; connections belong
//! to one runtime, which goes on between the calls.

use std::sync::LazyLock;
use std::sync::mpsc::sync_channel;

use forecourt_retrieval::RetrievalError;
use forecourt_telemetry::spans;
use tokio::runtime::{Builder, Runtime};
use tracing::Instrument as _;

/// One for all engines of the process: pools of connections outlive the houses that use them.
static RUNTIME: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let built = Builder::new_multi_thread().worker_threads(2).thread_name("engines").enable_all().build();
    built.inspect_err(|error| tracing::error!(%error, "no threads for search engines")).ok()
});

/// Waits for some work, which has deadlines of its own. `system` and `operation` are what traces call it.
pub(crate) fn wait<T: Send + 'static>(
    system: &'static str,
    operation: &'static str,
    work: impl Future<Output = Result<T, RetrievalError>> + Send + 'static,
) -> Result<T, RetrievalError> {
    let unavailable = |why: &str| RetrievalError::Unavailable(why.to_owned());
    let runtime = RUNTIME.as_ref().ok_or_else(|| unavailable("this process has no more threads"))?;
    let (done, result) = sync_channel(1);
    let span = spans::store(system, operation);
    runtime.spawn(async move { done.send(work.await) }.instrument(span.clone()));
    // The sender is dropped when the work panics.
    let result = result.recv().unwrap_or_else(|_| Err(unavailable("the question broke off")));
    if let Err(error) = &result {
        span.record("error.type", error.kind());
        span.record("otel.status_code", "ERROR");
    }
    result
}
