//! Durable tasks on SQLite with full sync, against a raw loop of the same three transitions.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt_core::store::TaskChange;
use forecourt_core::{
    CollectedReply, Ending, Event, Handle, Part, Role, Store, Task, TaskId, TaskState, Timestamp, Turn,
};
use forecourt_host::SystemEntropy;
use forecourt_store::{Sqlite, SqliteOptions};
use rusqlite::Connection;

use crate::report::{judge, median, shuffled};
use crate::run::Run;

pub(super) const ROUND: Duration = Duration::from_secs(2);
pub(super) const ROUNDS: usize = 8;

/// One submitter against one commit for each transition, sixteen against sixteen in a commit.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let store = Sqlite::open(&folder.path().join("ours.db"), SqliteOptions::default())?;
    for submitters in [1, 16] {
        let visit = run.visit(ROUND);
        let mut rates = [const { Vec::new() }; 3];
        for round in 0..run.rounds(ROUNDS) {
            for index in shuffled(rates.len(), round) {
                let file = folder.path().join(format!("raw-{submitters}-{round}-{index}.db"));
                rates[index].push(match index {
                    2 => runtime.block_on(submit(store.clone(), submitters, visit))?,
                    _ => raw_loop(&file, submitters, visit)?,
                });
            }
        }
        println!("{submitters:2} submitters: {:6.0} tasks/s, raw loop {:6.0}", median(&rates[2]), median(&rates[0]));
        let what = format!("{submitters} submitters, ");
        judge(run, &what, "tasks a second", &["raw loop", "raw loop again", "forecourt"], &rates)?;
    }
    Ok(())
}

/// Tasks a second of the real store.
pub(super) async fn submit(store: Arc<dyn Store>, submitters: usize, time: Duration) -> anyhow::Result<f64> {
    let begin = Instant::now();
    let work = (0..submitters).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut done = 0u64;
            while begin.elapsed() < time {
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
    store.create_task(task, Vec::new()).await?;
    store.append_events(&id, "bench", 1, vec![Event::Text("hello".to_owned())]).await?;
    let outcome = CollectedReply::new(vec![Part::markdown("hello")], Ending::Complete);
    let change = TaskChange::settle(&begun, outcome, now);
    anyhow::ensure!(store.advance_task(&id, change).await?, "a task moved on by itself");
    Ok(())
}

/// Tasks a second of three transitions on bare SQLite, `together` of them in each commit.
fn raw_loop(file: &Path, together: usize, time: Duration) -> anyhow::Result<f64> {
    let database = Connection::open(file)?;
    database.execute_batch(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
         CREATE TABLE task (id BLOB PRIMARY KEY, state TEXT, body TEXT) STRICT;
         CREATE TABLE event (task BLOB, seq INTEGER, body TEXT, PRIMARY KEY (task, seq)) STRICT;",
    )?;
    let begin = Instant::now();
    let mut next = 0u64;
    while begin.elapsed() < time {
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
