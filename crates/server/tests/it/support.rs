//! A server on a free port and a client that writes bytes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::routing::{any, get, post};
use forecourt_core::ClientAddr;
use forecourt_server::{
    AllowedHosts, FrontSettings, HttpLimits, Listener, ListenerContext, Metrics, RouteClasses, TrustedProxies,
};
use forecourt_testkit::CountedEntropy;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body_util::{BodyExt, Full};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Longer than anything that is waited for; only a broken server lets it pass.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) stop: CancellationToken,
    pub(crate) done: JoinHandle<()>,
    /// Lets the answer of `/wait` go.
    pub(crate) release: Arc<Notify>,
    /// Told when a request has reached `/wait`.
    pub(crate) waiting: Arc<Notify>,
}

pub(crate) fn settings(limits: HttpLimits) -> FrontSettings {
    FrontSettings {
        hosts: AllowedHosts::new(["demo.localhost"], true),
        proxies: TrustedProxies::default(),
        limits,
        metrics: Arc::default(),
        classes: RouteClasses::new([("test", "/e")]),
        entropy: Arc::new(CountedEntropy::default()),
        hsts: None,
        leaving: Default::default(),
    }
}

pub(crate) async fn plain(limits: HttpLimits) -> TestServer {
    start(settings(limits), Listener::plain("127.0.0.1:0".parse().unwrap()).await.unwrap())
}

pub(crate) fn start(settings: FrontSettings, listener: Listener) -> TestServer {
    let (release, waiting) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let router = router(Arc::clone(&release), Arc::clone(&waiting));
    TestServer { release, waiting, ..serve(settings, listener, router) }
}

/// The same with routes of a test's own.
pub(crate) fn serve(settings: FrontSettings, listener: Listener, router: Router) -> TestServer {
    let (address, metrics, stop) = (listener.address(), Arc::clone(&settings.metrics), CancellationToken::new());
    let done = tokio::spawn(listener.serve(ListenerContext::new(settings), router, stop.clone()));
    TestServer { address, metrics, stop, done, release: Arc::default(), waiting: Arc::default() }
}

fn router(release: Arc<Notify>, waiting: Arc<Notify>) -> Router {
    let wait = move || async move {
        waiting.notify_one();
        release.notified().await;
        "waited"
    };
    let client = |request: Request| async move {
        request.extensions().get::<ClientAddr>().map(|client| client.0.to_string()).unwrap_or_default()
    };
    Router::new()
        .route("/e", get(async || "served").post(read_all))
        .route("/smuggled", any(async || "SMUGGLED"))
        .route("/panic", get(async || -> &'static str { panic!("as asked") }))
        .route("/wait", get(wait))
        .route("/client", get(client))
        .route("/own", get(async || ([("x-robots-tag", "all")], "own")))
        .route("/read", post(read_all))
        .route("/trailers", post(trailers))
}

async fn trailers() -> Body {
    let ended = HeaderMap::from_iter([(HeaderName::from_static("grpc-status"), HeaderValue::from_static("0"))]);
    Body::new(Full::from("one").with_trailers(std::future::ready(Some(Ok(ended)))))
}

async fn read_all(request: Request) -> Result<String, (http::StatusCode, &'static str)> {
    match axum::body::to_bytes(request.into_body(), 1024 * 1024).await {
        Ok(body) => Ok(format!("read {}", body.len())),
        Err(_) => Err((http::StatusCode::BAD_REQUEST, "broken body")),
    }
}

impl TestServer {
    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Requests that are half sent.
    pub(crate) fn arriving(&self) -> u64 {
        let mut registry = prometheus_client::registry::Registry::default();
        self.metrics.register(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("http_arriving "));
        line.and_then(|value| value.parse().ok()).unwrap_or_default()
    }

    /// Writes `bytes` and reads to the end of the connection.
    pub(crate) async fn exchange(&self, bytes: impl AsRef<[u8]>) -> String {
        exchange(self.connect().await, bytes).await
    }

    /// One GET on a connection of its own; the answer, head and body.
    pub(crate) async fn get(&self, path: &str, fields: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nHost: demo.localhost\r\nConnection: close\r\n{fields}\r\n");
        self.exchange(request).await
    }
}

pub(crate) async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, bytes: impl AsRef<[u8]>) -> String {
    // The server may have refused and closed before everything is written.
    let _ = stream.write_all(bytes.as_ref()).await;
    read_to_close(&mut stream).await
}

/// Everything until the server closes. A reset counts as the end.
pub(crate) async fn read_to_close(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut read = Vec::new();
    let mut piece = [0; 4096];
    loop {
        match timeout(PATIENCE, stream.read(&mut piece)).await.expect("the server closes in time") {
            Ok(0) | Err(_) => break,
            Ok(count) => read.extend_from_slice(&piece[..count]),
        }
    }
    String::from_utf8_lossy(&read).into_owned()
}

/// One answer of a connection that stays open: until `end` was read.
pub(crate) async fn read_until(stream: &mut (impl AsyncRead + Unpin), end: &str) -> String {
    let mut read = String::new();
    let mut piece = [0; 4096];
    while !read.ends_with(end) {
        let count = timeout(PATIENCE, stream.read(&mut piece)).await.expect("an answer in time").unwrap();
        assert!(count > 0, "closed after {read:?}");
        read.push_str(std::str::from_utf8(&piece[..count]).unwrap());
    }
    read
}

/// The status codes of all answers in `text`.
pub(crate) fn statuses(text: &str) -> Vec<u16> {
    let lines = text.split("\r\n").filter_map(|line| line.split("HTTP/1.1 ").nth(1).or(line.split("HTTP/1.0 ").nth(1)));
    lines.filter_map(|rest| rest.get(..3)?.parse().ok()).filter(|status| *status >= 200).collect()
}
