//! Where a host keeps what must last: its database and its keys.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Entropy, Store, StoreError, Timestamp};
use forecourt_host::{StoreClock, SystemEntropy};
use forecourt_identity::HostKeys;
use forecourt_store::content::ContentRows;
use forecourt_store::limits::DATABASE_BYTES_MAX;
use forecourt_store::{Memory, Postgres, PostgresOptions, Sqlite, SqliteOptions, StoreReads};
use futures::future::BoxFuture;

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
    /// another process holds. A store that nodes share is theirs too: then this is one of them.
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

/// A store that is open.
pub(crate) struct OpenStore {
    pub store: Arc<dyn StoreReads>,
    /// What is pushed to agents, where it is all nodes'.
    pub content: Option<Arc<dyn ContentRows>>,
}

impl Storage {
    /// The store of a host.
    pub(crate) async fn store(&self, deployment: &Deployment) -> Result<OpenStore, Error> {
        let store: Arc<dyn StoreReads> = match (self, deployment.store.kind()) {
            (Self::Kept(data) | Self::Apart { own: data, .. }, StoreKind::Sqlite) => open(deployment, data)?,
            (Self::Kept(_) | Self::Apart { .. }, StoreKind::Postgres) => {
                let shared = open_shared(deployment).await?;
                return Ok(OpenStore { content: Some(shared.clone()), store: shared });
            }
            (Self::Looking(_) | Self::Signing(_), _) | (_, StoreKind::Memory) => {
                Arc::new(Memory::bounded(deployment.limits.callers(None)))
            }
        };
        Ok(OpenStore { store, content: None })
    }

    /// Whether other nodes have the store of this host too.
    pub(crate) fn is_shared(&self, deployment: &Deployment) -> bool {
        matches!(self, Self::Kept(_) | Self::Apart { .. }) && deployment.store.is_shared()
    }

    /// The store in which nodes agree on keys and on who their agents are, where there may be several.
    pub(crate) async fn agreed(
        &self,
        deployment: &Deployment,
        store: &Arc<dyn Store>,
    ) -> Result<Option<Arc<dyn Store>>, Error> {
        match self {
            _ if !deployment.store.is_shared() => Ok(None),
            Self::Kept(_) | Self::Apart { .. } => Ok(Some(store.clone())),
            Self::Signing(_) => Ok(Some(open_shared(deployment).await?)),
            Self::Looking(_) => Ok(None),
        }
    }

