//! The key with which the agents of this host sign: made when it is first needed, kept in the store, the same on every
//! node.

use forecourt_core::Error;
use forecourt_host::Host;
use forecourt_jose::RsaSigningKey;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::NAME;

/// The stream of the store with the key. The first entry counts.
const STREAM: &str = "key";

/// The key, once it was needed.
#[derive(Default)]
pub(crate) struct ActorKey(OnceCell<RsaSigningKey>);

impl ActorKey {
    /// The key.
    ///
    /// # Errors
    /// The store is away, or what it holds can't be read.
    pub(crate) async fn get(&self, host: &Host) -> Result<&RsaSigningKey, Error> {
        self.0.get_or_try_init(|| agree(host)).await
    }
}

async fn agree(host: &Host) -> Result<RsaSigningKey, Error> {
    if let Some(key) = kept(host).await? {
        return Ok(key);
    }
    let made = tokio::task::spawn_blocking(RsaSigningKey::generate).await.map_err(Error::internal)?;
    let pem = made.and_then(|key| key.to_private_pem()).map_err(Error::internal)?;
    // Only as the first entry: of two nodes that make one, both take the first one's.
    host.ledger(NAME).append(STREAM, json!({"pem": pem}), None, Some(0)).await?;
    kept(host).await?.ok_or_else(|| Error::internal("the key of the actors was not kept"))
}

async fn kept(host: &Host) -> Result<Option<RsaSigningKey>, Error> {
    let Some((_, entry)) = host.ledger(NAME).last(STREAM).await? else { return Ok(None) };
    let pem = entry.body.get("pem").and_then(Value::as_str).unwrap_or_default();
    RsaSigningKey::from_pem(pem).map(Some).map_err(Error::internal)
}
