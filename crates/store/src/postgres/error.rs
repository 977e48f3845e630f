//! This module maps errors of PostgreSQL and of the way to it to [`StoreError`].

use std::error::Error as _;

use deadpool_postgres::{PoolError, TimeoutType};
use forecourt_core::{QuotaBound, StoreError};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// The error for a URL that can't be used.
pub(super) fn unusable(reason: impl std::fmt::Display) -> StoreError {
    StoreError::Unavailable(format!("the URL of the database: {reason}"))
}

/// The store's error for one of PostgreSQL.
pub(super) fn to_store_error(error: &Error) -> StoreError {
    match error.code().map(SqlState::code) {
        Some("53100") => StoreError::Full { bound: QuotaBound::Disk },
        Some(code) if is_passing(code) => StoreError::Unavailable(words(error)),
        Some(_) => StoreError::Corrupt(words(error)),
        // Without a SQLSTATE the error is the connection's, and passes; but for a column of another type, which is a
        // schema of another version.
        None if error.source().is_some_and(|source| source.is::<tokio_postgres::types::WrongType>()) => {
            StoreError::Corrupt(words(error))
        }
        None => StoreError::Unavailable(words(error)),
    }
}

/// Whether trying again may work without a repair of the data: by the class that SQLSTATE begins with.
fn is_passing(code: &str) -> bool {
    // Connections, read-only, roles, databases that are missing, conflicts, resources, states, operators, IO.
    const CLASSES: &[&str] = &["08", "25", "28", "3D", "40", "53", "54", "55", "57", "58"];
    // Insufficient privilege: the operator grants it, and the data needs no repair.
    code == "42501" || CLASSES.iter().any(|class| code.starts_with(class))
}

/// Whether the transaction was undone by another one, and would not be again.
pub(super) fn is_conflict(error: &Error) -> bool {
    let conflicts =
        [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::LOCK_NOT_AVAILABLE];
    error.code().is_some_and(|code| conflicts.contains(code))
}

/// Whether the connection is gone, or about to be closed by the server: repeating a statement on it can't work.
pub(super) fn is_lost(error: &Error) -> bool {
    error.code().is_none_or(|code| ["08", "57P"].iter().any(|class| code.code().starts_with(class)))
}

/// What a caller is told whose write was on its way when the connection was lost.
pub(super) fn unknown(error: &Error) -> StoreError {
    StoreError::Unavailable(format!(
        "the connection to the database was lost while this was written, and nobody can say whether it was: {}",
        words(error)
    ))
}

/// Whether another statement of the transaction is to blame.
pub(super) fn is_undone(error: &Error) -> bool {
    error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION)
}

/// The error with its cause, without what a database says of values.
fn words(error: &Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("{} (SQLSTATE {})", error.message(), error.code().code()),
        None => match error.source() {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        },
    }
}

/// The store's error when no connection could be had.
pub(super) fn no_connection(error: PoolError, place: &str, max: usize) -> StoreError {
    let reason = match error {
        PoolError::Timeout(TimeoutType::Wait) => return exhausted(max),
        PoolError::Timeout(_) => format!("the database at {place} does not answer"),
        PoolError::Backend(error) if error.code().is_some() => return to_store_error(&error),
        PoolError::Backend(error) => format!("the database at {place}: {}", words(&error)),
        error => format!("the database at {place}: {error}"),
    };
    StoreError::Unavailable(reason)
}

/// What a caller is told when none of the connections became free in time.
pub(super) fn exhausted(max: usize) -> StoreError {
    StoreError::Unavailable(format!("all {max} connections to the database are busy"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_told_from_what_needs_a_repair() {
        for code in
            ["57P01", "57P03", "57014", "40001", "40P01", "55P03", "53300", "25006", "08006", "28P01", "42501", "58030"]
        {
            assert!(is_passing(code), "{code}");
        }
        for code in ["42P01", "42883", "23505", "22003", "XX001"] {
            assert!(!is_passing(code), "{code}");
        }
    }
}
