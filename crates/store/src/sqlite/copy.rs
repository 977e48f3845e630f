//! This module inspects and copies databases while another process serves them.

use std::path::Path;
use std::time::Duration;

use forecourt_core::StoreError;
use rusqlite::{Connection, OpenFlags};

use super::error::SqliteError;
use super::schema;

/// How long somebody else may hold the database.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// The version of the schema that this program writes.
pub const SCHEMA_VERSION: usize = schema::MIGRATIONS.len();

/// Copies a SQLite database as it stands at one moment into a new file, while others write to it. Any database
/// will do, not only a store's.
///
/// # Errors
/// It can't be read, or `to` is there already or can't be written.
pub fn copy_database(from: &Path, to: &Path) -> Result<(), StoreError> {
    let copied = || -> Result<(), SqliteError> {
        let to = to.to_str().ok_or_else(|| StoreError::Unavailable("the path is no text".to_owned()))?;
        // One read transaction over the whole copy, so that it is of one moment; copying the file would miss what is in
        // the log.
        look_at(from)?.execute("VACUUM INTO ?1", [to])?;
        Ok(())
    };
    Ok(copied()?)
}

/// The version of the schema of a store's database; 0 for an empty one.
///
/// # Errors
/// It can't be read, or is not a store's.
pub fn schema_version(database: &Path) -> Result<usize, StoreError> {
    Ok(look_at(database).map_err(SqliteError::from).and_then(|db| schema::look(&db, usize::MAX))?)
}

fn look_at(database: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(LOCK_WAIT)?;
    Ok(db)
}
