//! What a request is counted by when its answer is at its end: whole, broken off, or left by its caller.

use std::convert::Infallible;

use axum::Router;
use axum::body::Body;
use axum::routing::{any, get};
use bytes::Bytes;
use forecourt_server::{HttpLimits, Listener, RouteClasses};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use http::header::CONTENT_LENGTH;
use prometheus_client::registry::Registry;
use tokio::io::AsyncWriteExt;

use crate::support::{TestServer, read_until, serve, settings};

/// Every kind of end that an answer has.
fn router() -> Router {
    let first = || stream::once(async { Ok::<_, std::io::Error>(Bytes::from("first")) });
    let breaks = move || async move {
        Body::from_stream(first().chain(stream::once(async { Err(std::io::Error::other("broken")) })))
    };
    let panics = move || async move {
        let rest: BoxStream<'static, Result<Bytes, std::io::Error>> = stream::poll_fn(|_| panic!("as asked")).boxed();
        Body::from_stream(first().chain(rest))
    };
    let endless = move || async move { Body::from_stream(first().chain(stream::pending())) };
    let told = move || async move { ([(CONTENT_LENGTH, "5")], Body::from_stream(first())) };
    let waits = || async { std::future::pending::<Result<(), Infallible>>().await.unwrap_or_default() };
    Router::new()
        .route("/whole", any(async || "whole"))
        .route("/breaks", get(breaks))
        .route("/panics", get(panics))
        .route("/endless", get(endless))
        .route("/told", get(told))
        .route("/waits", get(waits))
}

async fn server() -> TestServer {
    let mut settings = settings(HttpLimits::default());
    settings.classes =
        RouteClasses::new(["/whole", "/breaks", "/panics", "/endless", "/told", "/waits"].map(|route| ("test", route)));
    serve(settings, Listener::plain("127.0.0.1:0".parse().unwrap()).await.unwrap(), router())
}

impl TestServer {
    /// The counts by labels, once there are `expected` of them.
    async fn ended(&self, expected: usize) -> Vec<String> {
        loop {
            let mut registry = Registry::default();
            self.metrics.register_conventional(&mut registry);
            let mut text = String::new();
            prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
            let counts =
                text.lines().filter_map(|line| line.strip_prefix("http_server_request_duration_seconds_count"));
            let counts: Vec<_> = counts.map(str::to_owned).collect();
            if counts.len() >= expected {
                return counts;
            }
            // Counted when the connection has let go of the answer, which may be after the client has read it.
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn how_an_answer_ended_is_told_by_what_it_is_counted_by() {
    let server = server().await;
    for (path, error) in [("/whole", None), ("/told", None), ("/breaks", Some("broke_off")), ("/panics", Some("panic"))]
    {
        let known = server.ended(0).await;
        let answer = server.get(path, "").await;
        assert_eq!(answer.starts_with("HTTP/1.1 200"), error.is_none(), "a head that nothing follows is not written");
        let ended = server.ended(known.len() + 1).await;
        let new: Vec<_> = ended.iter().filter(|line| !known.contains(line)).collect();
        let error = error.map_or_else(String::new, |error| format!(",error_type=\"{error}\""));
        let expected = format!(
            "{{http_request_method=\"GET\",http_route=\"{path}\",http_response_status_code=\"200\",url_scheme=\"http\",\
             network_protocol_version=\"1.1\"{error}}} 1"
        );
        assert_eq!(new, [&expected]);
    }
}

#[tokio::test]
async fn a_caller_who_leaves_is_counted_before_and_behind_the_head() {
    let server = server().await;
    for (path, status) in [("/endless", Some("200")), ("/waits", None)] {
        let known = server.ended(0).await;
        let mut connection = server.connect().await;
        connection.write_all(format!("GET {path} HTTP/1.1\r\nHost: demo.localhost\r\n\r\n").as_bytes()).await.unwrap();
        match status {
            Some(_) => drop(read_until(&mut connection, "first\r\n").await),
            // Nobody tells when a handler waits; one more request on the listener comes after it.
            None => drop(server.get("/whole", "").await),
        }
        drop(connection);
        let ended = server.ended(known.len() + if status.is_some() { 1 } else { 2 }).await;
        let of_path = ended.iter().find(|line| line.contains(&format!("\"{path}\""))).unwrap();
        assert!(of_path.contains("error_type=\"caller_left\""), "{of_path}");
        let told = of_path.split("http_response_status_code=\"").nth(1).map(|rest| &rest[..3]);
        assert_eq!(told, status, "{of_path}");
    }
}

#[tokio::test]
async fn made_up_methods_and_paths_are_one_series_each() {
    let server = server().await;
    for n in 0..20 {
        let request = |method: &str, path: &str| {
            format!("{method} {path} HTTP/1.1\r\nHost: demo.localhost\r\nConnection: close\r\n\r\n")
        };
        server.exchange(request(&format!("BREW{n}"), "/whole")).await;
        server.exchange(request("GET", &format!("/made/up/{n}"))).await;
        // It has no body, and is no answer that was cut off.
        server.exchange(request("HEAD", "/whole")).await;
    }
    let ended = server.ended(3).await;
    assert_eq!(ended.len(), 3, "{ended:?}");
    for (part, count) in [("\"_OTHER\",http_route=\"/whole\"", 20), ("\"HEAD\",http_route=\"/whole\"", 20)] {
        let line = ended.iter().find(|line| line.contains(part)).unwrap();
        assert!(line.ends_with(&format!("}} {count}")) && !line.contains("error_type"), "{line}");
    }
    assert!(ended.iter().any(|line| line.contains("\"404\"") && !line.contains("http_route")), "{ended:?}");
}
