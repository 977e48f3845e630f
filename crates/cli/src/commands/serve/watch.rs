//! What changes while the daemon runs: content, and keys.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use forecourt_host::SystemEntropy;
use forecourt_identity::HostKeys;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::commands::index::{fetch_one, index_one};
use crate::host::Content;

/// How often files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Reasons of one visit that reach the log.
const WARNINGS_LOGGED: usize = 10;

/// Keeps the content of one agent up to date, until `stop`: indexes it when its files change, and asks for
/// what is elsewhere when that is due. Questions are answered from the old index meanwhile. What could not
/// be read is looked at again when it changes again.
pub(in crate::commands) async fn content(content: Content, stop: CancellationToken) {
    let mut failed = None;
    let mut fetching: Option<JoinHandle<()>> = None;
    loop {
        update(&content, &mut failed).await;
        if fetching.as_ref().is_none_or(JoinHandle::is_finished) && content.indexing.is_due() {
            fetching = Some(tokio::spawn(fetch(content.clone(), stop.clone())));
        }
        if stop.run_until_cancelled(tokio::time::sleep(LOOK_EVERY)).await.is_none() {
            return;
        }
    }
}

async fn update(content: &Content, failed: &mut Option<u64>) {
    let Some(found) = look(content).await else { return };
    if *failed == Some(found) || content.indexing.is_current(found) {
        return;
    }
    tracing::info!(agent = %content.handle, "content has changed, indexing it");
    match index_one(content).await {
        Ok(indexed) => {
            tracing::info!(agent = %content.handle, items = indexed.items, skipped = indexed.skipped, "indexed");
        }
        Err(error) => {
            tracing::error!(agent = %content.handle, %error, "indexing failed, the old index stays");
            *failed = Some(found);
        }
    }
}

/// Asks for what is elsewhere, beside everything else: it may take hours.
async fn fetch(content: Content, stop: CancellationToken) {
    let handle = content.handle.clone();
    match fetch_one(&content, move || stop.is_cancelled()).await {
        Ok(fetched) => {
            tracing::info!(agent = %handle, pages = fetched.pages, skipped = fetched.skipped, "sites were visited");
            fetched
                .warnings
                .iter()
                .take(WARNINGS_LOGGED)
                .for_each(|why| tracing::info!(agent = %handle, "left out: {why}"));
        }
        Err(error) => {
            tracing::error!(agent = %handle, %error, "sites could not be visited, what is known of them stays")
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
