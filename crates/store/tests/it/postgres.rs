//! Many nodes on one PostgreSQL, and all that can go wrong with a database that is elsewhere.

use std::collections::HashSet;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt_core::store::{Account, IfTaskEnded, LedgerEntry, Span, TaskChange};
use forecourt_core::{CallerKey, Event, QuotaBound, Role, Store, StoreError, Task, Timestamp, Turn};
use forecourt_store::limits::{POSTGRES_CONNECT_MAX, POSTGRES_OPERATION_MAX};
use forecourt_store::{LeaseClock, Postgres, PostgresOptions, StoreKey};
use forecourt_testkit::pgbouncer::PgBouncer;
use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::store_suite::{
    ANSWER_BYTES, CALLER_BYTES, CALLERS, addition, after, chef, completed, is_unavailable, outcome, quota, some_task,
    some_thread, start, webhook,
};
use futures::future::join_all;

fn options(url: &str) -> PostgresOptions {
    let key = StoreKey::from_bytes([7; 32]);
    PostgresOptions { callers: CALLERS, ..PostgresOptions::new(url, key, "example.com") }
}

async fn open(url: &str) -> Arc<Postgres> {
    Postgres::open(options(url)).await.expect("a store")
}

/// Three nodes on one database.
async fn nodes(url: &str) -> Vec<Arc<Postgres>> {
    join_all((0..3).map(|_| open(url))).await
}

fn said(text: &str) -> Vec<Event> {
    vec![Event::Text(text.to_owned())]
}

