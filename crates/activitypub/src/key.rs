//! The key with which the agents of this host sign: made when it is first needed, kept in the store, the same on every
//! node. Another one takes its place when the operator says so, under the same name: servers fetch an actor anew whose
//! signature does not fit.

use std::sync::Arc;

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Error, Timestamp};
use forecourt_host::Host;
use forecourt_jose::RsaSigningKey;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::NAME;
use crate::limits::{KEY_BEGINS_AFTER, KEY_FRESH};

/// The stream of the store with the keys: the first one, and those that took its place.
const STREAM: &str = "key";

/// The key, once it was needed.
#[derive(Default)]
pub(crate) struct ActorKey(Mutex<Option<ReadKeys>>);

/// The keys as they were read.
struct ReadKeys {
    read_at: Timestamp,
    /// The last ones, the newest first, each with when it begins to sign.
    keys: Vec<(Timestamp, Arc<RsaSigningKey>)>,
}

impl ReadKeys {
    /// The one that signs at `now`.
    fn at(&self, now: Timestamp) -> Option<Arc<RsaSigningKey>> {
        let begun = self.keys.iter().find(|(from, _)| *from <= now);
        begun.or(self.keys.last()).map(|(_, key)| Arc::clone(key))
    }

    fn is_fresh(&self, now: Timestamp) -> bool {
        let until = self.read_at.checked_add(KEY_FRESH).unwrap_or(now);
        (self.read_at..until).contains(&now)
    }
}

impl ActorKey {
    /// The key that signs now.
    ///
    /// # Errors
    /// The store is away, or what it holds can't be read, and no key was read before.
    pub(crate) async fn get(&self, host: &Host) -> Result<Arc<RsaSigningKey>, Error> {
        let now = host.clock().now();
        let mut read = self.0.lock().await;
        if let Some(key) = read.as_ref().filter(|read| read.is_fresh(now)).and_then(|read| read.at(now)) {
            return Ok(key);
        }
        match agree(host).await {
            Ok(keys) => *read = Some(ReadKeys { read_at: now, keys }),
            // The one of before is better than none.
            Err(error) if read.is_some() => tracing::warn!(%error, "the key of the actors can't be read again"),
            Err(error) => return Err(error),
        }
        let key = read.as_ref().and_then(|read| read.at(now));
        key.ok_or_else(|| Error::internal("the key of the actors was not kept"))
    }
}

/// Has a new key take the place of the one there is: when. Every node has read of it by then.
///
/// # Errors
/// The store is away, or somebody else does the same.
pub(crate) async fn rotate(host: &Host) -> Result<Timestamp, Error> {
    let now = host.clock().now();
    let from = now.checked_add(KEY_BEGINS_AFTER).map_err(Error::internal)?;
    agree(host).await?;
    let last = host.ledger(NAME).last(STREAM).await?.map_or(0, |(number, _)| number);
    match append(host, json!({"from": from}), last).await? {
        true => Ok(from),
        false => Err(Error::unavailable()),
    }
}

/// The keys of the store, the first one of which is made where there is none.
async fn agree(host: &Host) -> Result<Vec<(Timestamp, Arc<RsaSigningKey>)>, Error> {
    let keys = kept(host).await?;
    if !keys.is_empty() {
        return Ok(keys);
    }
    // Only as the first entry: of two nodes that make one, both take the first one's.
    append(host, json!({}), 0).await?;
    kept(host).await
}

/// Makes a key, and keeps it behind the entry of number `last`.
async fn append(host: &Host, mut body: Value, last: u64) -> Result<bool, Error> {
    let made = tokio::task::spawn_blocking(RsaSigningKey::generate).await.map_err(Error::internal)?;
    let pem = made.and_then(|key| key.to_private_pem()).map_err(Error::internal)?;
    body["pem"] = json!(pem);
    Ok(host.ledger(NAME).append(STREAM, body, None, Some(last)).await?.is_some())
}

async fn kept(host: &Host) -> Result<Vec<(Timestamp, Arc<RsaSigningKey>)>, Error> {
    // The last one, and the one that signs until it begins.
    let entries = host.ledger(NAME).entries(STREAM, Span::Before(u64::MAX), 2).await?;
    entries.into_iter().map(|(_, entry)| read(&entry)).collect()
}

fn read(entry: &LedgerEntry) -> Result<(Timestamp, Arc<RsaSigningKey>), Error> {
    let text = |name: &str| entry.body.get(name).and_then(Value::as_str);
    let key = RsaSigningKey::from_pem(text("pem").unwrap_or_default()).map_err(Error::internal)?;
    let from = text("from").and_then(|from| from.parse().ok()).unwrap_or(Timestamp::UNIX_EPOCH);
    Ok((from, Arc::new(key)))
}

// What is read again within a minute is known on every node before it begins.
const _: () = assert!(KEY_BEGINS_AFTER.as_secs() >= 2 * KEY_FRESH.as_secs() && KEY_FRESH.as_secs() > 0);
