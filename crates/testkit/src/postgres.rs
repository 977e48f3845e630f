//! A real PostgreSQL for tests, the newest that is installed: in a temporary folder, on a free port of the loopback address, gone when its
//! test is. Programs that refuse to run as root run as somebody else.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, geteuid};
use tempfile::TempDir;

use crate::free_port;

/// Where Debian's packages put the programs, a folder for each version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The oldest version that the stores work with.
const OLDEST: u32 = 15;
/// How long a server has to begin or to end.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait before looking again whether a server is there.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// What is set for a server of tests, beside what it is started with.
const SETTINGS: &[&str] = &[
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
    "shared_buffers=16MB",
    "max_wal_size=128MB",
    "autovacuum_naptime=5s",
    "log_min_messages=warning",
];

/// A server with no data of its own but what its test puts there.
///
/// What it wrote survives [`PostgresServer::kill`] (the kernel has it), though it is told not to wait for the disk;
/// [`PostgresServer::start_durable`] gives one that waits.
pub struct PostgresServer {
    folder: TempDir,
    port: u16,
    settings: Vec<String>,
    process: Option<Process>,
    databases: AtomicU64,
}

/// A server under a shell that ends it when this process is gone, however it went.
struct Process {
    shell: Child,
    /// The shell reads from it: closed, the server ends.
    leash: Option<ChildStdin>,
    server: Pid,
}

impl PostgresServer {
    /// A server that is up. `None`, and a line on standard error, when no PostgreSQL from 15 on is installed: the
    /// test has nothing to test then.
    ///
    /// # Panics
    /// It is installed and does not start.
    pub fn start() -> Option<Self> {
        Self::start_with(&["fsync=off", "full_page_writes=off"])
    }

    /// The same with full durability, as in production.
    pub fn start_durable() -> Option<Self> {
        Self::start_with(&[])
    }

    /// The same with these settings, such as `log_statement=all`.
    pub fn start_with(settings: &[&str]) -> Option<Self> {
        Self::start_on(&std::env::temp_dir(), settings)
    }

    /// The same with all it has in a folder of this one, such as a small disk of its own.
    pub fn start_on(disk: &Path, settings: &[&str]) -> Option<Self> {
        if INSTALLED.is_none() {
            eprintln!("skipped: no PostgreSQL from {OLDEST} on is installed ({VERSIONS})");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("forecourt-postgres-").tempdir_in(disk).expect("a folder");
        give(folder.path());
        let data = folder.path().join("data");
        // A copy of a cluster that was made once: `initdb` takes seconds for each server.
        let copied = as_somebody("cp").args(["-r", "--reflink=auto"]).arg(template()).arg(&data).output();
        succeed("cp", copied);
        let settings = SETTINGS.iter().chain(settings).map(ToString::to_string).collect();
        let mut server = Self { folder, port: free_port(), settings, process: None, databases: AtomicU64::new(0) };
        server.start_again();
        Some(server)
    }

    /// The server that all tests of this process share: [`PostgresServer::fresh`] keeps them apart.
    pub fn shared() -> Option<Arc<Self>> {
        static SHARED: OnceLock<Option<Arc<PostgresServer>>> = OnceLock::new();
        SHARED.get_or_init(|| Self::start().map(Arc::new)).clone()
    }

    /// The URL of a database that is empty and nobody else's.
    pub fn fresh(&self) -> String {
        let name = format!("case_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        // `template0`: `template1` can't be copied while anybody is connected to it, and tests run at once.
        self.sql("postgres", &format!("CREATE DATABASE {name} TEMPLATE template0"));
        self.url(&name)
    }

    /// The URL of a database of this server.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// The port on the loopback address; the same for all of its life.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its folder: `data` is the cluster, `log` what it said.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs SQL with `psql` and gives what it prints, a row a line and a tab between columns. Blocks.
    ///
    /// # Panics
    /// It fails.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let psql = Command::new(program("psql"))
            .args(["-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-d", &self.url(database), "-c", sql])
            .output();
        String::from_utf8_lossy(&succeed("psql", psql).stdout).trim_end().to_owned()
    }

    /// Ends it as an operator does who restarts it: whoever is connected is told so and cut off.
    pub fn stop(&mut self) {
        if let Some(process) = &self.process {
            signal(process.server, Signal::SIGINT);
        }
        self.wait_for_end();
    }

    /// Kills it with all its processes, as a power cut does.
    pub fn kill(&mut self) {
        if let Some(process) = &self.process {
            for pid in family(process.server) {
                signal(pid, Signal::SIGKILL);
            }
        }
        self.wait_for_end();
    }

    /// Starts it again on what it has, on the same port. Does nothing when it is up.
    ///
    /// # Panics
    /// It does not come up.
    pub fn start_again(&mut self) {
        if self.process.is_some() {
            return;
        }
        let until = Instant::now() + PATIENCE;
        loop {
            match self.spawn(until) {
                Ok(process) => return self.process = Some(process),
                // A server that was killed may hold its port or its memory for another moment.
                Err(_) if Instant::now() < until => std::thread::sleep(LOOK_AGAIN),
                Err(error) => panic!("PostgreSQL does not start: {error}\n{}", self.log()),
            }
        }
    }

    /// Stands it still: connections stay open and nothing is answered any more, as with a machine that hangs.
    pub fn pause(&self) {
        self.to_all(Signal::SIGSTOP);
    }

    /// Has it go on.
    pub fn resume(&self) {
        self.to_all(Signal::SIGCONT);
    }

    /// What it wrote into its log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn to_all(&self, what: Signal) {
        for pid in self.process.iter().flat_map(|process| family(process.server)) {
            signal(pid, what);
        }
    }

