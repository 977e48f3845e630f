//! A disk that fails at the n-th write, or the n-th sync, for every n of a day: what was acknowledged stands, whatever
//! became of the rest, and the store works on when the disk does.
//!
//! The test starts itself once more as a child, below a library that fails for it (`failing_disk.c`).

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use forecourt_core::Store;
use forecourt_store::{Sqlite, SqliteOptions};
use forecourt_testkit::store_suite::after;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::acknowledged::{Acknowledged, acknowledge, database};
use crate::day::{evening, morning};

/// Set for the child: the folder to write to.
const CHILD_DIR: &str = "FORECOURT_FAILING_CHILD_DIR";
const LIBRARY: &str = "failing_disk.so";
/// More than a day has writes.
const CALLS_MAX: u64 = 1_000;
/// Tasks of a day.
const TASKS: usize = 2;

/// How the disk fails.
#[derive(Clone, Copy, Debug)]
struct Failure {
    kind: &'static str,
    /// For how long: `once` or `ever`.
    span: &'static str,
    /// From when on it is counted: the first opening of a store, or the first write behind it.
    counts_opening: bool,
    /// Which of the calls are tried: all, or one of so many.
    one_of: usize,
}

/// A folder with an empty store, and with the library, built with the compiler of C that the store itself is built with.
fn prepared() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, library) = (folder.path().join("failing_disk.c"), folder.path().join(LIBRARY));
    fs::write(&source, include_str!("failing_disk.c")).expect("the source");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &source]).status();
    assert!(built.expect("a compiler of C").success());
    drop(Sqlite::open(&database(folder.path()), SqliteOptions::default()).expect("a store"));
    folder
}

/// Lives a day on a disk that fails at its `at`-th call; says whether it came to that, and checks what is left.
async fn live(prepared: &Path, failure: Failure, at: u64) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    if !failure.counts_opening {
        for name in ["forecourt.db", "store.key"] {
            fs::copy(prepared.join(name), folder.path().join(name)).expect("an empty store");
        }
    }
    let (armed, met) = (folder.path().join("armed"), folder.path().join("met"));
    if failure.counts_opening {
        fs::write(&armed, "").expect("a file");
    }
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "failing_disk::the_child_lives_a_day", "--nocapture"])
        .env("LD_PRELOAD", prepared.join(LIBRARY))
        .env(CHILD_DIR, folder.path())
        .envs([("FAIL_KIND", failure.kind), ("FAIL_FOR", failure.span), ("FAIL_AT", &at.to_string())])
        .envs([("FAIL_ARMED", &armed), ("FAIL_MET", &met)])
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let mut acknowledged = Acknowledged::default();
    let output = child.stdout.take().expect("the child's output");
    BufReader::new(output).lines().for_each(|line| acknowledged.take(&line.expect("a line")));
    assert!(child.wait().expect("the end of the child").success(), "{failure:?} at {at}: the child fell");
    let is_met = met.exists();
    assert!(is_met || acknowledged.tasks.len() == TASKS, "{failure:?} at {at}: a day without a failure is whole");
    let store = Sqlite::open(&database(folder.path()), SqliteOptions::default());
    let store = store.unwrap_or_else(|error| panic!("{failure:?} at {at}: the store does not open: {error}"));
    acknowledged.check(&*store).await;
    store.ready().await.expect("it can be written");
    drop(store);
    check_database(&folder, failure, at);
    is_met
}

/// The database is whole, and each account is charged for what it has.
fn check_database(folder: &TempDir, failure: Failure, at: u64) {
    let db = Connection::open(database(folder.path())).expect("a database");
    let is_whole: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a check");
    assert_eq!(is_whole, "ok", "{failure:?} at {at}");
    let charged = "SELECT coalesce((SELECT sum(bytes) FROM accounts), 0)
        - coalesce((SELECT sum(bytes + reserved) FROM charges), 0)
        - coalesce((SELECT sum(bytes) FROM entries WHERE account IS NOT NULL), 0)
        - coalesce((SELECT sum(bytes) FROM threads WHERE account IS NOT NULL), 0)
        - coalesce((SELECT sum(bytes) FROM routes WHERE account IS NOT NULL), 0)
        - coalesce((SELECT sum(bytes) FROM deliveries WHERE account IS NOT NULL), 0)";
    let off: i64 = db.query_row(charged, [], |row| row.get(0)).expect("sums");
    assert_eq!(off, 0, "{failure:?} at {at}: an account is charged for what it does not have");
}

/// Every failure of this kind, from the first call of a day to the last one.
async fn every(failure: Failure) {
    let prepared = prepared();
    for at in (1..CALLS_MAX).step_by(failure.one_of) {
        if !live(prepared.path(), failure, at).await {
            assert!(at > 10, "{failure:?}: a day with {at} calls is none");
            return;
        }
    }
    panic!("a day has an end");
}

#[tokio::test]
async fn what_was_acknowledged_stands_whichever_write_fails() {
    every(Failure { kind: "write", span: "once", counts_opening: false, one_of: 1 }).await;
}

#[tokio::test]
async fn what_was_acknowledged_stands_on_a_disk_that_is_full_from_any_write_on() {
    every(Failure { kind: "full", span: "ever", counts_opening: false, one_of: 3 }).await;
}

#[tokio::test]
async fn what_was_acknowledged_stands_where_a_write_is_torn_and_none_follows() {
    every(Failure { kind: "torn", span: "ever", counts_opening: false, one_of: 2 }).await;
}

#[tokio::test]
async fn what_was_acknowledged_stands_whichever_sync_fails() {
    every(Failure { kind: "sync", span: "once", counts_opening: false, one_of: 1 }).await;
}

#[tokio::test]
async fn what_was_acknowledged_stands_where_nothing_is_synced_any_more() {
    every(Failure { kind: "sync", span: "ever", counts_opening: false, one_of: 1 }).await;
}

#[tokio::test]
async fn a_store_whose_first_opening_failed_anywhere_opens_the_next_time() {
    every(Failure { kind: "write", span: "ever", counts_opening: true, one_of: 9 }).await;
}

/// Does nothing unless it was started by a test above.
#[test]
fn the_child_lives_a_day() {
    let Some(dir) = std::env::var_os(CHILD_DIR).map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    // A refusal to open is honest; so is one that comes later.
    let Ok(store) = Sqlite::open(&database(&dir), SqliteOptions::default()) else { return };
    fs::write(dir.join("armed"), "").expect("a file");
    runtime.block_on(async {
        for _ in 0..TASKS {
            let acknowledge = |what: &str, id: &str| {
                let _is_heard = acknowledge(what, id);
            };
            let _ = morning(&*store, acknowledge).await;
            let _ = evening(&*store, "stream", acknowledge).await;
            let _ = store.expire(after(3), 100).await;
        }
    });
}
