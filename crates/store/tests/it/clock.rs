//! Clocks that are set: what is kept goes when its time is over, counted since it was written, and no earlier.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::store::{Account, LedgerEntry, Notification, RunBeat, Span};
use forecourt_core::{MachineTime, Role, Store, Task, TaskId, ThreadId, Timestamp, Turn};
use forecourt_store::{DOWNTIME_COUNTED_MAX, Memory, Postgres, PostgresOptions, Sqlite, SqliteOptions, StoreKey};
use forecourt_testkit::HandMachine;
use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::store_suite::{addition, chef, some_task, some_thread, start, webhook};

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;
const SECOND: Duration = Duration::from_secs(1);
/// For how long the things of these tests are kept.
const KEPT: Duration = Duration::from_secs(600);

/// One thing of each kind, all of which end at the same moment.
struct Things {
    task: TaskId,
    thread: ThreadId,
}

impl Things {
    /// Five of them, a notice and a claim; the last two can't be looked at.
    async fn kept(store: &dyn Store, ends: Timestamp, now: Timestamp) -> Self {
        let (task, thread) = (Task { expires_at: ends, ..some_task() }, some_thread());
        store.create_task(task.clone(), Vec::new()).await.unwrap();
        store.append_turns(&thread, &chef(), addition(vec![Turn::text(Role::User, "a")], 9, ends)).await.unwrap();
        store.set_route(&thread, &chef(), ends, &Account::HOST).await.unwrap();
        store.append_entry("ends", LedgerEntry::new("a".into(), now).until(ends), None).await.unwrap();
        let webhook = webhook("https://example.com/");
        let notice = Notification { webhook, account: Account::HOST, due_at: ends - SECOND, expires_at: ends };
        store.enqueue(notice).await.unwrap();
        assert!(store.claim_once("nonce", now, ends).await.unwrap());
        Self { task: task.id, thread }
    }

    async fn found(&self, store: &dyn Store, now: Timestamp) -> [bool; 4] {
        let entries = store.entries("ends", Span::After(0), 9, now).await.unwrap();
        [
            store.task(&self.task, now).await.unwrap().is_some(),
            store.thread(&self.thread, &chef(), now).await.unwrap().is_some(),
            store.route(&self.thread, now).await.unwrap().is_some(),
            !entries.is_empty(),
        ]
    }
}

async fn time(store: &dyn Store, machine: &HandMachine) -> Timestamp {
    store.time(MachineTime::read(machine)).await.unwrap()
}

/// Everything is there until a second before its end and not after it, whatever happens to the clock meanwhile: `jump`
/// after half of the time, with what `between` does to the store.
async fn goes_in_time(
    store: Arc<dyn Store>,
    machine: &HandMachine,
    jump: i64,
    between: impl AsyncFnOnce(Arc<dyn Store>) -> Arc<dyn Store>,
) {
    let now = time(&*store, machine).await;
    let things = Things::kept(&*store, now + KEPT, now).await;
    machine.advance(KEPT / 2);
    time(&*store, machine).await;
    machine.jump(jump);
    let store = between(store).await;
    let now = time(&*store, machine).await;
    assert_eq!(things.found(&*store, now).await, [true; 4], "{jump}");
    machine.advance(KEPT / 2 - SECOND);
    let now = time(&*store, machine).await;
    assert_eq!(things.found(&*store, now).await, [true; 4], "{jump}: a second is left");
    assert_eq!(store.expire(now, 100).await.unwrap(), 0, "{jump}");
    assert!(!store.claim_once("nonce", now, now + KEPT).await.unwrap(), "{jump}: a proof counts once");
    let due = store.claim_deliveries(now, now + SECOND, 9).await.unwrap();
    assert_eq!(due.len(), 1, "{jump}: it is due now");
    machine.advance(SECOND);
    let now = time(&*store, machine).await;
    assert_eq!(things.found(&*store, now).await, [false; 4], "{jump}: its time is over");
    // A claim ends later where the clock was set back, when its proof does; and notices are not counted everywhere.
    let removed = store.expire(now, 100).await.unwrap();
    assert!((4..=6).contains(&removed), "{jump}: {removed}");
}

