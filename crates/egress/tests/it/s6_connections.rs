//! Connections without HTTP: the same guard, deadlines, turns and certificates. Security sheet, 6.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_egress::limits::{AT_ONCE_PER_HOST_MAX, CONNECT_TIME_MAX};
use forecourt_egress::{ClientCertificate, Connection, Egress, EgressConfig, EgressError, Purpose, Refusal};
use futures::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{Act, Answer, OPENED, Prepared, Server, opened};

const HOST: &str = "public.example";
/// Where the protocol of these connections listens unless somebody says otherwise.
const PORT: u16 = 4480;

fn resolver() -> Arc<Prepared> {
    Arc::new(Prepared::default().with_opened(HOST))
}

fn refused(found: &Result<Connection, EgressError>) -> Option<Refusal> {
    match found {
        Err(EgressError::Refused(refusal)) => Some(*refusal),
        _ => None,
    }
}

async fn said(mut connection: Connection) -> String {
    connection.write_all(b"hello\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn closed_targets_are_refused_before_a_socket_is_opened() {
    let resolver = Arc::new(Prepared::default().with("*", [Answer::Addresses(vec!["127.0.0.1".parse().unwrap()])]));
    let client = Egress::builder(EgressConfig::default()).resolver(resolver.clone()).build().unwrap();
    let tls = client.tls(b"agtp", PORT, None).unwrap();
    let found = client.connect_tls(Purpose::RemoteAgent, HOST, 443, &tls).await;
    assert_eq!(refused(&found), Some(Refusal::PrivateAddress));
    let found = client.connect_tls(Purpose::RemoteAgent, "agent.localhost", 443, &tls).await;
    assert_eq!(refused(&found), Some(Refusal::PrivateName));
    let found = client.connect(Purpose::RemoteAgent, HOST, 443).await;
    assert_eq!(refused(&found), Some(Refusal::Scheme), "plain text is as closed as http");
}

#[tokio::test]
async fn public_hosts_are_reached_on_the_usual_port_of_what_is_spoken_and_on_no_other() {
    let resolver = Arc::new(Prepared::default().with("*", [Answer::Addresses(vec!["8.8.8.8".parse().unwrap()])]));
    let client = Egress::builder(EgressConfig::default()).resolver(resolver).build().unwrap();
    let tls = client.tls(b"agtp", PORT, None).unwrap();
    for port in [443, 22, PORT - 1, PORT + 1] {
        let found = client.connect_tls(Purpose::RemoteAgent, HOST, port, &tls).await;
        assert_eq!(refused(&found), Some(Refusal::Port), "{port}");
    }
    let found = client.permits(Purpose::Webhook, &format!("https://{HOST}:{PORT}/")).await;
    assert!(matches!(found, Err(EgressError::Refused(Refusal::Port))), "it is closed to HTTP: {found:?}");
    let found = client.connect(Purpose::RemoteAgent, HOST, PORT).await;
    assert_eq!(refused(&found), Some(Refusal::Scheme), "and to what is not encrypted");
}

#[tokio::test]
async fn this_host_is_refused_by_name_and_by_address() {
    let address = format!("{OPENED}:4480").parse().unwrap();
    let builder = || Egress::builder(opened()).resolver(resolver());
    let named = builder().own_host("public.example:4480").unwrap().build().unwrap();
    let reached = builder().own_address(address).build().unwrap();
    for client in [named, reached] {
        let found = client.connect(Purpose::Callback, HOST, 4480).await;
        assert_eq!(refused(&found), Some(Refusal::OwnHost));
    }
}

#[tokio::test]
async fn a_host_is_a_host_and_nothing_else() {
    let client = Egress::builder(opened()).resolver(resolver()).build().unwrap();
    for host in ["", "a b", "a/b", "a?b", "a#b", "a:1", "u@a.example", "a%41.example", "[::1", "a\r\n", "-a.example"] {
        let found = client.connect(Purpose::Upstream, host, 4480).await;
        assert!(matches!(refused(&found), Some(Refusal::Text(_) | Refusal::Unresolved)), "{host:?}: {found:?}");
    }
}

#[tokio::test]
async fn bytes_go_to_the_address_that_was_checked() {
    let server = Server::plain(vec![vec![Act::text("plain")]]).await;
    let resolver = resolver();
    let client = server.client(resolver.clone());
    let connection = client.connect(Purpose::RemoteAgent, HOST, server.port()).await.unwrap();
    assert_eq!(connection.peer(), server.address);
    assert_eq!(said(connection).await, "plain");
    assert_eq!(resolver.lookups.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn tls_is_1_3_with_the_name_checked() {
    let server = Server::tls(HOST, vec![vec![Act::text("secret")]]).await;
    let resolver = Arc::new(Prepared::default().with_opened(HOST).with_opened("other.example"));
    let client = server.client(resolver.clone());
    let tls = client.tls(b"agtp", PORT, None).unwrap();
    let found = client.connect_tls(Purpose::RemoteAgent, "other.example", server.port(), &tls).await;
    assert!(matches!(&found, Err(EgressError::Unconnected(why)) if why.contains("certificate")), "{found:?}");
    let connection = client.connect_tls(Purpose::RemoteAgent, HOST, server.port(), &tls).await.unwrap();
    assert_eq!(said(connection).await, "secret");
    let stranger = Egress::builder(opened()).resolver(resolver).build().unwrap();
    let tls = stranger.tls(b"agtp", PORT, None).unwrap();
    let found = stranger.connect_tls(Purpose::RemoteAgent, HOST, server.port(), &tls).await;
    assert!(matches!(&found, Err(EgressError::Unconnected(why)) if why.contains("certificate")), "{found:?}");
}

#[tokio::test]
async fn a_tool_may_be_told_to_trust_everyone() {
    let server = Server::tls("other.example", vec![vec![Act::text("hi")]]).await;
    let client = Egress::builder(opened()).resolver(resolver()).trust_everyone().build().unwrap();
    let tls = client.tls(b"agtp", PORT, None).unwrap();
    let connection = client.connect_tls(Purpose::RemoteAgent, HOST, server.port(), &tls).await.unwrap();
    assert_eq!(said(connection).await, "hi");
}

#[tokio::test]
async fn older_tls_is_no_connection() {
    let address = crate::support::server_of(&rustls::version::TLS12, HOST).await;
    let client = Egress::builder(opened()).resolver(resolver()).trust_everyone().build().unwrap();
    let tls = client.tls(b"agtp", PORT, None).unwrap();
    let found = client.connect_tls(Purpose::RemoteAgent, HOST, address.port(), &tls).await;
    assert!(matches!(found, Err(EgressError::Unconnected(_))), "{found:?}");
}

#[tokio::test]
async fn nobody_there_and_nobody_who_shakes_hands_are_no_connection() {
    let gone = TcpListener::bind((OPENED, 0)).await.unwrap();
    let port = gone.local_addr().unwrap().port();
    drop(gone);
    let client = Egress::builder(opened()).resolver(resolver()).build().unwrap();
    let found = client.connect(Purpose::RemoteAgent, HOST, port).await;
    assert!(matches!(found, Err(EgressError::Unconnected(_))), "{found:?}");
    let silent = TcpListener::bind((OPENED, 0)).await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let tls = client.tls(b"agtp", PORT, None).unwrap();
    tokio::time::pause();
    let found = client.connect_tls(Purpose::RemoteAgent, HOST, port, &tls);
    let found = tokio::time::timeout(CONNECT_TIME_MAX + Duration::from_secs(1), found).await.unwrap();
    assert!(matches!(found, Err(EgressError::Unconnected(_))), "{found:?}");
}

#[tokio::test]
async fn kept_connections_hold_no_turn_while_they_rest() {
    let server = Server::plain(vec![vec![Act::Hang]]).await;
    let client = server.client(resolver());
    let connect = || client.connect(Purpose::RemoteAgent, HOST, server.port());
    let mut kept = Vec::new();
    for _ in 0..AT_ONCE_PER_HOST_MAX {
        kept.push(connect().await.unwrap());
    }
    assert!(connect().now_or_never().is_none(), "every turn is taken");
    kept.iter_mut().for_each(Connection::rest);
    let more = connect().await.unwrap();
    for connection in kept.iter_mut().skip(1) {
        connection.resume().await.unwrap();
    }
    assert!(kept[0].resume().now_or_never().is_none(), "the new one has its turn");
    drop(more);
    kept[0].resume().await.unwrap();
}

#[test]
fn a_client_certificate_is_a_chain_and_a_key() {
    let key = rcgen::KeyPair::generate().unwrap();
    // With an extension that must be understood, and that only the server understands.
    let mut extension = rcgen::CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 32473, 1], Vec::new());
    extension.set_criticality(true);
    let mut params = rcgen::CertificateParams::new(vec!["me".to_owned()]).unwrap();
    params.custom_extensions.push(extension);
    let special = params.self_signed(&key).unwrap().pem();
    assert!(ClientCertificate::from_pem(special.as_bytes(), key.serialize_pem().as_bytes()).is_ok());
    let certificate = rcgen::CertificateParams::new(vec!["me".to_owned()]).unwrap().self_signed(&key).unwrap();
    let (chain, key) = (certificate.pem(), key.serialize_pem());
    let other = rcgen::KeyPair::generate().unwrap().serialize_pem();
    assert!(ClientCertificate::from_pem(chain.as_bytes(), other.as_bytes()).is_err(), "a key of another");
    let read = ClientCertificate::from_pem(chain.as_bytes(), key.as_bytes()).unwrap();
    assert!(!format!("{read:?}").contains("key"), "{read:?}");
    let client = Egress::builder(opened()).build().unwrap();
    assert!(client.tls(b"agtp", PORT, Some(&read)).is_ok());
    for (chain, key) in [("", key.as_str()), (chain.as_str(), ""), (key.as_str(), chain.as_str())] {
        assert!(ClientCertificate::from_pem(chain.as_bytes(), key.as_bytes()).is_err());
    }
}
