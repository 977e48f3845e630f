//! This module charges the bytes of each caller to its account, in the transaction that writes them.
//!
//! The sums are kept by triggers (`schema/5.sql`), so that nothing can be removed without being given
//! back. Here is what is asked before something is written.

use forecourt_core::{CallerBounds, QuotaBound, StoreError, TaskState};
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use super::error::SqliteError;
use super::rows::TaskRow;
use crate::seal::Hash;
use crate::sealed::{Holder, signed};
use crate::strangers::NetworkSums;

/// A write that was done, or refused before anything was touched: a refusal that needs no transaction
/// to be taken back, and so no neighbour to be written again.
pub(super) type QuotaResult<T> = Result<Result<T, StoreError>, SqliteError>;

/// The part of the whole store, one in so many, that is kept free for what ends or removes something.
const RESERVE: u64 = 16;

/// The bounds that writes are held to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Bytes of callers.
    pub(super) callers: CallerBounds,
    /// Bytes of the database file.
    pub(super) store: u64,
}

/// The row of an account in SQLite.
pub(super) trait HolderRow {
    /// The row of this account, made if need be.
    fn row(self, db: &Connection) -> Result<Option<i64>, SqliteError>;
    /// The bytes that are kept for it; `None` for the host's own.
    fn bytes(self, db: &Connection) -> Result<Option<i64>, SqliteError>;
}

impl HolderRow for Holder {
    fn row(self, db: &Connection) -> Result<Option<i64>, SqliteError> {
        let Some(hash) = self.account else { return Ok(None) };
        let [narrow, wide] = self.around();
        if let Some((row, _, is_named)) = find(db, &hash)? {
            if !is_named && narrow.is_some() {
                // Made by an earlier version, which knew of no networks.
                let mut name = db.prepare_cached("UPDATE accounts SET narrow = ?2, wide = ?3 WHERE id = ?1")?;
                name.execute(params![row, narrow, wide])?;
            }
            return Ok(Some(row));
        }
        let mut insert =
            db.prepare_cached("INSERT INTO accounts (hash, bytes, narrow, wide) VALUES (?1, 0, ?2, ?3)")?;
        insert.execute(params![hash, narrow, wide])?;
        Ok(Some(db.last_insert_rowid()))
    }

    fn bytes(self, db: &Connection) -> Result<Option<i64>, SqliteError> {
        let Some(hash) = self.account else { return Ok(None) };
        Ok(Some(find(db, &hash)?.map_or(0, |(_, bytes, _)| bytes)))
    }
}

