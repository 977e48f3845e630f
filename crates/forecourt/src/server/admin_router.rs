//! What answers on the operator's listener, while it may change.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use arc_swap::ArcSwap;
use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::future::RouteFuture;
use http::Request;
use tower_service::Service;

/// What answers on the operator's listener; each request looks it up, since the token may change.
#[derive(Clone)]
pub(super) struct AdminRouter(Arc<ArcSwap<Router>>);

impl AdminRouter {
    /// Answers by `router`.
    pub(super) fn new(router: Router) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(router)))
    }

    /// Answers by another one from here on.
    pub(super) fn replace(&self, router: Router) {
        self.0.store(Arc::new(router));
    }
}

impl Service<Request<Body>> for AdminRouter {
    type Response = Response;
    type Error = Infallible;
    type Future = RouteFuture<Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        (*self.0.load_full()).clone().call(request)
    }
}
