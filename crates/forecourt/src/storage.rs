//! Where a host keeps what must last: its database and its keys.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Clock, Entropy, Store, StoreError, SystemClock};
use forecourt_host::SystemEntropy;
use forecourt_identity::HostKeys;
use forecourt_store::{Memory, Sqlite, SqliteOptions};

use crate::deployment::Deployment;
use crate::error::Error;
use crate::settings::StoreKind;

/// The database in the data folder.
pub(crate) const DATABASE: &str = "forecourt.db";
/// The stream in the store that says with which key this deployment signs.
pub(crate) const SIGNED: &str = "host:signing-key";

/// Where a host keeps things.
#[derive(Debug, Clone)]
pub enum Storage {
    /// In this folder.
    Kept(PathBuf),
    /// In the folder `own`, but for where agents stand: that is the deployment's to say, whose folder
    /// another process holds.
    Apart {
        /// What ends with this process.
        own: PathBuf,
        /// The deployment's.
        deployment: PathBuf,
    },
    /// Nowhere, but its keys are in this folder: for what they sign.
    Signing(PathBuf),
    /// Nowhere: for checking. What is kept in this folder, which may not be there, is looked at.
    Looking(PathBuf),
}

impl Storage {
    /// The store of a host.
    pub(crate) fn store(&self, deployment: &Deployment) -> Result<Arc<dyn Store>, Error> {
        match (self, deployment.store.kind) {
            (Self::Kept(data) | Self::Apart { own: data, .. }, StoreKind::Sqlite) => open(deployment, data),
            (Self::Looking(_) | Self::Signing(_), _) | (_, StoreKind::Memory) => {
                Ok(Arc::new(Memory::bounded(deployment.limits.stored_bytes_per_caller)))
            }
        }
    }

    /// The store in which it is kept where agents stand, if that is another one.
    pub(crate) fn standings(&self, deployment: &Deployment) -> Result<Option<Arc<dyn Store>>, Error> {
        match (self, deployment.store.kind) {
            (Self::Apart { deployment: folder, .. }, StoreKind::Sqlite) => open(deployment, folder).map(Some),
            _ => Ok(None),
        }
    }

    /// The keys that sign.
    pub(crate) fn keys(&self) -> Result<HostKeys, Error> {
        let entropy: &dyn Entropy = &SystemEntropy;
        match self {
            Self::Kept(data) | Self::Apart { own: data, .. } | Self::Signing(data) => {
                HostKeys::load_or_create(data, entropy).map_err(|error| Error::new(error.to_string()))
            }
            Self::Looking(_) => Ok(HostKeys::in_memory(entropy)),
        }
    }

    /// The folder with what is known of agents' identities, and whether more may be written there.
    pub(crate) fn identities(&self) -> (&Path, bool) {
        match self {
            Self::Kept(data) | Self::Apart { own: data, .. } => (data, true),
            Self::Signing(data) | Self::Looking(data) => (data, false),
        }
    }
}

/// The store of a deployment that another process may be serving, for commands that change what is kept in it.
///
/// # Errors
/// Its store is kept in memory, where nobody else can reach it; or it can't be opened.
pub fn shared_store(deployment: &Deployment, data: &Path) -> Result<Arc<dyn Store>, Error> {
    match deployment.store.kind {
        StoreKind::Sqlite => open(deployment, data),
        StoreKind::Memory => {
            Err(Error::new("the store of this deployment is kept in memory, which ends with the server")
                .hint("set `kind = \"sqlite\"` in [store]"))
        }
    }
}

/// The store of a deployment, beside whoever serves it: to look at what is kept.
///
/// # Errors
/// It keeps nothing that outlives a process, nothing was kept yet, or the database can't be read.
pub fn look(deployment: &Deployment) -> Result<Arc<dyn Store>, Error> {
    let data = deployment.data_folder();
    if deployment.store.kind == StoreKind::Memory {
        return Err(Error::new("this deployment keeps everything in memory")
            .hint("write `kind = \"sqlite\"` under [store] in forecourt.toml"));
    }
    if !data.join(DATABASE).exists() {
        return Err(Error::new(format!("nothing is kept in {} yet", data.display()))
            .hint("serve the deployment first, or name its data folder with --data DIR"));
    }
    open(deployment, data)
}

fn open(deployment: &Deployment, data: &Path) -> Result<Arc<dyn Store>, Error> {
    let file = data.join(DATABASE);
    let options = SqliteOptions {
        caller_bytes_max: deployment.limits.stored_bytes_per_caller,
        database_bytes_max: deployment.store.size_max,
        ..SqliteOptions::default()
    };
    let store = Sqlite::open(&file, options).map_err(|error| match error {
        StoreError::Full { .. } => Error::new(format!("{} cannot be written: {error}", file.display()))
            .hint("make room on the disk, or name another folder with --data DIR"),
        error => Error::new(format!("{}: {error}", file.display())),
    })?;
    Ok(store)
}

/// Writes down that this deployment signs, and with which key: so that a key that is gone is missed, and no
/// other one made in silence.
pub(crate) async fn remember_signing(store: &Arc<dyn Store>, kid: &str) -> Result<(), Error> {
    let wrong = |error: StoreError| Error::new(format!("the store: {error}"));
    let now = SystemClock.now();
    let known = store.entries(SIGNED, Span::Before(u64::MAX), 1, now).await.map_err(wrong)?;
    let body = serde_json::json!({ "kid": kid });
    if known.first().is_none_or(|(_, entry)| entry.body != body) {
        store.append_entry(SIGNED, LedgerEntry::new(body, now), None).await.map_err(wrong)?;
    }
    Ok(())
}
