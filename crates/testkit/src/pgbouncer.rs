//! A real PgBouncer in transaction mode before a PostgreSQL of tests.

use std::fs;
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::free_port;
use crate::postgres::{PostgresServer, as_somebody, give};

const PROGRAM: &str = "/usr/sbin/pgbouncer";
const PATIENCE: Duration = Duration::from_secs(30);

/// A pooler that lends a connection for one transaction and no longer. Ends when it is dropped.
pub struct PgBouncer {
    folder: TempDir,
    port: u16,
    process: Child,
}

impl PgBouncer {
    /// A pooler with at most `connections` connections to `server`. `None`, and a line on standard error, when it is
    /// not installed.
    ///
    /// # Panics
    /// It is installed and does not start.
    pub fn start(server: &PostgresServer, connections: usize) -> Option<Self> {
        if !std::path::Path::new(PROGRAM).exists() {
            eprintln!("skipped: PgBouncer is not installed ({PROGRAM})");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("forecourt-pgbouncer-").tempdir().expect("a folder");
        give(folder.path());
        let (port, at) = (free_port(), server.port());
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={at} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = {connections}\n\
             max_client_conn = 200\n"
        );
        let file = folder.path().join("pgbouncer.ini");
        fs::write(&file, settings).expect("its settings");
        let mut pooler = as_somebody(PROGRAM);
        let log = fs::File::create(folder.path().join("log")).expect("its log");
        let process = pooler.arg("-q").arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        let pooler = Self { folder, port, process: process.expect("PgBouncer starts") };
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "PgBouncer does not start: {}", pooler.log());
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(pooler)
    }

    /// The same database through the pooler.
    pub fn url(&self, direct: &str) -> String {
        let database = direct.rsplit('/').next().unwrap_or_default();
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// What it wrote into its log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
