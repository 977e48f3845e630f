//! The routes on which people sign in at servers: the only file of them that knows the web framework.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use forecourt_surface::HttpRoutes;
use http::Method;

use super::page::{SignInPages, Visit};
use crate::servers::sign_in::{CALLBACK, FORGET, PAGE};

/// The routes.
pub(crate) fn routes(pages: SignInPages) -> HttpRoutes {
    let router = Router::new()
        .route(CALLBACK, any(on_callback))
        .route(PAGE, any(on_page))
        .route(FORGET, any(on_forget))
        .with_state(Arc::new(pages));
    HttpRoutes { paths: vec![CALLBACK, PAGE, FORGET], router }
}

async fn on_page(State(pages): State<Arc<SignInPages>>, Path(name): Path<String>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let visit = Visit::new(&pages, &head);
    match visit.turned_away(&Method::GET) {
        None => visit.page(&name).await,
        Some(answer) => answer,
    }
    .into_response()
}

async fn on_forget(State(pages): State<Arc<SignInPages>>, Path(name): Path<String>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let visit = Visit::new(&pages, &head);
    match visit.turned_away(&Method::POST) {
        None => visit.forget(&name).await,
        Some(answer) => answer,
    }
    .into_response()
}

async fn on_callback(State(pages): State<Arc<SignInPages>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let visit = Visit::new(&pages, &head);
    match visit.turned_away(&Method::GET) {
        None => visit.callback().await,
        Some(answer) => answer,
    }
    .into_response()
}