/// Of everything that one alone may do, one does it, on whichever node; whatever is numbered has no gap.
async fn one_of_200_at_once(url: &str) {
    let nodes = nodes(url).await;
    let node = |n: usize| &nodes[n % nodes.len()];
    let task = some_task();
    node(0).create_task(task.clone(), Vec::new()).await.unwrap();
    let moved = join_all((0..200).map(|n| node(n).advance_task(&task.id, completed()))).await;
    assert_eq!(moved.into_iter().filter(|moved| *moved.as_ref().unwrap()).count(), 1, "moves");
    // Claims are judged by the database's clock.
    let (now, until) = (Timestamp::now(), Timestamp::now() + Duration::from_secs(60));
    let claimed = join_all((0..200).map(|n| node(n).claim_once("once", now, until))).await;
    assert_eq!(claimed.into_iter().filter(|claimed| *claimed.as_ref().unwrap()).count(), 1, "claims");
    let entry = |n: usize| LedgerEntry::new(n.into(), start());
    let first = join_all((0..200).map(|n| node(n).append_entry("one", entry(n), Some(0)))).await;
    assert_eq!(first.into_iter().filter(|n| *n.as_ref().unwrap() == Some(1)).count(), 1, "entries");
    let numbers = join_all((0..200).map(|n| node(n).append_entry("many", entry(n), None))).await;
    let mut numbers: Vec<u64> = numbers.into_iter().map(|n| n.unwrap().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=200).collect::<Vec<_>>());
    let read = node(1).entries("many", Span::After(0), 300, start()).await.unwrap();
    assert_eq!(read.iter().map(|(n, _)| *n).collect::<Vec<_>>(), numbers);
    assert_eq!(read.iter().map(|(_, entry)| entry.body.as_u64().unwrap()).collect::<HashSet<_>>().len(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_200_at_once_on_three_nodes_one_does_what_one_may_do() {
    let Some(server) = PostgresServer::shared() else { return };
    one_of_200_at_once(&server.fresh()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_through_a_pooler_that_lends_single_transactions() {
    let Some(server) = PostgresServer::shared() else { return };
    let Some(pooler) = PgBouncer::start(&server, 4) else { return };
    one_of_200_at_once(&pooler.url(&server.fresh())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_where_transactions_are_other_ones_by_default() {
    let Some(server) = PostgresServer::shared() else { return };
    for isolation in ["repeatable read", "serializable"] {
        let url = server.fresh();
        let database = url.rsplit('/').next().unwrap();
        server.sql("postgres", &format!("ALTER DATABASE {database} SET default_transaction_isolation = '{isolation}'"));
        one_of_200_at_once(&url).await;
    }
}

#[tokio::test]
async fn what_was_answered_is_on_the_disk_though_the_database_is_told_not_to_wait_for_it() {
    let Some(mut server) = PostgresServer::start() else { return };
    let url = server.fresh();
    let database = url.rsplit('/').next().unwrap();
    server.sql("postgres", &format!("ALTER DATABASE {database} SET synchronous_commit = off"));
    let store = open(&url).await;
    for hooks in [vec![], vec![webhook("https://example.com/")]] {
        let tasks: Vec<Task> = (0..20).map(|_| some_task()).collect();
        for task in &tasks {
            store.create_task(task.clone(), hooks.clone()).await.unwrap();
        }
        server.kill();
        server.start_again();
        is_well_again(&store).await;
        for task in &tasks {
            assert!(store.task(&task.id, start()).await.unwrap().is_some());
        }
    }
}

/// Events of many tasks that share a statement, half of which are gone by then.
#[tokio::test]
async fn events_of_tasks_that_are_gone_are_dropped_and_their_neighbours_get_their_own() {
    let Some(server) = PostgresServer::shared() else { return };
    let store = open(&server.fresh()).await;
    let tasks: Vec<Task> = (0..64).map(|n| Task { expires_at: after(60 + n % 2 * 600), ..some_task() }).collect();
    join_all(tasks.iter().map(|task| created(&store, task))).await;
    assert_eq!(store.expire(after(120), 100).await.unwrap(), 32);
    let words = |n: usize| [said(&format!("one of {n}")), said(&format!("two of {n}"))].concat();
    let written = tasks.iter().enumerate().map(|(n, task)| store.append_events(&task.id, "run-1", 1, words(n)));
    assert!(join_all(written).await.iter().all(Result::is_ok));
    for (n, task) in tasks.iter().enumerate() {
        let events = store.events(&task.id, 0, 9).await.unwrap();
        let expected = if n % 2 == 0 { Vec::new() } else { (1..).zip(words(n)).collect() };
        assert_eq!(events, expected, "task {n}");
    }
}

async fn created(store: &Postgres, task: &Task) {
    store.create_task(task.clone(), Vec::new()).await.unwrap();
}

/// Writers of the same few accounts, conversations, tasks and streams on three nodes, each in another order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_write_the_same_rows_never_undo_each_other() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let nodes = nodes(&url).await;
    let accounts: Vec<Account> =
        (0..4).map(|n| CallerKey::of(Some(&format!("caller {n}")), None, None).account()).collect();
    let tasks: Vec<Task> = accounts.iter().map(|account| Task { account: account.clone(), ..some_task() }).collect();
    let threads: Vec<_> = (0..4).map(|_| some_thread()).collect();
    for task in &tasks {
        nodes[0].create_task(task.clone(), Vec::new()).await.unwrap();
    }
    let mut work = Vec::new();
    for round in 0..60usize {
        for (n, node) in nodes.iter().enumerate() {
            let (node, at) = (Arc::clone(node), (round * (n + 1) + n) % 4);
            let (account, thread, id) = (accounts[at].clone(), threads[3 - at].clone(), tasks[(at + n) % 4].id.clone());
            work.push(tokio::spawn(async move {
                let turns = vec![Turn::text(Role::User, "soup")];
                let addition = forecourt_core::store::ConversationAppend {
                    account: account.clone(),
                    ..addition(turns, 3, after(60))
                };
                let (turns, route, entry, event) = futures::join!(
                    node.append_turns(&thread, &chef(), addition),
                    node.set_route(&thread, &chef(), after(60), &account),
                    node.append_entry("shared", LedgerEntry::new(1.into(), start()).on(account.clone()), None),
                    node.append_events(&id, "run-1", 1, said("first")),
                );
                (turns.unwrap(), route.unwrap(), entry.unwrap(), event.unwrap())
            }));
        }
    }
    for done in work {
        done.await.unwrap();
    }
    let deadlocks = server.sql(
        url.rsplit('/').next().unwrap(),
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
    );
    assert_eq!(deadlocks, "0");
    while nodes[0].expire(after(7200), 100).await.unwrap() > 0 {}
    let left = server.sql(url.rsplit('/').next().unwrap(), "SELECT sum(bytes) FROM forecourt.entries");
    let kept = server.sql(url.rsplit('/').next().unwrap(), "SELECT sum(bytes) FROM forecourt.accounts");
    assert_eq!(kept, left, "what is kept is what is charged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn design_36_of_writers_on_three_nodes_none_gets_past_the_bound() {
    let Some(server) = PostgresServer::shared() else { return };
    let nodes = nodes(&server.fresh()).await;
    let account = CallerKey::of(Some("ada"), None, None).account();
    let task = |n: usize| Task {
        account: account.clone(),
        turns: vec![Turn::text(Role::User, forecourt_testkit::store_suite::quota::noise(6_000 + n))],
        ..some_task()
    };
    let made = join_all((0..120).map(|n| nodes[n % 3].create_task(task(n), Vec::new()))).await;
    let kept = made.iter().filter(|made| made.is_ok()).count() as u64;
    let refused = |made: &Result<(), StoreError>| {
        matches!(made, Ok(()) | Err(StoreError::Full { bound: QuotaBound::Caller { max: CALLER_BYTES } }))
    };
    assert!(made.iter().all(refused), "{made:?}");
    let each = forecourt_core::store::cost(6_100) + ANSWER_BYTES;
    assert!(kept * each <= CALLER_BYTES && (kept + 2) * each > CALLER_BYTES, "{kept} of {each} bytes");
}

/// A node that took a task over does not know who pays for it: the database does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn design_36_a_task_has_the_room_that_it_reserved_at_every_node() {
    let Some(server) = PostgresServer::shared() else { return };
    let nodes = nodes(&server.fresh()).await;
    let [one, other]: [Arc<dyn Store>; 2] = [nodes[0].clone(), nodes[1].clone()];
    let account = CallerKey::of(Some("ada"), None, None).account();
    let task = Task { account: account.clone(), ..some_task() };
    one.create_task(task.clone(), Vec::new()).await.unwrap();
    quota::fill(&one, &account).await;
    assert!(quota::answered(&other, &task.id, quota::SHORT).await);
    let task = Task { account: account.clone(), ..some_task() };
    let made = one.create_task(task, Vec::new()).await;
    assert!(quota::is_full(&made), "{made:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_delivery_meets_one_of_three_nodes() {
    let Some(server) = PostgresServer::shared() else { return };
    let nodes = nodes(&server.fresh()).await;
    for n in 0..30 {
        let task = some_task();
        nodes[n % 3].create_task(task.clone(), vec![webhook("https://example.com/")]).await.unwrap();
        assert!(nodes[(n + 1) % 3].advance_task(&task.id, completed()).await.unwrap());
    }
    let claims = (0..60).map(|n| nodes[n % 3].claim_deliveries(after(2), after(62), 3));
    let claimed: Vec<u64> =
        join_all(claims).await.into_iter().flat_map(|claimed| claimed.unwrap()).map(|delivery| delivery.id).collect();
    assert_eq!(claimed.len(), 30);
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), 30);
}

#[tokio::test]
async fn clocks_an_hour_apart_take_no_delivery_from_each_other() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let (slow, fast) = (open(&url).await, open(&url).await);
    let (now, hour) = (after(10), Duration::from_secs(3600));
    let task = Task { expires_at: after(90_000), ..some_task() };
    slow.create_task(task.clone(), vec![webhook("https://example.com/")]).await.unwrap();
    assert!(slow.advance_task(&task.id, completed()).await.unwrap());
    assert_eq!(slow.claim_deliveries(now, now + Duration::from_secs(60), 5).await.unwrap().len(), 1);
    let ahead = now + hour;
    assert_eq!(fast.claim_deliveries(ahead, ahead + Duration::from_secs(60), 5).await.unwrap().len(), 0);
    assert_eq!(slow.release_deliveries(now).await.unwrap(), 1);
    // The other way round: the lease that the fast one has ends for the slow one too, an hour before its clock says so.
    assert_eq!(fast.claim_deliveries(ahead, ahead + Duration::from_millis(1), 5).await.unwrap().len(), 1);
    let until = Instant::now() + Duration::from_secs(20);
    while slow.claim_deliveries(now, now + Duration::from_secs(60), 5).await.unwrap().is_empty() {
        assert!(Instant::now() < until, "the lease never ends");
    }
}

#[tokio::test]
async fn a_database_is_one_deployments_and_has_one_key() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    open(&url).await.create_task(some_task(), Vec::new()).await.unwrap();
    let refusal = |options| async move { Postgres::open(options).await.unwrap_err().to_string() };
    let another = refusal(PostgresOptions { deployment: "other.example".to_owned(), ..options(&url) }).await;
    assert!(another.contains("`example.com`") && another.contains("`other.example`"), "{another}");
    let key = refusal(PostgresOptions { key: StoreKey::from_bytes([8; 32]), ..options(&url) }).await;
    assert!(key.contains("another key") && key.contains("[store] key"), "{key}");
    open(&url).await;
}

#[tokio::test]
async fn what_can_not_be_reached_is_said_at_once_and_without_a_password() {
    let Some(server) = PostgresServer::shared() else { return };
    let port = { std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port() };
    let wrong = [
        (format!("postgres://ann:s3cret@127.0.0.1:{port}/x"), "127.0.0.1"),
        (format!("postgres://postgres:s3cret@127.0.0.1:{}/nowhere", server.port()), "nowhere"),
        (format!("postgres://nobody:s3cret@127.0.0.1:{}/postgres", server.port()), "nobody"),
        ("mysql://ann:s3cret@db/x".to_owned(), "postgres://"),
    ];
    for (url, word) in wrong {
        let begun = Instant::now();
        let error = Postgres::open(options(&url)).await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
        let error = error.to_string();
        assert!(error.contains(word) && !error.contains("s3cret"), "{error}");
        assert!(begun.elapsed() < POSTGRES_CONNECT_MAX * 2);
    }
}

/// All that a store is asked for; each must say honestly, and in time, that it can't.
async fn all_are_refused_in_time(store: &Postgres) {
    let task = some_task();
    let begun = Instant::now();
    let (write, read, alone, ready) = futures::join!(
        store.create_task(task.clone(), Vec::new()),
        store.task(&task.id, start()),
        store.expire(start(), 10),
        store.ready(),
    );
    let refused = [is_unavailable(&write), is_unavailable(&read), is_unavailable(&alone), is_unavailable(&ready)];
    assert_eq!(refused, [true; 4], "{write:?} {read:?} {alone:?} {ready:?}");
    assert!(begun.elapsed() <= POSTGRES_OPERATION_MAX * 2, "{:?}", begun.elapsed());
}

/// The store is well again by itself, after a refusal or two of connections that died.
async fn is_well_again(store: &Postgres) {
    let until = Instant::now() + Duration::from_secs(20);
    while store.create_task(some_task(), Vec::new()).await.is_err() || store.ready().await.is_err() {
        assert!(Instant::now() < until, "the store never gets well");
        tokio::task::yield_now().await;
    }
    assert_eq!(store.task(&some_task().id, start()).await.unwrap(), None);
}

#[tokio::test]
async fn a_database_that_is_away_or_hangs_is_unavailable_and_well_again_by_itself() {
    let Some(mut server) = PostgresServer::start() else { return };
    let store = open(&server.fresh()).await;
    server.stop();
    all_are_refused_in_time(&store).await;
    server.start_again();
    is_well_again(&store).await;
    server.pause();
    all_are_refused_in_time(&store).await;
    server.resume();
    is_well_again(&store).await;
    server.sql(
        "postgres",
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'forecourt'",
    );
    is_well_again(&store).await;
    server.kill();
    all_are_refused_in_time(&store).await;
    server.start_again();
    is_well_again(&store).await;
}

#[tokio::test]
async fn when_all_connections_are_busy_others_are_told_so_and_it_passes() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let store = Postgres::open(PostgresOptions { connections: 4, ..options(&url) }).await.unwrap();
    let (holder, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    holder.batch_execute("BEGIN; LOCK TABLE forecourt.tasks IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let id = some_task().id;
    let begun = Instant::now();
    let reads = join_all((0..20).map(|_| store.task(&id, start()))).await;
    assert!(reads.iter().all(is_unavailable));
    assert!(reads.iter().any(|read| read.as_ref().unwrap_err().to_string().contains("connections")), "{reads:?}");
    assert!(begun.elapsed() <= POSTGRES_OPERATION_MAX * 2);
    let locked = store.create_task(some_task(), Vec::new()).await;
    assert!(is_unavailable(&locked), "{locked:?}");
    holder.batch_execute("ROLLBACK").await.unwrap();
    is_well_again(&store).await;
}

/// What one writer was told is durable: its task, how many events, whether it ended.
async fn write_until_it_fails(store: Arc<Postgres>) -> Vec<(Task, u64, bool)> {
    let mut acknowledged = Vec::new();
    loop {
        let task = some_task();
        if store.create_task(task.clone(), Vec::new()).await.is_err() {
            return acknowledged;
        }
        acknowledged.push((task.clone(), 0, false));
        let at = acknowledged.len() - 1;
        for n in 1..=3 {
            if store.append_events(&task.id, "run-1", n, said("word")).await.is_err() {
                return acknowledged;
            }
            acknowledged[at].1 = n;
        }
        if !store.advance_task(&task.id, completed()).await.unwrap_or(false) {
            return acknowledged;
        }
        acknowledged[at].2 = true;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_killed_in_the_middle_of_writes_loses_nothing_that_was_acknowledged() {
    let Some(mut server) = PostgresServer::start() else { return };
    let url = server.fresh();
    let nodes = [open(&url).await, open(&url).await];
    for round in 0..3u64 {
        let writers: Vec<_> = (0..8).map(|n| tokio::spawn(write_until_it_fails(Arc::clone(&nodes[n % 2])))).collect();
        let enough = Instant::now() + Duration::from_secs(20);
        let (database, wanted) = (url.rsplit('/').next().unwrap(), 100 * (round + 1));
        while server.sql(database, "SELECT count(*) FROM forecourt.tasks").parse::<u64>().unwrap() < wanted {
            assert!(Instant::now() < enough, "too slow");
        }
        server.kill();
        let acknowledged: Vec<_> = join_all(writers).await.into_iter().flat_map(Result::unwrap).collect();
        server.start_again();
        is_well_again(&nodes[0]).await;
        assert!(acknowledged.iter().any(|(_, _, ended)| *ended));
        for (task, events, ended) in acknowledged {
            let kept = nodes[1].task(&task.id, start()).await.unwrap().expect("an acknowledged task");
            assert!(nodes[1].last_event(&task.id).await.unwrap() >= events);
            assert!(!ended || kept.outcome == Some(outcome("Soup.")), "{kept:?}");
        }
    }
}

#[tokio::test]
async fn no_id_secret_or_word_is_readable_in_the_database() {
    let Some(mut server) = PostgresServer::start() else { return };
    let store = open(&server.fresh()).await;
    let task = Task { turns: vec![Turn::text(Role::User, "marzipan")], ..some_task() };
    let thread = some_thread();
    store.create_task(task.clone(), vec![webhook("https://example.com/marzipan")]).await.unwrap();
    store.append_events(&task.id, "run-1", 1, said("marzipan")).await.unwrap();
    let change = TaskChange::settle(&task, outcome("marzipan"), after(1));
    assert!(store.advance_task(&task.id, change).await.unwrap());
    let turns = vec![Turn::text(Role::User, "marzipan")];
    store.append_turns(&thread, &chef(), addition(turns, 5, after(60))).await.unwrap();
    store.append_entry("marzipan", LedgerEntry::new("marzipan".into(), start()), None).await.unwrap();
    let now = Timestamp::now();
    assert!(store.claim_once("marzipan", now, now + Duration::from_secs(60)).await.unwrap());
    let account = CallerKey::of(Some("marzipan"), None, None).account();
    store.set_route(&thread, &chef(), after(60), &account).await.unwrap();
    server.stop();
    let (id, key) = (task.id.expose().to_owned(), thread.key().to_owned());
    for word in ["marzipan", "s3cret", &id, &key] {
        assert!(!is_anywhere(&server.folder().join("data"), word), "{word}");
    }
    assert!(is_anywhere(&server.folder().join("data"), "forecourt"), "files are looked at");
}

fn is_anywhere(folder: &Path, word: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_anywhere(&path, word);
        }
        String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).contains(word)
    })
}

#[tokio::test]
async fn a_connection_is_as_secure_as_its_url_says() {
    let Some(mut server) = PostgresServer::start() else { return };
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let data = server.folder().join("data");
    let owner = data.metadata().unwrap();
    for (name, pem) in [("server.crt", made.cert.pem()), ("server.key", made.signing_key.serialize_pem())] {
        let file = data.join(name);
        std::fs::write(&file, pem).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        chown(&file, Some(owner.uid()), Some(owner.gid())).unwrap();
    }
    let url = server.fresh();
    let refused = Postgres::open(options(&format!("{url}?sslmode=require"))).await;
    assert!(is_unavailable(&refused), "a server without TLS is not good enough");
    server.sql("postgres", "ALTER SYSTEM SET ssl = on");
    server.stop();
    server.start_again();
    let roots = data.join("server.crt");
    let others = server.folder().join("others.crt");
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&others, other.cert.pem()).unwrap();
    let named = url.replace("127.0.0.1", "localhost");
    let encrypted = "SELECT count(*) > 0 FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
         WHERE s.ssl AND a.application_name = 'forecourt'";
    for (url, works) in [
        (format!("{url}?sslmode=disable"), true),
        (url.clone(), true),
        (format!("{url}?sslmode=require"), true),
        (format!("{url}?sslmode=require&sslrootcert={}", roots.display()), true),
        (format!("{url}?sslmode=require&sslrootcert={}", others.display()), false),
        (format!("{url}?sslmode=prefer&sslrootcert={}", others.display()), true),
        (format!("{url}?sslmode=verify-ca&sslrootcert={}", others.display()), false),
        (format!("{named}?sslmode=verify-full&sslrootcert={}", roots.display()), true),
        (format!("{url}?sslmode=verify-ca&sslrootcert={}", roots.display()), true),
        (format!("{url}?sslmode=verify-full&sslrootcert={}", roots.display()), false),
        (format!("{named}?sslmode=verify-full"), false),
    ] {
        let opened = Postgres::open(options(&url)).await;
        assert_eq!(opened.is_ok(), works, "{url}: {opened:?}");
        if works && !url.contains("disable") {
            assert_eq!(server.sql("postgres", encrypted), "t", "{url}");
        }
    }
    // A server that takes only one kind of connection from us: what leaves a choice finds it.
    for (kind, works) in [("hostnossl", ["disable", "allow", "prefer"]), ("hostssl", ["allow", "prefer", "require"])] {
        let others = "local all all trust\nhost all postgres 127.0.0.1/32 trust\n";
        std::fs::write(data.join("pg_hba.conf"), format!("{kind} all ann 127.0.0.1/32 trust\n{others}")).unwrap();
        server.sql("postgres", "SELECT pg_reload_conf()");
        if kind == "hostnossl" {
            server.sql("postgres", "CREATE USER ann SUPERUSER");
        }
        for mode in ["disable", "allow", "prefer", "require"] {
            let url = url.replace("postgres@", "ann@");
            let opened = Postgres::open(options(&format!("{url}?sslmode={mode}"))).await;
            assert_eq!(opened.is_ok(), works.contains(&mode), "{kind} {mode}: {opened:?}");
        }
    }
}

