//! TLS with the local authority: who is served, what is negotiated, and what changes while serving.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Timestamp;
use forecourt_server::tls::CertificateFiles;
use forecourt_server::{AllowedHosts, Certificates, HttpLimits, Listener, TlsError, local_ca};
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::support::{TestServer, exchange, read_to_close, settings, start, statuses};

const DOMAIN: &str = "demo.localhost";
const DAY: i64 = 24 * 3600;
const GET: &str = "GET /e HTTP/1.1\r\nHost: demo.localhost\r\nConnection: close\r\n\r\n";

fn hosts() -> AllowedHosts {
    AllowedHosts::new([DOMAIN], true)
}

pub(crate) fn days_from_now(days: i64) -> Timestamp {
    Timestamp::from_second(Timestamp::now().as_second() + days * DAY).unwrap()
}

async fn serve(folder: &Path, limits: HttpLimits, hsts: bool) -> (TestServer, Arc<Certificates>) {
    // Made so long ago that it is due for renewal, and still good.
    let files = local_ca::ensure(folder, DOMAIN, days_from_now(-84)).unwrap();
    let certificates = Certificates::load(files, hosts()).unwrap();
    let config = certificates.http_config().unwrap();
    let listener = Listener::tls("127.0.0.1:0".parse().unwrap(), config).await.unwrap();
    let mut settings = settings(limits);
    settings.hsts = hsts.then_some(31_536_000);
    (start(settings, listener), certificates)
}

pub(crate) async fn connect(
    address: SocketAddr,
    folder: &Path,
    name: &str,
    alpn: &[&str],
) -> std::io::Result<TlsStream<TcpStream>> {
    connect_with(rustls::DEFAULT_VERSIONS, address, folder, name, alpn).await
}

/// [`connect`] by a client that speaks these versions.
pub(crate) async fn connect_with(
    versions: &[&'static rustls::SupportedProtocolVersion],
    address: SocketAddr,
    folder: &Path,
    name: &str,
    alpn: &[&str],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(local_ca::ca_certificate(folder)).unwrap()).unwrap();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let stream = TcpStream::connect(address).await?;
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(name.to_owned()).unwrap(), stream).await
}

fn certificate(stream: &TlsStream<TcpStream>) -> Vec<u8> {
    stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()
}

#[tokio::test]
async fn every_name_of_the_development_certificate_is_served() {
    let folder = TempDir::new().unwrap();
    let (server, _) = serve(folder.path(), HttpLimits::default(), false).await;
    for name in [DOMAIN, "localhost", "127.0.0.1"] {
        let stream = connect(server.address, folder.path(), name, &["http/1.1"]).await.unwrap();
        let answer = exchange(stream, GET).await;
        assert_eq!(statuses(&answer), [200], "{name}");
        assert!(!answer.contains("strict-transport-security"));
    }
}

#[tokio::test]
async fn s1_an_unknown_name_fails_the_handshake() {
    let folder = TempDir::new().unwrap();
    let (server, _) = serve(folder.path(), HttpLimits::default(), false).await;
    assert!(connect(server.address, folder.path(), "evil.example", &[]).await.is_err());
    assert!(
        connect(server.address, folder.path(), "a.demo.localhost", &[]).await.is_err(),
        "served by the certificate only"
    );
}

#[tokio::test]
async fn s1_protocols_are_negotiated_and_foreign_ones_refused() {
    let folder = TempDir::new().unwrap();
    let (server, _) = serve(folder.path(), HttpLimits::default(), true).await;
    let stream = connect(server.address, folder.path(), DOMAIN, &["h2", "http/1.1"]).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
    assert!(connect(server.address, folder.path(), DOMAIN, &["agtp"]).await.is_err());
}

#[tokio::test]
async fn http_2_requests_are_answered() {
    let folder = TempDir::new().unwrap();
    let (server, _) = serve(folder.path(), HttpLimits::default(), true).await;
    let stream = connect(server.address, folder.path(), DOMAIN, &["h2"]).await.unwrap();
    let io = hyper_util::rt::TokioIo::new(stream);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(hyper_util::rt::TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    let mut ask = async |uri: &str| {
        let request = http::Request::get(uri).body(http_body_util::Empty::<bytes::Bytes>::new()).unwrap();
        sender.send_request(request).await.unwrap()
    };
    let answer = ask("https://demo.localhost/e").await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["strict-transport-security"], "max-age=31536000");
    assert_eq!(ask("https://evil.example/e").await.status(), 421);
}

#[tokio::test]
async fn s1_half_a_handshake_is_cut_off() {
    let folder = TempDir::new().unwrap();
    let limits = HttpLimits { handshake_time: Duration::from_millis(200), ..HttpLimits::default() };
    let (server, _) = serve(folder.path(), limits, false).await;
    let mut stream = server.connect().await;
    stream.write_all(&[0x16, 3, 1, 2, 0, 1, 0]).await.unwrap();
    read_to_close(&mut stream).await;
    assert_eq!(statuses(&server.exchange(GET).await), [] as [u16; 0], "plain HTTP is no handshake");
}

