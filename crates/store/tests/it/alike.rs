//! Whatever is asked of them, in whatever order: memory, SQLite and PostgreSQL answer alike; two nodes on one
//! PostgreSQL too, who take turns.

use std::sync::Arc;

use forecourt_core::store::{Account, IfTaskEnded, LedgerEntry, Resumption, Span, TaskChange, TaskFilter, Webhook};
use forecourt_core::{Event, Role, Store, Task, TaskState, ThreadId, Turn};
use forecourt_store::{LeaseClock, Memory, Postgres, PostgresOptions, Sqlite, SqliteOptions, StoreKey};
use forecourt_testkit::dear;
use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::store_suite::artifacts::artifact;
use forecourt_testkit::store_suite::{
    addition, after, chef, completed, handle, outcome, some_task, some_thread, webhook,
};
use proptest::prelude::*;

/// Tasks and conversations that the steps are about.
const NAMES: usize = 3;

/// One call, at a second that never goes back.
#[derive(Debug, Clone)]
enum Step {
    Create { task: usize, owned: bool, expires: u64 },
    Append { task: usize, first: u64, count: u64 },
    Advance { task: usize, from: TaskState, to: TaskState },
    Artifact { task: usize, id: u8 },
    Resume { task: usize, from: TaskState },
    Webhook { task: usize, id: u8 },
    Unhook { task: usize, id: u8 },
    Release,
    Route { thread: usize, baker: bool },
    Claim { limit: usize },
    Settle { id: u64, retry: bool },
    Turns { thread: usize, count: usize, keep: usize },
    Once { key: u8, lasts: u64 },
    Entry { stream: u8, lasts: Option<u64>, last: Option<u64> },
    Expire,
}

fn step() -> impl Strategy<Value = Step> {
    let task = || 0..NAMES;
    let state = || proptest::sample::select(TaskState::ALL.to_vec());
    prop_oneof![
        (task(), any::<bool>(), 1..90u64).prop_map(|(task, owned, expires)| Step::Create { task, owned, expires }),
        (task(), 0..6u64, 0..4u64).prop_map(|(task, first, count)| Step::Append { task, first, count }),
        (task(), state(), state()).prop_map(|(task, from, to)| Step::Advance { task, from, to }),
        task().prop_map(|task| Step::Advance { task, from: TaskState::Working, to: TaskState::Completed }),
        (task(), 0..3u8).prop_map(|(task, id)| Step::Artifact { task, id }),
        task().prop_map(|task| Step::Advance { task, from: TaskState::Working, to: TaskState::InputRequired }),
        task().prop_map(|task| Step::Resume { task, from: TaskState::InputRequired }),
        (task(), state()).prop_map(|(task, from)| Step::Resume { task, from }),
        (task(), 0..3u8).prop_map(|(task, id)| Step::Webhook { task, id }),
        (task(), 0..3u8).prop_map(|(task, id)| Step::Unhook { task, id }),
        Just(Step::Release),
        (0..NAMES, any::<bool>()).prop_map(|(thread, baker)| Step::Route { thread, baker }),
        (0..3usize).prop_map(|limit| Step::Claim { limit }),
        (0..6u64, any::<bool>()).prop_map(|(id, retry)| Step::Settle { id, retry }),
        (0..NAMES, 0..4usize, 0..5usize).prop_map(|(thread, count, keep)| Step::Turns { thread, count, keep }),
        (0..3u8, 0..20u64).prop_map(|(key, lasts)| Step::Once { key, lasts }),
        (0..2u8, proptest::option::of(1..20u64), proptest::option::of(0..4u64))
            .prop_map(|(stream, lasts, last)| Step::Entry { stream, lasts, last }),
        Just(Step::Expire),
    ]
}

/// What the steps are about: the same for both stores.
struct World {
    tasks: Vec<Task>,
    threads: Vec<ThreadId>,
}

impl World {
    fn new() -> Self {
        let tasks = (0..NAMES).map(|_| some_task()).collect();
        Self { tasks, threads: (0..NAMES).map(|_| some_thread()).collect() }
    }

