//! Handshakes that are made to see how a server encrypts, and its certificates judged apart from them.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use forecourt_egress::{Egress, HandshakeError, TlsHandshake, TlsVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{Act, OPENED, Prepared, Server, opened, server_of};

const HOST: &str = "public.example";

fn client() -> Egress {
    Egress::builder(opened()).resolver(Arc::new(Prepared::default().with_opened(HOST))).build().unwrap()
}

async fn shake(client: &Egress, port: u16, version: TlsVersion) -> Result<TlsHandshake, HandshakeError> {
    client.shake_hands(HOST, port, port, version, b"http/1.1").await
}

#[tokio::test]
async fn each_version_is_tried_alone_whatever_the_certificate() {
    let client = client();
    let both = Server::tls("other.example", vec![vec![Act::text("hi")]]).await;
    for version in [TlsVersion::V1_2, TlsVersion::V1_3] {
        let seen = shake(&client, both.port(), version).await.unwrap();
        assert_eq!(seen.certificates.len(), 1, "{seen:?}");
        assert!(seen.cipher_suite.starts_with("TLS"), "{seen:?}");
    }
    let old = server_of(&rustls::version::TLS12, HOST).await;
    assert!(shake(&client, old.port(), TlsVersion::V1_2).await.is_ok());
    let refused = shake(&client, old.port(), TlsVersion::V1_3).await;
    // RFC 8446 6.2: protocol_version.
    assert!(matches!(refused, Err(HandshakeError::Alert(70))), "{refused:?}");
}

/// What a server makes of a ClientHello that answers with these bytes and hangs up.
async fn answered(bytes: &'static [u8]) -> HandshakeError {
    let listener = TcpListener::bind((OPENED, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        // What is left unread when it hangs up may cost the client the answer.
        let _ = stream.read(&mut [0; 4096]).await.unwrap();
        stream.write_all(bytes).await.unwrap();
    };
    let client = client();
    tokio::join!(shake(&client, port, TlsVersion::V1_2), server).0.unwrap_err()
}

#[tokio::test]
async fn who_hangs_up_refuses_and_who_is_not_there_tells_nothing() {
    let closed = answered(b"").await;
    assert!(matches!(closed, HandshakeError::Closed), "{closed:?}");
    let other = answered(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    assert!(matches!(other, HandshakeError::Untold(_)), "{other:?}");
    let free = TcpListener::bind((OPENED, 0)).await.unwrap().local_addr().unwrap().port();
    let nobody = shake(&client(), free, TlsVersion::V1_2).await;
    assert!(matches!(nobody, Err(HandshakeError::Untold(_))), "{nobody:?}");
}

#[tokio::test]
async fn certificates_are_judged_by_name_and_by_authority() {
    let server = Server::tls(HOST, vec![vec![Act::text("hi")]]).await;
    let knows = server.client(Arc::new(Prepared::default().with_opened(HOST)));
    let seen = shake(&knows, server.port(), TlsVersion::V1_3).await.unwrap();
    let now = SystemTime::now();
    let judged = |client: &Egress, host: &str| client.judge_certificates(host, &seen.certificates, now);
    assert_eq!(judged(&knows, HOST), Default::default());
    assert!(judged(&knows, "other.example").name.is_some_and(|fault| fault.contains("other.example")));
    assert!(judged(&client(), HOST).chain.is_some());
    let nothing = knows.judge_certificates(HOST, &[], now);
    assert!(nothing.chain.is_some_and(|fault| fault.contains("no certificate")));
    let late = now + Duration::from_secs(5000 * 365 * 24 * 3600);
    let late = knows.judge_certificates(HOST, &seen.certificates, late);
    assert!(late.chain.is_some_and(|fault| fault.contains("expired")));
}
