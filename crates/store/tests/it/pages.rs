//! How many pages of the log a durable task costs, counted in the log itself.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::reply::CollectedReply;
use forecourt_core::store::TaskChange;
use forecourt_core::{Ending, Event, Part, Store, Task, TaskState};
use forecourt_store::{Sqlite, SqliteOptions};
use forecourt_testkit::store_suite::{some_task, start};
use futures::future::join_all;

/// Tasks that there are before it is counted: enough for an index of random numbers to have many pages.
const TASKS_BEFORE: usize = 20_000;
const TOGETHER: usize = 16;
const ROUNDS: usize = 128;
/// Bytes of a page, and what stands in the log before the first page and before each.
const PAGE: usize = 4_096;
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// Pages for each commit of sixteen moves, of which a bare loop of the same moves needs about three.
const PAGES_PER_COMMIT_MAX: f64 = 9.0;

/// Sixteen tasks at once, from beginning to end: three moves each.
async fn sixteen(store: &Arc<Sqlite>) {
    let tasks: Vec<Task> = (0..TOGETHER).map(|_| Task { state: TaskState::Working, ..some_task() }).collect();
    for done in join_all(tasks.iter().map(|task| store.create_task(task.clone(), Vec::new()))).await {
        done.unwrap();
    }
    let said = || vec![Event::Text("hello".to_owned())];
    for done in join_all(tasks.iter().map(|task| store.append_events(&task.id, "run-1", 1, said()))).await {
        done.unwrap();
    }
    let settled = |task: &Task| {
        let outcome = CollectedReply::new(vec![Part::markdown("hello")], Ending::Complete);
        TaskChange::settle(task, outcome, start() + Duration::from_secs(1))
    };
    for done in join_all(tasks.iter().map(|task| store.advance_task(&task.id, settled(task)))).await {
        assert!(done.unwrap());
    }
}

/// Pages and commits in a log from a place on. A commit is told by the header of its last page: on a busy machine
/// sixteen moves may take two.
fn written(log: &Path, from: u64) -> (u32, u32) {
    let log = std::fs::read(log).unwrap();
    let frames = log[(from as usize).max(LOG_HEADER)..].chunks_exact(FRAME_HEADER + PAGE);
    frames.fold((0, 0), |(pages, commits), frame| (pages + 1, commits + u32::from(frame[4..8] != [0; 4])))
}

#[tokio::test]
async fn a_commit_of_sixteen_moves_writes_few_pages() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("forecourt.db");
    let store = Sqlite::open(&path, SqliteOptions::default()).unwrap();
    let many: Vec<_> = (0..TASKS_BEFORE).map(|_| store.create_task(some_task(), Vec::new())).collect();
    for done in join_all(many).await {
        done.unwrap();
    }
    // Opened anew, so that the log begins empty.
    store.close().await;
    drop(store);
    let store = Sqlite::open(&path, SqliteOptions::default()).unwrap();
    let (mut pages, mut commits) = (0, 0);
    let log = path.with_extension("db-wal");
    let mut last = log.metadata().map_or(0, |log| log.len());
    for _ in 0..ROUNDS {
        sixteen(&store).await;
        let len = log.metadata().unwrap().len();
        // The log begins anew once it is long, or is written over from its start: such a round is not counted.
        if len > last {
            let (more_pages, more_commits) = written(&log, last);
            pages += more_pages;
            commits += more_commits;
        }
        last = len;
    }
    let pages = f64::from(pages) / f64::from(commits);
    assert!(commits >= 30 && pages <= PAGES_PER_COMMIT_MAX, "{pages:.1} pages a commit, {commits} commits");
    eprintln!("{pages:.1} pages a commit");
}
