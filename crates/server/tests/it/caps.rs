//! Each bound at n and at n + 1.

use std::time::Duration;

use forecourt_server::HttpLimits;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use crate::support::{exchange, plain, read_to_close, read_until, statuses};

const GET: &str = "GET /e HTTP/1.1\r\nHost: demo.localhost\r\n\r\n";

#[tokio::test]
async fn s0_a_head_of_the_limit_is_served_and_one_byte_more_is_431() {
    let limits = HttpLimits { head_bytes_max: 8192, idle_time: Duration::from_millis(200), ..HttpLimits::default() };
    let server = plain(limits).await;
    let head = |bytes: usize| {
        let frame = "GET /e HTTP/1.1\r\nHost: demo.localhost\r\nX: \r\n\r\n".len();
        format!("GET /e HTTP/1.1\r\nHost: demo.localhost\r\nX: {}\r\n\r\n", "a".repeat(bytes - frame))
    };
    assert_eq!(statuses(&server.exchange(head(8192)).await), [200]);
    assert_eq!(statuses(&server.exchange(head(8193)).await), [431]);
}

#[tokio::test]
async fn s0_a_head_of_a_hundred_fields_is_served_and_one_more_is_431() {
    let server = plain(HttpLimits { idle_time: Duration::from_millis(200), ..HttpLimits::default() }).await;
    let head = |fields: usize| {
        let others: String = (1..fields).map(|n| format!("X-{n}: a\r\n")).collect();
        format!("GET /e HTTP/1.1\r\nHost: demo.localhost\r\n{others}\r\n")
    };
    assert_eq!(statuses(&server.exchange(head(100)).await), [200]);
    assert_eq!(statuses(&server.exchange(head(101)).await), [431]);
}

#[tokio::test]
async fn s0_a_configured_count_of_fields_holds() {
    let limits = HttpLimits { head_fields_max: 8, idle_time: Duration::from_millis(200), ..HttpLimits::default() };
    let server = plain(limits).await;
    let head = |fields: usize| {
        let others: String = (1..fields).map(|n| format!("X-{n}: a\r\n")).collect();
        format!("GET /e HTTP/1.1\r\nHost: demo.localhost\r\n{others}\r\n")
    };
    assert_eq!(statuses(&server.exchange(head(8)).await), [200]);
    assert_eq!(statuses(&server.exchange(head(9)).await), [431]);
}

#[tokio::test]
async fn s0_one_address_has_its_share_of_connections() {
    let server = plain(HttpLimits { connections_per_address_max: 2, ..HttpLimits::default() }).await;
    let (mut first, mut second) = (server.connect().await, server.connect().await);
    for stream in [&mut first, &mut second] {
        stream.write_all(GET.as_bytes()).await.unwrap();
        read_until(stream, "served").await;
    }
    let refused = read_to_close(&mut server.connect().await).await;
    assert!(refused.starts_with("HTTP/1.1 429 ") && refused.contains("Retry-After: 5"), "{refused}");
    assert!(refused.contains("http.connections_per_address_max"), "{refused}");
    first.shutdown().await.unwrap();
    read_to_close(&mut first).await;
    let mut again = server.connect().await;
    again.write_all(GET.as_bytes()).await.unwrap();
    read_until(&mut again, "served").await;
}

#[tokio::test]
async fn s0_connections_in_all_are_capped() {
    let server = plain(HttpLimits { connections_max: 1, ..HttpLimits::default() }).await;
    let mut first = server.connect().await;
    first.write_all(GET.as_bytes()).await.unwrap();
    read_until(&mut first, "served").await;
    assert_eq!(statuses(&read_to_close(&mut server.connect().await).await), [503]);
}

#[tokio::test]
async fn s0_a_slow_head_and_a_silent_connection_are_closed() {
    let limits = HttpLimits { head_time: Duration::from_millis(200), ..HttpLimits::default() };
    let server = plain(limits).await;
    let begun = Instant::now();
    assert_eq!(statuses(&server.exchange("GET /e HTTP/1.1\r\nHost: demo").await), [] as [u16; 0]);
    assert_eq!(server.exchange("").await, "");
    assert!(begun.elapsed() < Duration::from_secs(5), "well before the idle time");
}

#[tokio::test]
async fn s0_an_idle_connection_is_closed_and_a_waiting_one_is_not() {
    let limits = HttpLimits { idle_time: Duration::from_millis(200), ..HttpLimits::default() };
    let server = plain(limits).await;
    assert_eq!(statuses(&server.exchange(GET).await), [200]);

    let (waiting, release) = (server.waiting.clone(), server.release.clone());
    let answer = tokio::spawn(exchange(
        server.connect().await,
        "GET /wait HTTP/1.1\r\nHost: demo.localhost\r\nConnection: close\r\n\r\n",
    ));
    waiting.notified().await;
    // Another connection's whole idle time passes while the first one waits for its answer.
    assert_eq!(statuses(&server.exchange(GET).await), [200]);
    release.notify_one();
    assert!(answer.await.unwrap().ends_with("waited"));
}

/// B3: as many answers as one caller may hold open, each on a connection of its own.
#[tokio::test]
async fn design_11_one_address_holds_256_requests_open_at_once() {
    let server = plain(HttpLimits::default()).await;
    let mut open = Vec::new();
    for _ in 0..256 {
        let mut stream = server.connect().await;
        stream.write_all(b"GET /wait HTTP/1.1\r\nHost: demo.localhost\r\nConnection: close\r\n\r\n").await.unwrap();
        server.waiting.notified().await;
        open.push(stream);
    }
    server.release.notify_waiters();
    for mut stream in open {
        let answer = read_to_close(&mut stream).await;
        assert!(answer.ends_with("waited"), "{answer}");
    }
}
