//! What watches the host from elsewhere: whether it lives and is ready, in a word, and what it has counted.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use forecourt_core::limits::RETRY_AFTER;
use http::{StatusCode, header};
use prometheus_client::registry::Registry;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::admin::{AdminToken, ReadinessCheck, metrics};

/// For how long an answer to whether the host is ready is given again: to look asks the store, and anybody may ask here.
const LOOK_KEPT: Duration = Duration::from_millis(250);

/// `/healthz` and `/readyz` as [`crate::admin()`] has them, but for strangers: yes or no, and neither notes nor reasons.
pub fn brief_health(ready: ReadinessCheck) -> Router {
    let look = Arc::new(Look { ready, last: Mutex::default() });
    Router::new().route("/healthz", get(async || "ok\n")).route("/readyz", get(readyz)).with_state(look)
}

/// One look at a time at whether the host is ready.
struct Look {
    ready: ReadinessCheck,
    last: Mutex<Option<(Instant, bool)>>,
}

impl Look {
    async fn is_ready(&self) -> bool {
        let mut last = self.last.lock().await;
        if let Some((at, is_ready)) = *last
            && at.elapsed() < LOOK_KEPT
        {
            return is_ready;
        }
        let is_ready = (self.ready)().await.is_ok();
        *last = Some((Instant::now(), is_ready));
        is_ready
    }
}

async fn readyz(State(look): State<Arc<Look>>) -> Response {
    if look.is_ready().await {
        return "ready\n".into_response();
    }
    let wait = [(header::RETRY_AFTER, RETRY_AFTER.as_secs())];
    (StatusCode::SERVICE_UNAVAILABLE, wait, "not ready\n").into_response()
}

/// `/metrics` as [`crate::admin()`] has it, behind `token` where there is one. Without, it is to be served on loopback.
pub fn metrics_behind(registry: Arc<Registry>, token: Option<AdminToken>) -> Router {
    let routes = Router::new().route("/metrics", get(metrics)).with_state(registry);
    match token {
        Some(token) => routes.route_layer(from_fn_with_state(token, door)),
        None => routes,
    }
}

async fn door(State(token): State<AdminToken>, request: Request, next: Next) -> Response {
    if token.is_in(request.headers()) {
        return next.run(request).await;
    }
    // RFC 6750 3.1: what is wrong is said of a proof that was shown, and of none nothing is.
    let challenge = match request.headers().contains_key(header::AUTHORIZATION) {
        true => "Bearer realm=\"metrics\", error=\"invalid_token\"",
        false => "Bearer realm=\"metrics\"",
    };
    let fields = [(header::WWW_AUTHENTICATE, challenge), (header::CACHE_CONTROL, "no-store")];
    (StatusCode::UNAUTHORIZED, fields, "this needs `Authorization: Bearer` with the token of [metrics]\n")
        .into_response()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use axum::body::{Body, to_bytes};
    use http::HeaderMap;
    use tower::ServiceExt;

    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    async fn asked(router: Router, path: &str, authorization: Option<&str>) -> (u16, HeaderMap, String) {
        let mut request = Request::builder().uri(path);
        if let Some(value) = authorization {
            request = request.header(header::AUTHORIZATION, value);
        }
        let answer = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (head, body) = answer.into_parts();
        let text = to_bytes(body, 4096).await.unwrap();
        (head.status.as_u16(), head.headers, String::from_utf8(text.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn metrics_are_shown_to_whoever_has_the_token() {
        let router = || metrics_behind(Arc::default(), AdminToken::new(TOKEN));
        assert_eq!(asked(router(), "/metrics", Some(&format!("Bearer {TOKEN}"))).await.0, 200);
        let (status, fields, text) = asked(router(), "/metrics", None).await;
        assert_eq!((status, &fields["www-authenticate"]), (401, &"Bearer realm=\"metrics\"".parse().unwrap()));
        assert!(!text.contains("EOF"), "{text}");
        for wrong in ["Bearer 0123456789abcdeF", "Bearer ", TOKEN, "Basic MDEyMzQ1Njc4OWFiY2RlZg=="] {
            let (status, fields, _) = asked(router(), "/metrics", Some(wrong)).await;
            let challenge = fields["www-authenticate"].to_str().unwrap();
            assert!(status == 401 && challenge.contains("invalid_token"), "{wrong}: {status} {challenge}");
        }
        assert_eq!(asked(metrics_behind(Arc::default(), None), "/metrics", None).await.0, 200);
    }

    #[tokio::test]
    async fn health_is_yes_or_no_and_says_nothing_of_why() {
        let ready: ReadinessCheck = Arc::new(|| Box::pin(async { Ok(vec!["a secret note".to_owned()]) }));
        let unready: ReadinessCheck = Arc::new(|| Box::pin(async { Err("a secret reason".to_owned()) }));
        for check in [&ready, &unready] {
            assert_eq!(asked(brief_health(check.clone()), "/healthz", None).await.2, "ok\n");
        }
        let (status, _, text) = asked(brief_health(ready), "/readyz", None).await;
        assert_eq!((status, text.as_str()), (200, "ready\n"));
        let (status, fields, text) = asked(brief_health(unready), "/readyz", None).await;
        assert_eq!((status, text.as_str()), (503, "not ready\n"));
        assert!(fields.contains_key("retry-after"));
    }

    #[tokio::test(start_paused = true)]
    async fn however_often_it_is_asked_the_store_is_asked_now_and_then() {
        let asked_store = Arc::new(AtomicU32::new(0));
        let counted = asked_store.clone();
        let ready: ReadinessCheck = Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Box::pin(async { Ok(Vec::new()) })
        });
        let router = brief_health(ready);
        for _ in 0..100 {
            assert_eq!(asked(router.clone(), "/readyz", None).await.0, 200);
        }
        assert_eq!(asked_store.load(Ordering::Relaxed), 1);
        tokio::time::advance(LOOK_KEPT).await;
        assert_eq!(asked(router, "/readyz", None).await.0, 200);
        assert_eq!(asked_store.load(Ordering::Relaxed), 2);
    }
}
