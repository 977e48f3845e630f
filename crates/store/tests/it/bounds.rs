//! Bounds on stored bytes at n and n + 1, on each store. Design 36.

use std::net::IpAddr;
use std::sync::Arc;

use forecourt_core::network::Network;
use forecourt_core::{Account, CallerBounds, CallerKey, Store, Task};
use forecourt_store::{LeaseClock, Memory, Postgres, PostgresOptions, Sqlite, SqliteOptions, StoreKey};
use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::store_suite::some_task;

/// A store of each kind with these bounds, and what must live as long as they do.
async fn stores(callers: CallerBounds) -> (Vec<Arc<dyn Store>>, tempfile::TempDir, Option<Arc<PostgresServer>>) {
    let dir = tempfile::tempdir().expect("a folder");
    let options = SqliteOptions { callers, ..SqliteOptions::default() };
    let mut stores: Vec<Arc<dyn Store>> = vec![
        Arc::new(Memory::bounded(callers)),
        Sqlite::open(&dir.path().join("forecourt.db"), options).expect("a fresh store"),
    ];
    let server = PostgresServer::shared();
    if let Some(server) = &server {
        let options = PostgresOptions::new(server.fresh(), StoreKey::from_bytes([7; 32]), "example.com");
        let options = PostgresOptions { callers, lease_clock: LeaseClock::Caller, ..options };
        stores.push(Postgres::open(options).await.expect("a fresh store"));
    }
    (stores, dir, server)
}

fn from(address: &str) -> Account {
    let network = Network::of(address.parse::<IpAddr>().expect("an address"));
    CallerKey::of(None, None, Some(network)).account()
}

fn task(account: &Account) -> Task {
    Task { account: account.clone(), ..some_task() }
}

/// The most bytes that there is room for.
async fn most(store: &dyn Store, account: &Account) -> u64 {
    let (mut fits, mut full) = (0, u64::from(u32::MAX));
    while full - fits > 1 {
        let half = fits.midpoint(full);
        if store.room(account, half).await.is_ok() { fits = half } else { full = half }
    }
    fits
}

#[tokio::test]
async fn design_36_a_task_begins_with_room_for_its_answer_and_with_a_byte_less_it_is_refused() {
    let ann = from("192.0.2.1");
    let wide = CallerBounds { caller: 100_000, answer_wanted: 200 };
    let (measured, _dir, _server) = stores(wide).await;
    for (n, store) in measured.iter().enumerate() {
        assert_eq!(most(&**store, &ann).await, wide.caller);
        store.create_task(task(&ann), Vec::new()).await.unwrap();
        let each = wide.caller - most(&**store, &ann).await;
        assert!(each > 200 + forecourt_core::limits::ROW_BYTES, "{each}");
        for (caller, fits) in [(each, true), (each - 1, false)] {
            let (fresh, _dir, _server) = stores(CallerBounds { caller, ..wide }).await;
            let made = fresh[n].create_task(task(&ann), Vec::new()).await;
            assert_eq!(made.is_ok(), fits, "{made:?} with {caller} bytes");
        }
    }
}