    fn spawn(&self, until: Instant) -> io::Result<Process> {
        let (data, log) = (self.folder.path().join("data"), self.folder.path().join("log"));
        // Reads until this process closes the pipe or is gone; ends when the server does.
        // With its owner goes its folder, too: a server that is shared is dropped by nobody.
        let script = r#"exec 3<&0
            "$@" >>"$LOG" 2>&1 </dev/null 3<&- & server=$!; echo $server
            (read -r _ <&3; trap "" TERM; kill -QUIT $server; while kill -0 $server; do sleep 0.02; done
                rm -rf "$FOLDER") >/dev/null 2>&1 & leash=$!
            exec 3<&- >/dev/null; wait $server; kill $leash 2>/dev/null; wait $leash"#;
        let mut shell = as_somebody("/bin/sh");
        shell.args(["-c", script, "postgres"]).arg(program("postgres")).arg("-D").arg(&data);
        shell.args(["-p", &self.port.to_string()]).env("LOG", &log).current_dir("/");
        shell.env("FOLDER", self.folder.path());
        for setting in &self.settings {
            shell.args(["-c", setting]);
        }
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut said = String::new();
        let mut out = shell.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        let mut byte = [0];
        while !said.ends_with('\n') && out.read(&mut byte)? == 1 {
            said.push(char::from(byte[0]));
        }
        let server = Pid::from_raw(said.trim().parse().map_err(io::Error::other)?);
        let leash = shell.stdin.take();
        let mut process = Process { shell, leash, server };
        loop {
            if process.shell.try_wait()?.is_some() {
                return Err(io::Error::other("it ended at once"));
            }
            if self.is_ready(&data) {
                return Ok(process);
            }
            if Instant::now() > until {
                process.end();
                return Err(io::Error::other("it is not ready in time"));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Whether it says of itself that it takes connections.
    fn is_ready(&self, data: &Path) -> bool {
        let pid_file = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
        pid_file.lines().nth(7).is_some_and(|status| status.trim() == "ready")
    }

    fn wait_for_end(&mut self) {
        if let Some(mut process) = self.process.take() {
            let until = Instant::now() + PATIENCE;
            while process.shell.try_wait().expect("the server ends").is_none() {
                // A server that recovers from a crash while it is told to end may forget that it was told.
                if Instant::now() > until {
                    family(process.server).into_iter().for_each(|pid| signal(pid, Signal::SIGKILL));
                }
                std::thread::sleep(LOOK_AGAIN);
            }
            // Nobody else would remove what a killed one left, and a pid may be somebody else's by then.
            let _ = fs::remove_file(self.folder.path().join("data/postmaster.pid"));
        }
    }
}

impl Process {
    fn end(&mut self) {
        // One that stands still ends only once it goes on.
        for pid in family(self.server) {
            signal(pid, Signal::SIGCONT);
        }
        drop(self.leash.take());
        let _ = self.shell.wait();
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.end();
        }
    }
}

/// Has a folder belong to whom the programs run as.
pub(crate) fn give(folder: &Path) {
    if let Some(user) = somebody() {
        chown(folder, Some(user.uid.as_raw()), Some(user.gid.as_raw())).expect("a folder of another user");
    }
}

/// The newest PostgreSQL of this machine: its version, and the folder of its programs.
static INSTALLED: LazyLock<Option<(u32, PathBuf)>> = LazyLock::new(|| newest(Path::new(VERSIONS)));

fn newest(versions: &Path) -> Option<(u32, PathBuf)> {
    let folders = fs::read_dir(versions).ok()?.filter_map(Result::ok);
    let found = folders.filter_map(|folder| {
        let version = folder.file_name().to_str()?.parse::<u32>().ok().filter(|version| *version >= OLDEST)?;
        let programs = folder.path().join("bin");
        programs.join("postgres").exists().then_some((version, programs))
    });
    found.max()
}

fn installed() -> &'static (u32, PathBuf) {
    INSTALLED.as_ref().expect("PostgreSQL is installed")
}

/// Where a program of the PostgreSQL is that servers of tests are, such as `pgbench`.
///
/// # Panics
/// None is installed: [`PostgresServer::start`] gives no server then.
pub fn program(name: &str) -> PathBuf {
    installed().1.join(name)
}

/// A command that runs as somebody else where this process is root.
pub(crate) fn as_somebody(program: impl AsRef<OsStr>) -> Command {
    let Some(user) = somebody() else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    let ids = [format!("--reuid={}", user.uid), format!("--regid={}", user.gid)];
    command.args(ids).args(["--clear-groups", "--"]).arg(program);
    command
}

/// Whom to run as instead of root.
fn somebody() -> Option<User> {
    let find = |name| User::from_name(name).ok().flatten();
    if geteuid().is_root() { find("postgres").or_else(|| find("nobody")) } else { None }
}

/// A cluster in which nothing is, made once on a machine and copied for each server: making one takes a second.
fn template() -> PathBuf {
    let user = somebody().map_or_else(|| geteuid().to_string(), |user| user.uid.to_string());
    let (version, _) = installed();
    let place = std::env::temp_dir().join(format!("forecourt-postgres-{version}-template-{user}"));
    if place.exists() {
        return place;
    }
    let fresh = tempfile::Builder::new().prefix("forecourt-initdb-").tempdir().expect("a folder");
    give(fresh.path());
    let data = fresh.path().join("data");
    let initdb = as_somebody(program("initdb"))
        .args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "--wal-segsize=1", "-D"])
        .arg(&data)
        .current_dir("/")
        .output();
    succeed("initdb", initdb);
    // Several processes may make one at once: the first rename wins, and the other clusters are as good.
    let _ = fs::rename(&data, &place);
    place
}

