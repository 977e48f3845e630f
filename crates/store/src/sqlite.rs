//! This module stores in one SQLite file in WAL mode with `synchronous=FULL`: one thread writes in group commits, and a
//! few connections read.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::limits::DELIVERIES_PENDING_MAX;
use forecourt_core::{CallerBounds, Entropy, StoreError};
use futures::future::BoxFuture;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use tokio::sync::Semaphore;

use crate::limits::{
    ARTIFACT_WRITES_MAX, ARTIFACTS_BYTES_MAX, DATABASE_BYTES_MAX, INSPECTED_BYTES_MAX, LOCK_WAIT, LOG_BYTES, READERS,
    REWRITTEN_BYTES_MAX, STATEMENTS_CACHED,
};

mod artifacts;
mod claims;
mod clock;
mod copy;
mod error;
mod events;
mod expiry;
mod files;
mod ledger;
mod quota;
mod readers;
mod reads;
mod routes;
mod rows;
mod runs;
mod schema;
mod store;
mod summaries;
mod tasks;
mod threads;
mod unnamed;
mod webhooks;
mod writer;

use crate::clock::LastMove;
use crate::seal::{self, Label, Seal, SystemEntropy};
use crate::strangers::Strangers;
pub use copy::{SCHEMA_VERSION, copy_database, schema_version};
use error::{SqliteError, corrupt};
use readers::Readers;
use rows::TaskRows;
use writer::Writer;

/// The version since which there are streams.
const STREAMS_SINCE: usize = 3;

/// The options of a [`Sqlite`]. The defaults are those of [`crate::limits`].
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// Read-only connections, at least 1.
    pub readers: usize,
    /// How long a statement waits for a lock that another process holds.
    pub lock_wait: Duration,
    /// Bytes that are kept for callers. Over a bound, writes are [`StoreError::Full`].
    pub callers: CallerBounds,
    /// Bytes of the database file. Over it, and over fifteen sixteenths of it for what begins
    /// something, writes are [`StoreError::Full`].
    pub database_bytes_max: u64,
    /// Bytes of all artifacts together. Over it, artifacts are [`StoreError::Unavailable`].
    pub artifacts_bytes_max: u64,
    /// Deliveries waiting. Over it, no webhook is registered.
    pub deliveries_pending_max: usize,
    /// Where the key and nonces come from; the operating system by default.
    pub entropy: Arc<dyn Entropy>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            readers: READERS,
            lock_wait: LOCK_WAIT,
            callers: CallerBounds::default(),
            database_bytes_max: DATABASE_BYTES_MAX,
            artifacts_bytes_max: ARTIFACTS_BYTES_MAX,
            deliveries_pending_max: DELIVERIES_PENDING_MAX,
            entropy: Arc::new(SystemEntropy),
        }
    }
}

/// Storage in one file that survives a crash: whatever was answered is there after a restart.
///
/// Several processes may open a file; the host that starts on it takes it to be its own. Dropping
/// it writes what is queued and waits for that.
pub struct Sqlite {
    writer: Writer,
    readers: Readers,
    seal: Arc<Seal>,
    rows: Arc<TaskRows>,
    artifact_writes: Semaphore,
    strangers: Strangers,
    moved: Arc<LastMove>,
    options: SqliteOptions,
}

impl Sqlite {
    /// Opens the database at `path`, made with its folders, its key and its tables if need be.
    ///
    /// [`StoreError::Corrupt`] when the file is no database, another application's, of a newer
    /// version or sealed with another key; [`StoreError::Unavailable`] when it can't be reached.
    /// Blocks; meant for the start of the program.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Arc<Self>, StoreError> {
        files::prepare(path)?;
        let mut db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, &options)?;
        configure_writer(&db, &options)?;
        schema::migrate(&mut db, schema::MIGRATIONS)?;
        let seal = Arc::new(unlock(&db, path, &options, true)?);
        shrinkable(&db);
        let reader = || connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, &options);
        let readers = (0..options.readers.max(1)).map(|_| reader()).collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(Self {
            writer: Writer::start(db)?,
            readers: Readers::new(readers),
            seal,
            rows: Arc::default(),
            artifact_writes: Semaphore::new(ARTIFACT_WRITES_MAX),
            strangers: Strangers::new(options.callers),
            moved: Arc::default(),
            options,
        }))
    }

    /// Looks at the database at `path` without changing it: whether something stands in `stream`. `false`
    /// when there is no database yet.
    ///
    /// Fails as [`Sqlite::open`] does; and as [`StoreError::Corrupt`] when one of at most
    /// [`INSPECTED_BYTES_MAX`] bytes is damaged anywhere.
    pub fn inspect(path: &Path, stream: &str) -> Result<bool, StoreError> {
        let Ok(is) = path.metadata() else { return Ok(false) };
        if is.len() == 0 {
            return Ok(false);
        }
        let options = SqliteOptions::default();
        let db = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, &options)?;
        let version = schema::look(&db, schema::MIGRATIONS.len())?;
        unlock(&db, path, &options, false)?;
        if is.len() <= INSPECTED_BYTES_MAX {
            let found: String =
                db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(SqliteError::from)?;
            if found != "ok" {
                return Err(corrupt(found));
            }
        }
        if version < STREAMS_SINCE {
            return Ok(false);
        }
        let known = "SELECT EXISTS (SELECT 1 FROM streams WHERE hash = ?1)";
        Ok(db.query_row(known, [seal::hash(stream)], |row| row.get(0)).map_err(SqliteError::from)?)
    }

    /// Writes what is queued, empties the log into the database and stops writing. Later writes are
    /// [`StoreError::Unavailable`]; reads still work. Closing twice does nothing.
    pub fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.writer.close().await;
        })
    }
}

