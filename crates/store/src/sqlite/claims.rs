//! This module has the one statement that decides single use.

use forecourt_core::Timestamp;
use rusqlite::{Connection, params};

use super::error::SqliteError;
use crate::seal::Hash;
use crate::time::nanos;

/// Whether this is the first claim of a key; an expired claim counts as none, and what expires at
/// once can't be claimed. The count of changed rows decides, so that many at once are one.
pub(super) fn claim(db: &Connection, key: &Hash, now: Timestamp, expires_at: Timestamp) -> Result<bool, SqliteError> {
    let mut insert = db.prepare_cached(
        "INSERT INTO claims (hash, expires_at) SELECT ?1, ?3 WHERE ?3 > ?2
         ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at WHERE claims.expires_at <= ?2",
    )?;
    Ok(insert.execute(params![key, nanos(now), nanos(expires_at)])? == 1)
}
