//! What the nodes of one deployment have in common: agreed on through the store, so that a node keeps nothing of
//! its own but caches.
//!
//! | file | holds |
//! |---|---|
//! | `keys.rs` | the keys that sign: made once, rotated for all |
//! | `identities.rs` | genesis documents of agents that have none in the deployment |
//! | `snapshots.rs` | built indexes, for nodes that start |
//! | `content.rs` | items that were pushed: rows that the index of each node follows |

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Store;
use forecourt_host::SystemEntropy;
use futures::future::BoxFuture;
use futures::{Stream, StreamExt};

use self::keys::SharedKeys;
use crate::error::Error;
use crate::storage;

pub(crate) mod content;
pub(crate) mod identities;
pub mod keys;
pub(crate) mod snapshots;

/// The keys in the store of a deployment, whose clock says when one takes the place of another.
///
/// # Errors
/// The store does not say what time it is.
pub fn keys_of(store: &Arc<dyn Store>) -> BoxFuture<'_, Result<SharedKeys, Error>> {
    Box::pin(async move {
        let clock = storage::clock_of(store).await?;
        Ok(SharedKeys::new(store.clone(), clock, Arc::new(SystemEntropy)))
    })
}

/// Waits for a hint of another node, at most until it is time to look without one.
async fn hint_or(hints: &mut (impl Stream + Unpin), look_every: Duration) {
    tokio::select! {
        _ = hints.next() => {}
        () = tokio::time::sleep(look_every) => {}
    }
}