fn succeed(what: &str, output: io::Result<Output>) -> Output {
    let output = output.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn signal(pid: Pid, what: Signal) {
    // A process that has ended in between needs no signal.
    let _ = kill(pid, what);
}

/// A process and its children, itself first: one that is killed first starts no others.
fn family(pid: Pid) -> Vec<Pid> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw);
    std::iter::once(pid).chain(children).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_taken_that_the_stores_work_with_and_whose_programs_are_there() {
        let versions = tempfile::tempdir().unwrap();
        assert_eq!(newest(&versions.path().join("none")), None);
        let install = |version: &str| {
            fs::create_dir_all(versions.path().join(version).join("bin")).unwrap();
            fs::write(versions.path().join(version).join("bin/postgres"), "").unwrap();
        };
        ["9.6", "14"].into_iter().for_each(install);
        fs::create_dir_all(versions.path().join("18/bin")).unwrap();
        assert_eq!(newest(versions.path()), None);
        ["15", "17", "16"].into_iter().for_each(install);
        assert_eq!(newest(versions.path()), Some((17, versions.path().join("17/bin"))));
    }

    #[test]
    fn a_server_keeps_what_was_written_through_ends_of_every_kind() {
        let Some(mut server) = PostgresServer::start() else { return };
        let database = server.fresh().rsplit('/').next().unwrap().to_owned();
        server.sql(&database, "CREATE TABLE a (x int); INSERT INTO a VALUES (7)");
        server.stop();
        server.start_again();
        assert_eq!(server.sql(&database, "SELECT x FROM a"), "7");
        server.kill();
        server.start_again();
        assert_eq!(server.sql(&database, "SELECT x FROM a"), "7");
        server.pause();
        server.resume();
        assert_eq!(server.sql(&database, "SELECT x, x FROM a"), "7\t7");
    }

    #[test]
    fn a_server_is_gone_with_its_owner() {
        let Some(server) = PostgresServer::start() else { return };
        let (folder, port) = (server.folder().to_owned(), server.port());
        drop(server);
        assert!(!folder.exists());
        assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    }
}
