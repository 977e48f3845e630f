//! A server under test: started once, up for the whole bench, killed at its end.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

/// What stands before the port in what a baseline says when it is up.
const BASELINE_UP: &str = "listening ";
/// What the daemon tells its service manager when it is up.
const DAEMON_UP: &[u8] = b"READY=1";
/// How long the daemon may take: of very many agents, each gets a key first.
const PATIENCE: Duration = Duration::from_secs(400);
/// How often to look whether a daemon that is not up has ended.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A running server.
pub(crate) struct Arm {
    pub name: &'static str,
    pub port: u16,
    child: Child,
    /// Where its state is, when it is the real daemon.
    data: Option<PathBuf>,
    files: Option<tempfile::TempDir>,
}

impl Arm {
    /// A baseline of this program.
    pub(crate) fn baseline(name: &'static str, which: &str) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["baseline", which]);
        Self::start_baseline(name, command)
    }

    /// A baseline of this program over a folder of content.
    pub(crate) fn baseline_over(name: &'static str, which: &str, folder: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["baseline", which, "--folder"]).arg(folder);
        Self::start_baseline(name, command)
    }

    /// A bare reverse proxy to a port on this machine.
    pub(crate) fn proxy(name: &'static str, to: u16) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["baseline", "proxy", &to.to_string()]);
        Self::start_baseline(name, command)
    }

    /// The real daemon over a deployment of these files, limits and metrics on.
    pub(crate) fn forecourt<N: AsRef<str>, T: AsRef<str>>(
        name: &'static str,
        files: &[(N, T)],
    ) -> anyhow::Result<Self> {
        let folder = deployment(files)?;
        let mut arm = Self::forecourt_over(name, folder.path())?;
        arm.files = Some(folder);
        Ok(arm)
    }

    /// The real daemon over a deployment that stays.
    pub(crate) fn forecourt_over(name: &'static str, folder: &Path) -> anyhow::Result<Self> {
        Self::forecourt_by(name, daemon(folder)?, folder.join(DATA))
    }

    /// The real daemon by a command of [`daemon`], which keeps its state in `data`.
    pub(crate) fn forecourt_by(name: &'static str, mut command: Command, data: PathBuf) -> anyhow::Result<Self> {
        let (room, mut said) = (tempfile::tempdir()?, tempfile::tempfile()?);
        let socket = room.path().join("notify");
        let told = UnixDatagram::bind(&socket)?;
        told.set_read_timeout(Some(LOOK_EVERY))?;
        command.env("NOTIFY_SOCKET", socket).stdout(Stdio::null()).stderr(said.try_clone()?);
        let mut arm = Self { name, port: 0, child: command.spawn()?, data: Some(data), files: None };
        let begin = Instant::now();
        while !is_up(&told) {
            if arm.child.try_wait()?.is_some() || begin.elapsed() > PATIENCE {
                bail!("{name} did not start: {}", words_of(&mut said)?);
            }
        }
        arm.port = arm.told("/http_port")?;
        Ok(arm)
    }

    /// A server that is another program, and up.
    pub(crate) fn running(name: &'static str, port: u16, child: Child) -> Self {
        Self { name, port, child, data: None, files: None }
    }

    /// Kills the process where it stands, as a crash would.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts the real daemon again over the state that was left. The port is another one then.
    pub(crate) fn restart(&mut self) -> anyhow::Result<()> {
        self.kill();
        let files = self.files.take().context("a baseline keeps no state")?;
        *self = Self::forecourt_over(self.name, files.path())?;
        self.files = Some(files);
        Ok(())
    }

    fn start_baseline(name: &'static str, mut command: Command) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().context("a child has an output")?;
        let mut arm = Self::running(name, 0, child);
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let port = line.trim_end().strip_prefix(BASELINE_UP).with_context(|| format!("{name} did not start"))?;
        arm.port = port.parse()?;
        Ok(arm)
    }

