//! This module has the statements about which agent a conversation is with.

use forecourt_core::store::cost;
use forecourt_core::{Handle, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::error::SqliteError;
use super::quota::{Bounds, HolderRow, QuotaResult};
use crate::seal::{Hash, Seal};
use crate::sealed::{Holder, routes, signed};
use crate::time::nanos;

/// Sets a route, in place of an earlier one, and charges for it.
pub(super) fn set(
    db: &Connection,
    thread: &Hash,
    route: &[u8],
    expires_at: Timestamp,
    holder: Holder,
    bounds: Bounds,
) -> QuotaResult<()> {
    let bytes = cost(route.len());
    let account = holder.row(db)?;
    let mut payer = db.prepare_cached("SELECT account FROM routes WHERE hash = ?1")?;
    let payer: Option<Option<i64>> = payer.query_row([thread], |row| row.get(0)).optional()?;
    if payer != Some(account)
        && let Err(full) = bounds.room(db, holder, bytes)?
    {
        return Ok(Err(full));
    }
    let mut upsert = db.prepare_cached(
        "INSERT INTO routes (hash, expires_at, body, account, bytes) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at, body = excluded.body,
                                          account = excluded.account, bytes = excluded.bytes",
    )?;
    upsert.execute(params![thread, nanos(expires_at), route, account, signed(bytes)])?;
    Ok(Ok(()))
}

pub(super) fn read(db: &Connection, seal: &Seal, thread: &Hash, now: Timestamp) -> Result<Option<Handle>, SqliteError> {
    let mut select = db.prepare_cached("SELECT body FROM routes WHERE hash = ?1 AND expires_at > ?2")?;
    let sealed: Option<Vec<u8>> = select.query_row(params![thread, nanos(now)], |row| row.get(0)).optional()?;
    Ok(sealed.map(|sealed| routes::open(seal, thread, sealed)).transpose()?)
}
