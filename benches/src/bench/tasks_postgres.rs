//! Durable tasks on PostgreSQL, against pgbench with a statement for each of the same three transitions.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, ensure};
use forecourt_store::{Postgres, PostgresOptions, StoreKey};
use forecourt_testkit::postgres::PostgresServer;

use super::tasks::{ROUND, ROUNDS, submit};
use crate::report::median;

/// Where Debian has the programs of PostgreSQL 15.
const PGBENCH: &str = "/usr/lib/postgresql/15/bin/pgbench";
const SUBMITTERS: [usize; 2] = [1, 16];
const TABLES: &str =
    "CREATE TABLE raw_tasks (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, state text, body text);
     CREATE TABLE raw_events (task bigint, n bigint, body text, PRIMARY KEY (task, n))";
const SCRIPT: &str = r#"INSERT INTO raw_tasks (state, body) VALUES ('working', '[{"kind":"text","content":"hello"}]') RETURNING id \gset
INSERT INTO raw_events VALUES (:id, 1, '[{"kind":"text","content":"hello"}]');
UPDATE raw_tasks SET state = 'completed', body = '[{"kind":"text","content":"hello"}]' WHERE id = :id;
"#;

/// One submitter against one client, sixteen against sixteen; every commit durable in both.
pub(super) fn run() -> anyhow::Result<()> {
    let server = PostgresServer::start_durable().context("PostgreSQL 15 is not installed")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (ours, raw) = (server.fresh(), server.fresh());
    let database = raw.rsplit('/').next().context("a database")?;
    server.sql(database, TABLES);
    let folder = tempfile::tempdir()?;
    let script = folder.path().join("task.sql");
    std::fs::write(&script, SCRIPT)?;
    let key = StoreKey::from_bytes([7; 32]);
    let store = runtime.block_on(Postgres::open(PostgresOptions::new(ours, key, "bench".to_owned())))?;
    for submitters in SUBMITTERS {
        let (mut ratios, mut mine, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            theirs.push(pgbench(&raw, &script, submitters)?);
            mine.push(runtime.block_on(submit(Arc::clone(&store) as _, submitters))?);
            ratios.extend(mine.last().zip(theirs.last()).map(|(mine, theirs)| mine / theirs));
        }
        let (mine, theirs, ratio) = (median(&mine), median(&theirs), median(&ratios));
        println!("{submitters:2} submitters: {mine:6.0} tasks/s, pgbench {theirs:6.0} tasks/s, ratio {ratio:.2}");
    }
    Ok(())
}

/// Tasks a second of pgbench with so many clients.
fn pgbench(url: &str, script: &Path, clients: usize) -> anyhow::Result<f64> {
    let (clients, seconds) = (clients.to_string(), ROUND.as_secs().to_string());
    let words = ["-n", "-M", "prepared", "-j", "2", "-c", &clients, "-T", &seconds, "-f"];
    let ran = Command::new(PGBENCH).args(words).arg(script).arg(url).output()?;
    let said = String::from_utf8_lossy(&ran.stdout);
    ensure!(ran.status.success(), "pgbench: {}", String::from_utf8_lossy(&ran.stderr));
    let tps = said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    tps.with_context(|| format!("pgbench said no rate: {said}"))
}
