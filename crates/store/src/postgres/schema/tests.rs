use forecourt_core::store::cost;
use forecourt_core::{CallerKey, Store, Task};
use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::store_suite::{completed, some_task, start};
use tokio_postgres::NoTls;

use super::*;
use crate::{Postgres, PostgresOptions, StoreKey};

/// What a later version might add: a column, and a function of the next number. Older programs work with it.
const ADDED: Migration = Migration {
    sql: "ALTER TABLE forecourt.tasks ADD COLUMN colour text;
          CREATE FUNCTION forecourt.beat_2(p_run text) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
    oldest_that_works: 1,
};
/// What one after that might take away.
const REMOVED: Migration = Migration { sql: "DROP FUNCTION forecourt.beat_1(text)", oldest_that_works: 5 };

/// What there is, and more after it.
fn and(more: &[Migration]) -> Vec<Migration> {
    [MIGRATIONS, more].concat()
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn options(url: &str) -> PostgresOptions {
    PostgresOptions::new(url, StoreKey::from_bytes([7; 32]), "example.com")
}

#[tokio::test]
async fn an_older_program_works_on_while_a_newer_one_migrates_and_is_told_when_it_can_no_more() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let older = Postgres::open(options(&url)).await.unwrap();
    let task = some_task();
    older.create_task(task.clone(), Vec::new()).await.unwrap();

    let newer = connect(&url).await;
    migrate(&newer, &and(&[ADDED])).await.unwrap();
    assert!(older.advance_task(&task.id, completed()).await.unwrap());
    assert!(older.task(&task.id, start()).await.unwrap().is_some());
    assert!(older.beat("run-1").await.unwrap());
    older.ready().await.unwrap();
    let another = Postgres::open(options(&url)).await.expect("a newer schema that says that it works");
    another.ready().await.unwrap();

    migrate(&newer, &and(&[ADDED, REMOVED])).await.unwrap();
    let told = older.ready().await.unwrap_err().to_string();
    assert!(told.contains("version 6") && told.contains("up to 4") && told.contains("upgrade this node"), "{told}");
    let refused = Postgres::open(options(&url)).await.unwrap_err().to_string();
    assert!(refused.contains("version 6"), "{refused}");
    assert!(another.task(&task.id, start()).await.unwrap().is_some(), "what still works goes on");
}

#[tokio::test]
async fn of_many_nodes_that_begin_at_once_one_migrates() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let opened = futures::future::join_all((0..8).map(|_| Postgres::open(options(&url)))).await;
    for store in opened {
        store.unwrap().create_task(some_task(), Vec::new()).await.unwrap();
    }
}

#[tokio::test]
async fn a_migration_that_fails_leaves_nothing_behind() {
    let Some(server) = PostgresServer::shared() else { return };
    let client = connect(&server.fresh()).await;
    let broken = Migration { sql: "CREATE TABLE forecourt.half (x int); SELECT nonsense", oldest_that_works: 1 };
    assert!(migrate(&client, &and(&[broken])).await.is_err());
    let rows = client.query_typed("SELECT to_regclass('forecourt.half') IS NULL", &[]).await.unwrap();
    assert!(rows[0].get::<_, bool>(0));
    migrate(&client, &and(&[ADDED])).await.unwrap();
}

#[tokio::test]
async fn a_byte_costs_the_same_in_the_database_as_everywhere() {
    let Some(server) = PostgresServer::shared() else { return };
    let client = connect(&server.fresh()).await;
    migrate(&client, MIGRATIONS).await.unwrap();
    for len in [0usize, 1, 511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097, 8192, 1_000_000] {
        let sql = format!("SELECT forecourt.cost_1({len})");
        let rows = client.query_typed(&sql, &[]).await.unwrap();
        assert_eq!(rows[0].get::<_, i64>(0).unsigned_abs(), cost(len), "{len}");
    }
}

/// What a node of the version before writes for a task that reserved room here is charged, and all is given back.
#[tokio::test]
async fn an_older_program_ends_a_task_that_reserved_room_and_expiry_gives_it_back() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let newer = Postgres::open(options(&url)).await.unwrap();
    let account = CallerKey::of(Some("ada"), None, None).account();
    newer.create_task(Task { account, ..some_task() }, Vec::new()).await.unwrap();
    let client = connect(&url).await;
    let number = async |sql: &str| client.query_typed(sql, &[]).await.unwrap()[0].get::<_, i64>(0);
    let stored = "SELECT bytes FROM forecourt.accounts";
    let before = number(stored).await;
    let append = "SELECT code FROM forecourt.append_events_1((SELECT hash FROM forecourt.tasks), 'run-1', 1,
        ARRAY['a'::bytea], 385, 1000000)";
    assert_eq!(number(append).await, 0);
    assert_eq!(number(stored).await, before + 385);
    let settle = "SELECT code FROM forecourt.advance_task_2((SELECT hash FROM forecourt.tasks), 'working', 'run-1',
        'completed', 1, 'a', false, 0, 0, 'a', 1, NULL, NULL, NULL, NULL, '{}', '{}', 5, 5, false, true)";
    assert_eq!(number(settle).await, 0);
    assert!(number("SELECT reserved FROM forecourt.charges").await > 0);
    assert_eq!(number("SELECT n FROM forecourt.expire_until_3(9223372036854775807, 100)").await, 1);
    assert_eq!(number("SELECT count(*) FROM forecourt.accounts").await, 0);
}

/// Functions with what they take, and columns, as programs of a version know them.
const SURFACE: &str = "
    SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = 'forecourt'::regnamespace
    UNION SELECT c.table_name || '.' || c.column_name || ' ' || c.data_type FROM information_schema.columns c
          WHERE c.table_schema = 'forecourt'";

#[tokio::test]
async fn whatever_a_version_knows_is_there_in_later_ones() {
    let Some(server) = PostgresServer::shared() else { return };
    let client = connect(&server.fresh()).await;
    let mut before: Vec<String> = Vec::new();
    for version in 1..=MIGRATIONS.len() {
        migrate(&client, &MIGRATIONS[..version]).await.unwrap();
        let rows = client.query_typed(SURFACE, &[]).await.unwrap();
        let after: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let gone: Vec<_> = before.iter().filter(|one| !after.contains(one)).collect();
        assert!(gone.is_empty(), "version {version}: {gone:?}");
        before = after;
    }
    assert!(before.iter().any(|one| one.contains("append_events_1")), "functions are looked at");
}
