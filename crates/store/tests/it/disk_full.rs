//! A PostgreSQL whose disk is full: a small one of its own, in memory, which takes root to mount.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt_core::{CallerBounds, CallerKey, QuotaBound, Role, Store, StoreError, Task, Turn};
use forecourt_store::{Postgres, PostgresOptions, StoreKey};
use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::store_suite::quota::noise;
use forecourt_testkit::store_suite::{completed, some_task, start};
use tempfile::TempDir;

/// How long a store has to be well again.
const PATIENCE: Duration = Duration::from_secs(60);
/// Tasks that fill a disk of the tests several times over.
const TASKS_MAX: usize = 20_000;

/// A disk that is gone when it is dropped.
struct SmallDisk(TempDir);

impl SmallDisk {
    /// `None`, and a line on standard error, where nothing can be mounted.
    fn mount(size: &str) -> Option<Self> {
        let disk = Self(tempfile::tempdir().unwrap());
        let options = format!("size={size},mode=0777");
        if mounts(&["-t", "tmpfs", "-o", &options, "forecourt-small-disk"], disk.path()) {
            return Some(disk);
        }
        eprintln!("skipped: a small disk can't be mounted here: that takes root");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn grow(&self, size: &str) {
        assert!(mounts(&["-o", &format!("remount,size={size}")], self.path()));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

fn mounts(words: &[&str], at: &Path) -> bool {
    Command::new("mount").args(words).arg(at).output().is_ok_and(|mounted| mounted.status.success())
}

async fn open(url: &str) -> Arc<Postgres> {
    let mut options = PostgresOptions::new(url, StoreKey::from_bytes([7; 32]), "example.com");
    // The disk is full before its one caller has what it may.
    options.callers = CallerBounds::of_caller(u64::from(u32::MAX));
    Postgres::open(options).await.expect("a store")
}

fn large_task() -> Task {
    let turns = vec![Turn::text(Role::User, noise(6_000))];
    Task { account: CallerKey::of(Some("ada"), None, None).account(), turns, ..some_task() }
}

/// Writes until it can't: what was acknowledged, and the refusal.
async fn fill(store: &Postgres) -> (Vec<Task>, StoreError) {
    let mut kept = Vec::new();
    loop {
        let task = large_task();
        match store.create_task(task.clone(), Vec::new()).await {
            Ok(()) => kept.push(task),
            Err(refusal) => return (kept, refusal),
        }
        assert!(kept.len() < TASKS_MAX, "the disk never fills");
    }
}

/// Writes again as soon as there is room, without anybody's help; and has lost nothing.
async fn goes_on(store: &Postgres, kept: &[Task]) {
    let until = Instant::now() + PATIENCE;
    while store.create_task(large_task(), Vec::new()).await.is_err() || store.ready().await.is_err() {
        assert!(Instant::now() < until, "the store never gets well");
        tokio::task::yield_now().await;
    }
    for task in kept {
        let found = store.task(&task.id, start()).await.unwrap().expect("an acknowledged task");
        assert_eq!(found.turns, task.turns);
    }
    assert!(store.advance_task(&kept[0].id, completed()).await.unwrap());
}

#[tokio::test]
async fn when_tables_find_no_room_callers_are_told_so_and_nothing_is_lost() {
    let Some(disk) = SmallDisk::mount("16m") else { return };
    let Some(server) = PostgresServer::start() else { return };
    let folder = disk.path().join("tables");
    std::fs::create_dir(&folder).unwrap();
    let owner = std::fs::metadata(server.folder().join("data")).unwrap();
    let (user, group) = (std::os::unix::fs::MetadataExt::uid(&owner), std::os::unix::fs::MetadataExt::gid(&owner));
    std::os::unix::fs::chown(&folder, Some(user), Some(group)).unwrap();
    server.sql("postgres", &format!("CREATE TABLESPACE small LOCATION '{}'", folder.display()));
    let url = server.fresh();
    let database = url.rsplit('/').next().unwrap();
    server.sql("postgres", &format!("ALTER DATABASE {database} SET TABLESPACE small"));
    let store = open(&url).await;

    let (kept, refusal) = fill(&store).await;
    assert!(matches!(refusal, StoreError::Full { bound: QuotaBound::Disk }), "{refusal:?}");
    let ready = store.ready().await;
    assert!(matches!(ready, Err(StoreError::Full { bound: QuotaBound::Disk })), "{ready:?}");
    for task in &kept {
        assert!(store.task(&task.id, start()).await.unwrap().is_some(), "what is there can be read");
    }
    disk.grow("256m");
    goes_on(&store, &kept).await;
    let sums =
        "SELECT (SELECT sum(bytes + reserved) FROM forecourt.charges) = (SELECT sum(bytes) FROM forecourt.accounts)";
    assert_eq!(server.sql(database, sums), "t", "what was refused is not charged");
    server.sql("postgres", &format!("DROP DATABASE {database} WITH (FORCE)"));
    server.sql("postgres", "DROP TABLESPACE small");
}

#[tokio::test]
async fn when_the_log_of_the_database_finds_no_room_the_same_and_it_comes_back_with_the_database() {
    let Some(disk) = SmallDisk::mount("64m") else { return };
    // One that gets up by itself may find room again, and one that is told to end while it gets up may never do so.
    let settings = ["max_wal_size=1GB", "checkpoint_timeout=1h", "restart_after_crash=off"];
    let Some(mut server) = PostgresServer::start_on(disk.path(), &settings) else { return };
    let store = open(&server.fresh()).await;
    let (kept, refusal) = fill(&store).await;
    // The server ends itself rather than to acknowledge what it can't log.
    assert!(
        matches!(refusal, StoreError::Full { bound: QuotaBound::Disk } | StoreError::Unavailable(_)),
        "{refusal:?}"
    );
    assert!(store.create_task(large_task(), Vec::new()).await.is_err());
    disk.grow("512m");
    server.stop();
    server.start_again();
    goes_on(&store, &kept).await;
}
