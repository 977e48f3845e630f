//! The client against a server of our own, and against servers that misbehave.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::BytesMut;
use forecourt_agtp_wire::codec::{Decoder, encode};
use forecourt_agtp_wire::message::{Message, RequestLine, StatusLine};
use forecourt_egress::EgressConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::limits::{KEPT_PER_SERVER_MAX, KEPT_TIME_MAX};

/// What a server that answers with the method and the target counts: its connections.
#[derive(Default)]
struct Echo {
    connections: AtomicUsize,
}

/// Answers the requests of one connection in their order, until it is idle for so long.
async fn speak(mut stream: impl AsyncRead + AsyncWrite + Unpin, idle: Duration) -> std::io::Result<()> {
    let (mut decoder, mut read) = (Decoder::<RequestLine>::new(Bounds::default()), BytesMut::new());
    loop {
        let mut written = BytesMut::new();
        while let Some(Request { start, .. }) = decoder.decode(&mut read).unwrap() {
            let said = format!("{} {}", start.method, start.target.as_deref().unwrap_or_default());
            encode(&Response { body: said.into(), ..Message::new(StatusLine::new(200, "OK")) }, &mut written);
        }
        stream.write_all(&written).await?;
        stream.flush().await?;
        match timeout(idle, stream.read_buf(&mut read)).await {
            Ok(Ok(1..)) => {}
            Ok(read) => return read.map(drop),
            Err(_) => return stream.shutdown().await,
        }
    }
}

/// A server of ours that closes connections which are idle for so long.
async fn served(idle: Duration, tls: Option<TlsAcceptor>) -> (Server, Arc<Echo>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = here(listener.local_addr().unwrap());
    let echo = Arc::new(Echo::default());
    let shared = echo.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            shared.connections.fetch_add(1, Ordering::SeqCst);
            let tls = tls.clone();
            tokio::spawn(async move {
                // How it ended is the client's business.
                let _ended = match tls {
                    None => speak(stream, idle).await,
                    Some(tls) => {
                        let Ok(stream) = tls.accept(stream).await else { return };
                        speak(stream, idle).await
                    }
                };
            });
        }
    });
    (server, echo)
}

/// A server that does with its n-th connection what the n-th script says, the last one again and again.
async fn scripted<F, Fut>(scripts: Vec<F>) -> Server
where
    F: Fn(TcpStream) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = here(listener.local_addr().unwrap());
    tokio::spawn(async move {
        for turn in 0.. {
            let Ok((stream, _)) = listener.accept().await else { return };
            scripts[turn.min(scripts.len() - 1)](stream).await;
        }
    });
    server
}

fn here(address: SocketAddr) -> Server {
    Server { host: address.ip().to_string(), port: address.port() }
}

fn plain() -> Client {
    Client::builder(egress(), Purpose::Upstream).plaintext().build().unwrap()
}

fn egress() -> Egress {
    Egress::builder(EgressConfig::default()).build().unwrap()
}

