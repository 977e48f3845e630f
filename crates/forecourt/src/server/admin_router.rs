//! What answers on the operator's listener, while it may change.

use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::Router;

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

    /// The one that answers now.
    pub(super) fn now(&self) -> Router {
        (*self.0.load_full()).clone()
    }
}
