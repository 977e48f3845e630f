//! What answers on listeners that domains share: each request meets the house of its own.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use forecourt_server::Route;
use http::{Request, Response, StatusCode};

use super::LiveDomains;

/// A router that each request looks up, so that it meets the newest house of its domain and keeps it to its end.
#[derive(Clone)]
pub(crate) struct LiveRouter {
    pub(crate) domains: Arc<LiveDomains>,
    pub(crate) listen: Option<&'static str>,
}

impl Route for LiveRouter {
    fn route(&self, request: &mut Request<Body>) -> Result<Router, Box<Response<Body>>> {
        Ok(match self.domains.of_request(request) {
            // Without a router for it there is nothing at any path.
            Some(live) => live.router(self.listen, request.uri_mut()).unwrap_or_default(),
            None => misdirected(),
        })
    }

    fn compresses(&self) -> bool {
        self.listen.is_none()
    }
}

/// What answers requests for a host that is not that of their connection.
fn misdirected() -> Router {
    let text = "This host is not served on this connection.";
    Router::new().fallback(move || async move { (StatusCode::MISDIRECTED_REQUEST, text) })
}
