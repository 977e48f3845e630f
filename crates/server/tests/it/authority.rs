//! What certificate authorities ask, where HTTPS is, and certificates by name.

use std::path::Path;
use std::sync::Arc;

use forecourt_core::Timestamp;
use forecourt_server::tls::{ACME_ALPN, CertificateEntry, HttpChallenges};
use forecourt_server::{AllowedHosts, Certificates, HttpLimits, Listener, local_ca};
use futures::future::BoxFuture;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::support::{TestServer, exchange, read_to_close, settings, start, statuses};
use crate::tls::connect;

struct OneToken;

impl HttpChallenges for OneToken {
    fn answer<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move { (token == "tok-en_1").then(|| "tok-en_1.thumb".to_owned()) })
    }
}

async fn plain(redirect: Option<u16>) -> TestServer {
    let address = "127.0.0.1:0".parse().unwrap();
    let listener = match redirect {
        Some(port) => Listener::redirecting(address, port).await.unwrap(),
        None => Listener::plain(address).await.unwrap(),
    };
    let mut settings = settings(HttpLimits::default());
    settings.hosts = AllowedHosts::new(["shop.example", "*.shop.example"], false);
    start(settings, listener.answering(Arc::new(OneToken)))
}

fn get(host: &str, target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
}

#[tokio::test]
async fn a_token_is_answered_whomever_the_request_is_for() {
    for redirect in [None, Some(443)] {
        let server = plain(redirect).await;
        for host in ["shop.example", "not-yet.example", "127.0.0.1"] {
            let answer = server.exchange(get(host, "/.well-known/acme-challenge/tok-en_1")).await;
            assert!(statuses(&answer) == [200] && answer.ends_with("\r\n\r\ntok-en_1.thumb"), "{answer}");
        }
        let long = "a".repeat(129);
        for token in ["", "other", "tok-en_1/", "../tok-en_1", "tok%2Den_1", long.as_str()] {
            let answer = server.exchange(get("shop.example", &format!("/.well-known/acme-challenge/{token}"))).await;
            assert_eq!(statuses(&answer), [404], "{token}: {answer}");
        }
        let post = "POST /.well-known/acme-challenge/tok-en_1 HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        assert_eq!(statuses(&server.exchange(post).await), [404]);
    }
}

#[tokio::test]
async fn everything_else_is_sent_to_https_and_served_to_nobody() {
    let server = plain(Some(443)).await;
    for (host, target, place) in [
        ("shop.example", "/e?user=a%20b", "https://shop.example/e?user=a%20b"),
        ("a.SHOP.example:80", "/", "https://a.SHOP.example/"),
    ] {
        let answer = server.exchange(get(host, target)).await;
        assert_eq!(statuses(&answer), [308], "{answer}");
        assert!(answer.contains(&format!("location: {place}\r\n")), "{answer}");
        assert!(!answer.contains("served"), "{answer}");
    }
    let other = plain(Some(8443)).await.exchange(get("shop.example", "/")).await;
    assert!(other.contains("location: https://shop.example:8443/\r\n"), "{other}");
}

#[tokio::test]
async fn a_redirect_leads_to_no_host_of_a_stranger() {
    let server = plain(Some(443)).await;
    for host in ["evil.example", "evil.example@shop.example", "shop.example.evil.example", "127.0.0.1"] {
        let answer = server.exchange(get(host, "/")).await;
        assert!(!answer.contains("location:") && matches!(statuses(&answer)[..], [400 | 421]), "{host}: {answer}");
    }
    let answer = server.exchange(get("shop.example", "//evil.example/")).await;
    assert!(answer.contains("location: https://shop.example//evil.example/\r\n"), "{answer}");
}

/// Certificates for two domains, each by its own name.
fn two_domains(folder: &Path) -> Arc<Certificates> {
    let entry = |domain: &str| {
        let files = local_ca::ensure_beside(folder, domain, Timestamp::now()).unwrap();
        CertificateEntry::from_files(files, AllowedHosts::new([domain.to_owned(), format!("*.{domain}")], false))
            .unwrap()
    };
    let certificates = Certificates::empty();
    certificates.replace(vec![entry("one.example"), entry("two.example")]);
    certificates
}

async fn tls(certificates: &Arc<Certificates>) -> TestServer {
    let config = certificates.http_config().unwrap();
    let mut settings = settings(HttpLimits::default());
    settings.hosts = AllowedHosts::new(["one.example", "two.example"], false);
    start(settings, Listener::tls("127.0.0.1:0".parse().unwrap(), config).await.unwrap())
}

#[tokio::test]
async fn each_domain_has_its_certificate_and_a_removed_one_none() {
    let folder = TempDir::new().unwrap();
    let certificates = two_domains(folder.path());
    let server = tls(&certificates).await;
    let get = |name: &str| get(name, "/e");
    let open = connect(server.address, folder.path(), "two.example", &[]).await.unwrap();
    for name in ["one.example", "two.example"] {
        let stream = connect(server.address, folder.path(), name, &[]).await.unwrap();
        assert_eq!(statuses(&exchange(stream, get(name)).await), [200], "{name}");
    }
    assert!(connect(server.address, folder.path(), "three.example", &[]).await.is_err());
    let first = certificates.entries()[0].clone();
    certificates.replace(vec![first]);
    assert!(connect(server.address, folder.path(), "two.example", &[]).await.is_err());
    assert_eq!(statuses(&exchange(open, get("two.example")).await), [200], "open connections go on");
}

#[tokio::test]
async fn an_authority_that_asks_within_tls_gets_the_digest_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let certificates = two_domains(folder.path());
    let server = tls(&certificates).await;
    let ask = async |name: &'static str, alpn: &[&[u8]]| {
        let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anybody(aws_lc_rs::default_provider())))
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        let stream = TcpStream::connect(server.address).await?;
        TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(name).unwrap(), stream).await
    };
    assert!(ask("one.example", &[ACME_ALPN]).await.is_err(), "nothing is being proven");
    certificates.challenges().insert("one.example", &[0xAB; 32]).unwrap();
    let mut stream = ask("one.example", &[ACME_ALPN]).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(ACME_ALPN));
    let shown = stream.get_ref().1.peer_certificates().unwrap()[0].to_vec();
    assert!(shown.windows(32).any(|bytes| bytes == [0xAB; 32]));
    assert_eq!(read_to_close(&mut stream).await, "", "the connection ends with the handshake");
    assert!(ask("two.example", &[ACME_ALPN]).await.is_err());
    let usual = ask("one.example", &[b"http/1.1"]).await.unwrap();
    assert_ne!(usual.get_ref().1.peer_certificates().unwrap()[0].to_vec(), shown);
    certificates.challenges().remove("one.example");
    assert!(ask("one.example", &[ACME_ALPN]).await.is_err());
}

/// Takes every certificate, also one with an extension that rustls does not know, as authorities do.
#[derive(Debug)]
struct Anybody(CryptoProvider);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
