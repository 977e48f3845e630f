//! This module has API keys: secrets that the operator makes for programs. A key is shown once, stored as a hash, and
//! sent as a bearer token.
//!
//! Everything that is kept is a stream of the store: one index of all keys, one stream for each key, named by the
//! hash of its secret, and one that says when it was used. Whoever presents a key is looked up in the store each
//! time, so that a revocation by any process holds from its commit on.
//!
//! | file | holds |
//! |---|---|
//! | `secret.rs` | the text of a key, and its hash |
//! | `record.rs` | what is kept of a key |
//! | `limit.rs` | how often a key may be used |
//! | `index.rs` | making, listing and revoking keys |
//! | `usage.rs` | limits that are running, and when a key was used last |
//! | `verify.rs` | a presented key into evidence |

mod index;
mod limit;
mod record;
mod secret;
mod usage;
mod verify;

use std::sync::Arc;

use forecourt_core::Store;

pub use index::{ApiKeyError, CreatedApiKey};
pub use limit::{ApiKeyLimit, ApiKeyLimitError};
pub use record::{ApiKey, ApiKeyListing, ApiKeyRequest};
pub use secret::ApiKeySecret;
pub(crate) use secret::is_api_key;
pub(crate) use verify::ApiKeyRefusal;
pub use verify::METHOD;

/// The prefix of the subjects of API keys. No issuer of tokens and no Connector may use it.
pub(crate) const SUBJECT_PREFIX: &str = "key:";

/// The API keys of a deployment, in its store. One for the whole life of a server: limits count on when the
/// deployment is replaced.
pub struct ApiKeys {
    store: Arc<dyn Store>,
    usage: usage::Usage,
}

impl ApiKeys {
    /// The keys in `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, usage: usage::Usage::default() }
    }
}

impl std::fmt::Debug for ApiKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiKeys").finish_non_exhaustive()
    }
}
