//! What every answer carries, and what a surface learns about its client.

use std::sync::Arc;

use forecourt_server::{FrontSettings, HttpLimits, Listener, ServeError, TrustedProxies, admin};
use futures::FutureExt;
use prometheus_client::registry::Registry;

use crate::support::{plain, settings, start, statuses};

#[tokio::test]
async fn s2_every_answer_is_kept_out_of_indexes() {
    let server = plain(HttpLimits::default()).await;
    let mut answers =
        vec![server.get("/e", "").await, server.get("/nothing", "").await, server.get("/panic", "").await];
    for request in [
        "PUT /e HTTP/1.1\r\nHost: demo.localhost\r\nConnection: close\r\n\r\n",
        "GET /e HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "TRACE /e HTTP/1.1\r\nHost: demo.localhost\r\n\r\n",
        "GET /e HTTP/1.1\r\n\r\n",
        "POST /e HTTP/1.1\r\nHost: demo.localhost\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n",
    ] {
        answers.push(server.exchange(request).await);
    }
    let found: Vec<_> = answers.iter().flat_map(|answer| statuses(answer)).collect();
    assert_eq!(found, [200, 404, 500, 405, 421, 405, 400, 415]);
    for answer in answers {
        for field in [
            "x-robots-tag: noindex, nofollow, noarchive",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
        ] {
            assert!(answer.contains(field), "{field} is not in {answer}");
        }
    }
}

#[tokio::test]
async fn a_surface_has_the_last_word_on_its_headers() {
    let answer = plain(HttpLimits::default()).await.get("/own", "").await;
    assert!(answer.contains("x-robots-tag: all\r\n") && !answer.contains("noindex"), "{answer}");
}

#[tokio::test]
async fn s0_a_panic_is_a_500_that_tells_nothing_and_is_counted() {
    let server = plain(HttpLimits::default()).await;
    let answer = server.get("/panic", "").await;
    assert!(answer.starts_with("HTTP/1.1 500 ") && !answer.contains("as asked"), "{answer}");
    assert_eq!(server.metrics.panics(), 1);
    assert_eq!(statuses(&server.get("/e", "").await), [200]);
}

#[tokio::test]
async fn s12_the_client_is_the_peer_or_what_a_trusted_proxy_says() {
    let server = plain(HttpLimits::default()).await;
    assert!(server.get("/client", "X-Forwarded-For: 1.2.3.4\r\n").await.ends_with("\r\n127.0.0.1"));

    let mut trusting = settings(HttpLimits::default());
    trusting.proxies = TrustedProxies::new(vec!["127.0.0.0/8".parse().unwrap()]);
    let server = start(trusting, Listener::plain("127.0.0.1:0".parse().unwrap()).await.unwrap());
    assert!(server.get("/client", "X-Forwarded-For: 9.9.9.9, 1.2.3.4\r\n").await.ends_with("\r\n1.2.3.4"));
}

#[tokio::test]
async fn plain_http_stays_on_loopback() {
    for address in ["0.0.0.0:0", "192.0.2.1:80", "[::]:0"] {
        let refused = Listener::plain(address.parse().unwrap()).await;
        assert!(matches!(refused, Err(ServeError::PlainOffLoopback(_))), "{address}");
    }
    assert!(Listener::plain("[::1]:0".parse().unwrap()).await.is_ok());
}

#[tokio::test]
async fn a_taken_address_is_named() {
    let taken = Listener::plain("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let error = Listener::plain(taken.address()).await.err().unwrap().to_string();
    assert!(error.contains(&taken.address().to_string()), "{error}");
}

#[tokio::test]
async fn the_operator_sees_health_readiness_and_counts() {
    let server = plain(HttpLimits::default()).await;
    server.get("/e", "").await;
    server.get("/some/made/up/path", "").await;

    let mut registry = Registry::with_prefix("forecourt");
    server.metrics.register(&mut registry);
    let not_ready = Arc::new(|| async { Err("the store is away".to_owned()) }.boxed());
    let router = admin(Arc::new(registry), not_ready);
    let ask = async |path: &str| {
        let request = http::Request::get(path).body(axum::body::Body::empty()).unwrap();
        let response = tower::ServiceExt::oneshot(router.clone(), request).await.unwrap();
        let status = response.status().as_u16();
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    };
    assert_eq!(ask("/healthz").await, (200, "ok\n".into()));
    assert_eq!(ask("/readyz").await, (503, "not ready: the store is away\n".into()));
    let (status, text) = ask("/metrics").await;
    assert_eq!(status, 200);
    for line in [
        "forecourt_http_requests_total{protocol=\"test\",route=\"/e\",method=\"GET\",status=\"2xx\",domain=\"none\"} 1",
        "forecourt_http_requests_total{protocol=\"none\",route=\"none\",method=\"GET\",status=\"4xx\",domain=\"none\"} 1",
        "forecourt_http_in_flight{protocol=\"test\"} 0",
        "forecourt_http_panics_total 0",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("made/up"));
}

/// The value of `x-request-id` in an answer.
fn request_id(answer: &str) -> String {
    let mut lines = answer.lines().filter_map(|line| line.split_once(": "));
    let (_, id) = lines.find(|(name, _)| name.eq_ignore_ascii_case("x-request-id")).expect("an id");
    id.to_owned()
}

#[tokio::test]
async fn every_answer_names_its_request() {
    let server = plain(HttpLimits::default()).await;
    let mut seen = std::collections::HashSet::new();
    for path in ["/e", "/e", "/nothing", "/panic"] {
        let answer = server.get(path, "X-Request-Id: made-up\r\n").await;
        let id = request_id(&answer);
        assert_eq!(id.len(), 16, "{id}");
        assert_eq!(answer.contains(&format!("Request id: {id}")), path == "/panic", "{answer}");
        assert!(seen.insert(id), "{answer}");
    }
}

#[tokio::test]
async fn the_id_of_a_trusted_proxy_is_kept() {
    let proxies = TrustedProxies::new(vec!["127.0.0.0/8".parse().unwrap()]);
    let settings = FrontSettings { proxies, ..settings(HttpLimits::default()) };
    let server = start(settings, Listener::plain("127.0.0.1:0".parse().unwrap()).await.unwrap());
    assert_eq!(request_id(&server.get("/e", "X-Request-Id: edge-7.1\r\n").await), "edge-7.1");
    for odd in ["X-Request-Id: a b\r\n", "X-Request-Id: a\r\nX-Request-Id: b\r\n", ""] {
        assert_eq!(request_id(&server.get("/e", odd).await).len(), 16, "{odd}");
    }
}
