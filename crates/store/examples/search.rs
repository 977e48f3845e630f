//! What it costs to look through history on SQLite: tasks by number, and records of the audit, of which there are many.
//!
//! `cargo run --release -p forecourt-store --example search -- [RECORDS]`

use std::time::{Duration, Instant};

use forecourt_core::store::{LedgerEntry, Span, number_at};
use forecourt_core::{Role, Store, Task, TaskId, Timestamp, Turn};
use forecourt_store::{ConversationPlace, Sqlite, SqliteOptions, StoreReads};
use forecourt_testkit::CountedEntropy;
use forecourt_testkit::store_suite::{addition, chef, some_task, some_thread};
use serde_json::json;

/// Records in an entry: a busy minute, or a quiet one.
const BATCH: u64 = 5;

fn main() {
    let records: u64 = std::env::args().nth(1).and_then(|number| number.parse().ok()).unwrap_or(100_000);
    let folder = tempfile::tempdir().expect("a folder");
    let store = Sqlite::open(&folder.path().join("search.db"), SqliteOptions::default()).expect("a store");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let now = Timestamp::now();
        fill(&*store, records, now).await;
        let timed = |what: &str, begun: Instant| println!("{what}: {:.1} ms", begun.elapsed().as_secs_f64() * 1e3);
        let begun = Instant::now();
        let page = store.task_summaries(u64::MAX, 500, now).await.expect("tasks");
        timed(&format!("{} tasks of a page", page.len()), begun);
        let (begun, mut before, mut seen) = (Instant::now(), u64::MAX, 0);
        loop {
            let page = store.task_summaries(before, 500, now).await.expect("tasks");
            seen += page.len();
            let Some(last) = page.last() else { break };
            before = last.number;
        }
        timed(&format!("all {seen} tasks"), begun);
        let (begun, mut before, mut seen) = (Instant::now(), u64::MAX, 0);
        loop {
            let page = store.entries("audit", Span::Before(before), 100, now).await.expect("entries");
            seen += page.iter().map(|(_, entry)| entry.body.as_array().map_or(0, Vec::len)).sum::<usize>();
            let Some((last, _)) = page.last() else { break };
            before = *last;
        }
        timed(&format!("all {seen} records of the audit"), begun);
        let begun = Instant::now();
        let half = now.checked_sub(Duration::from_secs(records / 2)).expect("a moment");
        let number = number_at(&*store, "audit", half, now).await.expect("a number");
        timed(&format!("the entry {number} of a moment"), begun);
        let begun = Instant::now();
        let page = store.conversation_summaries(ConversationPlace::FIRST, 500, now).await.expect("conversations");
        timed(&format!("{} conversations of a page", page.len()), begun);
    });
}

async fn fill(store: &dyn StoreReads, records: u64, now: Timestamp) {
    let entropy = CountedEntropy::default();
    let at = |n: u64| now.checked_sub(Duration::from_secs(records - n)).expect("a moment");
    let expires_at = now + Duration::from_secs(3_600);
    for from in (0..records).step_by(1_000) {
        let tasks = (from..records.min(from + 1_000)).map(|n| {
            let turn = Turn::text(Role::User, "What is for dinner, and what goes with it?");
            let (id, turns) = (TaskId::mint(&entropy), vec![turn]);
            Task { id, turns, created_at: at(n), updated_at: at(n), expires_at, ..some_task() }
        });
        let created = tasks.map(|task| store.create_task(task, Vec::new()));
        futures::future::try_join_all(created).await.expect("tasks are kept");
        let entries = (from..records.min(from + 1_000)).step_by(BATCH as usize).map(|n| {
            let record = json!({"at": at(n), "agent": "chef", "who": format!("https://id.example/{n}"), "rule": "door",
                "kind": "too_many_requests", "outcome": "refused", "transport": "a2a", "request": format!("m-{n}")});
            store.append_entry("audit", LedgerEntry::new(json!(vec![record; BATCH as usize]), at(n)), None)
        });
        futures::future::try_join_all(entries).await.expect("entries are kept");
        let thread = some_thread();
        store.append_turns(&thread, &chef(), addition(Vec::new(), 9, expires_at)).await.expect("a conversation");
    }
}
