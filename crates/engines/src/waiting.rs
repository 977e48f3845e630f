//! From calls that block to work that is waited for. Who asks an engine is on a thread that may block; connections belong
//! to one runtime, which goes on between the calls.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use forecourt_retrieval::RetrievalError;
use forecourt_telemetry::spans;
use tokio::runtime::{Builder, Runtime};
use tokio::task::unconstrained;
use tracing::Instrument as _;

/// One for all engines of the process: pools of connections outlive the houses that use them.
static RUNTIME: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let built = Builder::new_multi_thread().worker_threads(2).thread_name("engines").enable_all().build();
    built.inspect_err(|error| tracing::error!(%error, "no threads for search engines")).ok()
});

/// Waits for some work, which has deadlines of its own. `system` and `operation` are what traces call it.
pub(crate) fn wait<T>(
    system: &'static str,
    operation: &'static str,
    work: impl Future<Output = Result<T, RetrievalError>>,
) -> Result<T, RetrievalError> {
    let unavailable = |why: &str| RetrievalError::Unavailable(why.to_owned());
    let runtime = RUNTIME.as_ref().ok_or_else(|| unavailable("this process has no more threads"))?;
    let span = spans::store(system, operation);
    // Its sockets, timers and tasks are those of this runtime, whichever thread waits. The caller's may be one of another
    // runtime, whose turn for each task would end the work's too: hence unconstrained.
    let _runtime = runtime.enter();
    let work = unconstrained(work.instrument(span.clone()));
    let result = catch_unwind(AssertUnwindSafe(|| parked(work)));
    let result = result.unwrap_or_else(|_| Err(unavailable("the question broke off")));
    if let Err(error) = &result {
        span.record("error.type", error.kind());
        span.record("otel.status_code", "ERROR");
    }
    result
}

/// Wakes a thread that is parked.
struct ParkedThread(Thread);

impl Wake for ParkedThread {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Parks this thread until some work is done. A runtime's own way to do that refuses the threads of runtimes.
fn parked<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let waker = Waker::from(Arc::new(ParkedThread(std::thread::current())));
    loop {
        match work.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    fn waited(many: u64) -> Result<u64, RetrievalError> {
        wait("test", "count", async move {
            let (send, mut receive) = tokio::sync::mpsc::channel(1);
            let counted = tokio::spawn(async move {
                for number in 0..many {
                    send.send(number).await.unwrap();
                }
            });
            let mut sum = 0;
            // With a timer, which belongs to the runtime as well.
            while let Ok(Some(number)) = timeout(Duration::from_secs(60), receive.recv()).await {
                sum += number;
            }
            counted.await.map_err(|error| RetrievalError::Unavailable(error.to_string()))?;
            Ok(sum)
        })
    }

    #[test]
    fn work_is_waited_for_on_a_thread_of_no_runtime() {
        assert_eq!(waited(1_000).unwrap(), 499_500);
    }

    #[tokio::test]
    async fn work_is_waited_for_on_a_thread_of_another_runtime() {
        assert_eq!(waited(1_000).unwrap(), 499_500);
    }

    #[test]
    fn work_that_panics_is_an_error() {
        let error = wait::<()>("test", "panic", async { panic!("a test") }).unwrap_err();
        assert!(error.to_string().contains("broke off"), "{error}");
    }
}
