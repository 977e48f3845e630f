//! This module migrates the schema by numbered steps, and refuses databases that are newer or not ours.

use forecourt_core::StoreError;
use rusqlite::{Connection, TransactionBehavior};

use super::error::{SqliteError, corrupt};

/// Marks a database as one of ours: `FORE` in ASCII.
const APPLICATION_ID: i32 = 0x464f_5245;

/// What brings a database from version n to n + 1, by n. Only ever appended to.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
    include_str!("schema/8.sql"),
];

/// Brings a database to the newest version, all steps in one transaction: a fresh one is made with one commit, and one
/// that can't be brought there stays what it was. Refuses a newer one, and one that is not ours.
pub(super) fn migrate(db: &mut Connection, migrations: &[&str]) -> Result<(), SqliteError> {
    // With foreign keys on, dropping a table that another one replaces would delete all rows that refer to it. SQLite
    // ignores the pragma inside a transaction.
    db.pragma_update(None, "foreign_keys", false)?;
    take_steps(db, migrations)?;
    db.pragma_update(None, "foreign_keys", true)?;
    Ok(())
}

/// Reads the version within the transaction, so that two processes that start at once do not both take a step.
fn take_steps(db: &mut Connection, migrations: &[&str]) -> Result<(), SqliteError> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (version, newest) = (version(&transaction)?, migrations.len());
    refuse_newer(version, newest)?;
    if version == newest {
        return Ok(());
    }
    for migration in &migrations[version..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", newest as i64)?;
    Ok(transaction.commit()?)
}

/// The version of a database that is only looked at. Refuses one newer than `newest`, and one that is not
/// ours.
pub(super) fn look(db: &Connection, newest: usize) -> Result<usize, SqliteError> {
    let version = version(db)?;
    refuse_newer(version, newest)?;
    Ok(version)
}

/// The version of a database; 0 for an empty one.
fn version(db: &Connection) -> Result<usize, SqliteError> {
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let application: i32 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let empty: bool = db.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
    if application != APPLICATION_ID && !(empty && version == 0) {
        return Err(corrupt("the file is another application's database").into());
    }
    usize::try_from(version).map_err(|_| corrupt(format!("no database has version {version}")).into())
}

