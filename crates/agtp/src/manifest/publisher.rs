//! The edition of the manifest that is in force. AGTP-API 8.11.

use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use bytes::Bytes;
use forecourt_core::Timestamp;
use forecourt_identity::HostKeys;
use forecourt_synthesis::negotiator::PersistentContracts;
use tokio::sync::Mutex;

use super::edition::{Edition, View, hashes};
use super::revision::Revision;
use crate::inventory::Inventory;
use crate::limits::UNKEPT_FRESH;

/// Gives out manifests: ready bytes, made anew only when the keys or the persistent contracts changed.
pub(crate) struct Publisher {
    keys: Arc<ArcSwap<HostKeys>>,
    current: ArcSwapOption<Edition>,
    making: Mutex<()>,
}

/// A manifest as it is given out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublishedManifest {
    /// The whole document, with its signature.
    pub body: Bytes,
    /// Its strong tag, with the quotes.
    pub tag: String,
}

impl Publisher {
    /// A publisher whose manifests are signed with these keys, the last ones at any time.
    pub(crate) fn new(keys: Arc<ArcSwap<HostKeys>>) -> Self {
        Self { keys, current: ArcSwapOption::empty(), making: Mutex::new(()) }
    }

    /// The manifest of a view.
    pub(crate) async fn manifest(&self, inventory: &Inventory, view: View) -> PublishedManifest {
        let edition = self.edition(inventory).await;
        let served = edition.view(inventory, view);
        PublishedManifest { body: served.body().clone(), tag: served.tag().to_owned() }
    }

    /// The list of endpoints, with the contracts that stand in it.
    pub(crate) async fn methods(&self, inventory: &Inventory) -> Bytes {
        let edition = self.edition(inventory).await;
        edition.methods(inventory)
    }

    /// Makes an edition when none is in force, whatever became of contracts since.
    pub(crate) async fn prepare(&self, inventory: &Inventory) {
        let known = self.contracts();
        if known.and_then(|known| self.good(known, inventory.host.clock().now())).is_none() {
            self.edition(inventory).await;
        }
    }

    /// Makes an edition when none is in force with the contracts that there are now.
    pub(crate) async fn refresh(&self, inventory: &Inventory) {
        self.edition(inventory).await;
    }

    /// `AGTP-API-Version` of the last edition. `None`: there was none yet.
    pub(crate) fn api_version(&self) -> Option<Arc<str>> {
        self.current.load().as_ref().map(|edition| Arc::clone(&edition.api_version))
    }

    async fn edition(&self, inventory: &Inventory) -> Arc<Edition> {
        let contracts = inventory.persistent().await.map(|persistent| persistent.edition);
        let contracts = contracts.or_else(|| self.contracts()).unwrap_or_default();
        if let Some(edition) = self.good(contracts, inventory.host.clock().now()) {
            return edition;
        }
        let _one_at_a_time = self.making.lock().await;
        let now = inventory.host.clock().now();
        // Another request may have made it while this one waited for its turn.
        if let Some(edition) = self.good(contracts, now) {
            return edition;
        }
        let edition = Arc::new(self.make(inventory, now).await);
        self.current.store(Some(Arc::clone(&edition)));
        edition
    }

    /// The edition in force, if it still is.
    fn good(&self, contracts: u64, now: Timestamp) -> Option<Arc<Edition>> {
        let keys = self.keys.load();
        self.current.load_full().filter(|edition| edition.is_good(&keys, contracts, now))
    }

    /// Which persistent contracts stand in the edition in force.
    fn contracts(&self) -> Option<u64> {
        self.current.load().as_ref().map(|edition| edition.persistent.edition)
    }

    /// A store that is away keeps nobody from reading the manifest: its revision is then counted on from
    /// what this process knows, and kept later.
    async fn make(&self, inventory: &Inventory, now: Timestamp) -> Edition {
        let keys = self.keys.load_full();
        let persistent = self.persistent(inventory).await;
        let hashes = hashes(inventory, &persistent, &keys, now);
        match Revision::keep(&inventory.host, &hashes, now).await {
            Ok(revision) => Edition::new(revision, keys, persistent, now),
            Err(error) => {
                tracing::warn!(%error, "the revision of the manifest could not be kept");
                let last = self.current.load_full();
                let revision = Revision::after(last.as_deref().map(|edition| &edition.revision), &hashes, now);
                let mut edition = Edition::new(revision, keys, persistent, now);
                edition.good_until = now.checked_add(UNKEPT_FRESH).ok();
                edition
            }
        }
    }

    /// The persistent contracts; those of the last edition while the store is away.
    async fn persistent(&self, inventory: &Inventory) -> Arc<PersistentContracts> {
        let last = || self.current.load_full().map(|edition| Arc::clone(&edition.persistent));
        match inventory.persistent().await {
            Some(persistent) => Arc::new(persistent),
            None => last().unwrap_or_else(|| Arc::new(PersistentContracts { edition: 0, contracts: Arc::default() })),
        }
    }
}
