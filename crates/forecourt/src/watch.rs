//! What changes while the daemon runs: content, and keys.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use forecourt_agents::{FetchSummary, IndexReport};
use forecourt_host::SystemEntropy;
use forecourt_identity::HostKeys;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::house::Content;

/// How often files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The longest time between two tries to index what could not be indexed.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(5 * 60);
/// Reasons of one visit that reach the log.
const WARNINGS_LOGGED: usize = 10;

/// Keeps the content of one agent up to date, until `stop`: indexes it when its files change, and asks for
/// what is elsewhere when that is due. Questions are answered from the old index meanwhile. What could not
/// be indexed is tried again, at once when it changes and else ever more rarely.
pub(crate) async fn content(content: Content, stop: CancellationToken) {
    let mut failed = Failed::default();
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

/// What could not be indexed, and when it is tried again.
#[derive(Debug, Default)]
struct Failed {
    /// Of the content as it was.
    fingerprint: Option<u64>,
    /// Tries in a row.
    tries: u32,
    /// Looks at the content that are still let go by.
    looks_left: u32,
}

impl Failed {
    /// Whether this content is to be left alone at this look.
    fn waits(&mut self, found: u64) -> bool {
        if self.fingerprint != Some(found) {
            return false;
        }
        self.looks_left = self.looks_left.saturating_sub(1);
        self.looks_left > 0
    }

    /// It failed again: twice as many looks are let go by as before, within [`RETRY_AFTER_MAX`]. Gives the
    /// time until the next try.
    fn again(&mut self, found: u64) -> Duration {
        self.tries = if self.fingerprint == Some(found) { self.tries.saturating_add(1) } else { 0 };
        self.fingerprint = Some(found);
        let looks_max = (RETRY_AFTER_MAX.as_secs() / LOOK_EVERY.as_secs()) as u32;
        self.looks_left = 1_u32.checked_shl(self.tries).unwrap_or(looks_max).min(looks_max);
        LOOK_EVERY * self.looks_left
    }
}

async fn update(content: &Content, failed: &mut Failed) {
    let Some((found, is_current)) = look(content).await else { return };
    if is_current {
        *failed = Failed::default();
        return;
    }
    if failed.waits(found) {
        return;
    }
    tracing::info!(agent = %content.handle, "content has changed, indexing it");
    match index_one(content).await {
        Ok(indexed) => {
            *failed = Failed::default();
            tracing::info!(agent = %content.handle, items = indexed.items, skipped = indexed.skipped, "indexed");
        }
        Err(error) => {
            let again = failed.again(found).as_secs();
            tracing::error!(agent = %content.handle, %error, "indexing failed, the old index stays; trying again in {again} s");
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

/// Indexes the content of one agent on a thread of its own.
///
/// # Errors
/// It can't be indexed; the old index stays.
pub(crate) async fn index_one(content: &Content) -> Result<IndexReport, String> {
    let indexing = content.indexing.clone();
    let work = move || indexing.index(&mut |_| {}).map_err(|error| error.to_string());
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

/// Asks for what one agent has elsewhere, on a thread of its own, until that is `cancelled`.
async fn fetch_one(
    content: &Content,
    cancelled: impl Fn() -> bool + Send + Sync + 'static,
) -> Result<FetchSummary, String> {
    let indexing = content.indexing.clone();
    let work = move || indexing.fetch(&mut |_| {}, &cancelled).map_err(|error| error.to_string());
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

/// The fingerprint of content and whether the index has all of it, looked at on a thread that may block.
async fn look(content: &Content) -> Option<(u64, bool)> {
    let indexing = content.indexing.clone();
    let look = move || indexing.fingerprint().ok().map(|found| (found, indexing.is_current(found)));
    tokio::task::spawn_blocking(look).await.ok().flatten()
}

/// Takes up keys that `forecourt keys --rotate` has written, until `stop`.
pub(crate) async fn keys(data: PathBuf, keys: Arc<ArcSwap<HostKeys>>, stop: CancellationToken) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_tried_again_ever_more_rarely_and_at_once_when_it_changes() {
        let mut failed = Failed::default();
        assert!(!failed.waits(1));
        let mut waited = Vec::new();
        for _ in 0..12 {
            let until = failed.again(1);
            let looks = (1..).find(|_| !failed.waits(1)).unwrap();
            assert_eq!(until, LOOK_EVERY * looks);
            waited.push(until.as_secs());
        }
        assert_eq!(waited[..5], [2, 4, 8, 16, 32]);
        assert_eq!(waited[9..], [RETRY_AFTER_MAX.as_secs(); 3]);
        assert!(!failed.waits(2), "other content");
        assert_eq!(failed.again(2), LOOK_EVERY, "counted anew");
    }
}
