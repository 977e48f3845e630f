//! The operator's own listener: is it alive, is it ready, what has it counted.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::future::BoxFuture;
use http::{StatusCode, header};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

/// Whether the host can answer now; the text of an error says what is missing.
pub type Ready = Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

#[derive(Clone)]
struct Admin {
    registry: Arc<Registry>,
    ready: Ready,
}

/// `/healthz` (the process answers), `/readyz` (200, or 503 with the reason) and `/metrics`
/// (OpenMetrics text). To be served on loopback, apart from everything that is public.
pub fn admin(registry: Arc<Registry>, ready: Ready) -> Router {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(Admin { registry, ready })
}

async fn readyz(State(admin): State<Admin>) -> Response {
    match (admin.ready)().await {
        Ok(()) => "ready\n".into_response(),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {reason}\n")).into_response(),
    }
}

async fn metrics(State(admin): State<Admin>) -> Response {
    let mut text = String::new();
    match encode(&mut text, &admin.registry) {
        Ok(()) => {
            let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(header::CONTENT_TYPE, content_type)], text).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