    /// Takes a step and tells all that came of it, and all that can be seen afterwards. An error
    /// is told by its kind: its words are the store's own.
    async fn tell(&self, store: &dyn Store, now: u64, step: &Step) -> String {
        let result = match self.take(store, now, step).await {
            Ok(result) => result,
            Err(forecourt_core::StoreError::Corrupt(_)) => "corrupt".to_owned(),
            Err(forecourt_core::StoreError::NotHeld) => "not held".to_owned(),
            Err(forecourt_core::StoreError::Exists) => "exists".to_owned(),
            Err(forecourt_core::StoreError::Full { bound }) => format!("{bound:?}"),
            Err(forecourt_core::StoreError::Unavailable(_)) => "unavailable".to_owned(),
        };
        format!("{result}\n{}", self.look(store, now).await)
    }

    async fn take(&self, store: &dyn Store, now: u64, step: &Step) -> Result<String, forecourt_core::StoreError> {
        let id = |task: &usize| &self.tasks[*task].id;
        Ok(match step {
            Step::Create { task, owned, expires } => {
                let owner = owned.then(|| "ann".to_owned());
                let task = Task {
                    owner,
                    updated_at: after(now),
                    expires_at: after(now + expires),
                    ..self.tasks[*task].clone()
                };
                format!("{:?}", store.create_task(task, Vec::new()).await?)
            }
            Step::Append { task, first, count } => {
                let events = (0..*count).map(|n| Event::Text(format!("{now}.{n}"))).collect();
                format!("{:?}", store.append_events(id(task), "run-1", *first, events).await?)
            }
            Step::Advance { task, from, to } => {
                let (from, to, outcome) = (*from, *to, Some(outcome("Soup.")));
                let change = TaskChange { from, to, outcome, at: after(now), ..completed() };
                format!("{:?}", store.advance_task(id(task), change).await?)
            }
            Step::Artifact { task, id: name } => {
                let kept = artifact(&name.to_string(), format!("{now}"));
                format!("{:?}", store.put_artifact(id(task), "run-1", kept).await?)
            }
            Step::Resume { task, from } => {
                let turns = vec![Turn::text(Role::User, format!("{now}"))];
                let run = some_task().run;
                let resumption = Resumption { run, turns, webhooks: Vec::new(), expires_at: after(now + 30) };
                let change = TaskChange::resume(&Task { state: *from, ..some_task() }, resumption, after(now));
                format!("{:?}", store.advance_task(id(task), change).await?)
            }
            Step::Webhook { task, id: name } => {
                let hook = Webhook { id: name.to_string(), ..webhook(&format!("https://example.com/{now}")) };
                format!("{:?}", store.add_webhook(id(task), hook, 2, IfTaskEnded::Refuse).await?)
            }
            Step::Unhook { task, id: name } => {
                format!("{:?}", store.remove_webhook(id(task), &name.to_string()).await?)
            }
            Step::Release => format!("{:?}", store.release_deliveries(after(now)).await?),
            Step::Route { thread, baker } => {
                let agent = if *baker { handle("baker") } else { chef() };
                format!("{:?}", store.set_route(&self.threads[*thread], &agent, after(now + 10), &Account::HOST).await?)
            }
            Step::Claim { limit } => {
                let claimed = store.claim_deliveries(after(now), after(now + 5), *limit).await?;
                format!("{claimed:?}")
            }
            Step::Settle { id, retry } => {
                format!("{:?}", store.settle_delivery(*id, retry.then(|| after(now + 3))).await?)
            }
            Step::Turns { thread, count, keep } => {
                let turns = (0..*count).map(|n| Turn::text(Role::User, format!("{now}.{n}"))).collect();
                let thread = &self.threads[*thread];
                format!("{:?}", store.append_turns(thread, &chef(), addition(turns, *keep, after(now + 10))).await?)
            }
            Step::Once { key, lasts } => {
                format!("{:?}", store.claim_once(&key.to_string(), after(now), after(now + lasts)).await?)
            }
            Step::Entry { stream, lasts, last } => {
                let expires_at = lasts.map(|lasts| after(now + lasts));
                let entry = LedgerEntry { expires_at, ..LedgerEntry::new(now.into(), after(now)) };
                format!("{:?}", store.append_entry(&stream.to_string(), entry, *last).await?)
            }
            Step::Expire => format!("{:?}", store.expire(after(now), usize::MAX).await?),
        })
    }