impl std::fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sqlite").field("options", &self.options).finish_non_exhaustive()
    }
}

fn connect(path: &Path, mode: OpenFlags, options: &SqliteOptions) -> Result<Connection, SqliteError> {
    let db = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(options.lock_wait)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    // The query planner stability guarantee: without it some statements are planned again for each bound value, at
    // twice their cost.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // A file that somebody else wrote could have views and triggers that call functions as it is read.
    db.pragma_update(None, "trusted_schema", false)?;
    // A damaged page is found when it is read, and never gives a wrong answer.
    db.pragma_update(None, "cell_size_check", true)?;
    Ok(db)
}

/// Rewrites a small database of an earlier version so that it can give space back to the disk. A larger one stays as it
/// is: its free pages are used again, and the file keeps its size.
fn shrinkable(db: &Connection) {
    let read = |pragma: &str| db.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).unwrap_or_default();
    if read("auto_vacuum") == INCREMENTAL {
        return;
    }
    let bytes = read("page_count").unsigned_abs() * read("page_size").unsigned_abs();
    let rewritten = match bytes <= REWRITTEN_BYTES_MAX {
        true => db.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM").is_ok(),
        false => false,
    };
    if !rewritten {
        tracing::warn!(
            bytes,
            "the database keeps its size on the disk; `sqlite3 forecourt.db 'PRAGMA auto_vacuum=2; VACUUM'` while nothing runs mends that"
        );
    }
}

/// As SQLite numbers it.
const INCREMENTAL: i64 = 2;

fn configure_writer(db: &Connection, options: &SqliteOptions) -> Result<(), SqliteError> {
    // Takes effect only while the file is empty; `shrinkable` handles the others.
    db.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
    let mode: String = db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    // Without WAL readers and the writer lock each other out; SQLite reports the refusal by the mode alone.
    if mode != "wal" {
        return Err(StoreError::Unavailable(format!("the database would not leave journal mode {mode}")).into());
    }
    // NORMAL syncs the log only at checkpoints: a power cut would take commits that were answered.
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES as i64, |_| Ok(()))?;
    let page: i64 = db.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = options.database_bytes_max / page.unsigned_abs().max(1);
    let pages = i64::try_from(pages).unwrap_or(i64::MAX);
    db.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    Ok(())
}

/// The seal of this database. Its key is made with the database, if that is wanted; a database that has lost its key
/// is refused rather than given another one.
fn unlock(db: &Connection, path: &Path, options: &SqliteOptions, may_make: bool) -> Result<Seal, SqliteError> {
    const CHECK: Label<'_> = Label { kind: "key", of: b"", part: b"" };
    let select = "SELECT value FROM meta WHERE name = 'key'";
    let check: Option<Vec<u8>> = db.query_row(select, [], |row| row.get(0)).optional()?;
    let path = files::key_path(path);
    let key = match (files::read_key(&path)?, &check) {
        (Some(key), _) => key,
        (None, None) if !may_make => return Ok(Seal::new(&[0; seal::KEY_BYTES], &*options.entropy)?),
        (None, None) => files::create_key(&path, &*options.entropy)?,
        // A new key would open nothing of what is there, and hide that the old one may still be found.
        (None, Some(_)) => return Err(corrupt("store.key is missing beside the database").into()),
    };
    let seal = Seal::new(&key, &*options.entropy)?;
    match check {
        Some(check) => seal.open_bytes(CHECK, check).map(drop)?,
        None if !may_make => {}
        None => drop(db.execute("INSERT INTO meta VALUES ('key', ?1)", [seal.seal_bytes(CHECK, b"")?])?),
    }
    Ok(seal)
}
