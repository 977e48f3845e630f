//! Durable tasks on PostgreSQL, against pgbench with a statement for each of the same three transitions.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use forecourt_store::{Postgres, PostgresOptions, StoreKey};
use forecourt_testkit::postgres::{PostgresServer, program};

use super::tasks::{ROUND, ROUNDS, submit};
use crate::report::{judge, median, shuffled};
use crate::run::Run;

const SUBMITTERS: [usize; 2] = [1, 16];
const TABLES: &str =
    "CREATE TABLE raw_tasks (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, state text, body text);
     CREATE TABLE raw_events (task bigint, n bigint, body text, PRIMARY KEY (task, n))";
const SCRIPT: &str = r#"INSERT INTO raw_tasks (state, body) VALUES ('working', '[{"kind":"text","content":"hello"}]') RETURNING id \gset
INSERT INTO raw_events VALUES (:id, 1, '[{"kind":"text","content":"hello"}]');
UPDATE raw_tasks SET state = 'completed', body = '[{"kind":"text","content":"hello"}]' WHERE id = :id;
"#;

/// One submitter against one client, sixteen against sixteen; every commit durable in both.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    let Some(server) = PostgresServer::start_durable() else {
        println!("skipped: no PostgreSQL from 15 on is installed");
        return Ok(());
    };
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
        // pgbench counts its time in whole seconds.
        let visit = run.of(ROUND, Duration::from_secs(1));
        let mut rates = [const { Vec::new() }; 3];
        for round in 0..run.rounds(ROUNDS) {
            for index in shuffled(rates.len(), round) {
                rates[index].push(match index {
                    2 => runtime.block_on(submit(Arc::clone(&store) as _, submitters, visit))?,
                    _ => pgbench(&raw, &script, submitters, visit)?,
                });
            }
        }
        println!("{submitters:2} submitters: {:6.0} tasks/s, pgbench {:6.0}", median(&rates[2]), median(&rates[0]));
        let what = format!("{submitters} submitters, ");
        judge(run, &what, "tasks a second", &["pgbench", "pgbench again", "forecourt"], &rates)?;
    }
    Ok(())
}

/// Tasks a second of pgbench with so many clients.
fn pgbench(url: &str, script: &Path, clients: usize, time: Duration) -> anyhow::Result<f64> {
    let (clients, seconds) = (clients.to_string(), time.as_secs().to_string());
    let words = ["-n", "-M", "prepared", "-j", "2", "-c", &clients, "-T", &seconds, "-f"];
    let ran = Command::new(program("pgbench")).args(words).arg(script).arg(url).output()?;
    let said = String::from_utf8_lossy(&ran.stdout);
    ensure!(ran.status.success(), "pgbench: {}", String::from_utf8_lossy(&ran.stderr));
    let tps = said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    tps.with_context(|| format!("pgbench said no rate: {said}"))
}
