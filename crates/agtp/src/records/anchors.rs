//! How far the log of each node is, in a stream of the store that all nodes have: a log that was cut short, or given
//! back from an older copy, is noticed by who verifies it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt_attribution::AttributionLog;
use forecourt_attribution::anchors::{MARK, anchor_stream};
use forecourt_core::Timestamp;
use forecourt_host::Ledger;
use parking_lot::Mutex;
use serde_json::json;
use tokio::runtime::Handle;

/// How often a node says how far it is, at most: what was cut off since is noticed by the mark beside the log alone.
const ANCHOR_EVERY: Duration = Duration::from_secs(10 * 60);
/// How long that is kept.
const ANCHOR_KEPT: Duration = Duration::from_secs(2 * 366 * 24 * 60 * 60);

/// Has the log of a node among several say how far it is.
pub(super) fn anchor(log: &Arc<AttributionLog>, ledger: Ledger) {
    let Some(node) = log.node() else { return };
    let (stream, last) = (anchor_stream(node), Mutex::new(None::<Instant>));
    log.anchor_with(Box::new(move |mark| {
        // At the very end there may be nobody to write it.
        let Ok(runtime) = Handle::try_current() else { return };
        let mut last = last.lock();
        if last.is_some_and(|last| last.elapsed() < ANCHOR_EVERY) {
            return;
        }
        *last = Some(Instant::now());
        let (stream, ledger) = (stream.clone(), ledger.clone());
        runtime.spawn(async move {
            let until = Timestamp::now().checked_add(ANCHOR_KEPT).ok();
            if let Err(error) = ledger.append(&stream, json!({MARK: mark}), until, None).await {
                tracing::warn!(%error, "how far the records of this node are was not told to the store");
            }
        });
    }));
}
