//! A real HAProxy for tests, in front of several nodes: plain HTTP on the loopback address, each request to the next
//! node in turn, no stickiness. It asks each node's operator's listener whether it is ready.

use std::fmt::Write as _;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const PROGRAM: &str = "/usr/sbin/haproxy";
/// How long it has to begin.
const PATIENCE: Duration = Duration::from_secs(30);
/// What is the same for all.
const HEAD: &str = "global
  log stderr format raw local0
defaults
  mode http
  timeout connect 2s
  timeout client 5m
  timeout server 5m
  timeout queue 5s
  retries 3
  option redispatch 1
  retry-on conn-failure
";

/// A node, as the balancer knows it.
#[derive(Debug, Clone, Copy)]
pub struct BalancedNode {
    /// Where it speaks plain HTTP.
    pub http: SocketAddr,
    /// Where it says whether it is ready.
    pub admin: SocketAddr,
}

/// A balancer that is up. Ends when it is dropped.
pub struct Haproxy {
    folder: TempDir,
    port: u16,
    process: Child,
}

impl Haproxy {
    /// A balancer over these nodes. `None`, and a line on standard error, when HAProxy is not installed.
    ///
    /// # Panics
    /// It is installed and does not start.
    pub fn start(nodes: &[BalancedNode]) -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            eprintln!("skipped: HAProxy is not installed ({PROGRAM})");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("forecourt-haproxy-").tempdir().expect("a folder");
        let file = folder.path().join("haproxy.cfg");
        let until = Instant::now() + PATIENCE;
        let (mut port, mut process) = spawn(&file, nodes);
        loop {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(Self { folder, port, process });
            }
            if process.try_wait().expect("its state").is_some() {
                // The port was free a moment ago and was taken in between: it tries another one.
                (port, process) = spawn(&file, nodes);
            }
            let log = || fs::read_to_string(file.with_extension("log")).unwrap_or_default();
            assert!(Instant::now() < until, "HAProxy does not start: {}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// What it wrote into its log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("haproxy.log")).unwrap_or_default()
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts it on a port that was free a moment ago.
fn spawn(file: &Path, nodes: &[BalancedNode]) -> (u16, Child) {
    let port = free_port();
    fs::write(file, settings(port, nodes)).expect("its settings");
    let log = fs::File::create(file.with_extension("log")).expect("its log");
    let mut command = Command::new(PROGRAM);
    command.arg("-db").arg("-f").arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    (port, command.spawn().expect("HAProxy starts"))
}

fn settings(port: u16, nodes: &[BalancedNode]) -> String {
    let mut text = format!(
        "{HEAD}\nfrontend in\n  bind 127.0.0.1:{port}\n  default_backend nodes\n\nbackend nodes\n  balance roundrobin\n  \
         option httpchk\n  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost\n  default-server inter 200ms fall 2 rise 1\n  http-response set-header x-served-by %s\n"
    );
    for (number, node) in nodes.iter().enumerate() {
        let BalancedNode { http, admin } = node;
        // Writing to text does not fail.
        let _ = writeln!(text, "  server node{number} {http} check port {}", admin.port());
    }
    text
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}
