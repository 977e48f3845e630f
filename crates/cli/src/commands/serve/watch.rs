//! What changes while the daemon runs: content, and keys.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use forecourt_core::Handle;
use forecourt_host::SystemEntropy;
use forecourt_identity::HostKeys;
use tokio_util::sync::CancellationToken;

use crate::commands::index::index_one;
use crate::host::Content;

/// How often files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Indexes content again when its files change, until `stop`. Questions are answered from the old
/// index meanwhile. What could not be read is looked at again when it changes again.
pub(super) async fn content(contents: Vec<Content>, stop: CancellationToken) {
    let mut failed: HashMap<Handle, u64> = HashMap::new();
    loop {
        for content in &contents {
            update(content, &mut failed).await;
        }
        if stop.run_until_cancelled(tokio::time::sleep(LOOK_EVERY)).await.is_none() {
            return;
        }
    }
}

async fn update(content: &Content, failed: &mut HashMap<Handle, u64>) {
    let Some(found) = look(content).await else { return };
    if failed.get(&content.handle) == Some(&found) || content.indexing.is_current(found) {
        return;
    }
    tracing::info!(agent = %content.handle, "content has changed, indexing it");
    match index_one(content).await {
        Ok(indexed) => {
            tracing::info!(agent = %content.handle, items = indexed.items, skipped = indexed.skipped, "indexed");
        }
        Err(error) => {
            tracing::error!(agent = %content.handle, %error, "indexing failed, the old index stays");
            failed.insert(content.handle.clone(), found);
        }
    }
}

/// The fingerprint of content, looked at on a thread that may block.
async fn look(content: &Content) -> Option<u64> {
    let indexing = content.indexing.clone();
    tokio::task::spawn_blocking(move || indexing.fingerprint().ok()).await.ok().flatten()
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
