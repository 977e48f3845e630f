//! Calls of functions: a turn, a worker that has imported the function, and its answer.

use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::Failure;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::{Instant, timeout_at};

use super::frame::{Answer, Outcome, Request};
use super::lease::Lease;
use super::pool::Pool;

impl Pool {
    /// Imports a function.
    ///
    /// # Errors
    /// What is wrong with it, for the operator.
    pub(super) async fn load(self: Arc<Self>, function: String) -> Result<(), String> {
        let turn = self.turn().await?;
        self.lease(&function, turn).await.map(Lease::give_back)
    }

    /// Calls a function: waits for a turn, has the function imported where it is not, and asks. Dropped,
    /// it ends the worker.
    pub(super) async fn call(
        self: Arc<Self>,
        function: &str,
        request: Request,
        time: Duration,
    ) -> Result<Value, Failure> {
        let deadline = Instant::now() + time;
        let told = |cause: String| format!("{function}: {cause}");
        let turn = timeout_at(deadline, self.turn()).await;
        let turn = turn.unwrap_or_else(|_| Err(format!("no worker was free within {time:?}")));
        let turn = turn.map_err(|cause| Failure::Busy(told(cause)))?;
        // The time that was waited for a turn counts: the caller's deadline is one for all of it.
        let answered = async { self.lease(function, turn).await?.ask(request, deadline).await };
        let late = |_| Failure::Late(told(format!("took more than {time:?}")));
        let answer = timeout_at(deadline, answered).await.map_err(late)?;
        let cause = match answer.map(|Answer { outcome, .. }| outcome) {
            Ok(Outcome::Ended(ended)) => return ended,
            Ok(Outcome::Fault(fault)) => fault,
            Ok(Outcome::Ready) => "the worker's answer can't be read".to_owned(),
            Err(cause) => cause,
        };
        Err(Failure::Crashed(told(cause)))
    }

    /// A worker that has imported the function.
    async fn lease(self: &Arc<Self>, function: &str, turn: OwnedSemaphorePermit) -> Result<Lease, String> {
        let (worker, edition) = self.idle(function);
        let lease = Lease::new(Arc::clone(self), worker, turn);
        if lease.has(function) {
            return Ok(lease);
        }
        // Apart from the call: what takes longer than a call may last is there for the next one.
        let (give, get) = oneshot::channel();
        let (function, until) = (function.to_owned(), Instant::now() + self.import_time);
        tokio::spawn(async move {
            if let Err(Ok(lease)) = give.send(lease.prepare(&function, edition, until).await) {
                lease.give_back();
            }
        });
        get.await.unwrap_or_else(|_| Err("its worker could not be prepared".to_owned()))
    }
}