fn request(method: &str) -> Request {
    RequestBuilder::new(method, Some("/x")).finish().unwrap()
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn base_1_a_connection_is_kept_for_the_next_request() {
    let (server, echo) = served(LONG, None).await;
    let client = plain();
    for method in ["QUERY", "BOOK", "QUERY"] {
        let answer = client.send(&server, &request(method)).await.unwrap();
        assert_eq!((answer.start.code, &answer.body[..]), (200, format!("{method} /x").as_bytes()));
    }
    assert_eq!((echo.connections.load(Ordering::SeqCst), client.inner.pool.len()), (1, 1));
}

#[tokio::test]
async fn requests_at_once_have_a_connection_each_and_so_many_are_kept() {
    let (server, echo) = served(LONG, None).await;
    let client = plain();
    let at_once = KEPT_PER_SERVER_MAX + 1;
    let query = request("QUERY");
    let all = futures::future::join_all((0..at_once).map(|_| client.send(&server, &query))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!((echo.connections.load(Ordering::SeqCst), client.inner.pool.len()), (at_once, KEPT_PER_SERVER_MAX));
}

#[tokio::test]
async fn kept_connections_grow_old() {
    let (server, echo) = served(LONG, None).await;
    let client = plain();
    client.send(&server, &request("QUERY")).await.unwrap();
    tokio::time::pause();
    tokio::time::advance(KEPT_TIME_MAX).await;
    tokio::time::resume();
    client.send(&server, &request("QUERY")).await.unwrap();
    assert_eq!((echo.connections.load(Ordering::SeqCst), client.inner.pool.len()), (2, 1));
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order_up_to_the_bound() {
    let (server, echo) = served(LONG, None).await;
    let client = plain();
    let requests: Vec<Request> =
        (0..=PIPELINED_MAX).map(|at| RequestBuilder::new("BOOK", Some(&format!("/{at}"))).finish().unwrap()).collect();
    let answers = client.send_all(&server, &requests[..PIPELINED_MAX]).await.unwrap();
    for (at, answer) in answers.iter().enumerate() {
        assert_eq!(answer.body, format!("BOOK /{at}"));
    }
    assert_eq!(answers.len(), PIPELINED_MAX);
    let refused = client.send_all(&server, &requests).await.unwrap_err();
    assert!(matches!(refused.error, ClientError::TooMany));
    assert_eq!(echo.connections.load(Ordering::SeqCst), 1);
}

/// Answers one request, and closes when it has read another.
async fn once_and_a_half(mut stream: TcpStream) {
    let mut request = [0; 256];
    for answer in [&b"AGTP/1.0 200 OK\r\n\r\n"[..], b""] {
        if stream.read(&mut request).await.unwrap_or(0) == 0 {
            return;
        }
        stream.write_all(answer).await.unwrap();
    }
}

#[tokio::test]
async fn a_kept_connection_that_dies_is_replaced_for_requests_that_only_look() {
    let server = scripted(vec![once_and_a_half]).await;
    let client = plain();
    for _ in 0..3 {
        assert_eq!(client.send(&server, &request("QUERY")).await.unwrap().start.code, 200);
    }
}

/// Does so much that the runtime would have this task wait for its next turn.
async fn tired() {
    while tokio::task::coop::has_budget_remaining() {
        let _ = futures::poll!(std::pin::pin!(tokio::task::coop::consume_budget()));
    }
}

#[tokio::test]
async fn a_connection_that_was_closed_is_known_even_to_a_task_that_has_done_much() {
    let (server, _) = served(Duration::from_millis(1), None).await;
    let client = plain();
    client.send(&server, &request("BOOK")).await.unwrap();
    let closed = async {
        while let Some(kept) = client.inner.pool.take(&server) {
            client.inner.pool.keep(&server, kept);
            tokio::task::yield_now().await;
            tired().await;
        }
    };
    tokio::time::timeout(LONG, closed).await.expect("it is given up");
}

#[tokio::test]
async fn what_may_have_been_acted_on_is_not_sent_again() {
    let server = scripted(vec![once_and_a_half]).await;
    let client = plain();
    client.send(&server, &request("BOOK")).await.unwrap();
    let found = client.send(&server, &request("BOOK")).await;
    assert!(matches!(found, Err(ClientError::Closed)), "{found:?}");
}

#[test]
fn of_several_requests_none_is_sent_again_that_may_have_been_acted_on() {
    let cut = |is_taken| ExchangeOutcome {
        answers: Vec::new(),
        broken: Some(ExchangeError::Closed { is_taken }),
        is_clean: false,
    };
    for (method, count, is_taken, wanted) in [
        ("BOOK", 1, false, true),
        ("BOOK", 1, true, false),
        ("BOOK", 2, false, false),
        ("QUERY", 2, false, true),
        ("QUERY", 2, true, true),
    ] {
        let requests = vec![request(method); count];
        assert_eq!(is_stale(&cut(is_taken), &requests), wanted, "{count} {method}, {is_taken}");
    }
}

#[tokio::test]
async fn a_fresh_connection_that_dies_is_not_tried_again() {
    let server = scripted(vec![|_: TcpStream| async {}]).await;
    let found = plain().send(&server, &request("QUERY")).await;
    assert!(matches!(found, Err(ClientError::Closed)), "{found:?}");
}

/// Answers one request with whatever is given, and keeps the connection for a while.
fn saying(text: &'static [u8]) -> impl Fn(TcpStream) -> futures::future::BoxFuture<'static, ()> + Send + Sync {
    move |mut stream| {
        Box::pin(async move {
            let _ = stream.read(&mut [0; 256]).await;
            let _ = stream.write_all(text).await;
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 256]).await;
            });
        })
    }
}

