//! A deployment in a folder of its own, and the binary that serves it.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::wire::{Answer, curl};

/// How long anything may take that is waited for. Far above what it does take, so that a busy
/// machine fails no test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// The domain of every deployment here.
pub(crate) const DOMAIN: &str = "demo.localhost";

/// The words for `serve` that leave its ports to the system.
pub(crate) const FREE_PORTS: [&str; 8] =
    ["--http", "127.0.0.1:0", "--https", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--agtp", "127.0.0.1:0"];

/// A deployment that can be changed before, and while, it is served.
pub(crate) struct Deployment {
    folder: TempDir,
    program: PathBuf,
}

impl Deployment {
    /// The demonstration kitchen with a few of its recipes and without its manual, so that it opens quickly.
    pub(crate) fn kitchen() -> Self {
        let deployment = Self::of_kitchen(&["chef", "echo", "gate"]);
        let recipes = from_kitchen("content/recipes.jsonl");
        let chosen = recipes.lines().enumerate().filter(|(n, line)| n % 50 == 0 || line.contains("chickpea"));
        let chosen: Vec<&str> = chosen.map(|(_, line)| line).collect();
        deployment.write("content/recipes.jsonl", &(chosen.join("\n") + "\n"));
        deployment
    }

    /// The same with @guide, who reads the whole manual before it opens.
    pub(crate) fn kitchen_with_guide() -> Self {
        Self::kitchen().and("agents/guide.toml", &from_kitchen("agents/guide.toml"))
    }

    /// The kitchen's @echo and @gate alone: nothing to index, so it opens at once.
    pub(crate) fn gatehouse() -> Self {
        let deployment = Self::of_kitchen(&["echo", "gate"]);
        deployment.edit("forecourt.toml", "default_agent = \"chef\"", "default_agent = \"gate\"");
        deployment
    }

    fn of_kitchen(agents: &[&str]) -> Self {
        let deployment = Self::empty();
        deployment.write("forecourt.toml", &from_kitchen("forecourt.toml"));
        for agent in agents {
            let name = format!("agents/{agent}.toml");
            deployment.write(&name, &from_kitchen(&name));
        }
        deployment
    }

    /// The Agent-ID of an agent here, once it was served.
    pub(crate) fn agent_id(&self, handle: &str) -> String {
        let file = self.data().join(format!("agents/{handle}.genesis.json")).display().to_string();
        self.run("genesis", ["hash", file.as_str()]).fine().trim().to_owned()
    }

    /// An example of the repository, whole.
    pub(crate) fn of_example(name: &str) -> Self {
        let deployment = Self::empty();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
        for entry in walkdir::WalkDir::new(&from).into_iter().map(Result::unwrap).filter(|e| e.file_type().is_file()) {
            let name = entry.path().strip_prefix(&from).unwrap();
            // What serving the example left behind is not a part of it.
            if !name.starts_with(".forecourt") && !name.iter().any(|part| part == "__pycache__") {
                deployment.write(name.to_str().unwrap(), &fs::read_to_string(entry.path()).unwrap_or_default());
            }
        }
        deployment
    }

    /// A folder with nothing in it, for `init`.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), program: env!("CARGO_BIN_EXE_forecourt").into() }
    }

    /// The same deployment for another build of the program.
    #[must_use]
    pub(crate) fn run_by(self, program: PathBuf) -> Self {
        Self { program, ..self }
    }

    /// The program that runs it.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// A deployment of one agent, `@agent`, with this backend.
    pub(crate) fn of_backend(backend: &str) -> Self {
        let deployment = Self::empty();
        deployment.write("forecourt.toml", "domain = \"demo.localhost\"\n");
        deployment.write("agents/agent.toml", &format!("handle = \"agent\"\nname = \"Agent\"\n\n[backend]\n{backend}"));
        deployment
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The text of a file.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// Writes a file, in one step as seen from outside.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let fresh = file.with_extension("fresh");
        fs::write(&fresh, text).unwrap();
        fs::rename(&fresh, &file).unwrap();
    }

    /// Replaces `from`, which must be there, in a file.
    pub(crate) fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{name} holds no {from:?}");
        self.write(name, &text.replace(from, to));
    }

    /// The same deployment with lines put under the heading of a table of `forecourt.toml`.
    #[must_use]
    pub(crate) fn with(self, table: &str, lines: &str) -> Self {
        let heading = format!("[{table}]\n");
        match self.read("forecourt.toml").contains(&heading) {
            true => self.edit("forecourt.toml", &heading, &format!("{heading}{lines}\n")),
            false => {
                let text = self.read("forecourt.toml");
                self.write("forecourt.toml", &format!("{text}\n{heading}{lines}\n"));
            }
        }
        self
    }

    /// The same deployment, in which callbacks and webhooks may go to this machine over plain HTTP.
    #[must_use]
    pub(crate) fn open_to_loopback(self) -> Self {
        self.with("egress", "allow = [\"127.0.0.0/8\", \"::1/128\"]\nallow_http = true")
    }

    /// The same deployment with another file.
    #[must_use]
    pub(crate) fn and(self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self
    }

    /// Where state is kept, and where the program believes that its user's state is.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join(".forecourt")
    }

    /// The program, to be given arguments: in this folder, and out of the way of its user's own.
    pub(crate) fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(name).current_dir(self.path()).env("XDG_STATE_HOME", self.path().join("state"));
        for variable in ["FORECOURT_DATA_DIR", "FORECOURT_LOG", "FORECOURT_TOKEN"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run<I: AsRef<OsStr>>(&self, name: &str, arguments: impl IntoIterator<Item = I>) -> Ran {
        self.run_with(name, arguments, &[])
    }

    /// The same, with variables in its environment.
    pub(crate) fn run_with<I: AsRef<OsStr>>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = I>,
        variables: &[(&'static str, String)],
    ) -> Ran {
        let mut command = self.command(name);
        command.args(arguments).envs(variables.iter().map(|(name, value)| (*name, value)));
        Ran::of(&mut command)
    }

    /// Serves it on free ports.
    pub(crate) fn serve(self) -> Served {
        Served::start(self, &FREE_PORTS, &[])
    }

    /// The same, on the sockets of these words.
    pub(crate) fn serve_on(self, words: &[&str]) -> Served {
        Served::start(self, words, &[])
    }

    /// The same, with variables in its environment.
    pub(crate) fn serve_with(self, words: &[&str], variables: &[(&str, &str)]) -> Served {
        Served::start(self, words, variables)
    }
}

/// A file of the demonstration kitchen.
fn from_kitchen(name: &str) -> String {
    let kitchen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kitchen");
    fs::read_to_string(kitchen.join(name)).unwrap()
}

/// What a command said before it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Runs a command to its end, with nothing to read.
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// What stands on standard output, for a command that must have gone well.
    #[track_caller]
    pub(crate) fn fine(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// Standard output as JSON, for a command that must have gone well.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.fine()).unwrap()
    }

    /// What stands on standard error, for a command that must have ended with `code`.
    #[track_caller]
    pub(crate) fn failed(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        self.stderr
    }
}

