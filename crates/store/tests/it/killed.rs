//! A process that is killed in the middle of its work loses nothing that was acknowledged.
//!
//! The test starts itself once more as a child that writes and prints what was acknowledged, kills
//! it at a random moment, and looks for every line that it had printed.

use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use forecourt_core::store::TaskChange;
use forecourt_core::{Event, Role, Store, Task, TaskId, ThreadId, Turn};
use forecourt_store::{Sqlite, SqliteOptions};
use forecourt_testkit::store_suite::{addition, after, chef, completed, some_task, start};

use crate::acknowledged::{Acknowledged, System, acknowledge, database};

/// Set for the child: the folder to write to.
const CHILD_DIR: &str = "FORECOURT_KILLED_CHILD_DIR";
/// How often a child is killed.
const ROUNDS: usize = 5;
/// Acknowledgements after which a child is killed, at most.
const ACKS_MAX: u64 = 400;
/// Writers in the child.
const WRITERS: usize = 8;

#[tokio::test]
async fn tok_state_crash_and_every_other_acknowledged_write_survives_kill_9() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut acknowledged = Acknowledged::default();
    for round in 0..ROUNDS {
        let acks = 1 + RandomState::new().hash_one(round) % ACKS_MAX;
        run_and_kill(dir.path(), acks, &mut acknowledged);
        let store = Sqlite::open(&database(dir.path()), SqliteOptions::default()).expect("the store opens again");
        acknowledged.check(&*store).await;
    }
    assert!(!acknowledged.tasks.is_empty());
}

/// Starts a child, kills it after so many acknowledgements and takes all that it printed.
fn run_and_kill(dir: &Path, acks: u64, acknowledged: &mut Acknowledged) {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "killed::the_child_writes_until_it_is_killed", "--nocapture"])
        .env(CHILD_DIR, dir)
        .stdout(Stdio::piped())
        .spawn()
        .map(Killed)
        .expect("a child");
    let output = child.0.stdout.take().expect("the child's output");
    let mut seen = 0;
    for line in BufReader::new(output).lines() {
        let line = line.expect("a line");
        acknowledged.take(&line);
        seen += u64::from(line.starts_with("ack "));
        if seen == acks {
            child.0.kill().expect("the child is killed");
        }
    }
    assert!(seen >= acks, "the child ended by itself after {seen} of {acks} acknowledgements");
}

/// A child that does not outlive its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Does nothing unless it was started by the test above.
#[test]
fn the_child_writes_until_it_is_killed() {
    let Some(dir) = std::env::var_os(CHILD_DIR) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    runtime.block_on(async {
        let store = Sqlite::open(&database(Path::new(&dir)), SqliteOptions::default()).expect("a store");
        let writers: Vec<_> = (0..WRITERS).map(|_| tokio::spawn(write(Arc::clone(&store)))).collect();
        for writer in writers {
            writer.await.expect("a writer");
        }
    });
}

/// Writes and acknowledges until nobody listens.
async fn write(store: Arc<Sqlite>) {
    let mut heard = true;
    while heard {
        let task = Task { id: TaskId::mint(&System), ..some_task() };
        let thread = ThreadId::mint(&System);
        let (id, name) = (task.id.clone(), task.id.expose().to_owned());
        store.create_task(task, Vec::new()).await.expect("a task");
        heard = acknowledge("task", &name);
        for n in 1..4 {
            store.append_events(&id, "run-1", n, vec![Event::Text(format!("{n}"))]).await.expect("an event");
            heard &= acknowledge("event", &name);
        }
        store
            .append_turns(&thread, &chef(), addition(vec![Turn::text(Role::User, "a")], 9, after(60)))
            .await
            .expect("a turn");
        heard &= acknowledge("turn", thread.expose());
        assert!(store.claim_once(&name, start(), after(60)).await.expect("a claim"));
        heard &= acknowledge("claim", &name);
        let change = TaskChange { at: after(1), ..completed() };
        assert!(store.advance_task(&id, change).await.expect("a move"));
        heard &= acknowledge("done", &name);
    }
}
