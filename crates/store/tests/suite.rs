//! The suite that all stores share, on each of them.

use std::sync::Arc;

use forecourt_core::Store;
use tempfile::TempDir;

mod memory {
    use forecourt_store::Memory;

    use super::*;

    fn fresh() -> (Arc<dyn Store>, ()) {
        (Arc::new(Memory::new()), ())
    }

    forecourt_testkit::store_suite!(fresh());
}

mod sqlite {
    use forecourt_store::{Sqlite, SqliteOptions};

    use super::*;

    fn fresh() -> (Arc<dyn Store>, TempDir) {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Sqlite::open(&dir.path().join("forecourt.db"), SqliteOptions::default()).expect("a fresh store");
        (store, dir)
    }

    forecourt_testkit::store_suite!(fresh());
}
