//! The suite that all stores share, on each of them.

use std::sync::Arc;

use forecourt_core::Store;
use forecourt_testkit::store_suite::CALLER_BYTES;
use tempfile::TempDir;

mod memory {
    use forecourt_store::Memory;

    use super::*;

    fn fresh() -> (Arc<dyn Store>, ()) {
        (Arc::new(Memory::bounded(CALLER_BYTES)), ())
    }

    forecourt_testkit::store_suite!(fresh());
}

mod sqlite {
    use forecourt_store::{Sqlite, SqliteOptions};

    use super::*;

    fn fresh() -> (Arc<dyn Store>, TempDir) {
        let dir = tempfile::tempdir().expect("a folder");
        let options = SqliteOptions { caller_bytes_max: CALLER_BYTES, ..SqliteOptions::default() };
        let store = Sqlite::open(&dir.path().join("forecourt.db"), options).expect("a fresh store");
        (store, dir)
    }

    forecourt_testkit::store_suite!(fresh());
}