#[tokio::test]
async fn a_server_that_says_too_much_is_not_spoken_to_on_that_connection_again() {
    let text = b"AGTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhiAGTP/1.0 200 Forged\r\n\r\n";
    let server = scripted(vec![saying(text)]).await;
    let client = plain();
    for _ in 0..2 {
        let answer = client.send(&server, &request("BOOK")).await.unwrap();
        assert_eq!((answer.start.reason.as_str(), client.inner.pool.len()), ("OK", 0));
    }
}

#[tokio::test]
async fn answers_that_are_none_say_so() {
    let server = scripted(vec![saying(b"HTTP/1.1 400 Bad Request\r\n\r\n")]).await;
    let found = plain().send(&server, &request("QUERY")).await.unwrap_err();
    assert!(matches!(found, ClientError::Malformed(HeadError::Version)) && found.to_string().contains("AGTP/1.0 CODE"));
}

#[tokio::test]
async fn bodies_are_taken_up_to_the_bound() {
    let server = scripted(vec![saying(b"AGTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc")]).await;
    let bounded = |body_bytes| {
        let bounds = Bounds { body_bytes, ..Bounds::default() };
        Client::builder(egress(), Purpose::Upstream).plaintext().bounds(bounds).build().unwrap()
    };
    assert!(bounded(3).send(&server, &request("QUERY")).await.is_ok());
    let found = bounded(2).send(&server, &request("QUERY")).await;
    assert!(matches!(found, Err(ClientError::Malformed(HeadError::BodyTooLarge))), "{found:?}");
}

#[tokio::test]
async fn s16_3_plain_text_is_for_loopback_alone() {
    let Ok(elsewhere) = TcpListener::bind("0.0.0.0:0").await else { return };
    let port = elsewhere.local_addr().unwrap().port();
    let Some(ip) = own_address() else { return };
    let found = plain().send(&Server { host: ip, port }, &request("QUERY")).await;
    assert!(matches!(found, Err(ClientError::PlainElsewhere)), "{found:?}");
}

/// An address of this machine that is not loopback, if it has one.
fn own_address() -> Option<String> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    // Connecting a datagram socket sends nothing; it only finds the way.
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip().to_string())
}

/// An acceptor of TLS 1.3 for `demo.localhost`, and its authority.
fn acceptor() -> (TlsAcceptor, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(vec!["demo.localhost".to_owned()]).unwrap();
    params.is_ca = rcgen::IsCa::NoCa;
    let ca_key = rcgen::KeyPair::generate().unwrap();
    let mut ca = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
    ca.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = ca.self_signed(&ca_key).unwrap().pem();
    let certificate = params.signed_by(&key, &rcgen::Issuer::new(ca, ca_key)).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .unwrap();
    config.alpn_protocols = vec![ALPN.to_vec()];
    (TlsAcceptor::from(Arc::new(config)), authority)
}

#[tokio::test]
async fn base_1_over_tls_connections_are_kept_too() {
    let (acceptor, authority) = acceptor();
    let (server, echo) = served(LONG, Some(acceptor)).await;
    let server = Server { host: "demo.localhost".to_owned(), ..server };
    let egress = Egress::builder(EgressConfig::default()).trust_pem(authority).build().unwrap();
    let client = Client::builder(egress, Purpose::Upstream).build().unwrap();
    for _ in 0..3 {
        let answer = client.send(&server, &request("BOOK")).await.unwrap();
        assert_eq!(answer.body, "BOOK /x");
    }
    assert_eq!(echo.connections.load(Ordering::SeqCst), 1);
    let stranger = Client::builder(self::egress(), Purpose::Upstream).build().unwrap();
    let found = stranger.send(&server, &request("BOOK")).await;
    assert!(matches!(found, Err(ClientError::Unreachable(EgressError::Unconnected(_)))), "{found:?}");
}

#[tokio::test]
async fn hosts_that_strangers_name_are_guarded() {
    let (server, echo) = served(LONG, None).await;
    let client = Client::builder(egress(), Purpose::RemoteAgent).plaintext().build().unwrap();
    let found = client.send(&server, &request("QUERY")).await;
    assert!(matches!(found, Err(ClientError::Unreachable(EgressError::Refused(_)))), "{found:?}");
    assert_eq!(echo.connections.load(Ordering::SeqCst), 0);
}