    /// The folder with its state, when it is the real daemon.
    pub(crate) fn data(&self) -> anyhow::Result<PathBuf> {
        self.data.clone().context("a baseline keeps no state")
    }

    /// The port of its HTTPS listener, when it is the real daemon.
    pub(crate) fn https_port(&self) -> anyhow::Result<u16> {
        self.told("/https_port")
    }

    /// The port of its AGTP listener, when it is the real daemon.
    pub(crate) fn agtp_port(&self) -> anyhow::Result<u16> {
        self.told("/sockets/agtp")
    }

    /// What it has written down for clients on this machine.
    fn told(&self, port: &str) -> anyhow::Result<u16> {
        let serving: Value = serde_json::from_slice(&std::fs::read(self.data()?.join("serving.json"))?)?;
        let number = serving.pointer(port).and_then(Value::as_u64);
        Ok(number.with_context(|| format!("there is no port at {port} of {serving}"))?.try_into()?)
    }

    /// The same server at another of its ports.
    #[must_use]
    pub(crate) fn at(self, port: u16) -> Self {
        let mut arm = self;
        arm.port = port;
        arm
    }

    /// The process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Arm {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits a moment for the word that the daemon is up.
fn is_up(told: &UnixDatagram) -> bool {
    let mut word = [0; 256];
    told.recv(&mut word).is_ok_and(|length| word[..length].starts_with(DAEMON_UP))
}

fn words_of(file: &mut File) -> anyhow::Result<String> {
    let mut words = String::new();
    file.rewind()?;
    file.read_to_string(&mut words)?;
    Ok(words)
}

/// Where a deployment keeps its state unless it is told otherwise.
const DATA: &str = ".forecourt";

/// A folder with these files.
pub(crate) fn deployment<N: AsRef<str>, T: AsRef<str>>(files: &[(N, T)]) -> anyhow::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    for (file, text) in files {
        let path = folder.path().join(file.as_ref());
        std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        std::fs::write(path, text.as_ref())?;
    }
    Ok(folder)
}

/// The daemon's binary, beside this one.
pub(crate) fn binary() -> anyhow::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("forecourt");
    ensure!(path.exists(), "{} is missing: build forecourt-cli as bench was built", path.display());
    Ok(path)
}

/// `forecourt serve` on free ports, logging off, pointers written nowhere else.
pub(crate) fn daemon(folder: &Path) -> anyhow::Result<Command> {
    let mut command = Command::new(binary()?);
    command.arg("serve").arg(folder).env("FORECOURT_LOG", "error").env("XDG_STATE_HOME", folder);
    command.args(["--http", "127.0.0.1:0", "--https", "127.0.0.1:0", "--admin", "127.0.0.1:0"]);
    command.args(["--agtp", "127.0.0.1:0"]);
    Ok(command)
}

/// A deployment of one echo agent whose limits do not stand in the way of one loud client.
pub(crate) const ECHO: &[(&str, &str)] = &[("forecourt.toml", OPEN_LIMITS), ("agents/echo.toml", ECHO_AGENT)];

/// The same with more sections in its settings.
pub(crate) fn echo_with(sections: &str) -> [(&'static str, String); 2] {
    [("forecourt.toml", format!("{OPEN_LIMITS}{sections}")), ("agents/echo.toml", ECHO_AGENT.to_owned())]
}

/// Limits that are on, but far away.
pub(crate) const OPEN_LIMITS: &str = "domain = \"demo.localhost\"\n\
    [limits]\n\
    per_address = { per_second = 1000000, burst = 1000000 }\n\
    per_session = { per_second = 1000000, burst = 1000000 }\n\
    tasks_per_caller_max = 1000\n\
    [http]\n\
    connections_per_address_max = 20000\n\
    connections_max = 20000\n";

/// An agent that repeats what it is told.
pub(crate) const ECHO_AGENT: &str = "handle = \"echo\"\nname = \"Echo\"\n[backend]\nkind = \"echo\"\n";