#[tokio::test]
async fn a_new_certificate_is_used_without_a_restart() {
    let folder = TempDir::new().unwrap();
    let (server, certificates) = serve(folder.path(), HttpLimits::default(), false).await;
    let before = connect(server.address, folder.path(), DOMAIN, &[]).await.unwrap();
    assert!(!certificates.reload().unwrap(), "nothing has changed");

    local_ca::ensure(folder.path(), DOMAIN, Timestamp::now()).unwrap();
    assert!(certificates.reload().unwrap());
    let after = connect(server.address, folder.path(), DOMAIN, &[]).await.unwrap();
    assert_ne!(certificate(&before), certificate(&after));
    assert_eq!(statuses(&exchange(before, GET).await), [200], "open connections go on");

    std::fs::write(folder.path().join("cert.pem"), "not a certificate").unwrap();
    assert!(matches!(certificates.reload(), Err(TlsError::Content { .. })));
    let still = connect(server.address, folder.path(), DOMAIN, &[]).await.unwrap();
    assert_eq!(certificate(&after), certificate(&still));
}

#[tokio::test]
async fn watched_files_are_renewed_and_taken() {
    let folder = TempDir::new().unwrap();
    let (server, certificates) = serve(folder.path(), HttpLimits::default(), false).await;
    let first = certificate(&connect(server.address, folder.path(), DOMAIN, &[]).await.unwrap());
    let (data, renewals) = (folder.path().to_owned(), Arc::new(tokio::sync::Notify::new()));
    let renewed = Arc::clone(&renewals);
    let watch = tokio::spawn(async move {
        let renew = || {
            local_ca::ensure(&data, DOMAIN, Timestamp::now()).unwrap();
            renewed.notify_one();
        };
        certificates.watch(Duration::from_millis(10), renew).await;
    });
    // The second look comes after the reload of the first.
    renewals.notified().await;
    renewals.notified().await;
    watch.abort();
    let second = certificate(&connect(server.address, folder.path(), DOMAIN, &[]).await.unwrap());
    assert_ne!(first, second);
}

#[test]
fn the_local_certificate_is_kept_until_a_week_before_its_end() {
    let folder = TempDir::new().unwrap();
    let read = || std::fs::read(folder.path().join("cert.pem")).unwrap();
    let ensure = |domain: &str, days| {
        local_ca::ensure(folder.path(), domain, days_from_now(days)).unwrap();
        (read(), std::fs::read(local_ca::ca_certificate(folder.path())).unwrap())
    };
    let (first, authority) = ensure(DOMAIN, 0);
    assert_eq!(ensure(DOMAIN, 82).0, first);
    let (second, same) = ensure(DOMAIN, 84);
    assert_ne!(second, first);
    let (third, also_same) = ensure("other.localhost", 84);
    assert_ne!(third, second);
    assert_eq!((&same, &also_same), (&authority, &authority), "people have trusted it");
}

#[test]
fn a_certificate_that_does_not_fit_its_key_or_authority_is_made_again() {
    let folder = TempDir::new().unwrap();
    let other = TempDir::new().unwrap();
    let ensure = |folder: &Path| local_ca::ensure(folder, DOMAIN, Timestamp::now()).unwrap();
    let (files, foreign) = (ensure(folder.path()), ensure(other.path()));
    std::fs::copy(&foreign.key, &files.key).unwrap();
    assert!(Certificates::load(files.clone(), hosts()).is_err());
    ensure(folder.path());
    assert!(Certificates::load(files.clone(), hosts()).is_ok());
    std::fs::copy(&foreign.key, &files.key).unwrap();
    std::fs::copy(&foreign.certificate, &files.certificate).unwrap();
    let foreign_certificate = std::fs::read(&files.certificate).unwrap();
    ensure(folder.path());
    assert_ne!(std::fs::read(&files.certificate).unwrap(), foreign_certificate);
}

#[test]
fn private_keys_are_readable_by_their_owner_only() {
    let folder = TempDir::new().unwrap();
    local_ca::ensure(folder.path(), DOMAIN, Timestamp::now()).unwrap();
    for key in ["ca.key", "key.pem"] {
        let mode = std::fs::metadata(folder.path().join(key)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{key}");
    }
}

#[test]
fn files_that_are_missing_or_wrong_are_named() {
    let folder = TempDir::new().unwrap();
    let files = CertificateFiles { certificate: folder.path().join("c.pem"), key: folder.path().join("k.pem") };
    let error = || Certificates::load(files.clone(), hosts()).unwrap_err().to_string();
    assert!(error().contains("c.pem"));
    std::fs::write(&files.certificate, "-----BEGIN NOTHING-----").unwrap();
    std::fs::write(&files.key, "secret text").unwrap();
    assert!(error().contains("c.pem") && !error().contains("secret text"));
}
