//! Servers that hang, flood and talk nonsense: a run ends, in time, and says what it saw.

use std::time::{Duration, Instant};

use forecourt_conform::agtp::{AgtpTarget, Caller, SUITES};
use forecourt_conform::limits::SILENT_IN_A_ROW_MAX;
use forecourt_conform::report::{Finding, Outcome};
use forecourt_conform::web;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use crate::{agent, egress, findings, ids, line, nobody, run};

/// How long these servers are waited for: they never answer in time.
const SHORT: Duration = Duration::from_millis(200);

async fn listen<F, Fut>(serve: F) -> u16
where
    F: Fn(TcpStream) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    port
}

async fn both(port: u16) -> [Vec<Finding>; 2] {
    let caller = Caller { agent_id: Some(agent()), with_effects: true, ..Caller::default() };
    let native = findings(AgtpTarget::new(line(port, SHORT), caller), SUITES, SHORT).await;
    let base = Url::parse(&format!("http://127.0.0.1:{port}")).unwrap();
    let host = web::WebTarget::new(egress(), base, SHORT, nobody());
    [native, findings(host, web::SUITES, SHORT).await]
}

/// Nothing is judged, and the reason is told.
#[track_caller]
fn is_given_up(all: &[Finding]) {
    assert!(all.iter().all(|finding| finding.outcome == Outcome::Skip), "{all:?}");
    let is_told = |finding: &Finding| finding.reason.as_deref().is_some_and(|reason| !reason.is_empty());
    assert!(all.iter().all(is_told), "{all:?}");
}

#[test]
fn a_server_that_falls_silent_is_given_up_after_a_few_silences() {
    let all = run(async {
        let port = listen(|mut stream| async move {
            let mut request = [0; 1024];
            let count = stream.read(&mut request).await.unwrap_or(0);
            // It speaks AGTP, and says nothing but its manifest.
            if request[..count].starts_with(b"AGTP/1.0 DISCOVER\r\n") {
                let _ = stream.write_all(b"AGTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}").await;
            }
        });
        both(port.await).await
    });
    let silent = all[0].iter().filter(|finding| finding.is_silent).count();
    assert!((1..20).contains(&silent), "{silent}");
    let last = all[0].last().unwrap().reason.as_deref().unwrap();
    assert!(last.contains(&format!("no answer {SILENT_IN_A_ROW_MAX} times in a row")), "{last}");
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    let began = Instant::now();
    for all in run(async {
        both(
            listen(|stream| async move {
                std::future::pending::<()>().await;
                drop(stream)
            })
            .await,
        )
        .await
    }) {
        is_given_up(&all);
    }
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_server_that_closes_at_once_is_given_up() {
    for all in run(async { both(listen(|stream| async move { drop(stream) }).await).await }) {
        is_given_up(&all);
    }
}

/// Writes the same again and again.
async fn flood(mut stream: TcpStream, first: &'static [u8], again: &'static [u8]) {
    let mut request = [0; 1024];
    let _ = stream.read(&mut request).await;
    if stream.write_all(first).await.is_ok() {
        while stream.write_all(again).await.is_ok() {}
    }
}

#[test]
fn endless_heads_and_bodies_end() {
    let began = Instant::now();
    let endless = run(async {
        let head = listen(|stream| flood(stream, b"AGTP/1.0 200 OK\r\n", b"A: b\r\n")).await;
        let body =
            listen(|stream| flood(stream, b"AGTP/1.0 200 OK\r\nContent-Length: 99999999999\r\n\r\n", b"a")).await;
        let web = listen(|stream| {
            flood(stream, b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", b"data: a\n\n")
        })
        .await;
        [both(head).await, both(body).await, both(web).await]
    });
    for all in endless.iter().flatten() {
        assert!(ids(all, Outcome::Pass).len() < 3, "{all:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn nonsense_is_told_and_shown_within_bounds() {
    let nonsense = run(async {
        let garbage = listen(|mut stream| async move {
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(&[0xff; 70_000]).await;
        });
        both(garbage.await).await
    });
    for all in nonsense {
        is_given_up(&all);
        assert!(all.iter().all(|one| one.reason.as_ref().is_some_and(|reason| reason.chars().count() <= 301)));
    }
}

#[test]
fn another_protocol_is_told_from_agtp_at_its_first_bytes() {
    let all = run(async {
        let http = listen(|mut stream| async move {
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            std::future::pending::<()>().await;
        });
        both(http.await).await
    });
    is_given_up(&all[0]);
    let first = all[0][0].reason.as_deref().unwrap();
    assert!(first.starts_with("not offered: ") && first.contains("does not begin with"), "{first}");
}
