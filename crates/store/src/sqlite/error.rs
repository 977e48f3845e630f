//! This module maps SQLite's errors to [`StoreError`].

use forecourt_core::{QuotaBound, StoreError};
use rusqlite::{Error, ErrorCode};

pub(super) use crate::sealed::corrupt;

/// Why an operation failed.
#[derive(Debug)]
pub(super) enum SqliteError {
    /// SQLite's reason.
    Sql(Error),
    /// One of our own.
    Store(StoreError),
}

impl SqliteError {
    /// The same fault once more, for each of the neighbours that it hit.
    pub(super) fn to_store_error(&self) -> StoreError {
        match self {
            Self::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => {
                StoreError::Full { bound: QuotaBound::Disk }
            }
            Self::Sql(error) if is_passing(error) => StoreError::Unavailable(error.to_string()),
            Self::Sql(error) => StoreError::Corrupt(error.to_string()),
            Self::Store(StoreError::NotHeld) => StoreError::NotHeld,
            Self::Store(StoreError::Exists) => StoreError::Exists,
            Self::Store(StoreError::Full { bound }) => StoreError::Full { bound: *bound },
            Self::Store(StoreError::Unavailable(reason)) => StoreError::Unavailable(reason.clone()),
            Self::Store(StoreError::Corrupt(reason)) => StoreError::Corrupt(reason.clone()),
        }
    }
}

/// Whether trying again may work without a repair: locked, read-only, out of reach.
fn is_passing(error: &Error) -> bool {
    use ErrorCode::*;
    let passing = [
        DatabaseBusy,
        DatabaseLocked,
        ReadOnly,
        SystemIoFailure,
        CannotOpen,
        PermissionDenied,
        OutOfMemory,
        FileLockingProtocolFailed,
        OperationInterrupted,
        OperationAborted,
    ];
    error.sqlite_error_code().is_some_and(|code| passing.contains(&code))
}

impl From<Error> for SqliteError {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for SqliteError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<SqliteError> for StoreError {
    fn from(fault: SqliteError) -> Self {
        fault.to_store_error()
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn seen(code: i32) -> StoreError {
        SqliteError::Sql(Error::SqliteFailure(ffi::Error::new(code), None)).to_store_error()
    }

    #[test]
    fn what_may_pass_is_unavailable() {
        let codes = [
            ffi::SQLITE_BUSY,
            ffi::SQLITE_LOCKED,
            ffi::SQLITE_READONLY,
            ffi::SQLITE_IOERR,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_NOMEM,
        ];
        for code in codes {
            assert!(matches!(seen(code), StoreError::Unavailable(_)), "{code}");
        }
    }

    #[test]
    fn a_full_disk_is_named() {
        assert!(matches!(seen(ffi::SQLITE_FULL), StoreError::Full { bound: QuotaBound::Disk }));
    }

    #[test]
    fn what_needs_a_repair_is_corrupt() {
        for code in [ffi::SQLITE_CORRUPT, ffi::SQLITE_NOTADB, ffi::SQLITE_CONSTRAINT, ffi::SQLITE_MISMATCH] {
            assert!(matches!(seen(code), StoreError::Corrupt(_)), "{code}");
        }
    }
}
