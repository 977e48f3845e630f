//! Stopping: nothing new, what is begun is finished, and not for ever.

use std::time::Duration;

use bytes::Bytes;
use forecourt_server::{FrontSettings, HttpLimits, Leaving, Listener};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::support::{TestServer, plain, read_to_close, read_until, settings, start};

const WAIT: &str = "GET /wait HTTP/1.1\r\nHost: demo.localhost\r\n\r\n";

async fn with_request_in_flight(server: &TestServer) -> TcpStream {
    let mut stream = server.connect().await;
    stream.write_all(WAIT.as_bytes()).await.unwrap();
    server.waiting.notified().await;
    stream
}

#[tokio::test]
async fn a_request_in_flight_is_finished_and_nothing_new_is_accepted() {
    let server = plain(HttpLimits::default()).await;
    let mut idle = server.connect().await;
    idle.write_all(b"GET /e HTTP/1.1\r\nHost: demo.localhost\r\n\r\n").await.unwrap();
    let mut stream = with_request_in_flight(&server).await;
    server.stop.cancel();
    assert!(read_to_close(&mut idle).await.ends_with("served"), "an idle connection is closed at once");
    until_refused(&server).await;
    server.release.notify_one();
    let answer = read_to_close(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("waited"), "{answer}");
    server.done.await.unwrap();
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cut_off_after_the_drain_time() {
    let server = plain(HttpLimits { drain_time: Duration::from_millis(100), ..HttpLimits::default() }).await;
    let mut stream = with_request_in_flight(&server).await;
    server.stop.cancel();
    server.done.await.unwrap();
    assert_eq!(read_to_close(&mut stream).await, "");
}

/// Over HTTP/2 its connection took notice of the end, and lives: nothing but the drain time ends the wait.
#[tokio::test]
async fn an_answer_that_its_client_never_reads_is_cut_off_after_the_drain_time() {
    let server = plain(HttpLimits { drain_time: Duration::from_millis(100), ..HttpLimits::default() }).await;
    let mut http2 = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    http2.initial_stream_window_size(1);
    let (mut sender, connection) = http2.handshake(TokioIo::new(server.connect().await)).await.unwrap();
    tokio::spawn(connection);
    let request = http::Request::get("http://demo.localhost/e").body(Empty::<Bytes>::new()).unwrap();
    let unread = sender.send_request(request).await.unwrap().into_body();
    server.stop.cancel();
    timeout(SOON, server.done).await.expect("the drain time bounds it").unwrap();
    assert!(unread.collect().await.is_err(), "it was not whole");
}

#[tokio::test]
async fn c3_a_request_that_is_half_sent_is_known_until_it_is_whole() {
    let server = plain(HttpLimits::default()).await;
    let mut stream = server.connect().await;
    let head = b"POST /read HTTP/1.1\r\nHost: demo.localhost\r\nContent-Length: 5\r\nConnection: close\r\n\r\n12";
    stream.write_all(head).await.unwrap();
    let metrics = server.metrics.clone();
    while !metrics.is_arriving() {
        tokio::task::yield_now().await;
    }
    let arrived = tokio::spawn(async move { metrics.arrived(Duration::from_secs(60)).await });
    tokio::task::yield_now().await;
    assert!(!arrived.is_finished(), "three bytes are still to come");
    stream.write_all(b"345").await.unwrap();
    arrived.await.unwrap();
    assert!(read_to_close(&mut stream).await.ends_with("read 5"));
}

/// Waits until who connects is refused: what waits in the system's queue is taken yet.
async fn until_refused(server: &TestServer) {
    let refused = async { while TcpStream::connect(server.address).await.is_ok() {} };
    timeout(SOON, refused).await.expect("nothing new is accepted");
}

const GET: &[u8] = b"GET /e HTTP/1.1\r\nHost: demo.localhost\r\n\r\n";
/// Longer than a first byte is waited for, and much shorter than the drain time and the idle time are, which would be
/// waited for otherwise.
const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn connections_on_which_nothing_was_said_end_soon_and_keep_nobody_waiting() {
    let server = plain(HttpLimits::default()).await;
    let (mut silent, mut idle) = (server.connect().await, server.connect().await);
    idle.write_all(GET).await.unwrap();
    read_until(&mut idle, "served").await;
    let begun = Instant::now();
    server.stop.cancel();
    assert_eq!((read_to_close(&mut silent).await, read_to_close(&mut idle).await), (String::new(), String::new()));
    server.done.await.unwrap();
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_half_sent_head_gets_its_answer_also_on_a_connection_that_was_used_before() {
    let server = plain(HttpLimits::default()).await;
    let (mut first, mut second) = (server.connect().await, server.connect().await);
    second.write_all(GET).await.unwrap();
    read_until(&mut second, "served").await;
    for stream in [&mut first, &mut second] {
        stream.write_all(&GET[..20]).await.unwrap();
    }
    while server.arriving() < 2 {
        tokio::task::yield_now().await;
    }
    server.stop.cancel();
    until_refused(&server).await;
    for stream in [&mut first, &mut second] {
        stream.write_all(&GET[20..]).await.unwrap();
        assert!(read_to_close(stream).await.ends_with("served"));
    }
    server.done.await.unwrap();
}

#[tokio::test]
async fn a_request_that_stays_half_sent_is_given_up_long_before_the_drain_time() {
    let server = plain(HttpLimits::default()).await;
    let (mut head, mut body) = (server.connect().await, server.connect().await);
    head.write_all(&GET[..20]).await.unwrap();
    body.write_all(b"POST /read HTTP/1.1\r\nHost: demo.localhost\r\nContent-Length: 5\r\n\r\n12").await.unwrap();
    while server.arriving() < 2 {
        tokio::task::yield_now().await;
    }
    let begun = Instant::now();
    server.stop.cancel();
    read_to_close(&mut head).await;
    assert!(!read_to_close(&mut body).await.contains("read 5"));
    server.done.await.unwrap();
    assert!(begun.elapsed() < forecourt_server::limits::ARRIVING_MAX + SOON, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn who_waits_to_be_accepted_is_answered_when_the_socket_closes() {
    let server = plain(HttpLimits::default()).await;
    // One thread runs all of this: nothing was accepted before the stop.
    let std = std::net::TcpStream::connect(server.address).unwrap();
    std::io::Write::write_all(&mut (&std), GET).unwrap();
    std.set_nonblocking(true).unwrap();
    server.stop.cancel();
    let mut waiting = TcpStream::from_std(std).unwrap();
    assert!(read_to_close(&mut waiting).await.ends_with("served"));
    server.done.await.unwrap();
}

#[tokio::test]
async fn while_the_process_leaves_each_answer_ends_its_connection() {
    let leaving = Leaving::default();
    let front = FrontSettings { leaving: leaving.clone(), ..settings(HttpLimits::default()) };
    let server = start(front, Listener::plain("127.0.0.1:0".parse().unwrap()).await.unwrap());
    let mut stream = server.connect().await;
    stream.write_all(GET).await.unwrap();
    assert!(!read_until(&mut stream, "served").await.contains("connection: close"));
    leaving.begin();
    stream.write_all(GET).await.unwrap();
    let answer = read_to_close(&mut stream).await;
    assert!(answer.contains("connection: close\r\n") && answer.ends_with("served"), "{answer}");
    assert!(server.get("/e", "").await.ends_with("served"), "new connections are taken");
}
