//! What the host does on its own: posts what is due, forgets what has expired.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::store_clock::HostClock;

/// How often expired things are removed.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// Expired things removed in one step, so that no transaction is long.
const SWEEP_BATCH: usize = 500;

/// Removes what has expired, in small batches, until `stop`.
pub(crate) async fn sweep(store: Arc<dyn Store>, clock: HostClock, stop: CancellationToken) {
    while stop.run_until_cancelled(tokio::time::sleep(SWEEP_EVERY)).await.is_some() {
        loop {
            match remove_batch(&*store, &clock).await {
                // A full batch means that there may be more: gone on with at once, and not in a minute.
                Ok(removed) if removed >= SWEEP_BATCH as u64 => {}
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(%error, "expired things were not removed");
                    break;
                }
            }
        }
    }
}

/// Removes what has expired, up to a batch; nothing by a clock that is wrong. How much it was.
async fn remove_batch(store: &dyn Store, clock: &HostClock) -> Result<u64, StoreError> {
    let turn = match clock.of_store() {
        None => None,
        Some(of_store) => match of_store.removing().await {
            None => return Ok(0),
            turn => turn,
        },
    };
    let removed = store.expire(clock.clock().now(), SWEEP_BATCH).await;
    drop(turn);
    removed
}
