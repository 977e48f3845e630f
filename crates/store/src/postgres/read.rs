//! This module reads columns of rows.

use forecourt_core::StoreError;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::error::to_store_error;
use crate::seal::Hash;
use crate::sealed::corrupt;

/// A column; fails when it has another type.
pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, StoreError> {
    row.try_get(at).map_err(|error| to_store_error(&error))
}

/// A column that is a hash.
pub(super) fn hash_column(row: &Row, at: usize) -> Result<Hash, StoreError> {
    column::<&[u8]>(row, at)?.try_into().map_err(|_| corrupt("a hash does not have 32 bytes"))
}

/// A number that we count from 0.
pub(super) fn number(row: &Row, at: usize) -> Result<u64, StoreError> {
    Ok(column::<i64>(row, at)?.unsigned_abs())
}

/// A column of bytes that hold text: an owner may have a NUL, which PostgreSQL's `text` refuses.
pub(super) fn any_text(row: &Row, at: usize) -> Result<Option<String>, StoreError> {
    let bytes: Option<Vec<u8>> = column(row, at)?;
    bytes.map(|bytes| String::from_utf8(bytes).map_err(|_| corrupt("an owner is no text"))).transpose()
}
