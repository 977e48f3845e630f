//! What changes while the daemon runs: content, and keys.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use forecourt_agents::IndexReport;
use forecourt_host::SystemEntropy;
use forecourt_identity::HostKeys;
use tokio_util::sync::CancellationToken;

use crate::content::Content;

/// How often the file of keys is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Indexes the content of one agent on a thread of its own.
///
/// # Errors
/// It can't be indexed; the old index stays.
pub(crate) async fn index_one(content: &Content) -> Result<IndexReport, String> {
    let indexing = content.indexing.clone();
    let work = move || indexing.index(&mut |_| {}).map_err(|error| error.to_string());
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

/// Takes up keys that `forecourt keys --rotate` has written, until `stop`.
pub(crate) async fn keys(data: PathBuf, keys: Arc<ArcSwap<HostKeys>>, stop: CancellationToken) {
    let mut seen = newest(&data);
    while stop.run_until_cancelled(tokio::time::sleep(LOOK_EVERY)).await.is_some() {
        let found = newest(&data);
        if found == seen {
            continue;
        }
        // Noted before the file is read: keys that can't be read are told once, and tried again when the file changes.
        seen = found;
        if seen.is_none() {
            tracing::error!("the signing keys are gone from the data folder; those in use stay");
            continue;
        }
        match HostKeys::load_or_create(&data, &SystemEntropy) {
            Ok(read) => keys.store(Arc::new(read)),
            Err(error) => tracing::error!(%error, "the signing keys could not be read; the old ones stay"),
        }
    }
}

fn newest(data: &Path) -> Option<SystemTime> {
    std::fs::metadata(data.join(HostKeys::FILE)).and_then(|meta| meta.modified()).ok()
}