    /// The store in which it is kept where agents stand, if that is another one.
    pub(crate) fn standings(&self, deployment: &Deployment) -> Result<Option<Arc<dyn Store>>, Error> {
        match (self, deployment.store.kind()) {
            (Self::Apart { deployment: folder, .. }, StoreKind::Sqlite) => Ok(Some(open(deployment, folder)?)),
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
            // A check must not write keys into a folder that it only looks at.
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
pub fn shared_store<'a>(deployment: &'a Deployment, data: &'a Path) -> BoxFuture<'a, Result<Arc<dyn Store>, Error>> {
    Box::pin(open_to_change(deployment, data))
}

async fn open_to_change(deployment: &Deployment, data: &Path) -> Result<Arc<dyn Store>, Error> {
    match deployment.store.kind() {
        StoreKind::Sqlite => Ok(open(deployment, data)?),
        StoreKind::Postgres => Ok(open_shared(deployment).await?),
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
pub fn look(deployment: &Deployment) -> BoxFuture<'_, Result<Arc<dyn Store>, Error>> {
    Box::pin(open_to_look(deployment))
}

/// Whether a deployment has a store that outlives a process and is there: one in memory does not, and nobody has made
/// the database of one that was never served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorePresence {
    /// It can be looked at.
    There,
    /// Nothing was kept yet, or the database was removed.
    Missing,
    /// It ends with the server.
    InMemory,
}

/// Whether there is a store to look at.
pub fn presence(deployment: &Deployment) -> StorePresence {
    match deployment.store.kind() {
        StoreKind::Memory => StorePresence::InMemory,
        StoreKind::Sqlite if !deployment.data_folder().join(DATABASE).exists() => StorePresence::Missing,
        StoreKind::Sqlite | StoreKind::Postgres => StorePresence::There,
    }
}

async fn open_to_look(deployment: &Deployment) -> Result<Arc<dyn Store>, Error> {
    let data = deployment.data_folder();
    if deployment.store.is_shared() {
        return Ok(open_shared(deployment).await?);
    }
    if deployment.store.kind() == StoreKind::Memory {
        return Err(Error::new("this deployment keeps everything in memory")
            .hint("write `kind = \"sqlite\"` under [store] in forecourt.toml"));
    }
    // SQLite would create the file, and a command that only looks would leave an empty database behind.
    if !data.join(DATABASE).exists() {
        return Err(Error::new(format!("nothing is kept in {} yet", data.display()))
            .hint("serve the deployment first, or name its data folder with --data DIR"));
    }
    Ok(open(deployment, data)?)
}

fn open(deployment: &Deployment, data: &Path) -> Result<Arc<dyn StoreReads>, Error> {
    let file = data.join(DATABASE);
    let size_max = deployment.store.size_max.unwrap_or(DATABASE_BYTES_MAX);
    let options = SqliteOptions {
        callers: deployment.limits.callers(Some(size_max)),
        database_bytes_max: size_max,
        ..SqliteOptions::default()
    };
    let store = Sqlite::open(&file, options).map_err(|error| match error {
        StoreError::Full { .. } => Error::new(format!("{} cannot be written: {error}", file.display()))
            .hint("make room on the disk, or name another folder with --data DIR"),
        error => Error::new(format!("{}: {error}", file.display())),
    })?;
    Ok(store)
}

/// The database that nodes share.
async fn open_shared(deployment: &Deployment) -> Result<Arc<Postgres>, Error> {
    let shared = deployment.store.shared.as_ref().ok_or_else(|| Error::new("[store] has no `url`"))?;
    let options = PostgresOptions {
        callers: deployment.limits.callers(deployment.store.size_max),
        size_max: deployment.store.size_max,
        ..PostgresOptions::new(shared.url.clone(), shared.key.clone(), deployment.domain().to_string())
    };
    let place = shared.location();
    Postgres::open(options).await.map_err(|error| match error {
        StoreError::Unavailable(reason) => Error::new(format!("the store at {place} can't be reached: {reason}"))
            .hint("`url` in [store] says where it is; this node begins once the database answers"),
        StoreError::Full { .. } => Error::new(format!("the store at {place} has no room: {error}"))
            .hint("raise `size_max` in [store], or make room in the database"),
        error => Error::new(format!("the store at {place}: {error}")),
    })
}

/// The clock of a store: what it says of time goes for all that is kept in it.
///
/// # Errors
/// It does not say what time it is.
pub(crate) async fn clock_of(store: &Arc<dyn Store>) -> Result<Arc<StoreClock>, Error> {
    StoreClock::start(&**store).await.map_err(|error| Error::new(format!("the store: {error}")))
}

/// Writes down that this deployment signs, and with which key: so that a key that is gone is missed, and no
/// other one made in silence.
pub(crate) async fn remember_signing(store: &Arc<dyn Store>, kid: &str, now: Timestamp) -> Result<(), Error> {
    let wrong = |error: StoreError| Error::new(format!("the store: {error}"));
    let known = store.entries(SIGNED, Span::Before(u64::MAX), 1, now).await.map_err(wrong)?;
    let body = serde_json::json!({ "kid": kid });
    // Once for each key: a start does not add an entry.
    if known.first().is_none_or(|(_, entry)| entry.body != body) {
        store.append_entry(SIGNED, LedgerEntry::new(body, now), None).await.map_err(wrong)?;
    }
    Ok(())
}
