//! Handshakes that are made to see how a server encrypts, and its certificates judged apart from them.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use forecourt_egress::{Egress, EgressError, TlsHandshake, TlsVersion};

use crate::support::{Act, Prepared, Server, opened, server_of};

const HOST: &str = "public.example";

fn client() -> Egress {
    Egress::builder(opened()).resolver(Arc::new(Prepared::default().with_opened(HOST))).build().unwrap()
}

async fn shake(client: &Egress, port: u16, version: TlsVersion) -> Result<TlsHandshake, EgressError> {
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
    assert!(matches!(refused, Err(EgressError::Unconnected(_))), "{refused:?}");
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
