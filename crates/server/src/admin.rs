//! The operator's own listener: is it alive, is it ready, what has it counted; and a door before calls
//! that change something.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use forecourt_core::limits::RETRY_AFTER;
use futures::future::BoxFuture;
use http::{HeaderMap, StatusCode, header};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use crate::exposition::Exposition;

/// Whether the host can answer now: what an operator should know of all the same, in a sentence each; the text of an
/// error says what is missing.
pub type ReadinessCheck = Arc<dyn Fn() -> BoxFuture<'static, Result<Vec<String>, String>> + Send + Sync>;

/// `/healthz` (the process answers), `/readyz` (200, with notes where there are any; or 503 with the reason) and `/metrics`
/// (OpenMetrics; or the older text format, where `Accept` wants `text/plain` more). To be served on loopback, apart from
/// everything that is public.
pub fn admin(registry: Arc<Registry>, ready: ReadinessCheck) -> Router {
    let counted = Router::new().route("/metrics", get(metrics)).with_state(registry);
    let health = Router::new().route("/healthz", get(async || "ok\n")).route("/readyz", get(readyz));
    health.with_state(ready).merge(counted)
}

/// A token of the operator's. Kept as a SHA-256 digest, and compared in constant time.
#[derive(Clone)]
pub struct AdminToken([u8; 32]);

impl AdminToken {
    /// Bytes of a token, at least: fewer could be guessed.
    pub const BYTES_MIN: usize = 16;

    /// A token of at least [`AdminToken::BYTES_MIN`] visible ASCII characters; `None` when it is none.
    pub fn new(token: &str) -> Option<Self> {
        let is_one = token.len() >= Self::BYTES_MIN && token.bytes().all(|byte| byte.is_ascii_graphic());
        is_one.then(|| Self(hashed(token.as_bytes())))
    }

    /// Whether `text` is the token.
    pub fn is(&self, text: &str) -> bool {
        verify_slices_are_equal(&self.0, &hashed(text.as_bytes())).is_ok()
    }

    /// What tells it from any other one, and opens nothing: for what must end when the token is changed.
    pub fn mark(&self) -> String {
        // The hash of the hash: the digest itself is what a token is compared with, and must not leave.
        hashed(&self.0).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether the request carries it, as `Authorization: Bearer` (RFC 6750 2.1).
    pub fn is_in(&self, headers: &HeaderMap) -> bool {
        let value = headers.get(header::AUTHORIZATION).map(http::HeaderValue::as_bytes).unwrap_or_default();
        let Some((scheme, token)) = value.split_at_checked("Bearer ".len()) else { return false };
        // Digests of equal length are compared, so that neither the time nor the length tells anything of the token.
        scheme.eq_ignore_ascii_case(b"Bearer ") && verify_slices_are_equal(&self.0, &hashed(token)).is_ok()
    }
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken")
    }
}

fn hashed(token: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest(&SHA256, token).as_ref());
    out
}

/// Puts a door before every route of `routes`: 401 without the token, and 403 for everybody while there is
/// none to be had. What needs no proof, such as `/healthz`, is merged outside of it.
pub fn behind_token(routes: Router, token: Option<AdminToken>) -> Router {
    routes.route_layer(from_fn_with_state(token, door))
}

async fn door(State(token): State<Option<AdminToken>>, request: Request, next: Next) -> Response {
    let refused = |status: StatusCode, why: &str| {
        let body = format!("{{\"error\": \"{why}\"}}\n");
        (status, [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], body)
    };
    match token {
        Some(token) if token.is_in(request.headers()) => next.run(request).await,
        Some(_) => {
            let refused =
                refused(StatusCode::UNAUTHORIZED, "this call needs `Authorization: Bearer` with the admin token");
            ([(header::WWW_AUTHENTICATE, "Bearer realm=\"admin\"")], refused).into_response()
        }
        None => {
            let why = "calls that change something are closed: set `token` in [admin] of forecourt.toml";
            refused(StatusCode::FORBIDDEN, why).into_response()
        }
    }
}

async fn readyz(State(ready): State<ReadinessCheck>) -> Response {
    match ready().await {
        Ok(notes) => {
            let notes: String = notes.iter().map(|note| format!("note: {note}\n")).collect();
            format!("ready\n{notes}").into_response()
        }
        Err(reason) => {
            // Every 503 says when to try again (design 36).
            let wait = [(header::RETRY_AFTER, RETRY_AFTER.as_secs())];
            (StatusCode::SERVICE_UNAVAILABLE, wait, format!("not ready: {reason}\n")).into_response()
        }
    }
}

/// What was counted, in the format that is asked for.
pub(crate) async fn metrics(State(registry): State<Arc<Registry>>, headers: HeaderMap) -> Response {
    let (mut text, format) = (String::new(), Exposition::wanted_by(&headers));
    match encode(&mut text, &registry) {
        Ok(()) => {
            let fields = [(header::CONTENT_TYPE, format.media_type()), (header::VARY, "accept")];
            (fields, format.written(text)).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use tower::ServiceExt;

    const TOKEN: &str = "0123456789abcdef";

    async fn asked(token: Option<&str>, authorization: Option<&str>) -> Response {
        let routes = Router::new().route("/change", get(async || "done"));
        let router = behind_token(routes, token.and_then(AdminToken::new)).route("/healthz", get(async || "ok"));
        let mut request = Request::builder().uri("/change");
        if let Some(value) = authorization {
            request = request.header(header::AUTHORIZATION, value);
        }
        let open = Request::builder().uri("/healthz").body(Body::empty()).unwrap();
        assert_eq!(router.clone().oneshot(open).await.unwrap().status(), StatusCode::OK);
        router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    #[tokio::test]
    async fn only_the_token_opens_the_door() {
        for right in [format!("Bearer {TOKEN}"), format!("bearer {TOKEN}")] {
            assert_eq!(asked(Some(TOKEN), Some(&right)).await.status(), StatusCode::OK);
        }
        let longer = format!("Bearer {TOKEN}x");
        for wrong in [
            None,
            Some(""),
            Some("Bearer"),
            Some("Bearer "),
            Some(TOKEN),
            Some("Bearer 0123456789abcdeF"),
            Some(&longer),
        ] {
            let refused = asked(Some(TOKEN), wrong).await;
            assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{wrong:?}");
            assert!(refused.headers().contains_key(header::WWW_AUTHENTICATE));
        }
        for any in [None, Some("Bearer "), Some("Bearer 0123456789abcdef")] {
            assert_eq!(asked(None, any).await.status(), StatusCode::FORBIDDEN);
        }
    }

    #[test]
    fn a_token_that_could_be_guessed_is_none() {
        assert!(AdminToken::new(TOKEN).is_some() && AdminToken::new(&TOKEN[1..]).is_none());
        assert!(AdminToken::new("0123456789 abcdef").is_none());
        assert_eq!(format!("{:?}", AdminToken::new(TOKEN).unwrap()), "AdminToken");
    }
}
