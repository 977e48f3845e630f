//! An engine that speaks the search API of OpenSearch, in memory and strict: what the public documents do not know of a
//! request is refused, as is what is too large; only what was refreshed is found.

mod double;
mod query;
mod score;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use double::SearchDouble;

/// A double that listens on a port of loopback, until it is dropped.
pub struct SearchEngine {
    /// What it was asked, and how it answers.
    pub double: Arc<SearchDouble>,
    address: SocketAddr,
    runtime: Option<tokio::runtime::Runtime>,
}

impl SearchEngine {
    /// Starts one, without any index.
    pub fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
        let double = Arc::new(SearchDouble::default());
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("an address");
        let routes = double::routes(double.clone());
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            axum::serve(listener, routes).await.expect("it serves");
        });
        Self { double, address, runtime: Some(runtime) }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for SearchEngine {
    fn drop(&mut self) {
        // Tests are asynchronous, and must not wait for its threads.
        self.runtime.take().into_iter().for_each(tokio::runtime::Runtime::shutdown_background);
    }
}

/// Somebody else's server in memory that speaks the same API, `osmem-server` of PyPI. It ends with the test.
pub struct OsmemServer {
    child: Child,
    _leash: ChildStdin,
    url: String,
}

/// How long it may take to open its port.
const OPEN_TIME_MAX: Duration = Duration::from_secs(30);

/// Where `dev/sdk/setup` puts it: in the library of whichever Python there is.
fn installed() -> Option<PathBuf> {
    let library = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.cache/sdk/osmem/lib");
    let versions = std::fs::read_dir(library).ok()?.filter_map(Result::ok);
    let programs = versions.map(|version| version.path().join("site-packages/osmem_server/bin/osmem-server"));
    programs.into_iter().find(|program| program.exists())
}

impl OsmemServer {
    /// Starts one; `None`, and a word on standard error, where it is not installed and `OSMEM_SERVER_BIN` names none.
    pub fn start() -> Option<Self> {
        let Some(program) = std::env::var_os("OSMEM_SERVER_BIN").map(PathBuf::from).or_else(installed) else {
            eprintln!("skipped: dev/sdk/setup has not installed osmem-server, and OSMEM_SERVER_BIN names none");
            return None;
        };
        let address = format!("127.0.0.1:{}", crate::free_port());
        let mut command = Command::new(program);
        command.args(["-addr", &address, "-no-ja"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("osmem-server starts");
        // It ends when its input does, so that it never outlives a test that was killed.
        let leash = child.stdin.take().expect("an input");
        let until = Instant::now() + OPEN_TIME_MAX;
        while std::net::TcpStream::connect(&address).is_err() {
            assert!(Instant::now() < until, "osmem-server does not open its port");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(Self { child, _leash: leash, url: format!("http://{address}") })
    }

    /// Where it is.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for OsmemServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
