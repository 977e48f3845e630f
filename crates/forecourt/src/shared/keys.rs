//! The host's keys, agreed on through the store: the first node makes them, the others read them, and a rotation
//! reaches all.
//!
//! They lie in a stream of the store, which seals what it keeps with the operator's key. The last entry counts.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::body::Bytes;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Bus, Clock, Entropy, Store, StoreError};
use forecourt_identity::{HostKeys, KeyError};
use futures::StreamExt;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::hint_or;
use crate::error::Error;

/// The stream with the keys.
const STREAM: &str = "host:keys";
/// The topic of the bus for a change of the signing key.
const TOPIC: &str = "keys";
/// How often the stream is looked at where nobody tells.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Rounds of reading and writing before it gives up: each lost race to write costs one.
const ATTEMPTS_MAX: usize = 16;

/// The keys of a deployment with several nodes.
pub struct SharedKeys {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

/// Keys, and the number of their entry.
struct AgreedKeys {
    number: u64,
    keys: HostKeys,
}

impl SharedKeys {
    /// The keys of the deployment whose nodes share this store.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { store, clock, entropy }
    }

    /// The keys that all nodes have. The first node brings those of its data folder, if there are any, so that a
    /// deployment that had one node keeps its name for others; else it makes them.
    ///
    /// # Errors
    /// The store is away, or holds keys that can't be read.
    pub fn agree<'a>(&'a self, data: &'a Path) -> BoxFuture<'a, Result<HostKeys, Error>> {
        Box::pin(async move {
            for _ in 0..ATTEMPTS_MAX {
                // Looked at again in each round: whoever lost the race to write takes the winner's keys.
                if let Some(agreed) = self.newest(0).await? {
                    return Ok(agreed.keys);
                }
                let entropy = &*self.entropy;
                let brought = HostKeys::load(data, entropy).map_err(|error| Error::new(error.to_string()))?;
                let (keys, how) = match brought {
                    Some(keys) => (keys, "brought from the data folder"),
                    None => (HostKeys::in_memory(entropy), "made"),
                };
                if self.write(&keys, 0).await? {
                    tracing::info!(kid = keys.current().kid(), "the signing keys of all nodes were {how}");
                    return Ok(keys);
                }
            }
            Err(restless())
        })
    }

    /// Has another key sign, on every node within seconds. The one before stays published for a while.
    ///
    /// # Errors
    /// As [`SharedKeys::agree`].
    pub fn rotate<'a>(&'a self, data: &'a Path) -> BoxFuture<'a, Result<HostKeys, Error>> {
        Box::pin(async move {
            self.agree(data).await?;
            for _ in 0..ATTEMPTS_MAX {
                let Some(AgreedKeys { number, keys }) = self.newest(0).await? else { break };
                let next = keys.rotated(&*self.entropy, self.clock.now());
                if self.write(&next, number).await? {
                    return Ok(next);
                }
            }
            Err(restless())
        })
    }

    /// Tells other nodes to look.
    pub fn tell(bus: &dyn Bus) {
        bus.publish(TOPIC, Bytes::new());
    }

    /// Takes up keys that another node or `forecourt keys --rotate` has written, until `stop`.
    pub(crate) async fn follow(self, keys: Arc<ArcSwap<HostKeys>>, bus: Arc<dyn Bus>, stop: CancellationToken) {
        let mut seen = 0;
        let mut hints = bus.subscribe(TOPIC).chain(futures::stream::pending());
        loop {
            match self.newest(seen).await {
                Ok(Some(agreed)) => {
                    seen = agreed.number;
                    if agreed.keys.current().kid() != keys.load().current().kid() {
                        tracing::info!(kid = agreed.keys.current().kid(), "another key signs from now on");
                        keys.store(Arc::new(agreed.keys));
                    }
                }
                Ok(None) => {}
                Err(error) => tracing::warn!("the signing keys could not be looked at; those in use stay: {error}"),
            }
            if stop.run_until_cancelled(hint_or(&mut hints, LOOK_EVERY)).await.is_none() {
                return;
            }
        }
    }

    /// The last keys behind an entry.
    async fn newest(&self, after: u64) -> Result<Option<AgreedKeys>, Error> {
        let found = self.store.entries(STREAM, Span::Before(u64::MAX), 1, self.clock.now()).await.map_err(away)?;
        let Some((number, entry)) = found.into_iter().next().filter(|(number, _)| *number > after) else {
            return Ok(None);
        };
        let unreadable = |error: KeyError| Error::new(format!("the signing keys in the store can't be read: {error}"));
        let keys = HostKeys::from_document(&entry.body).map_err(unreadable)?;
        Ok(Some(AgreedKeys { number, keys }))
    }

