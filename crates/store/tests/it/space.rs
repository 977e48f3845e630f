//! The room that a store takes on the disk: no more than its bounds, and given back. Design 36.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use forecourt_core::network::Network;
use forecourt_core::store::{ConversationAppend, IfTaskEnded, LedgerEntry, TaskChange, Webhook};
use forecourt_core::{Account, CallerBounds, CallerKey, Event, Role, Store, Task, Turn};
use forecourt_store::{Sqlite, SqliteOptions, limits};
use forecourt_testkit::store_suite::artifacts::artifact;
use forecourt_testkit::store_suite::quota::noise;
use forecourt_testkit::store_suite::{
    addition, after, chef, completed, outcome, some_task, some_thread, start, webhook,
};
use futures::future::BoxFuture;
use rusqlite::Connection;
use serde_json::json;

const CALLER: u64 = 4 * 1024 * 1024;

fn open(folder: &Path) -> Arc<Sqlite> {
    let options = SqliteOptions {
        // 32 of them are at work at once.
        callers: CallerBounds { answer_wanted: 16 * 1024, ..CallerBounds::of_caller(CALLER) },
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

/// One thing that a caller can have kept, and its name.
type Shape = (&'static str, for<'a> fn(&'a Sqlite, &'a Account, usize) -> BoxFuture<'a, bool>);

async fn task_of(store: &Sqlite, account: &Account, webhooks: Vec<Webhook>) -> Option<Task> {
    let task = Task { account: account.clone(), ..some_task() };
    store.create_task(task.clone(), webhooks).await.is_ok().then_some(task)
}

/// Everything that can be kept in many rows, each kind by itself: short rows cost the most beside what is in them.
const SHAPES: [Shape; 6] = [
    ("tasks", |store, account, _| Box::pin(async move { task_of(store, account, Vec::new()).await.is_some() })),
    ("events", |store, account, _| {
        Box::pin(async move {
            let Some(task) = task_of(store, account, Vec::new()).await else { return false };
            let event = |n: u64| store.append_events(&task.id, "run-1", n, vec![Event::Text("a".to_owned())]);
            let mut is_kept = true;
            for n in 1..40 {
                is_kept &= event(n).await.is_ok();
            }
            is_kept
        })
    }),
    ("files", |store, account, n| {
        Box::pin(async move {
            let Some(task) = task_of(store, account, Vec::new()).await else { return false };
            let mut is_kept = true;
            for (file, len) in [1, 300, 600, 5_000].into_iter().enumerate() {
                let kept = artifact(&format!("{n} {file}"), noise(len));
                is_kept &= store.put_artifact(&task.id, "run-1", kept).await.is_ok();
            }
            is_kept
        })
    }),
    ("webhooks and their deliveries", |store, account, _| {
        Box::pin(async move {
            let webhooks = (0..5).map(|n| webhook(&format!("https://example.com/{n}"))).collect();
            let Some(task) = task_of(store, account, webhooks).await else { return false };
            store.advance_task(&task.id, completed()).await.is_ok()
        })
    }),
    ("entries", |store, account, n| {
        Box::pin(async move {
            let entry = LedgerEntry::new(json!(n), start()).until(after(3600)).on(account.clone());
            store.append_entry(&format!("stream {n}"), entry, None).await.is_ok()
        })
    }),
    ("routes", |store, account, _| {
        Box::pin(async move { store.set_route(&some_thread(), &chef(), after(3600), account).await.is_ok() })
    }),
];

#[tokio::test]
async fn design_36_whatever_a_caller_has_kept_takes_no_more_of_the_disk_than_its_bound() {
    for (name, keep) in SHAPES {
        let dir = tempfile::tempdir().unwrap();
        let callers = CallerBounds { answer_wanted: 0, ..CallerBounds::of_caller(CALLER / 4) };
        let options = SqliteOptions { callers, ..SqliteOptions::default() };
        let open = || Sqlite::open(&dir.path().join("forecourt.db"), options.clone()).expect("a store");
        open().close().await;
        let before = size(dir.path());
        let store = open();
        let account = CallerKey::of(None, None, Some(Network::of(IpAddr::from([192, 0, 2, 1])))).account();
        let mut kept = 0;
        while !futures::future::join_all((0..32).map(|n| keep(&store, &account, kept + n))).await.contains(&false) {
            kept += 32;
        }
        store.close().await;
        let grown = size(dir.path()) - before;
        assert!(grown <= callers.caller, "{kept} {name} made it grow by {grown}");
        assert!(grown >= callers.caller / 8, "{kept} {name} made it grow by no more than {grown}");
    }
}

#[tokio::test]
async fn design_36_space_is_given_back_to_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for n in 0..12 {
        let account = CallerKey::of(Some(&format!("caller {n}")), None, None).account();
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