fn open(folder: &Path) -> Arc<dyn Store> {
    Sqlite::open(&folder.join("forecourt.db"), SqliteOptions::default()).expect("a store")
}

const JUMPS: [i64; 6] = [0, DAY, -HOUR, 11, -11, 4_000 * DAY];

#[tokio::test]
async fn a_clock_that_jumps_while_a_host_runs_ends_nothing_early() {
    for jump in JUMPS {
        let folder = tempfile::tempdir().unwrap();
        let memory: Arc<dyn Store> = Arc::new(Memory::new());
        for store in [open(folder.path()), memory] {
            goes_in_time(store, &HandMachine::new(start()), jump, async |store| store).await;
        }
    }
}

#[tokio::test]
async fn a_clock_that_jumps_between_two_runs_ends_nothing_early() {
    for jump in JUMPS {
        let folder = tempfile::tempdir().unwrap();
        let again = async |store: Arc<dyn Store>| {
            drop(store);
            open(folder.path())
        };
        goes_in_time(open(folder.path()), &HandMachine::new(start()), jump, again).await;
    }
}

#[tokio::test]
async fn what_is_written_by_the_clock_of_before_is_kept_for_as_long_as_was_said() {
    for jump in JUMPS {
        let (folder, machine) = (tempfile::tempdir().unwrap(), HandMachine::new(start()));
        let store = open(folder.path());
        let before = time(&*store, &machine).await;
        machine.jump(jump);
        let now = time(&*store, &machine).await;
        // Whoever looked at the clock a moment ago writes now.
        let things = Things::kept(&*store, before + KEPT, before).await;
        let task_and_entry = async |now| {
            let [task, _, _, entry] = things.found(&*store, now).await;
            [task, entry]
        };
        assert_eq!(task_and_entry(now).await, [true; 2], "{jump}");
        assert_eq!(task_and_entry(before).await, [true; 2], "{jump}: by the clock of before");
        machine.advance(KEPT - SECOND);
        assert_eq!(task_and_entry(time(&*store, &machine).await).await, [true; 2], "{jump}: a second is left");
        machine.advance(SECOND);
        assert_eq!(task_and_entry(time(&*store, &machine).await).await, [false; 2], "{jump}: its time is over");
    }
}

#[tokio::test]
async fn of_the_time_that_a_machine_was_off_at_most_an_hour_counts() {
    for (off, counted) in [(60, 60), (HOUR, HOUR), (3 * DAY, HOUR)] {
        let folder = tempfile::tempdir().unwrap();
        let machine = HandMachine::new(start());
        let store = open(folder.path());
        let now = time(&*store, &machine).await;
        let kept = DOWNTIME_COUNTED_MAX + KEPT;
        let things = Things::kept(&*store, now + kept, now).await;
        drop(store);
        machine.restart(Duration::from_secs(off.unsigned_abs()));
        let store = open(folder.path());
        let left = kept - Duration::from_secs(counted.unsigned_abs());
        time(&*store, &machine).await;
        machine.advance(left - SECOND);
        assert_eq!(things.found(&*store, time(&*store, &machine).await).await, [true; 4], "{off}");
        machine.advance(SECOND);
        assert_eq!(things.found(&*store, time(&*store, &machine).await).await, [false; 4], "{off}");
    }
}

#[tokio::test]
async fn a_proof_can_not_be_used_again_once_the_clock_was_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let memory: Arc<dyn Store> = Arc::new(Memory::new());
    for store in [open(folder.path()), memory] {
        let machine = HandMachine::new(start());
        let now = time(&*store, &machine).await;
        // A proof that is good for five minutes by the wall clock.
        let until = now + Duration::from_secs(300);
        assert!(store.claim_once("proof", now, until).await.unwrap());
        machine.jump(-HOUR);
        for _ in 0..65 {
            let now = time(&*store, &machine).await;
            store.expire(now, 100).await.unwrap();
            assert!(!store.claim_once("proof", now, until).await.unwrap(), "{now}");
            machine.advance(Duration::from_secs(60));
        }
        assert!(!store.claim_once("proof", time(&*store, &machine).await, until).await.unwrap(), "it has expired");
    }
}

