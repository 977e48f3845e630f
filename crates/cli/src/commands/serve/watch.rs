//! What changes while the daemon runs: content, and keys.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use forecourt_host::SystemEntropy;
use forecourt_identity::HostKeys;
use tokio_util::sync::CancellationToken;

use crate::commands::index::index_one;
use crate::host::Content;

/// How often files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Indexes content again when its files change, until `stop`. Questions are answered from the old
/// index meanwhile.
pub(super) async fn content(contents: Vec<Content>, stop: CancellationToken) {
    let mut seen: Vec<_> = contents.iter().map(|content| content.indexing.fingerprint()).collect();
    while stop.run_until_cancelled(tokio::time::sleep(LOOK_EVERY)).await.is_some() {
        for (content, seen) in contents.iter().zip(&mut seen) {
            let found = content.indexing.fingerprint();
            if found == *seen {
                continue;
            }
            *seen = found;
            tracing::info!(agent = %content.handle, "content has changed, indexing it");
            match index_one(content).await {
                Ok(indexed) => tracing::info!(agent = %content.handle, items = indexed.items, "indexed"),
                Err(error) => tracing::error!(agent = %content.handle, %error, "indexing failed"),
            }
        }
    }
}

/// Takes up keys that `forecourt keys --rotate` has written, until `stop`.
pub(super) async fn keys(data: PathBuf, keys: Arc<ArcSwap<HostKeys>>, stop: CancellationToken) {
    let mut seen = newest(&data);
    while stop.run_until_cancelled(tokio::time::sleep(LOOK_EVERY)).await.is_some() {
        let found = newest(&data);
        if found == seen {
            continue;
        }
        seen = found;
        match HostKeys::load_or_create(&data, &SystemEntropy) {
            Ok(read) => keys.store(Arc::new(read)),
            Err(error) => tracing::error!(%error, "the signing keys could not be read; the old ones stay"),
        }
    }
}

fn newest(data: &Path) -> Option<SystemTime> {
    std::fs::metadata(data.join(HostKeys::FILE)).and_then(|meta| meta.modified()).ok()
}