fn refuse_newer(version: usize, newest: usize) -> Result<(), StoreError> {
    if version <= newest {
        return Ok(());
    }
    Err(corrupt(format!("the database has version {version}, this program knows versions up to {newest}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::{Hash, hash};
    use crate::sqlite::rows::TaskRows;

    const FIRST: &str = "CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (7);";
    const SECOND: &str = "ALTER TABLE a ADD COLUMN y INTEGER;";

    fn refusal(db: &mut Connection, migrations: &[&str]) -> String {
        match migrate(db, migrations) {
            Err(SqliteError::Store(StoreError::Corrupt(reason))) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_older_database_is_migrated_and_keeps_its_rows() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &[FIRST]).unwrap();
        migrate(&mut db, &[FIRST, SECOND]).unwrap();
        migrate(&mut db, &[FIRST, SECOND]).unwrap();
        let row: (i64, Option<i64>) =
            db.query_row("SELECT x, y FROM a", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(row, (7, None));
    }

    #[test]
    fn a_step_that_fails_leaves_the_database_as_it_was() {
        let mut db = Connection::open_in_memory().unwrap();
        assert!(migrate(&mut db, &[FIRST, "nonsense"]).is_err());
        assert_eq!(version(&db).unwrap(), 0);
        migrate(&mut db, &[FIRST]).unwrap();
        assert!(migrate(&mut db, &[FIRST, SECOND, "nonsense"]).is_err());
        assert_eq!((version(&db).unwrap(), db.query_row("SELECT * FROM a", [], |row| row.get(0))), (1, Ok(7)));
    }

    #[test]
    fn version_1_is_migrated_with_what_waits_in_it() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &MIGRATIONS[..1]).unwrap();
        db.execute_batch(
            "INSERT INTO tasks VALUES (1, x'01', 'chef', NULL, x'02', 'working', 'run', 1, 2, 3, x'00', NULL);
             INSERT INTO webhooks VALUES (1, 1, x'00'), (1, 2, x'00');
             INSERT INTO deliveries (task, webhook, state, settled_at, due_at) VALUES (1, 2, 'completed', 2, 2);",
        )
        .unwrap();
        migrate(&mut db, MIGRATIONS).unwrap();
        let row = "SELECT count(*), max(webhooks.hash IS NULL), max(claimed) FROM webhooks, deliveries";
        let row: (i64, bool, bool) = db.query_row(row, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        assert_eq!(row, (2, true, false));
    }

    /// Every version that was ever written, with a task and all that may hang on one.
    #[test]
    fn a_task_of_each_version_is_found_with_all_that_hangs_on_it() {
        for version in 1..MIGRATIONS.len() {
            let mut db = Connection::open_in_memory().unwrap();
            db.pragma_update(None, "foreign_keys", true).unwrap();
            migrate(&mut db, &MIGRATIONS[..version]).unwrap();
            let hashes: Vec<Hash> = ["a", "b", "c"].map(hash).to_vec();
            for (id, hash) in (1i64..).zip(&hashes) {
                let (column, value) = if version < 6 { ("", "") } else { ("name, ", "?3, ") };
                let insert = format!(
                    "INSERT INTO tasks ({column}id, hash, agent, state, run, created_at, updated_at, expires_at, body)
                     VALUES ({value}?1, ?2, 'chef', 'working', 'r', 1, 2, 3, x'00')"
                );
                let name = super::super::rows::name(hash);
                if version < 6 { db.execute(&insert, (id, hash)) } else { db.execute(&insert, (id, hash, name)) }
                    .unwrap();
                db.execute("INSERT INTO events VALUES (?1, 1, x'00')", [id]).unwrap();
                db.execute("INSERT INTO artifacts VALUES (?1, x'01', 5, x'00', x'00')", [id]).unwrap();
                db.execute("INSERT INTO webhooks (task, n, body) VALUES (?1, 1, x'00')", [id]).unwrap();
            }
            migrate(&mut db, MIGRATIONS).unwrap();
            let rows = TaskRows::default();
            for (id, hash) in (1i64..).zip(&hashes) {
                assert_eq!(rows.find(&db, hash).unwrap().map(|row| row.id), Some(id), "version {version}");
            }
            assert_eq!(super::super::rows::next(&db).unwrap().0, 4);
            let count = |table: &str| -> i64 {
                db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
            };
            // From version 6 on names are written many at a time.
            let named = if version < 6 { 3 } else { 0 };
            assert_eq!(["events", "artifacts", "webhooks", "task_names"].map(count), [3, 3, 3, named]);
            db.execute("DELETE FROM tasks WHERE id = 2", []).unwrap();
            let left = ["events", "artifacts", "webhooks", "task_names"].map(count);
            assert_eq!(left, [2, 2, 2, if version < 6 { 2 } else { 0 }], "they go with their task");
            assert!(rows.find(&db, &hashes[1]).unwrap().is_none());
            assert!(db.prepare("PRAGMA foreign_key_check").unwrap().query([]).unwrap().next().unwrap().is_none());
        }
    }

    #[test]
    fn a_newer_database_is_refused_with_both_versions() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &[FIRST, SECOND]).unwrap();
        let reason = refusal(&mut db, &[FIRST]);
        assert!(reason.contains("version 2") && reason.contains("up to 1"), "{reason}");
    }

    #[test]
    fn a_migration_that_fails_leaves_nothing_behind() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &[FIRST]).unwrap();
        assert!(migrate(&mut db, &[FIRST, "CREATE TABLE b (x INTEGER) STRICT; SELECT nonsense;"]).is_err());
        assert!(!db.table_exists(None, "b").unwrap());
        migrate(&mut db, &[FIRST, SECOND]).unwrap();
    }

    #[test]
    fn another_applications_database_is_refused() {
        let mut db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE theirs (x INTEGER);").unwrap();
        assert!(refusal(&mut db, MIGRATIONS).contains("another application"));
    }
}