fn shared(url: &str) -> PostgresOptions {
    PostgresOptions::new(url, StoreKey::from_bytes([7; 32]), "example.com")
}

/// What a node believes of the time does not matter: expired is what has expired by the database's clock.
#[tokio::test]
async fn on_postgresql_a_clock_that_is_ahead_removes_nothing_and_opens_no_replay() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let store = Postgres::open(shared(&url)).await.unwrap();
    let now = Timestamp::now();
    let things = Things::kept(&*store, now + KEPT, now).await;
    assert!(store.beat("run").await.unwrap());
    assert!(store.end_run(&RunBeat { run: "run".to_owned(), beat: 1 }).await.unwrap());
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    for skew in [HOUR, DAY, 4_000 * DAY] {
        let wrong = now + Duration::from_secs(skew.unsigned_abs());
        assert_eq!(store.expire(wrong, 100).await.unwrap(), 0);
        assert!(!store.claim_once("nonce", wrong, wrong + KEPT).await.unwrap(), "{skew}: a proof counts once");
        let entry = LedgerEntry::new("b".into(), wrong).until(wrong + KEPT);
        assert_eq!(store.append_entry("ends", entry.clone(), Some(0)).await.unwrap(), None, "{skew}: it is not empty");
        assert!(store.append_entry("ends", entry, None).await.unwrap() > Some(1), "{skew}: it goes on");
        let first = store.entries("ends", Span::After(0), 1, now).await.unwrap();
        assert_eq!((first[0].0, &first[0].1.body), (1, &"a".into()), "{skew}: what was there stays");
        // As the release before this one calls it.
        for (call, removed) in [
            (format!("expire_1({}, 100)", wrong.as_nanosecond()), 0),
            (format!("trim_logs_1({}, 100)", wrong.as_nanosecond()), 0),
            (format!("forget_runs_2({}, 3600000000000, 100)", wrong.as_nanosecond()), 0),
        ] {
            let sql = format!("SELECT n FROM forecourt.{call}");
            let rows = client.query_typed(&sql, &[]).await.unwrap();
            assert_eq!(rows[0].get::<_, i64>(0), removed, "{call}");
        }
        let again = format!(
            "SELECT n FROM forecourt.claim_once_1((SELECT hash FROM forecourt.claims), {}, {})",
            wrong.as_nanosecond(),
            (wrong + KEPT).as_nanosecond()
        );
        assert_eq!(client.query_typed(&again, &[]).await.unwrap()[0].get::<_, i64>(0), 0);
    }
    assert_eq!(things.found(&*store, now).await, [true; 4]);
    // A node that stood still for an hour: its proof has expired meanwhile, and the claim of it is gone.
    let (then, until) = (now - Duration::from_secs(3_600), now - Duration::from_secs(3_300));
    assert!(!store.claim_once("old", then, until).await.unwrap(), "what has expired can't be claimed");
}

#[tokio::test]
async fn on_postgresql_what_has_expired_by_its_clock_goes() {
    let Some(server) = PostgresServer::shared() else { return };
    let store = Postgres::open(shared(&server.fresh())).await.unwrap();
    let (now, task) = (Timestamp::now(), Task { expires_at: start(), ..some_task() });
    assert!(start() < now, "the clock of the suite stands in the past");
    store.create_task(task.clone(), Vec::new()).await.unwrap();
    let machine = HandMachine::new(now + Duration::from_secs(3_600));
    let told = time(&*store, &machine).await;
    assert!(told.duration_since(now).unsigned_abs() < Duration::from_secs(60), "{told}");
    assert_eq!(store.expire(told, 10).await.unwrap(), 1);
}
