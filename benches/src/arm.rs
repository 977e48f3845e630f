//! A server under test: started once, up for the whole bench, killed at its end.

use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};

/// What stands before the port in what a baseline says when it is up, and in what the daemon says.
const BASELINE_UP: &str = "listening ";
const DAEMON_UP: &str = "in a browser   http://demo.localhost:";

/// A running server.
pub(crate) struct Arm {
    pub name: &'static str,
    pub port: u16,
    child: Child,
    files: Option<tempfile::TempDir>,
}

impl Arm {
    /// A baseline of this program.
    pub(crate) fn baseline(name: &'static str, which: &str) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["baseline", which]);
        Self::start(name, command, BASELINE_UP, None)
    }

    /// A baseline of this program over a folder of content.
    pub(crate) fn baseline_over(name: &'static str, which: &str, folder: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["baseline", which, "--folder"]).arg(folder);
        Self::start(name, command, BASELINE_UP, None)
    }

    /// A bare reverse proxy to a port on this machine.
    pub(crate) fn proxy(name: &'static str, to: u16) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["baseline", "proxy", &to.to_string()]);
        Self::start(name, command, BASELINE_UP, None)
    }

    /// The real daemon over a deployment of these files, limits and metrics on.
    pub(crate) fn forecourt<N: AsRef<str>, T: AsRef<str>>(
        name: &'static str,
        files: &[(N, T)],
    ) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        for (file, text) in files {
            let path = folder.path().join(file.as_ref());
            std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
            std::fs::write(path, text.as_ref())?;
        }
        Self::start(name, daemon(folder.path())?, DAEMON_UP, Some(folder))
    }

    /// The real daemon over a deployment that stays.
    pub(crate) fn forecourt_over(name: &'static str, folder: &Path) -> anyhow::Result<Self> {
        Self::start(name, daemon(folder)?, DAEMON_UP, None)
    }

    /// A server that is another program, and up.
    pub(crate) fn running(name: &'static str, port: u16, child: Child) -> Self {
        Self { name, port, child, files: None }
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
        let command = daemon(files.path())?;
        *self = Self::start(self.name, command, DAEMON_UP, Some(files))?;
        Ok(())
    }

    fn start(
        name: &'static str,
        mut command: Command,
        marker: &str,
        files: Option<tempfile::TempDir>,
    ) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut output = BufReader::new(child.stdout.take().context("a child has an output")?);
        for line in output.by_ref().lines().map_while(Result::ok) {
            if let Some((_, rest)) = line.split_once(marker) {
                let port = rest.trim_end_matches('/').parse().context("a port")?;
                // A server that says more than a pipe holds would wait for ever.
                std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
                return Ok(Self { name, port, child, files });
            }
        }
        anyhow::bail!("{name} did not start")
    }

    /// The folder with its state, when it is the real daemon.
    pub(crate) fn data(&self) -> anyhow::Result<PathBuf> {
        let files = self.files.as_ref().context("a baseline keeps no state")?;
        Ok(files.path().join(".forecourt"))
    }

    /// The port of its HTTPS listener, when it is the real daemon.
    pub(crate) fn https_port(&self) -> anyhow::Result<u16> {
        self.told("https_port")
    }

    /// The port of its AGTP listener, when it is the real daemon.
    pub(crate) fn agtp_port(&self) -> anyhow::Result<u16> {
        self.told("agtp_port")
    }

    fn told(&self, port: &str) -> anyhow::Result<u16> {
        let serving: serde_json::Value = serde_json::from_slice(&std::fs::read(self.data()?.join("serving.json"))?)?;
        let port = serving[port].as_u64().context("it says its port")?;
        Ok(port.try_into()?)
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

/// The release binary, beside this one.
pub(crate) fn binary() -> anyhow::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("forecourt");
    ensure!(path.exists(), "{} is missing: cargo build --release -p forecourt-cli", path.display());
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

/// Limits that are on, but far away.
pub(crate) const OPEN_LIMITS: &str = "domain = \"demo.localhost\"\n\
    [limits]\n\
    per_address = { per_second = 1000000, burst = 1000000 }\n\
    per_session = { per_second = 1000000, burst = 1000000 }\n\
    tasks_per_caller_max = 1000\n\
    [http]\n\
    connections_per_address_max = 20000\n\
    connections_max = 20000\n";

const ECHO_AGENT: &str = "handle = \"echo\"\nname = \"Echo\"\n[backend]\nkind = \"echo\"\n";