/// The row of an account, its bytes, and whether it says which networks are around it.
fn find(db: &Connection, hash: &Hash) -> Result<Option<(i64, i64, bool)>, SqliteError> {
    let mut select = db.prepare_cached("SELECT id, bytes, narrow IS NOT NULL FROM accounts WHERE hash = ?1")?;
    Ok(select.query_row([hash], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?)
}

/// The bytes of callers who proved nothing, by the networks around them.
pub(super) fn strangers(db: &Connection) -> Result<NetworkSums, SqliteError> {
    let mut select = db.prepare_cached(
        "SELECT narrow, wide, sum(bytes) FROM accounts WHERE narrow IS NOT NULL GROUP BY narrow, wide",
    )?;
    let sums = select.query_map([], |row| Ok(([row.get(0)?, row.get(1)?], row.get::<_, i64>(2)?.unsigned_abs())))?;
    Ok(sums.collect::<Result<_, _>>()?)
}

impl Bounds {
    /// Whether an account may have `bytes` more.
    pub(super) fn room(self, db: &Connection, holder: Holder, bytes: u64) -> QuotaResult<()> {
        self.fits(db, holder.bytes(db)?, bytes)
    }

    /// Whether the answer of a task may have `bytes` more: of what is reserved for it, else of what its caller has.
    pub(super) fn answer_room(self, db: &Connection, task: &TaskRow, bytes: u64) -> QuotaResult<()> {
        let (stored, reserved) = standing(db, task)?;
        // Neither the store is asked for what is reserved: it was promised when there was room for it.
        if stored.is_some() && bytes <= reserved {
            Ok(Ok(()))
        } else {
            self.fits(db, stored, bytes.saturating_sub(reserved))
        }
    }

    /// Whether the caller of a task may have `bytes` more beside its answer.
    pub(super) fn task_room(self, db: &Connection, task: &TaskRow, bytes: u64) -> QuotaResult<()> {
        self.fits(db, standing(db, task)?.0, bytes)
    }

    /// Bytes that a new task reserves for its answer.
    pub(super) fn reserve(self, holder: Holder, state: TaskState) -> u64 {
        if holder.account.is_none() || state.is_settled() { 0 } else { self.callers.answer() }
    }

    fn fits(self, db: &Connection, stored: Option<i64>, bytes: u64) -> QuotaResult<()> {
        let max = self.callers.caller;
        let over = |stored: i64| stored.unsigned_abs().saturating_add(bytes) > max;
        if stored.is_some_and(over) {
            return Ok(Err(StoreError::Full { bound: QuotaBound::Caller { max } }));
        }
        self.store_room(db, bytes)
    }

    /// Whether the whole store may have `bytes` more.
    pub(super) fn store_room(self, db: &Connection, bytes: u64) -> QuotaResult<()> {
        let max = self.store - self.store / RESERVE;
        // An upper bound first, by the largest page size: page size and free pages would be two more statements for
        // each write.
        let pages = read(db, "PRAGMA page_count")?;
        if (pages * PAGE_BYTES_MAX).saturating_add(bytes) > max && used(db, pages)?.saturating_add(bytes) > max {
            return Ok(Err(StoreError::Full { bound: QuotaBound::Store { max: self.store } }));
        }
        Ok(Ok(()))
    }
}

/// The bytes of whoever is charged for a task, `None` for the host, and of them those that are reserved for its answer.
fn standing(db: &Connection, task: &TaskRow) -> Result<(Option<i64>, u64), SqliteError> {
    if !task.may_be_charged {
        return Ok((None, 0));
    }
    let mut select = db.prepare_cached(
        "SELECT accounts.bytes, charges.reserved FROM charges JOIN accounts ON accounts.id = charges.account
         WHERE charges.task = ?1",
    )?;
    let found: Option<(i64, i64)> = select.query_row([task.id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(found.map_or((None, 0), |(stored, reserved)| (Some(stored), reserved.unsigned_abs())))
}

/// Bytes of the largest page that a database can have.
const PAGE_BYTES_MAX: u64 = 65_536;

/// Bytes of the database file that hold something, of so many pages.
fn used(db: &Connection, pages: u64) -> Result<u64, SqliteError> {
    Ok(pages.saturating_sub(read(db, "PRAGMA freelist_count")?) * read(db, "PRAGMA page_size")?)
}

fn read(db: &Connection, pragma: &str) -> Result<u64, SqliteError> {
    let value: i64 = db.prepare_cached(pragma)?.query_row([], |row| row.get(0))?;
    Ok(value.unsigned_abs())
}

/// Charges a task that was just made, and reserves what it may need for its answer.
pub(super) fn begin(
    db: &Connection,
    task: i64,
    account: Option<i64>,
    bytes: u64,
    reserved: u64,
) -> Result<(), SqliteError> {
    let Some(account) = account else { return Ok(()) };
    let mut insert =
        db.prepare_cached("INSERT INTO charges (task, account, bytes, reserved) VALUES (?1, ?2, ?3, ?4)")?;
    insert.execute(params![task, account, signed(bytes), signed(reserved)])?;
    Ok(())
}

/// Charges `more` bytes for what was added to a task beside its answer, or gives them back.
pub(super) fn add(db: &Connection, task: &TaskRow, more: i64) -> Result<(), SqliteError> {
    if !task.may_be_charged || more == 0 {
        return Ok(());
    }
    db.prepare_cached("UPDATE charges SET bytes = bytes + ?2 WHERE task = ?1")?.execute([task.id, more])?;
    Ok(())
}

/// Charges `more` bytes for what was added to the answer of a task, first of what is reserved for it.
pub(super) fn add_to_answer(db: &Connection, task: &TaskRow, more: i64) -> Result<(), SqliteError> {
    if !task.may_be_charged || more == 0 {
        return Ok(());
    }
    let mut update = db.prepare_cached(
        "UPDATE charges SET bytes = bytes + ?2, reserved = reserved - min(reserved, max(?2, 0)) WHERE task = ?1",
    )?;
    update.execute([task.id, more])?;
    Ok(())
}

/// Charges `more` bytes for a move of the task, after which so much is reserved for its answer.
pub(super) fn add_at_move(db: &Connection, task: &TaskRow, more: i64, reserved: u64) -> Result<(), SqliteError> {
    if !task.may_be_charged {
        return Ok(());
    }
    let mut update = db.prepare_cached("UPDATE charges SET bytes = bytes + ?2, reserved = ?3 WHERE task = ?1")?;
    update.execute([task.id, more, signed(reserved)])?;
    Ok(())
}

impl SqliteError {
    /// The same, with which bound was met when there was no room.
    pub(super) fn at(self, db: &Connection) -> Self {
        match self {
            Self::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => {
                Self::Store(StoreError::Full { bound: met(db) })
            }
            other => other,
        }
    }
}

/// Which bound a write met that found no page: that of the database, or the disk's.
fn met(db: &Connection) -> QuotaBound {
    let read = |pragma: &str| db.query_row(pragma, [], |row| row.get::<_, i64>(0)).unwrap_or_default().unsigned_abs();
    let (max, pages) = (read("PRAGMA max_page_count"), read("PRAGMA page_count"));
    let size = read("PRAGMA page_size");
    // A large write fails while some pages are left, so that near the bound counts as at it.
    let near = pages + (max / RESERVE).max(1) >= max;
    if near { QuotaBound::Store { max: max * size } } else { QuotaBound::Disk }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::hash;
    use crate::sealed::StrangerNetworks;
    use crate::sqlite::schema::{MIGRATIONS, migrate};

    #[test]
    fn an_account_of_an_earlier_version_says_where_it_is_once_something_is_written_for_it() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &MIGRATIONS[..7]).unwrap();
        db.execute("INSERT INTO accounts (hash, bytes) VALUES (?1, 700)", [hash("a")]).unwrap();
        migrate(&mut db, MIGRATIONS).unwrap();
        assert_eq!(strangers(&db).unwrap(), []);
        let hashes = [hash("narrow"), hash("wide")];
        let networks = Some(StrangerNetworks { hashes, prefixes: [24, 20] });
        Holder { account: Some(hash("a")), networks }.row(&db).unwrap();
        Holder { account: Some(hash("b")), networks }.row(&db).unwrap();
        Holder::known(Some(hash("a"))).row(&db).unwrap();
        Holder::known(Some(hash("proven"))).row(&db).unwrap();
        assert_eq!(strangers(&db).unwrap(), [(hashes, 700)]);
    }
}
