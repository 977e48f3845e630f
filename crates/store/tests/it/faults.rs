//! What can go wrong around a database: each is the right error, nothing is half written, and when
//! the cause is gone the same store works on.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::store::{IfTaskEnded, StoredArtifact, WebhookRegistration};
use forecourt_core::{Account, Event, QuotaBound, Store, StoreError, Task};
use forecourt_store::{Sqlite, SqliteOptions};
use forecourt_testkit::store_suite::artifacts::artifact;
use forecourt_testkit::store_suite::quota::noise;
use forecourt_testkit::store_suite::{
    after, completed, created, is_corrupt, is_unavailable, some_task, start, webhook,
};
use rusqlite::Connection;
use tempfile::TempDir;

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a folder") }
    }

    fn database(&self) -> PathBuf {
        self.dir.path().join("forecourt.db")
    }

    fn key(&self) -> PathBuf {
        self.dir.path().join("store.key")
    }

    fn open(&self) -> Result<Arc<Sqlite>, StoreError> {
        self.open_with(SqliteOptions::default())
    }

    fn open_with(&self, options: SqliteOptions) -> Result<Arc<Sqlite>, StoreError> {
        Sqlite::open(&self.database(), options)
    }

    /// Another program at the same file.
    fn intruder(&self) -> Connection {
        Connection::open(self.database()).expect("a connection")
    }
}

fn dynamic(store: &Arc<Sqlite>) -> Arc<dyn Store> {
    Arc::clone(store) as Arc<dyn Store>
}

fn reason<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
    result.expect_err("an error").to_string()
}

#[tokio::test]
async fn design_36_a_full_store_names_its_bound_until_there_is_room() {
    let place = Place::new();
    let options = SqliteOptions { database_bytes_max: 512 * 1024, ..SqliteOptions::default() };
    let store = place.open_with(options).unwrap();
    let mut kept = Vec::new();
    let refused = loop {
        let task = some_task();
        let created = store.create_task(task.clone(), Vec::new()).await;
        let event = vec![Event::Text(noise(15_000))];
        match created.and(store.append_events(&task.id, "run-1", 1, event).await) {
            Ok(()) => kept.push(task),
            Err(error) => break Err::<(), _>(error),
        }
        assert!(kept.len() < 100, "the disk never filled up");
    };
    assert!(names_the_store(&refused), "{refused:?}");
    assert!(names_the_store(&store.ready().await));
    assert!(names_the_store(&store.room(&Account::HOST, 15_000).await));
    let ended = store.advance_task(&kept[0].id, completed()).await;
    assert!(ended.unwrap(), "what is there can end");
    let now = store.task(&kept[0].id, start()).await.unwrap().unwrap();
    kept[0] = now;
    for task in &kept {
        assert_eq!(store.task(&task.id, start()).await.unwrap().as_ref(), Some(task));
        assert!(!store.events(&task.id, 0, 10).await.unwrap().is_empty());
    }
    assert!(store.expire(after(3600), 10).await.unwrap() > 0);
    store.ready().await.unwrap();
    let id = created(&dynamic(&store), some_task()).await;
    store.append_events(&id, "run-1", 1, vec![Event::Text(noise(15_000))]).await.unwrap();
}

fn names_the_store<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Full { bound: QuotaBound::Store { max: 524_288 } }))
}

