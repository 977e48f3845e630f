//! The bytes of one connection to the listener of HTTP, in front of a service that gives bodies back: the listener ends
//! it, each answer is one of HTTP, and none says that something broke.

#![no_main]

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::response::{IntoResponse, Response};
use forecourt_core::Entropy;
use forecourt_fuzz::front::Front;
use forecourt_fuzz::http::{answers, frames};
use forecourt_server::{
    AllowedHosts, FrontSettings, HttpLimits, Listener, ListenerContext, RouteClasses, TrustedProxies,
};
use http::{Request, StatusCode};
use libfuzzer_sys::fuzz_target;
use tokio_util::sync::CancellationToken;

/// Bytes of a body that the service reads.
const BODY_BYTES_MAX: usize = 1_000;

thread_local! {
    static FRONT: Front = Front::new(start());
}

fuzz_target!(|bytes: &[u8]| {
    let heard = FRONT.with(|front| front.connection(bytes));
    // What is no preface after all is refused in the words of HTTP/1.
    if bytes.starts_with(b"PRI ") && !heard.bytes.starts_with(b"HTTP/1.") {
        return frames(&heard.bytes, heard.is_whole);
    }
    let has_head = bytes.windows(4).any(|window| window == b"HEAD");
    for answer in answers(&heard.bytes, heard.is_whole, has_head) {
        assert_ne!(answer.status, 500, "{}", heard.bytes.escape_ascii());
    }
});

async fn start() -> SocketAddr {
    let listener = Listener::plain(SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a port");
    let address = listener.address();
    let context = ListenerContext::new(FrontSettings {
        hosts: AllowedHosts::new(["demo.localhost"], true),
        proxies: TrustedProxies::default(),
        limits: HttpLimits::default(),
        metrics: Arc::default(),
        classes: RouteClasses::new([("test", "/{*path}")]),
        entropy: Arc::new(NoEntropy),
        hsts: None,
        leaving: Default::default(),
    });
    tokio::spawn(listener.serve(context, Router::new().fallback(service), CancellationToken::new()));
    address
}

async fn service(request: Request<Body>) -> Response {
    match to_bytes(request.into_body(), BODY_BYTES_MAX).await {
        Ok(body) => body.into_response(),
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}

/// Always the same, so that what is found is found again.
#[derive(Debug)]
struct NoEntropy;

impl Entropy for NoEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}
