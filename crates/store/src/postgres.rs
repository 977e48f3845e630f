//! This module stores in PostgreSQL 15 or later, for a deployment of several nodes. The database makes every decision;
//! what a node remembers is a guess that the database checks.
//!
//! Works through PgBouncer in transaction mode: every statement is without a name, no setting outlives its
//! transaction, and nothing listens. What changes something is one call of a function (`postgres/schema/*.sql`), many
//! calls in one transaction; what is written of tasks again and again is one statement for many (`batch.rs`).

use std::fmt;
use std::sync::Arc;

use forecourt_core::limits::DELIVERIES_PENDING_MAX;
use forecourt_core::{CallerBounds, Entropy, StoreError};
use futures::future::BoxFuture;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::limits::{ARTIFACT_WRITES_MAX, ARTIFACTS_BYTES_MAX, POSTGRES_CONNECTIONS, POSTGRES_LANES};
use crate::seal::{Seal, SystemEntropy};
use crate::strangers::Strangers;

mod answer;
mod batch;
mod call;
mod connect;
mod content;
mod database;
mod deliveries;
mod error;
mod identity;
mod key;
mod known;
mod read;
mod reads;
mod schema;
mod size;
mod store;
mod summaries;
mod tasks;
mod threads;
mod tls;
mod writer;

use connect::Connections;
use known::KnownTasks;
use size::Size;
use writer::Writer;

pub use database::{Database, SqlParameter};
pub use key::StoreKey;

/// The clock by which things expire, and the leases of claimed deliveries end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LeaseClock {
    /// The database's: nodes whose clocks are apart never take each other's deliveries, and delete nothing early.
    #[default]
    Database,
    /// That of whoever asks: for tests, whose clock is set by hand.
    Caller,
}

/// The options of a [`Postgres`].
#[derive(Clone)]
pub struct PostgresOptions {
    /// Where it is: `postgres://user:password@host:5432/database?sslmode=verify-full`. May hold a password.
    pub url: String,
    /// The key that rows are sealed with: the same on every node.
    pub key: StoreKey,
    /// The name of the deployment, such as its domain. A database belongs to the first one that opens it; another
    /// one is refused.
    pub deployment: String,
    /// Bytes that are kept for callers. Over a bound, writes are [`StoreError::Full`].
    pub callers: CallerBounds,
    /// Bytes of our tables on the disk of the database, what PostgreSQL keeps free in them included. Over it, and over
    /// fifteen sixteenths of it for what begins something, writes are [`StoreError::Full`]. Looked at every
    /// [`crate::limits::POSTGRES_SIZE_EVERY`]. `None`: as much as the database takes.
    pub size_max: Option<u64>,
    /// Connections of this node at most; at least [`POSTGRES_LANES`] and two more.
    pub connections: usize,
    /// Bytes of all artifacts together. Over it, artifacts are [`StoreError::Unavailable`].
    pub artifacts_bytes_max: u64,
    /// Deliveries waiting. Over it, no webhook is registered.
    pub deliveries_pending_max: usize,
    /// By which clock things expire, and leases of deliveries end.
    pub lease_clock: LeaseClock,
    /// The source of nonces; the operating system by default.
    pub entropy: Arc<dyn Entropy>,
}

impl PostgresOptions {
    /// The defaults, those of [`crate::limits`].
    pub fn new(url: impl Into<String>, key: StoreKey, deployment: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            key,
            deployment: deployment.into(),
            callers: CallerBounds::default(),
            size_max: None,
            connections: POSTGRES_CONNECTIONS,
            artifacts_bytes_max: ARTIFACTS_BYTES_MAX,
            deliveries_pending_max: DELIVERIES_PENDING_MAX,
            lease_clock: LeaseClock::default(),
            entropy: Arc::new(SystemEntropy),
        }
    }
}

/// Never prints the URL, which may hold a password, nor the key.
impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions").field("deployment", &self.deployment).finish_non_exhaustive()
    }
}

/// Storage that many nodes share.
///
/// What was answered is durable, as far as the database is told to be: `synchronous_commit = off` is overridden. When
/// the database is away or slow, operations are [`StoreError::Unavailable`] within
/// [`crate::limits::POSTGRES_OPERATION_MAX`], and work again when it is back. Of a write whose connection was lost
/// while it was committed nobody can say whether it was: it is made again where doing it twice is doing it once, and
/// else [`StoreError::Unavailable`].
pub struct Postgres {
    connections: Arc<Connections>,
    reads: Semaphore,
    writer: Writer,
    seal: Arc<Seal>,
    known: KnownTasks,
    size: Size,
    artifact_writes: Semaphore,
    strangers: Strangers,
    options: PostgresOptions,
}

impl Postgres {
    /// Opens the database and brings its tables to the version of this program, if they are older. Several nodes may
    /// do that at once, and older ones may be at work meanwhile.
    ///
    /// [`StoreError::Corrupt`] when it is another deployment's, sealed with another key, or of a version that this
    /// program is too old for; [`StoreError::Unavailable`] when it can't be reached, or the URL is none. Needs a
    /// runtime: what writes lives on it.
    pub fn open(options: PostgresOptions) -> BoxFuture<'static, Result<Arc<Self>, StoreError>> {
        Box::pin(async move {
            let connections = Arc::new(Connections::new(&options.url, options.connections)?);
            let seal = Seal::new(options.key.bytes(), &*options.entropy)?;
            let client = connections.lend().await?;
            schema::migrate(&client, schema::MIGRATIONS).await?;
            identity::agree(&client, &seal, &options.deployment).await?;
            drop(client);
            Ok(Arc::new(Self {
                // Readers leave one for each lane and one for what is written alone, so that no write waits for reads.
                reads: Semaphore::new(connections.max().saturating_sub(POSTGRES_LANES + 1).max(1)),
                writer: Writer::start(Arc::clone(&connections)),
                connections,
                seal: Arc::new(seal),
                known: KnownTasks::default(),
                size: Size::new(options.size_max),
                artifact_writes: Semaphore::new(ARTIFACT_WRITES_MAX),
                strangers: Strangers::new(options.callers),
                options,
            }))
        })
    }

    /// Writes what is queued and stops writing. Later writes are [`StoreError::Unavailable`]; reads still work.
    pub fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.writer.close().await;
        })
    }

    /// Runs one statement that changes nothing, in a transaction of its own.
    pub(crate) async fn read(&self, sql: &str, params: &[(&(dyn ToSql + Sync), Type)]) -> Result<Vec<Row>, StoreError> {
        let _permit = self.turn().await?;
        self.connections.query(sql, params).await
    }

    /// Runs one statement that changes rows and returns them (claiming), in a transaction of its own. It is never
    /// repeated: what a lost answer claimed is another node's once its lease ends.
    pub(crate) async fn take(&self, sql: &str, params: &[(&(dyn ToSql + Sync), Type)]) -> Result<Vec<Row>, StoreError> {
        let _permit = self.turn().await?;
        self.connections.query_once(sql, params).await
    }

    /// Waits until one of the connections for reading is free.
    async fn turn(&self) -> Result<SemaphorePermit<'_>, StoreError> {
        let turn = connect::in_time(self.reads.acquire()).await.ok_or_else(|| self.connections.exhausted())?;
        turn.map_err(|_| StoreError::Unavailable("the store is closed".to_owned()))
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("options", &self.options).finish_non_exhaustive()
    }
}
