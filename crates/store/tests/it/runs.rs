//! Runs that were ended are not remembered for ever.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Store;
use forecourt_core::store::RunBeat;
use forecourt_store::limits::ENDED_RUNS_KEPT;
use forecourt_store::{Memory, Postgres, PostgresOptions, Sqlite, SqliteOptions, StoreKey};
use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::store_suite::start;

/// A run that ended neither beats nor is forgotten as long as a process of it may wake up; then nothing is left of it,
/// a few at a time. One that lives stays.
async fn ended_runs_are_forgotten(store: Arc<dyn Store>) {
    for n in 0..3 {
        assert!(store.end_run(&RunBeat { run: format!("run-{n}"), beat: 1 }).await.unwrap());
    }
    assert!(store.beat("alive").await.unwrap());
    let (first_look, second) = (start(), Duration::from_secs(1));
    assert_eq!(store.expire(first_look, 10).await.unwrap(), 0);
    let until = first_look + ENDED_RUNS_KEPT;
    assert_eq!(store.expire(until - second, 10).await.unwrap(), 0);
    assert!(!store.beat("run-0").await.unwrap());
    assert_eq!(store.expire(until, 2).await.unwrap(), 2, "no more than was asked for");
    assert_eq!(store.expire(until, 10).await.unwrap(), 1);
    assert_eq!(store.expire(until + second, 10).await.unwrap(), 0);
    assert!(store.beat("run-0").await.unwrap(), "nothing is known of it");
    let living: Vec<RunBeat> = store.runs().await.unwrap();
    assert!(living.contains(&RunBeat { run: "alive".to_owned(), beat: 1 }), "{living:?}");
}

#[tokio::test]
async fn in_memory() {
    ended_runs_are_forgotten(Arc::new(Memory::default())).await;
}

#[tokio::test]
async fn on_sqlite() {
    let dir = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&dir.path().join("forecourt.db"), SqliteOptions::default()).unwrap();
    ended_runs_are_forgotten(store).await;
}

#[tokio::test]
async fn on_postgres() {
    let Some(server) = PostgresServer::shared() else { return };
    let options = PostgresOptions::new(server.fresh(), StoreKey::from_bytes([7; 32]), "example.com");
    ended_runs_are_forgotten(Postgres::open(options).await.unwrap()).await;
}
