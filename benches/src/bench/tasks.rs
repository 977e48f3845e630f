//! Durable tasks on SQLite with full sync, against a raw loop of the same three transitions.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt_core::store::TaskChange;
use forecourt_core::{
    CollectedReply, Ending, Event, Handle, Part, Role, Store, SystemClock, Task, TaskId, TaskState, Timestamp, Turn,
};
use forecourt_host::SystemEntropy;
use forecourt_store::{Sqlite, SqliteOptions};
use rusqlite::Connection;

use crate::report::median;

pub(super) const ROUND: Duration = Duration::from_secs(2);
pub(super) const ROUNDS: usize = 8;

/// One submitter against one commit for each transition, sixteen against sixteen in a commit.
pub(super) fn run() -> anyhow::Result<()> {
    let _ = SystemClock;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let store = Sqlite::open(&folder.path().join("ours.db"), SqliteOptions::default())?;
    for submitters in [1, 16] {
        let mut ratios = Vec::new();
        let (mut ours, mut raw) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let file = folder.path().join(format!("raw-{submitters}-{round}.db"));
            let theirs = raw_loop(&file, submitters)?;
            let mine = runtime.block_on(submit(store.clone(), submitters))?;
            ratios.push(mine / theirs);
            ours.push(mine);
            raw.push(theirs);
        }
        println!(
            "{submitters:2} submitters: {:6.0} tasks/s, raw loop {:6.0} tasks/s, ratio {:.2}",
            median(&ours),
            median(&raw),
            median(&ratios)
        );
    }
    Ok(())
}

/// Tasks a second of the real store.
pub(super) async fn submit(store: Arc<dyn Store>, submitters: usize) -> anyhow::Result<f64> {
    let begin = Instant::now();
    let work = (0..submitters).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut done = 0u64;
            while begin.elapsed() < ROUND {
                one(&*store).await?;
                done += 1;
            }
            anyhow::Ok(done)
        })
    });
    let mut done = 0;
    for count in futures::future::join_all(work).await {
        done += count??;
    }
    Ok(done as f64 / begin.elapsed().as_secs_f64())
}

async fn one(store: &dyn Store) -> anyhow::Result<()> {
    let now = Timestamp::now();
    let id = TaskId::mint(&SystemEntropy);
    let task = Task {
        account: forecourt_core::Account::HOST,
        id: id.clone(),
        agent: Handle::parse("echo")?,
        thread: None,
        owner: None,
        received_via: "bench".to_owned(),
        turns: vec![Turn::text(Role::User, "hello")],
        state: TaskState::Working,
        outcome: None,
        run: "bench".to_owned(),
        created_at: now,
        updated_at: now,
        expires_at: now + Duration::from_secs(3600),
    };
    let begun = task.clone();
    store.create_task(task, Vec::new()).await?;
    store.append_events(&id, "bench", 1, vec![Event::Text("hello".to_owned())]).await?;
    let outcome = CollectedReply::new(vec![Part::markdown("hello")], Ending::Complete);
    let change = TaskChange::settle(&begun, outcome, now);
    anyhow::ensure!(store.advance_task(&id, change).await?, "a task moved on by itself");
    Ok(())
}

/// Tasks a second of three transitions on bare SQLite, `together` of them in each commit.
fn raw_loop(file: &Path, together: usize) -> anyhow::Result<f64> {
    let database = Connection::open(file)?;
    database.execute_batch(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
         CREATE TABLE task (id BLOB PRIMARY KEY, state TEXT, body TEXT) STRICT;
         CREATE TABLE event (task BLOB, seq INTEGER, body TEXT, PRIMARY KEY (task, seq)) STRICT;",
    )?;
    let begin = Instant::now();
    let mut next = 0u64;
    while begin.elapsed() < ROUND {
        let ids: Vec<[u8; 8]> = (next..next + together as u64).map(u64::to_be_bytes).collect();
        next += together as u64;
        for step in 0..3 {
            database.execute_batch("BEGIN IMMEDIATE")?;
            for id in &ids {
                transition(&database, step, id)?;
            }
            database.execute_batch("COMMIT")?;
        }
    }
    Ok(next as f64 / begin.elapsed().as_secs_f64())
}

fn transition(database: &Connection, step: usize, id: &[u8; 8]) -> anyhow::Result<()> {
    let body = r#"[{"kind":"text","mime":"text/plain","content":"hello"}]"#;
    let statement = match step {
        0 => "INSERT INTO task VALUES (?1, 'working', ?2)",
        1 => "INSERT INTO event VALUES (?1, 1, ?2)",
        _ => "UPDATE task SET state = 'completed', body = ?2 WHERE id = ?1",
    };
    database.prepare_cached(statement)?.execute((&id[..], body))?;
    Ok(())
}