/// A deployment that is being served. Killed when dropped.
pub(crate) struct Served {
    pub(crate) deployment: Deployment,
    child: Child,
    pub(crate) http: u16,
    pub(crate) https: u16,
    pub(crate) admin: u16,
    /// The gateway from HTTP to AGTP; 0 without one.
    pub(crate) gateway: u16,
    /// Where it says that programs reach all of it.
    pub(crate) hubs: String,
    /// What it has logged, once it has ended.
    log: Option<thread::JoinHandle<String>>,
}

impl Served {
    fn start(deployment: Deployment, words: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = deployment.command("serve");
        command.args(words).envs(variables.iter().copied());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let log = thread::spawn(move || {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).unwrap();
            String::from_utf8_lossy(&text).into_owned()
        });
        let banner = lines_of(child.stdout.take().unwrap());
        let mut served =
            Self { deployment, child, http: 0, https: 0, admin: 0, gateway: 0, hubs: String::new(), log: Some(log) };
        let until = Instant::now() + PATIENCE;
        while served.admin == 0 {
            let Ok(line) = banner.recv_timeout(until.saturating_duration_since(Instant::now())) else {
                panic!("the daemon does not open");
            };
            served.read_banner(line.trim());
        }
        served
    }

    fn read_banner(&mut self, line: &str) {
        let port = || line.rsplit(':').next()?.split('/').next()?.parse().ok();
        match line.split_whitespace().next() {
            Some("in") => self.http = port().unwrap(),
            // A base of its own may have no port.
            Some("public") => self.https = port().unwrap_or_default(),
            Some("for") => self.hubs = line.trim_start_matches("for programs").trim().to_owned(),
            Some("gateway") => self.gateway = port().unwrap(),
            Some("operator") => self.admin = port().unwrap(),
            _ => {}
        }
    }

    /// A URL of the plain listener.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{DOMAIN}:{}{path}", self.http)
    }

    /// A URL of the TLS listener.
    pub(crate) fn https_url(&self, path: &str) -> String {
        format!("https://{DOMAIN}:{}{path}", self.https)
    }

    /// The certificate of its local authority.
    pub(crate) fn ca(&self) -> String {
        self.deployment.data().join("ca.pem").display().to_string()
    }

    /// `curl URL ARGUMENTS…` on the plain listener.
    #[track_caller]
    pub(crate) fn curl(&self, path: &str, arguments: &[&str]) -> Answer {
        curl(&self.url(path), arguments)
    }

    /// The same on the TLS listener, trusting its authority.
    #[track_caller]
    pub(crate) fn curl_tls(&self, path: &str, arguments: &[&str]) -> Answer {
        let ca = self.ca();
        curl(&self.https_url(path), &[&["--cacert", &ca], arguments].concat())
    }

    /// A page of the operator's listener.
    #[track_caller]
    pub(crate) fn operator(&self, path: &str) -> Answer {
        curl(&format!("http://127.0.0.1:{}{path}", self.admin), &[])
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).unwrap();
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap())
    }

    /// Waits for its end; gives how it ended and what it has logged.
    #[track_caller]
    pub(crate) fn ended(mut self) -> (ExitStatus, String, Deployment) {
        let status = within("the daemon ends", || self.child.try_wait().unwrap());
        let log = self.log.take().unwrap().join().unwrap();
        let deployment = std::mem::replace(&mut self.deployment, Deployment::empty());
        (status, log, deployment)
    }

    /// Ends it the hard way, and gives back the deployment with all that was written to disk.
    pub(crate) fn killed(self) -> Deployment {
        self.signal(Signal::SIGKILL);
        self.ended().2
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let (true, Some(log)) = (thread::panicking(), self.log.take()) {
            eprintln!("---- the daemon's log ----\n{}", log.join().unwrap_or_default());
        }
    }
}

/// The lines of a stream as they come.
pub(crate) fn lines_of(stream: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                // Nobody listens any more, but the writer must not be stopped by that.
                continue;
            }
        }
    });
    receive
}

/// Looks again and again until there is something, within [`PATIENCE`].
#[track_caller]
pub(crate) fn within<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within_time(PATIENCE, what, look)
}

/// The same with another patience.
pub(crate) fn within_time<T>(patience: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + patience;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "it never came to pass that {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
