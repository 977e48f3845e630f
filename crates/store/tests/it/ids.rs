//! An id of a task is taken once, also in a store that was opened again.

use std::path::Path;
use std::sync::Arc;

use forecourt_core::{Store, StoreError, Task};
use forecourt_store::{Sqlite, SqliteOptions};
use forecourt_testkit::store_suite::{some_task, start};
use futures::future::join_all;

fn open(folder: &Path) -> Arc<dyn Store> {
    Sqlite::open(&folder.join("forecourt.db"), SqliteOptions::default()).expect("a store")
}

async fn is_refused(store: &dyn Store, task: &Task) -> bool {
    let second = Task { run: "run-2".to_owned(), ..task.clone() };
    matches!(store.create_task(second, Vec::new()).await, Err(StoreError::Exists))
}

#[tokio::test]
async fn an_id_is_taken_once_in_a_store_that_was_opened_again() {
    // Fewer tasks than are named at once, and more.
    for count in [1, 3, 1_100] {
        let folder = tempfile::tempdir().unwrap();
        let tasks: Vec<Task> = (0..count).map(|_| some_task()).collect();
        let store = open(folder.path());
        join_all(tasks.iter().map(|task| store.create_task(task.clone(), Vec::new()))).await;
        drop(store);
        let store = open(folder.path());
        for task in [&tasks[0], &tasks[count / 2], &tasks[count - 1]] {
            assert!(is_refused(&*store, task).await, "{count}");
            assert_eq!(store.task(&task.id, start()).await.unwrap().as_ref(), Some(task), "{count}");
        }
        store.create_task(tasks[count - 1].clone(), Vec::new()).await.expect("its run makes it again");
        let next = some_task();
        store.create_task(next.clone(), Vec::new()).await.unwrap();
        assert!(is_refused(&*store, &next).await && is_refused(&*store, &tasks[count - 1]).await, "{count}");
    }
}

#[tokio::test]
async fn an_id_that_another_process_took_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (open(folder.path()), open(folder.path()));
    for _ in 0..3 {
        let (ours, theirs) = (some_task(), some_task());
        here.create_task(ours.clone(), Vec::new()).await.unwrap();
        there.create_task(theirs.clone(), Vec::new()).await.unwrap();
        assert!(is_refused(&*here, &theirs).await && is_refused(&*there, &ours).await);
    }
}
