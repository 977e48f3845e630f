//! A protocol that is not HTTP: an echo of lines.

use std::sync::Arc;
use std::time::Duration;

use forecourt_server::{
    AllowedHosts, Certificates, ClientCertificates, Connection, Metrics, Speak, StreamListener, StreamSettings,
    local_ca,
};
use forecourt_testkit::CountedEntropy;
use rustls::version::{TLS12, TLS13};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::read_to_close;
use crate::tls::{connect, connect_with, days_from_now};

pub(crate) struct Echo {
    pub(crate) address: std::net::SocketAddr,
    metrics: Arc<Metrics>,
    stop: CancellationToken,
    done: JoinHandle<()>,
}

/// Answers lines with themselves, and says who it thinks is there first.
fn echo() -> Speak {
    Arc::new(|connection: Connection| {
        Box::pin(async move {
            let Connection { stream, peer, tls, certificates, stop, requests, .. } = connection;
            let mut stream = BufReader::new(stream);
            let hello = format!("{peer} {tls} {}\n", certificates.len());
            let _ = stream.write_all(hello.as_bytes()).await;
            let _ = stream.flush().await;
            let mut line = String::new();
            loop {
                line.clear();
                tokio::select! {
                    read = stream.read_line(&mut line) => if !matches!(read, Ok(1..)) { return },
                    () = stop.cancelled() => return,
                }
                let request = requests.begin("LINE");
                let _ = stream.write_all(line.as_bytes()).await;
                let _ = stream.flush().await;
                request.answered(200, line.len() as u64);
            }
        })
    })
}

pub(crate) fn start(listener: StreamListener, change: impl FnOnce(&mut StreamSettings)) -> Echo {
    let (address, metrics, stop) = (listener.address(), Arc::<Metrics>::default(), CancellationToken::new());
    let mut settings = StreamSettings {
        protocol: "echo",
        connections_max: 10,
        connections_per_address_max: 10,
        handshake_time: Duration::from_secs(10),
        drain_time: Duration::from_secs(10),
        metrics: metrics.clone(),
        entropy: Arc::new(CountedEntropy::default()),
    };
    change(&mut settings);
    let done = tokio::spawn(listener.serve(settings, echo(), stop.clone()));
    Echo { address, metrics, stop, done }
}

async fn plain(change: impl FnOnce(&mut StreamSettings)) -> Echo {
    start(StreamListener::plain("127.0.0.1:0".parse().unwrap()).await.unwrap(), change)
}

async fn line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).await.unwrap();
    line
}

#[tokio::test]
async fn lines_come_back_until_the_host_stops() {
    let echo = plain(|_| {}).await;
    let mut stream = BufReader::new(TcpStream::connect(echo.address).await.unwrap());
    assert_eq!(line(&mut stream).await, "127.0.0.1 false 0\n");
    stream.write_all(b"one\n").await.unwrap();
    assert_eq!(line(&mut stream).await, "one\n");
    echo.stop.cancel();
    assert_eq!(read_to_close(&mut stream).await, "");
    echo.done.await.unwrap();
}

#[tokio::test]
async fn plain_bytes_stay_on_loopback() {
    assert!(StreamListener::plain("0.0.0.0:0".parse().unwrap()).await.is_err());
}

#[tokio::test]
async fn one_more_than_there_is_room_for_is_closed() {
    let echo = plain(|settings| settings.connections_per_address_max = 1).await;
    let mut first = BufReader::new(TcpStream::connect(echo.address).await.unwrap());
    line(&mut first).await;
    let mut second = TcpStream::connect(echo.address).await.unwrap();
    assert_eq!(read_to_close(&mut second).await, "");
    first.write_all(b"still\n").await.unwrap();
    assert_eq!(line(&mut first).await, "still\n");
}

#[tokio::test]
async fn security_10_only_the_newest_tls_and_the_protocols_own_name_or_none() {
    let folder = TempDir::new().unwrap();
    let files = local_ca::ensure(folder.path(), "demo.localhost", days_from_now(-1)).unwrap();
    let certificates = Certificates::load(files, AllowedHosts::new(["demo.localhost"], true)).unwrap();
    let config = certificates.stream_config(b"lines", &ClientCertificates::Ignored).unwrap();
    assert_eq!(config.max_early_data_size, 0, "nothing is taken before the handshake is done");
    let config = Arc::new(config);
    let listener = StreamListener::tls("127.0.0.1:0".parse().unwrap(), config).await.unwrap();
    let echo = start(listener, |settings| settings.handshake_time = Duration::from_millis(300));

    // A handshake that never ends is in nobody's way, and is given up.
    let mut silent = TcpStream::connect(echo.address).await.unwrap();
    for alpn in [&["lines"][..], &[]] {
        let stream = connect(echo.address, folder.path(), "demo.localhost", alpn).await.unwrap();
        let mut stream = BufReader::new(stream);
        let mut hello = String::new();
        stream.read_line(&mut hello).await.unwrap();
        assert_eq!(hello, "127.0.0.1 true 0\n");
    }
    assert!(connect(echo.address, folder.path(), "demo.localhost", &["h2"]).await.is_err());
    assert!(connect_with(&[&TLS12], echo.address, folder.path(), "demo.localhost", &["lines"]).await.is_err());
    assert!(connect_with(&[&TLS13], echo.address, folder.path(), "demo.localhost", &["lines"]).await.is_ok());
    assert!(connect(echo.address, folder.path(), "other.example", &[]).await.is_err());
    assert_eq!(read_to_close(&mut silent).await, "");
    echo.stop.cancel();
    echo.done.await.unwrap();
    let mut registry = prometheus_client::registry::Registry::default();
    echo.metrics.register(&mut registry);
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    assert!(text.contains("http_connections_refused_total{reason=\"handshake\"} 4"), "{text}");
    assert!(text.contains("http_connections 0"), "{text}");
}

#[tokio::test]
async fn connections_and_requests_are_counted_by_protocol() {
    let echo = plain(|_| {}).await;
    let mut stream = BufReader::new(TcpStream::connect(echo.address).await.unwrap());
    line(&mut stream).await;
    for said in ["one\n", "two\n", "three\n"] {
        stream.write_all(said.as_bytes()).await.unwrap();
        assert_eq!(line(&mut stream).await, said);
    }
    drop(stream);
    echo.stop.cancel();
    echo.done.await.unwrap();

    let mut registry = prometheus_client::registry::Registry::default();
    echo.metrics.register(&mut registry);
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    for said in [
        "stream_connections_total{protocol=\"echo\"} 1",
        "stream_requests_total{protocol=\"echo\",method=\"LINE\",status=\"2xx\"} 3",
        "stream_request_seconds_count{protocol=\"echo\"} 3",
    ] {
        assert!(text.contains(said), "{said} is not in\n{text}");
    }
}
