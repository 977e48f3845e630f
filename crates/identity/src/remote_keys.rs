//! Keys behind a URL that the operator trusts: a JWKS, or a Connector Card.

use std::sync::Arc;

use bytes::Bytes;
use forecourt_egress::{Egress, EgressError, Purpose};
use forecourt_jose::{KeyError, KeySet, KeySource};
use futures::future::BoxFuture;

/// Fetches documents over https, from public addresses only.
pub trait DocumentFetcher: Send + Sync + 'static {
    /// The document behind `url`, at most 256 KiB.
    fn get<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Bytes, EgressError>>;
}

impl DocumentFetcher for Egress {
    fn get<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Bytes, EgressError>> {
        Box::pin(async move { Ok(Egress::get(self, Purpose::Document, url).await?.bytes) })
    }
}

/// A document that has keys in it.
pub(crate) struct KeyDocument {
    pub(crate) url: String,
    /// Where in it they are.
    pub(crate) read: fn(&[u8]) -> Result<KeySet, KeyError>,
    pub(crate) documents: Arc<dyn DocumentFetcher>,
}

/// The keys of one.
pub(crate) type RemoteKeys = forecourt_jose::RemoteKeys<KeyDocument>;

impl KeySource for KeyDocument {
    fn url(&self) -> &str {
        &self.url
    }

    async fn fetch(&self) -> Result<KeySet, String> {
        let bytes = self.documents.get(&self.url).await.map_err(|error| error.log_reason())?;
        (self.read)(&bytes).map_err(|fault| fault.to_string())
    }
}
