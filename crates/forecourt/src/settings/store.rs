//! `[store]`: where tasks and conversations are kept.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::SharedStore;

/// `[store]`: where tasks and conversations are kept.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StoreSettings {
    /// Which store. Default: `sqlite`, and `postgres` where there is a `url`.
    pub kind: Option<StoreKind>,
    /// The database that several nodes share: `postgres://forecourt:${PGPASSWORD}@db/forecourt`. TLS is chosen by
    /// `sslmode` in it. A database is of one deployment: another one is refused.
    pub(crate) url: Option<String>,
    /// What seals ids, requests and answers in the database of `url`, the same on every node: 32 bytes in base64 or
    /// hex, best from the environment, as `"${FORECOURT_STORE_KEY}"`. Whoever loses it loses what is kept.
    pub(crate) key: Option<String>,
    /// A file with that key, in place of `key`.
    pub(crate) key_file: Option<PathBuf>,
    /// Seconds that a node may be silent before the others end its tasks, 5 to 300. It says five times within them
    /// that it is alive.
    pub lease_seconds: u64,
    /// Bytes of the database, from 16777216 on. Over it, what would keep more is refused; the last
    /// sixteenth is for what ends or removes something. Default: 16 GiB of a file; no bound where there is a `url`.
    pub size_max: Option<u64>,
    /// Where nodes share built indexes, so that one that starts need not build its own: a folder that all of them
    /// have, or `s3://BUCKET/PREFIX` with keys from the environment, as `AWS_ACCESS_KEY_ID`. Needs `url`.
    pub snapshots: Option<String>,
    /// The database of `url`, once it was read.
    #[serde(skip)]
    pub shared: Option<SharedStore>,
}

impl Default for StoreSettings {
    fn default() -> Self {
        let lease_seconds = forecourt_host::LEASE.as_secs();
        Self {
            kind: None,
            url: None,
            key: None,
            key_file: None,
            lease_seconds,
            size_max: None,
            snapshots: None,
            shared: None,
        }
    }
}

/// Never prints the URL and the key.
impl std::fmt::Debug for StoreSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreSettings").field("kind", &self.kind()).finish_non_exhaustive()
    }
}

/// The stores there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// A file in the data folder. Survives a power cut.
    #[default]
    Sqlite,
    /// Nothing survives a restart. For tests and demonstrations.
    Memory,
    /// A PostgreSQL database that several nodes may share; `url` says which.
    Postgres,
}

impl StoreKind {
    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Memory => "memory",
            Self::Postgres => "postgres",
        }
    }
}
