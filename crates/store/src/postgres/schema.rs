//! This module migrates the schema by numbered steps, while older programs are at work.
//!
//! A migration only adds: tables, columns that need no value, functions of the next number; or it bounds what a
//! function does that is there, for older programs too. A later one removes what
//! nobody uses any more, and says from which version on a program works without it (`oldest_that_works`). So a program
//! works with every newer schema that says that it does, and nodes can be replaced one by one.

use forecourt_core::StoreError;
use tokio_postgres::Client;

use super::error::to_store_error;
use crate::sealed::corrupt;

/// The step from version n of the schema to n + 1.
#[derive(Clone, Copy)]
pub(super) struct Migration {
    pub(super) sql: &'static str,
    /// The version of the oldest program that works with the result.
    pub(super) oldest_that_works: i64,
}

/// By version. Only ever appended to.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("schema/1.sql"), oldest_that_works: 1 },
    Migration { sql: include_str!("schema/2.sql"), oldest_that_works: 1 },
    Migration { sql: include_str!("schema/3.sql"), oldest_that_works: 1 },
    Migration { sql: include_str!("schema/4.sql"), oldest_that_works: 1 },
];

/// What one migration at a time holds: `FORE` in ASCII, and a number.
const LOCK: &str = "SELECT pg_advisory_xact_lock(1179603525, 1)";
/// Begins the transaction of a step. It waits a minute for other migrations, and (in [`FOUND`]) 4 s for tables, since
/// statements of serving nodes queue behind a lock that is waited for. `READ COMMITTED`, whatever the default is, so
/// that the version is read as it is after the wait.
const BEGIN: &str =
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = 0";
const FOUND: &str = "SET LOCAL lock_timeout = '4s'; CREATE SCHEMA IF NOT EXISTS forecourt;
    CREATE TABLE IF NOT EXISTS forecourt.meta (name text PRIMARY KEY, value bytea NOT NULL);
    CREATE TABLE IF NOT EXISTS forecourt.schema_version (
        only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
        version bigint NOT NULL, oldest_that_works bigint NOT NULL)";

/// The version of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version {
    version: i64,
    oldest_that_works: i64,
}

/// Brings a database to the newest version that this program knows, if it is older. Refuses one that this program is
/// too old for.
pub(super) async fn migrate(client: &Client, migrations: &[Migration]) -> Result<(), StoreError> {
    let newest = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    // Looked at first, without the lock: a role that may not create tables can open a database that is up to date.
    while look(client, newest).await?.is_none_or(|is| is.version < newest) {
        step(client, migrations).await?;
    }
    Ok(())
}

/// The version of a database; `None` when it has none yet. Refuses one that is too new.
pub(super) async fn look(client: &Client, newest: i64) -> Result<Option<Version>, StoreError> {
    let fault = |error| to_store_error(&error);
    let is_there = "SELECT to_regclass('forecourt.schema_version') IS NOT NULL";
    let rows = client.query_typed(is_there, &[]).await.map_err(fault)?;
    if !rows.first().is_some_and(|row| row.get(0)) {
        return Ok(None);
    }
    let rows = client.query_typed("SELECT version, oldest_that_works FROM forecourt.schema_version", &[]).await;
    let found = rows.map_err(fault)?.first().map(|row| Version { version: row.get(0), oldest_that_works: row.get(1) });
    match found {
        Some(is) if is.oldest_that_works > newest => Err(corrupt(format!(
            "the database has version {}, which works with programs that know version {} or later; this one knows up to {newest}: upgrade this node",
            is.version, is.oldest_that_works
        ))),
        found => Ok(found),
    }
}

/// One step, in a transaction of its own, by whoever is first.
async fn step(client: &Client, migrations: &[Migration]) -> Result<(), StoreError> {
    let taken = take(client, migrations).await;
    let end = if taken.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = client.batch_execute(end).await;
    taken.and(ended).map_err(|error| match to_store_error(&error) {
        StoreError::Corrupt(reason) => corrupt(format!("the tables could not be made: {reason}")),
        other => other,
    })
}

async fn take(client: &Client, migrations: &[Migration]) -> Result<(), tokio_postgres::Error> {
    client.batch_execute(BEGIN).await?;
    client.query_typed(LOCK, &[]).await?;
    client.batch_execute(FOUND).await?;
    let found = client.query_typed("SELECT version, oldest_that_works FROM forecourt.schema_version", &[]).await?;
    let (version, oldest) = found.first().map_or((0, 0), |row| (row.get::<_, i64>(0), row.get::<_, i64>(1)));
    // Another node may have taken this step while we waited for the lock: the version that is read now decides.
    let Some(migration) = usize::try_from(version).ok().and_then(|version| migrations.get(version)) else {
        return Ok(());
    };
    client.batch_execute(migration.sql).await?;
    let (version, oldest) = (version + 1, oldest.max(migration.oldest_that_works));
    let write = format!(
        "INSERT INTO forecourt.schema_version (version, oldest_that_works) VALUES ({version}, {oldest})
         ON CONFLICT (only_one) DO UPDATE SET version = {version}, oldest_that_works = {oldest}"
    );
    client.batch_execute(&write).await
}

#[cfg(test)]
mod tests;
