//! The suite that all stores share, on each of them.

use std::sync::Arc;

use forecourt_core::Store;
use forecourt_testkit::store_suite::CALLERS;
use tempfile::TempDir;

mod memory {
    use forecourt_store::Memory;

    use super::*;

    fn fresh() -> (Arc<dyn Store>, ()) {
        (Arc::new(Memory::bounded(CALLERS)), ())
    }

    forecourt_testkit::store_suite!(fresh());
}

mod sqlite {
    use forecourt_store::{Sqlite, SqliteOptions};

    use super::*;

    fn fresh() -> (Arc<dyn Store>, TempDir) {
        let dir = tempfile::tempdir().expect("a folder");
        let options = SqliteOptions { callers: CALLERS, ..SqliteOptions::default() };
        let store = Sqlite::open(&dir.path().join("forecourt.db"), options).expect("a fresh store");
        (store, dir)
    }

    forecourt_testkit::store_suite!(fresh());
}

/// A test for each case too, on a server of its process; through a pooler as well.
mod postgres {
    use forecourt_store::{LeaseClock, Postgres, PostgresOptions, StoreKey};
    use forecourt_testkit::postgres::PostgresServer;

    use super::*;

    pub(super) async fn open(url: &str) -> Arc<dyn Store> {
        let options = PostgresOptions {
            callers: CALLERS,
            // The clock of the suite is set by hand.
            lease_clock: LeaseClock::Caller,
            ..PostgresOptions::new(url, StoreKey::from_bytes([7; 32]), "example.com")
        };
        Postgres::open(options).await.expect("a fresh store")
    }

    macro_rules! fresh {
        () => {{
            let Some(server) = PostgresServer::shared() else { return };
            (open(&server.fresh()).await, server)
        }};
    }

    forecourt_testkit::store_suite!(fresh!());
}

mod pgbouncer {
    use forecourt_testkit::pgbouncer::PgBouncer;
    use forecourt_testkit::postgres::PostgresServer;

    macro_rules! fresh {
        () => {{
            let Some(server) = PostgresServer::shared() else { return };
            let Some(pooler) = PgBouncer::start(&server, 4) else { return };
            (super::postgres::open(&pooler.url(&server.fresh())).await, (pooler, server))
        }};
    }

    forecourt_testkit::store_suite!(fresh!());
}
