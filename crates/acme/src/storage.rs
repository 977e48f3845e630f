//! Where an account, certificates, tokens and turns are kept.

use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;

/// What storage answers.
pub type StorageFuture<'a, T> = BoxFuture<'a, Result<T, StorageError>>;

/// Why nothing could be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StorageError(pub String);

/// Keeps what orders need, for one node or for all. Names are ours: letters, digits, `.`, `-` and `_`.
pub trait AcmeStorage: Send + Sync + 'static {
    /// What is kept under a name; `None`: nothing.
    fn load<'a>(&'a self, name: &'a str, now: Timestamp) -> StorageFuture<'a, Option<Value>>;

    /// Keeps a value in the place of the one before it, for ever or until `until`. `Value::Null` forgets it.
    fn save<'a>(
        &'a self,
        name: &'a str,
        value: Value,
        now: Timestamp,
        until: Option<Timestamp>,
    ) -> StorageFuture<'a, ()>;

    /// Takes something for this caller alone until a moment; `false` while somebody has it.
    fn claim<'a>(&'a self, name: &'a str, now: Timestamp, until: Timestamp) -> StorageFuture<'a, bool>;

    /// Whether other nodes keep theirs in it, too.
    fn is_shared(&self) -> bool;
}

/// The name of something that belongs to a domain or to an address of the web.
pub(crate) fn named(kind: &str, of: &str) -> String {
    // The name becomes the name of a file: nothing in it may lead out of the folder.
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' };
    format!("{kind}-{}", of.chars().map(plain).collect::<String>().to_ascii_lowercase())
}