#[tokio::test]
async fn what_is_closed_writes_what_was_queued_and_then_no_more() {
    let Some(server) = PostgresServer::shared() else { return };
    let store = open(&server.fresh()).await;
    let tasks: Vec<Task> = (0..50).map(|_| some_task()).collect();
    let writes = join_all(tasks.iter().map(|task| store.create_task(task.clone(), Vec::new())));
    let (written, ()) = futures::join!(writes, store.close());
    for (task, written) in tasks.iter().zip(written) {
        let is_there = store.task(&task.id, start()).await.unwrap().is_some();
        assert_eq!(is_there, written.is_ok());
    }
    assert!(is_unavailable(&store.create_task(some_task(), Vec::new()).await));
    assert!(is_unavailable(&store.expire(start(), 1).await));
}

#[tokio::test]
async fn a_full_store_names_its_bound() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let small = Postgres::open(PostgresOptions { size_max: Some(64 * 1024), ..options(&url) }).await.unwrap();
    let full = |result: Result<(), StoreError>| {
        matches!(result, Err(StoreError::Full { bound: QuotaBound::Store { max: 65_536 } }))
    };
    assert!(full(small.create_task(some_task(), Vec::new()).await));
    assert!(full(small.ready().await) && full(small.room(&Account::HOST, 1).await));
    let roomy = open(&url).await;
    let task = some_task();
    roomy.create_task(task.clone(), Vec::new()).await.unwrap();
    assert!(small.advance_task(&task.id, completed()).await.unwrap(), "what is there can end");
    let hook = webhook("https://example.com/");
    assert!(full(small.add_webhook(&task.id, hook, 5, IfTaskEnded::Tell).await.map(drop)));
}

#[test]
fn leases_are_the_databases_unless_a_test_says_otherwise() {
    assert_eq!(options("postgres://x").lease_clock, LeaseClock::Database);
    let _: Timestamp = start();
}

#[tokio::test]
async fn what_the_operator_searches_is_read_back_page_by_page() {
    let Some(server) = PostgresServer::shared() else { return };
    let store = open(&server.fresh()).await;
    crate::reads::summaries_go_back_page_by_page_and_open_nothing(store).await;
}