    async fn look(&self, store: &dyn Store, now: u64) -> String {
        let mut seen = Vec::new();
        for task in &self.tasks {
            seen.push(format!("{:?}", store.task(&task.id, after(now)).await.unwrap()));
            seen.push(format!("{:?}", store.events(&task.id, 1, 5).await.unwrap()));
            seen.push(format!("{:?}", store.last_event(&task.id).await.unwrap()));
            let urls = store.webhooks(&task.id).await.unwrap().into_iter().map(|hook| (hook.id, hook.url));
            seen.push(format!("{:?}", urls.collect::<Vec<_>>()));
            seen.push(format!("{:?}", store.artifact(&task.id, "1", after(now)).await.unwrap()));
        }
        for thread in &self.threads {
            seen.push(format!("{:?}", store.thread(thread, &chef(), after(now)).await.unwrap()));
            seen.push(format!("{:?}", store.route(thread, after(now)).await.unwrap()));
        }
        for owner in [None, Some("ann".to_owned())] {
            for limit in [1, 5] {
                let first = TaskFilter { owner: owner.clone(), limit, ..TaskFilter::default() };
                let page = store.tasks(first.clone(), after(now)).await.unwrap();
                seen.push(format!("{:?} {:?} {}", page.tasks, page.next.is_some(), page.total));
                let second = store.tasks(TaskFilter { cursor: page.next, ..first }, after(now)).await.unwrap();
                seen.push(format!("{:?} {:?} {}", second.tasks, second.next.is_some(), second.total));
            }
        }
        for stream in ["0", "1"] {
            for span in [Span::After(1), Span::Before(u64::MAX)] {
                seen.push(format!("{:?}", store.entries(stream, span, 5, after(now)).await.unwrap()));
            }
        }
        seen.push(format!("{}", store.orphaned_tasks(5).await.unwrap().len()));
        seen.join("\n")
    }
}

/// Two nodes on one database.
async fn nodes(server: &PostgresServer) -> [Arc<dyn Store>; 2] {
    let url = server.fresh();
    let options = || PostgresOptions {
        lease_clock: LeaseClock::Caller,
        ..PostgresOptions::new(&url, StoreKey::from_bytes([7; 32]), "example.com")
    };
    [Postgres::open(options()).await.unwrap(), Postgres::open(options()).await.unwrap()]
}

proptest! {
    #![proptest_config(dear(12))]

    #[test]
    fn memory_and_sqlite_answer_alike(steps in proptest::collection::vec(step(), 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let sqlite = Sqlite::open(&dir.path().join("forecourt.db"), SqliteOptions::default()).unwrap();
        let stores: [Arc<dyn Store>; 2] = [Arc::new(Memory::new()), sqlite];
        let world = World::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (now, step) in (0..).zip(&steps) {
            let [memory, sqlite] = [&stores[0], &stores[1]].map(|store| runtime.block_on(world.tell(&**store, now, step)));
            prop_assert_eq!(memory, sqlite, "after {:?} at {}", step, now);
        }
    }

    #[test]
    fn memory_and_two_nodes_on_postgres_answer_alike(steps in proptest::collection::vec(step(), 1..40)) {
        let Some(server) = PostgresServer::shared() else { return Ok(()) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (memory, nodes) = (Memory::new(), runtime.block_on(nodes(&server)));
        let world = World::new();
        for (now, step) in (0..).zip(&steps) {
            let memory = runtime.block_on(world.tell(&memory, now, step));
            let postgres = runtime.block_on(world.tell(&*nodes[now as usize % 2], now, step));
            prop_assert_eq!(&memory, &postgres, "after {:?} at {}", step, now);
            let other = runtime.block_on(world.look(&*nodes[(now as usize + 1) % 2], now));
            prop_assert!(memory.ends_with(&other), "the other node sees something else after {:?} at {}", step, now);
        }
    }
}
