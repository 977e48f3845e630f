//! A NATS server of a test's own.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take to open its port.
const OPEN_TIME_MAX: Duration = Duration::from_secs(20);

/// A server on a free port of loopback, with JetStream in a temporary folder. It ends with the test.
pub struct NatsServer {
    child: Option<Child>,
    port: u16,
    words: Vec<String>,
    folder: PathBuf,
}

impl NatsServer {
    /// Starts one; `None`, and a word on standard error, where none is installed.
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// The same with more words on its command line, such as `--user ann --pass secret`.
    pub fn start_with(words: &[&str]) -> Option<Self> {
        let mut version = Command::new("nats-server");
        version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        if !version.status().is_ok_and(|status| status.success()) {
            eprintln!("skipped: nats-server is not installed");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port").port();
        let folder = std::env::temp_dir().join(format!("forecourt-nats-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for a test");
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let mut server = Self { child: None, port, words, folder };
        server.start_again();
        Some(server)
    }

    /// Where it is, without a name or password.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends it at once; connections break.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts it again on the same port, after [`Self::stop`].
    pub fn start_again(&mut self) {
        assert!(self.child.is_none(), "it runs");
        let mut command = Command::new("nats-server");
        command.args(["--addr", "127.0.0.1", "--port"]).arg(self.port.to_string());
        command.args(["--jetstream", "--store_dir"]).arg(&self.folder).args(&self.words);
        self.child = Some(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("nats-server starts"));
        let until = Instant::now() + OPEN_TIME_MAX;
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < until, "nats-server does not open its port");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Lets it stand still: connections stay open, and nothing is said on them.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on after [`Self::pause`].
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let Some(child) = &self.child else { return };
        let sent = Command::new("kill").arg(signal).arg(child.id().to_string()).status();
        assert!(sent.is_ok_and(|status| status.success()), "the server can't be signalled");
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
