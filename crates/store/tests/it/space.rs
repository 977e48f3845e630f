//! The room that a store takes on the disk: no more than its bounds, and given back. Design 36.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use forecourt_core::network::Network;
use forecourt_core::store::{ConversationAppend, IfTaskEnded, TaskChange};
use forecourt_core::{Account, CallerBounds, CallerKey, Event, Role, Store, Task, Turn};
use forecourt_store::{Sqlite, SqliteOptions, limits};
use forecourt_testkit::store_suite::quota::noise;
use forecourt_testkit::store_suite::{addition, after, chef, outcome, some_task, some_thread, start, webhook};
use rusqlite::Connection;

const CALLER: u64 = 4 * 1024 * 1024;

fn open(folder: &Path) -> Arc<Sqlite> {
    let options = SqliteOptions {
        // 32 of them are at work at once.
        callers: CallerBounds { caller: CALLER, answer_wanted: 16 * 1024 },
        ..SqliteOptions::default()
    };
    Sqlite::open(&folder.join("forecourt.db"), options).expect("a store")
}

fn size(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

fn database(folder: &Path) -> u64 {
    folder.join("forecourt.db").metadata().unwrap().len()
}

/// Everything that one request has us keep: a task, its events and outcome, a conversation, a route.
async fn ask(store: &Sqlite, account: &Account, len: usize) -> bool {
    let words = noise(len);
    let turn = || Turn::text(Role::User, words.clone());
    let task = Task { account: account.clone(), turns: vec![turn()], ..some_task() };
    let (id, thread) = (task.id.clone(), some_thread());
    let settled = TaskChange::settle(&task, outcome(&words), after(1));
    let said = ConversationAppend { account: account.clone(), ..addition(vec![turn(), turn()], 10, after(3600)) };
    store.create_task(task, Vec::new()).await.is_ok()
        && store.append_events(&id, "run-1", 1, vec![Event::Text(words.clone())]).await.is_ok()
        && store.advance_task(&id, settled).await.is_ok()
        && store.append_turns(&thread, &chef(), said).await.is_ok()
        && store.set_route(&thread, &chef(), after(3600), account).await.is_ok()
}

#[tokio::test]
async fn design_36_a_caller_makes_the_folder_grow_by_no_more_than_its_bound() {
    for len in [1, 300, 700, 1_100, 5_000, 100_000] {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        store.close().await;
        drop(store);
        let before = size(dir.path());
        let store = open(dir.path());
        let account = CallerKey::of(None, None, Some(Network::of(IpAddr::from([192, 0, 2, 1])))).account();
        let mut asked = 0;
        loop {
            let refused = futures::future::join_all((0..32).map(|_| ask(&store, &account, len))).await;
            asked += 32;
            if refused.contains(&false) {
                break;
            }
        }
        assert!(size(dir.path()) - before <= CALLER + 2 * limits::LOG_BYTES, "with the log, of {asked} times {len}");
        store.close().await;
        let grown = size(dir.path()) - before;
        assert!(grown <= CALLER, "{asked} times {len} bytes made it grow by {grown}");
        assert!(grown >= CALLER / 4, "{asked} times {len} bytes made it grow by no more than {grown}");
    }
}

#[tokio::test]
async fn design_36_space_is_given_back_to_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for n in 0..12 {
        let account = CallerKey::of(None, None, Some(Network::of(IpAddr::from([192, 0, 2, n])))).account();
        while ask(&store, &account, 100_000).await {}
    }
    assert!(database(dir.path()) > 16 * 1024 * 1024);
    while store.expire(after(4000), 500).await.unwrap() > 0 {}
    store.close().await;
    assert!(database(dir.path()) < 3 * 1024 * 1024, "{}", database(dir.path()));
}

#[tokio::test]
async fn the_log_is_bounded_while_somebody_reads() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let long = || Task { turns: vec![Turn::text(Role::User, noise(1024 * 1024))], ..some_task() };
    for _ in 0..40 {
        let task = long();
        let id = task.id.clone();
        let (written, _) = futures::future::join(store.create_task(task, Vec::new()), store.task(&id, start())).await;
        written.unwrap();
        let log = dir.path().join("forecourt.db-wal").metadata().unwrap().len();
        assert!(log <= limits::LOG_BYTES + 4 * 1024 * 1024, "{log}");
    }
}

#[tokio::test]
async fn a_database_of_an_earlier_version_becomes_one_that_gives_space_back() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let task = some_task();
    store.create_task(task.clone(), Vec::new()).await.unwrap();
    store.close().await;
    drop(store);
    let file = || Connection::open(dir.path().join("forecourt.db")).unwrap();
    file().execute_batch("PRAGMA auto_vacuum = 0; VACUUM").unwrap();
    let mode = || file().query_row("PRAGMA auto_vacuum", [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(mode(), 0);
    let store = open(dir.path());
    assert_eq!(mode(), 2);
    assert_eq!(store.task(&task.id, start()).await.unwrap(), Some(task));
}

#[tokio::test]
async fn an_answer_is_not_kept_again_for_everybody_who_is_told_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let task = some_task();
    let id = task.id.clone();
    store.create_task(task, Vec::new()).await.unwrap();
    for n in 0..5 {
        let _added =
            store.add_webhook(&id, webhook(&format!("https://example.com/{n}")), 5, IfTaskEnded::Refuse).await.unwrap();
    }
    let words = noise(1024 * 1024);
    let settled = TaskChange::settle(&some_task(), outcome(&words), after(1));
    assert!(store.advance_task(&id, settled).await.unwrap());
    store.close().await;
    assert!(database(dir.path()) < 2 * 1024 * 1024, "{}", database(dir.path()));
    drop(store);
    let store = open(dir.path());
    let due = store.claim_deliveries(after(1), after(60), 10).await.unwrap();
    assert!(
        due.len() == 5 && due.iter().all(|delivery| delivery.task.as_ref().unwrap().outcome == Some(outcome(&words)))
    );
}
