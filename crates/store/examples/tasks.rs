//! What a durable task costs on SQLite: made, with an event, and settled.
//!
//! `cargo run --release -p forecourt-store --example tasks -- [SUBMITTERS] [SECONDS]`

use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt_core::store::TaskChange;
use forecourt_core::{
    Account, CollectedReply, Ending, Event, Handle, Part, Role, Store, Task, TaskId, TaskState, Timestamp, Turn,
};
use forecourt_store::{Sqlite, SqliteOptions};
use forecourt_testkit::CountedEntropy;
use futures::future::join_all;

fn main() {
    let mut given = std::env::args().skip(1);
    let mut number = |usual| given.next().and_then(|number| number.parse().ok()).unwrap_or(usual);
    let (submitters, seconds) = (number(16), number(2));
    let folder = tempfile::tempdir().expect("a folder");
    let store = Sqlite::open(&folder.path().join("tasks.db"), SqliteOptions::default()).expect("a store");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let (begun, cpu) = (Instant::now(), cpu_seconds());
    let tasks = runtime.block_on(submit(store, submitters, Duration::from_secs(seconds)));
    let (wall, cpu) = (begun.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    println!("{submitters} submitters: {:.0} tasks a second, {:.1} µs of CPU each", tasks / wall, cpu * 1e6 / tasks);
}

/// How many tasks so many submitters finish in this time.
async fn submit(store: Arc<dyn Store>, submitters: u64, time: Duration) -> f64 {
    let begun = Instant::now();
    let entropy = Arc::new(CountedEntropy::default());
    let work = (0..submitters).map(|_| {
        let (store, entropy) = (Arc::clone(&store), Arc::clone(&entropy));
        tokio::spawn(async move {
            let mut done = 0_u32;
            while begun.elapsed() < time {
                one(&*store, TaskId::mint(&*entropy)).await;
                done += 1;
            }
            done
        })
    });
    join_all(work).await.into_iter().map(|done| f64::from(done.expect("a submitter"))).sum()
}

async fn one(store: &dyn Store, id: TaskId) {
    let now = Timestamp::now();
    let task = Task {
        account: Account::HOST,
        id: id.clone(),
        agent: Handle::parse("echo").expect("a handle"),
        thread: None,
        owner: None,
        received_via: "bench".to_owned(),
        trace: None,
        turns: vec![Turn::text(Role::User, "hello")],
        state: TaskState::Working,
        outcome: None,
        run: "bench".to_owned(),
        created_at: now,
        updated_at: now,
        expires_at: now + Duration::from_secs(3600),
    };
    let begun = task.clone();
    store.create_task(task, Vec::new()).await.expect("a task");
    store.append_events(&id, "bench", 1, vec![Event::Text("hello".to_owned())]).await.expect("an event");
    let outcome = CollectedReply::new(vec![Part::markdown("hello")], Ending::Complete);
    let change = TaskChange::settle(&begun, outcome, now);
    assert!(store.advance_task(&id, change).await.expect("an end"), "a task moved on by itself");
}

/// Seconds that this process has been on a CPU.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let ticks: f64 = fields.split(' ').skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}