    /// Whether these are the keys behind the entry `last` from now on.
    async fn write(&self, keys: &HostKeys, last: u64) -> Result<bool, Error> {
        let body = keys.to_document().map_err(|error| Error::new(error.to_string()))?;
        let entry = LedgerEntry::new(body, self.clock.now());
        Ok(self.store.append_entry(STREAM, entry, Some(last)).await.map_err(away)?.is_some())
    }
}

fn away(error: StoreError) -> Error {
    Error::new(format!("the store: {error}"))
}

fn restless() -> Error {
    Error::new("the signing keys in the store change all the time").hint("start one node first, then the others")
}

#[cfg(test)]
mod tests {
    use forecourt_bus::LocalBus;
    use forecourt_store::Memory;
    use forecourt_testkit::HandClock;

    use super::*;

    fn node(store: &Arc<Memory>) -> SharedKeys {
        SharedKeys::new(store.clone(), Arc::new(HandClock::new()), Arc::new(forecourt_host::SystemEntropy))
    }

    #[tokio::test]
    async fn nodes_that_start_at_once_have_the_same_keys_and_keep_none_of_their_own() {
        let (store, data) = (Arc::new(Memory::new()), tempfile::tempdir().unwrap());
        let nodes: Vec<SharedKeys> = (0..8).map(|_| node(&store)).collect();
        let all = futures::future::try_join_all(nodes.iter().map(|node| node.agree(data.path()))).await.unwrap();
        let (kid, secret) = (all[0].current().kid(), all[0].secret("x"));
        assert!(all.iter().all(|keys| keys.current().kid() == kid && keys.secret("x") == secret));
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn the_first_node_brings_the_keys_that_the_deployment_had() {
        let (store, data) = (Arc::new(Memory::new()), tempfile::tempdir().unwrap());
        let had = HostKeys::load_or_create(data.path(), &forecourt_host::SystemEntropy).unwrap();
        assert_eq!(node(&store).agree(data.path()).await.unwrap().current().kid(), had.current().kid());
        let other = tempfile::tempdir().unwrap();
        HostKeys::load_or_create(other.path(), &forecourt_host::SystemEntropy).unwrap();
        let second = node(&store).agree(other.path()).await.unwrap();
        assert_eq!(second.current().kid(), had.current().kid(), "the second node's own count for nothing");
    }

    #[tokio::test]
    async fn rotations_at_once_happen_one_after_another() {
        let (store, data) = (Arc::new(Memory::new()), tempfile::tempdir().unwrap());
        let first = node(&store).agree(data.path()).await.unwrap();
        let nodes: Vec<SharedKeys> = (0..3).map(|_| node(&store)).collect();
        futures::future::try_join_all(nodes.iter().map(|node| node.rotate(data.path()))).await.unwrap();
        let now = HandClock::new().now();
        let last = node(&store).agree(data.path()).await.unwrap();
        let previous: Vec<&str> = last.previous(now).map(|key| key.kid.as_str()).collect();
        assert_eq!((previous.len(), previous.last().copied()), (3, Some(first.current().kid())));
    }

    #[tokio::test(start_paused = true)]
    async fn a_rotation_reaches_who_is_told_and_who_is_not() {
        let (store, data) = (Arc::new(Memory::new()), tempfile::tempdir().unwrap());
        let stop = CancellationToken::new();
        let follow = |bus: Arc<dyn Bus>, keys: HostKeys| {
            let held = Arc::new(ArcSwap::from_pointee(keys));
            tokio::spawn(node(&store).follow(held.clone(), bus, stop.clone()));
            held
        };
        let keys = node(&store).agree(data.path()).await.unwrap();
        let bus: Arc<dyn Bus> = Arc::new(LocalBus::default());
        let told = follow(bus.clone(), keys.clone());
        let untold = follow(Arc::new(forecourt_core::NoBus), keys.clone());
        tokio::time::advance(Duration::from_millis(1)).await;
        let next = node(&store).rotate(data.path()).await.unwrap();
        SharedKeys::tell(&*bus);
        while told.load().current().kid() != next.current().kid() {
            tokio::task::yield_now().await;
        }
        assert_eq!(untold.load().current().kid(), keys.current().kid());
        tokio::time::sleep(2 * LOOK_EVERY).await;
        assert_eq!(untold.load().current().kid(), next.current().kid());
        stop.cancel();
    }

    #[tokio::test]
    async fn what_are_no_keys_is_told_and_never_replaced() {
        let (store, data) = (Arc::new(Memory::new()), tempfile::tempdir().unwrap());
        let entry = LedgerEntry::new(serde_json::json!({"current": "x"}), HandClock::new().now());
        store.append_entry(STREAM, entry, None).await.unwrap();
        let wrong = node(&store).agree(data.path()).await.unwrap_err();
        assert!(wrong.message().contains("can't be read"), "{}", wrong.message());
        assert!(node(&store).rotate(data.path()).await.is_err());
    }
}
