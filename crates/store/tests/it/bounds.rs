//! Bounds on stored bytes at n and n + 1, on each store. Design 36.

use std::net::IpAddr;
use std::sync::Arc;

use forecourt_core::network::Network;
use forecourt_core::{Account, CallerBounds, CallerKey, QuotaBound, StoreError, Task, TaskId};
use forecourt_store::{LeaseClock, Memory, Postgres, PostgresOptions, Sqlite, SqliteOptions, StoreKey, StoreReads};
use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::store_suite::{completed, some_task, start};

/// A store of each kind with these bounds, and what must live as long as they do.
async fn stores(callers: CallerBounds) -> (Vec<Arc<dyn StoreReads>>, tempfile::TempDir, Option<Arc<PostgresServer>>) {
    let dir = tempfile::tempdir().expect("a folder");
    let options = SqliteOptions { callers, ..SqliteOptions::default() };
    let mut stores: Vec<Arc<dyn StoreReads>> = vec![
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
async fn most(store: &dyn StoreReads, account: &Account) -> u64 {
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
    let wide = CallerBounds { answer_wanted: 200, ..CallerBounds::of_caller(100_000) };
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

/// Stores in which each caller has room for one task and no more, with the bounds of each: rows cost differently in each.
async fn for_one_task_each(
    bounds: impl Fn(CallerBounds) -> CallerBounds,
) -> Vec<(Arc<dyn StoreReads>, CallerBounds, impl Sized)> {
    let wide = CallerBounds { answer_wanted: 200, ..CallerBounds::of_caller(100_000) };
    let (measured, _dir, _server) = stores(wide).await;
    let mut found = Vec::new();
    for (n, store) in measured.iter().enumerate() {
        store.create_task(task(&from("192.0.2.1")), Vec::new()).await.unwrap();
        let caller = wide.caller - most(&**store, &from("192.0.2.1")).await;
        let bounds = bounds(CallerBounds { caller, ..wide });
        let (fresh, dir, server) = stores(bounds).await;
        found.push((fresh[n].clone(), bounds, (fresh, dir, server)));
    }
    found
}

async fn keep(store: &dyn StoreReads, account: &Account) -> Result<TaskId, QuotaBound> {
    let task = task(account);
    let id = task.id.clone();
    match store.create_task(task, Vec::new()).await {
        Ok(()) => Ok(id),
        Err(StoreError::Full { bound }) => Err(bound),
        Err(error) => panic!("{error:?}"),
    }
}

#[tokio::test]
async fn each_network_around_callers_who_proved_nothing_has_its_bound() {
    type At = fn(u16, u16) -> Account;
    let kinds: [(At, [u8; 2]); 2] = [
        (|narrow, own| from(&format!("192.0.{}.{own}", 16 + narrow)), [24, 20]),
        (|narrow, own| from(&format!("2001:db8:1:{:x}::1", (narrow << 8) + own)), [56, 48]),
    ];
    for (store, bounds, _guard) in for_one_task_each(|bounds| bounds).await {
        for (at, [narrow, wide]) in kinds {
            for own in 0..4 {
                keep(&*store, &at(0, own)).await.unwrap();
            }
            let max = 4 * bounds.caller;
            assert_eq!(keep(&*store, &at(0, 4)).await, Err(QuotaBound::Network { prefix: narrow, max }));
            assert!(matches!(store.room(&at(0, 4), 1).await, Err(StoreError::Full { .. })));
            for n in 4..16 {
                keep(&*store, &at(n / 4, n % 4)).await.unwrap();
            }
            let max = 16 * bounds.caller;
            assert_eq!(keep(&*store, &at(4, 0)).await, Err(QuotaBound::Network { prefix: wide, max }));
        }
        keep(&*store, &from("198.51.100.1")).await.unwrap();
        keep(&*store, &CallerKey::of(Some("ada"), None, None).account()).await.unwrap();
    }
}

/// Of what is kept for all of them the oldest tasks that have ended make room, and no other.
#[tokio::test]
async fn when_all_who_proved_nothing_are_out_of_room_their_oldest_ended_tasks_go() {
    let three = |bounds: CallerBounds| CallerBounds { strangers: Some(3 * bounds.caller), ..bounds };
    for (store, bounds, _guard) in for_one_task_each(three).await {
        let max = 3 * bounds.caller;
        let stranger = |n: u8| from(&format!("192.{n}.2.1"));
        let ada = CallerKey::of(Some("ada"), None, None).account();
        let proven = keep(&*store, &ada).await.unwrap();
        assert!(store.advance_task(&proven, completed()).await.unwrap());
        let mut kept = Vec::new();
        for n in 0..3 {
            kept.push(keep(&*store, &stranger(n)).await.unwrap());
        }
        assert_eq!(keep(&*store, &stranger(3)).await, Err(QuotaBound::Strangers { max }), "all are at work");
        keep(&*store, &CallerKey::of(Some("bob"), None, None).account()).await.unwrap();
        for id in kept.iter().skip(1) {
            assert!(store.advance_task(id, completed()).await.unwrap());
        }
        let (mut made, mut looked) = (keep(&*store, &stranger(4)).await, 0);
        // A store looks for such tasks again only after a while, and so does this.
        while made.is_err() && looked < 100 {
            let _removed = store.expire(start(), 1).await.unwrap();
            looked += 1;
            made = keep(&*store, &stranger(4)).await;
        }
        let made = made.unwrap();
        let there = async |id: &TaskId| store.task(id, start()).await.unwrap().is_some();
        assert!(there(&kept[0]).await, "it is worked on");
        assert!(!there(&kept[1]).await, "it is the oldest that has ended");
        assert!(there(&proven).await && there(&made).await);
        assert!(store.load().strangers_tasks_removed > 0);
        store.ready().await.unwrap();
    }
}

/// A line that was filled at one node is full at the next one.
#[tokio::test]
async fn what_callers_who_proved_nothing_have_is_summed_up_over_nodes() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let callers = CallerBounds { answer_wanted: 0, ..CallerBounds::of_caller(5_000) };
    let open = async || {
        let options = PostgresOptions::new(&url, StoreKey::from_bytes([7; 32]), "example.com");
        Postgres::open(PostgresOptions { callers, ..options }).await.expect("a store")
    };
    let (one, other) = (open().await, open().await);
    let mut met = None;
    for own in 0..6 {
        while met.is_none() {
            match keep(&*one, &from(&format!("192.0.2.{own}"))).await {
                Ok(_) => {}
                Err(QuotaBound::Caller { .. }) => break,
                Err(bound) => met = Some(bound),
            }
        }
    }
    let full = QuotaBound::Network { prefix: 24, max: 20_000 };
    assert_eq!(met, Some(full));
    assert_eq!(keep(&*other, &from("192.0.2.99")).await, Err(full));
    keep(&*other, &from("192.0.3.99")).await.unwrap();
}
