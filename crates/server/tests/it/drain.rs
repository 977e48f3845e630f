//! Stopping: nothing new, what is begun is finished, and not for ever.

use std::time::Duration;

use forecourt_server::HttpLimits;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::{TestServer, plain, read_to_close};

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
    assert!(TcpStream::connect(server.address).await.is_err());
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