#[tokio::test]
async fn a_write_that_does_not_fit_fails_alone() {
    let place = Place::new();
    let options = SqliteOptions { database_bytes_max: 512 * 1024, ..SqliteOptions::default() };
    let store = place.open_with(options).unwrap();
    let id = created(&dynamic(&store), some_task()).await;
    let huge = store.append_events(&id, "run-1", 1, vec![Event::Text(noise(1024 * 1024))]);
    let small = futures::future::join_all((0..32).map(|_| store.create_task(some_task(), Vec::new())));
    let (huge, small) = futures::future::join(huge, small).await;
    assert!(names_the_store(&huge));
    assert!(small.iter().all(Result::is_ok));
    assert!(store.events(&id, 0, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_lock_of_another_program_is_unavailable_until_it_lets_go() {
    let place = Place::new();
    let store = place.open_with(SqliteOptions { lock_wait: Duration::ZERO, ..SqliteOptions::default() }).unwrap();
    let task = some_task();
    created(&dynamic(&store), task.clone()).await;
    let intruder = place.intruder();
    intruder.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(is_unavailable(&store.create_task(some_task(), Vec::new()).await));
    assert!(is_unavailable(&store.claim_once("key", start(), after(60)).await));
    assert!(is_unavailable(&store.ready().await));
    assert_eq!(store.task(&task.id, start()).await.unwrap(), Some(task.clone()));
    intruder.execute_batch("ROLLBACK").unwrap();
    assert!(store.claim_once("key", start(), after(60)).await.unwrap());
    assert!(store.advance_task(&task.id, completed()).await.unwrap());
}

#[tokio::test]
async fn a_closed_store_still_reads_and_writes_no_more() {
    let place = Place::new();
    let store = place.open().unwrap();
    let task = some_task();
    created(&dynamic(&store), task.clone()).await;
    store.close().await;
    store.close().await;
    assert!(is_unavailable(&store.create_task(some_task(), Vec::new()).await));
    assert_eq!(store.task(&task.id, start()).await.unwrap(), Some(task));
    let log = place.dir.path().join("forecourt.db-wal").metadata();
    assert!(log.map_or(0, |log| log.len()) == 0, "the log was not emptied");
}

#[tokio::test]
async fn reopening_keeps_everything() {
    let place = Place::new();
    let task = some_task();
    let store = place.open().unwrap();
    created(&dynamic(&store), task.clone()).await;
    store.append_events(&task.id, "run-1", 1, vec![Event::Text("a".to_owned())]).await.unwrap();
    store.put_artifact(&task.id, "run-1", artifact("a", "x")).await.unwrap();
    assert_eq!(
        store.add_webhook(&task.id, webhook("https://example.com/"), 1, IfTaskEnded::Refuse).await.unwrap(),
        WebhookRegistration::Yes
    );
    assert!(store.claim_once("key", start(), after(60)).await.unwrap());
    assert!(store.advance_task(&task.id, completed()).await.unwrap());
    let before = store.task(&task.id, start()).await.unwrap();
    drop(store);

    let store = place.open().unwrap();
    assert_eq!(store.task(&task.id, start()).await.unwrap(), before);
    assert_eq!(store.events(&task.id, 0, 10).await.unwrap().len(), 2);
    assert_eq!(store.artifact(&task.id, "a", start()).await.unwrap(), Some(artifact("a", "x")));
    assert!(!store.claim_once("key", start(), after(60)).await.unwrap());
    let due = store.claim_deliveries(after(1), after(60), 10).await.unwrap();
    assert_eq!(due[0].webhook, webhook("https://example.com/"));
}

#[tokio::test]
async fn two_stores_share_one_file() {
    let place = Place::new();
    let (one, other) = (place.open().unwrap(), place.open().unwrap());
    let task = some_task();
    created(&dynamic(&one), task.clone()).await;
    assert_eq!(other.task(&task.id, start()).await.unwrap(), Some(task.clone()));
    let moves = (0..16).map(|n| [&one, &other][n % 2].advance_task(&task.id, completed()));
    let won = futures::future::join_all(moves).await.into_iter().filter(|moved| *moved.as_ref().unwrap());
    assert_eq!(won.count(), 1);
}

#[test]
fn a_file_that_is_no_database_is_corrupt() {
    let place = Place::new();
    std::fs::write(place.database(), b"This is not a database, and long enough to be sure.".repeat(100)).unwrap();
    assert!(is_corrupt(&place.open()));
}

#[test]
fn a_folder_that_is_a_file_is_unavailable() {
    let place = Place::new();
    std::fs::write(place.dir.path().join("file"), b"").unwrap();
    let result = Sqlite::open(&place.dir.path().join("file/forecourt.db"), SqliteOptions::default());
    assert!(is_unavailable(&result));
}

#[test]
fn a_newer_database_is_refused_with_both_versions() {
    let place = Place::new();
    drop(place.open().unwrap());
    place.intruder().pragma_update(None, "user_version", 99).unwrap();
    let result = place.open();
    assert!(is_corrupt(&result));
    let reason = reason(result);
    assert!(reason.contains("version 99") && reason.contains("up to 8"), "{reason}");
}

#[test]
fn another_applications_database_is_refused() {
    let place = Place::new();
    place.intruder().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let result = place.open();
    assert!(is_corrupt(&result));
    assert!(reason(result).contains("another application"));
    assert!(!place.key().exists());
}

#[test]
fn a_database_without_its_key_is_refused_and_given_no_other() {
    let place = Place::new();
    drop(place.open().unwrap());
    let key = std::fs::read(place.key()).unwrap();
    std::fs::remove_file(place.key()).unwrap();
    assert!(reason(place.open()).contains("store.key is missing"));
    assert!(!place.key().exists());
    std::fs::write(place.key(), [7; 32]).unwrap();
    assert!(is_corrupt(&place.open()));
    std::fs::write(place.key(), [7; 31]).unwrap();
    assert!(is_corrupt(&place.open()));
    std::fs::write(place.key(), key).unwrap();
    place.open().unwrap();
}

#[tokio::test]
async fn a_damaged_page_is_corrupt_and_never_a_wrong_answer() {
    const PAGE: usize = 4096;
    let place = Place::new();
    let task = Task { owner: Some("ann".to_owned()), ..some_task() };
    let store = place.open().unwrap();
    created(&dynamic(&store), task.clone()).await;
    store.put_artifact(&task.id, "run-1", artifact("a", vec![7; 3 * PAGE])).await.unwrap();
    drop(store);
    let whole = std::fs::read(place.database()).unwrap();
    let mut damaged = 0;
    for page in 1..whole.len() / PAGE {
        let mut bytes = whole.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0xaa);
        std::fs::write(place.database(), bytes).unwrap();
        damaged += usize::from(is_damaged(&place, &task).await);
    }
    assert!(damaged > 0);
}

/// Whether the store says so. What it does answer must be right.
async fn is_damaged(place: &Place, task: &Task) -> bool {
    let Some(store) = opened(place) else { return true };
    let found: Result<Option<Task>, _> = store.task(&task.id, start()).await;
    let artifact_found: Result<Option<StoredArtifact>, _> = store.artifact(&task.id, "a", start()).await;
    if let Ok(found) = &found {
        assert_eq!(found.as_ref(), Some(task));
    }
    if let Ok(found) = &artifact_found {
        assert!(*found == Some(artifact("a", vec![7; 3 * 4096])));
    }
    assert!((found.is_ok() || is_corrupt(&found)) && (artifact_found.is_ok() || is_corrupt(&artifact_found)));
    found.is_err() || artifact_found.is_err()
}

fn opened(place: &Place) -> Option<Arc<Sqlite>> {
    let opened = place.open();
    assert!(opened.is_ok() || is_corrupt(&opened), "{opened:?}");
    opened.ok()
}

#[tokio::test]
async fn all_artifacts_together_are_bounded() {
    let place = Place::new();
    let store = place.open_with(SqliteOptions { artifacts_bytes_max: 10, ..SqliteOptions::default() }).unwrap();
    let task = some_task();
    created(&dynamic(&store), task.clone()).await;
    store.put_artifact(&task.id, "run-1", artifact("a", "123456")).await.unwrap();
    assert!(is_unavailable(&store.put_artifact(&task.id, "run-1", artifact("b", "12345")).await));
    assert_eq!(store.artifact(&task.id, "b", start()).await.unwrap(), None);
    store.put_artifact(&task.id, "run-1", artifact("a", "again")).await.unwrap();
    store.put_artifact(&task.id, "run-1", artifact("c", "1234")).await.unwrap();
    assert!(is_unavailable(&store.put_artifact(&task.id, "run-1", artifact("d", "1")).await));
    store.put_artifact(&task.id, "run-1", artifact("e", "")).await.unwrap();

    assert_eq!(store.expire(task.expires_at, 1).await.unwrap(), 1);
    let id = created(&dynamic(&store), some_task()).await;
    store.put_artifact(&id, "run-1", artifact("a", "1234567890")).await.unwrap();
}

#[tokio::test]
async fn waiting_deliveries_are_bounded_and_settling_never_is() {
    let place = Place::new();
    let store = place.open_with(SqliteOptions { deliveries_pending_max: 2, ..SqliteOptions::default() }).unwrap();
    let (one, other) = (created(&dynamic(&store), some_task()).await, created(&dynamic(&store), some_task()).await);
    let hook = |n: u8| webhook(&format!("https://example.com/{n}"));
    for (id, n) in [(&one, 1), (&one, 2), (&other, 1)] {
        assert_eq!(store.add_webhook(id, hook(n), 5, IfTaskEnded::Refuse).await.unwrap(), WebhookRegistration::Yes);
    }
    assert!(store.advance_task(&one, completed()).await.unwrap());
    assert!(is_unavailable(&store.add_webhook(&other, hook(2), 5, IfTaskEnded::Refuse).await));
    assert!(store.advance_task(&other, completed()).await.unwrap());
    let due = store.claim_deliveries(after(1), after(60), 10).await.unwrap();
    assert_eq!(due.len(), 3);
    for delivery in &due[..2] {
        store.settle_delivery(delivery.id, None).await.unwrap();
    }
    let third = created(&dynamic(&store), some_task()).await;
    assert_eq!(store.add_webhook(&third, hook(1), 5, IfTaskEnded::Refuse).await.unwrap(), WebhookRegistration::Yes);
}
