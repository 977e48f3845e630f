//! The routes of signing in: the only file that knows the web framework.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use forecourt_pages::{ACCOUNT, SIGN_IN, SIGN_OUT};
use forecourt_surface::HttpRoutes;
use http::Method;

use crate::SignIn;
use crate::error::SignInError;
use crate::limits::ACCOUNT_FORM_BYTES_MAX;
use crate::sign_in::CALLBACK;
use crate::visit::Visit;

/// The routes.
pub(crate) fn routes(sign_in: SignIn) -> HttpRoutes {
    let router = Router::new()
        // `any`: other methods get their 405 with `Allow` from `Visit::turned_away`.
        .route(SIGN_IN, any(on_sign_in))
        .route(CALLBACK, any(on_callback))
        .route(SIGN_OUT, any(on_sign_out))
        .route(ACCOUNT, any(on_account))
        .with_state(Arc::new(sign_in));
    HttpRoutes { paths: vec![SIGN_IN, CALLBACK, SIGN_OUT, ACCOUNT], router }
}

async fn on_sign_in(State(sign_in): State<Arc<SignIn>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let visit = Visit::new(&sign_in, &head);
    let answer = match visit.turned_away(&[Method::GET]) {
        None => visit.sign_in().await.unwrap_or_else(|error| visit.failed_at_asked(&error)),
        Some(answer) => answer,
    };
    answer.into_response()
}

async fn on_callback(State(sign_in): State<Arc<SignIn>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let visit = Visit::new(&sign_in, &head);
    match visit.turned_away(&[Method::GET]) {
        None => visit.callback().await,
        Some(answer) => answer,
    }
    .into_response()
}

async fn on_sign_out(State(sign_in): State<Arc<SignIn>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let visit = Visit::new(&sign_in, &head);
    let answer = match visit.turned_away(&[Method::POST]) {
        None => visit.sign_out().await.unwrap_or_else(|error| visit.failed(&error, None)),
        Some(answer) => answer,
    };
    answer.into_response()
}

async fn on_account(State(sign_in): State<Arc<SignIn>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let visit = Visit::new(&sign_in, &head);
    if let Some(answer) = visit.turned_away(&[Method::GET, Method::POST]) {
        return answer.into_response();
    }
    let answer = match head.method {
        Method::POST => match axum::body::to_bytes(body, ACCOUNT_FORM_BYTES_MAX).await {
            Ok(form) => visit.change_account(&form).await,
            Err(_) => Err(SignInError::Form),
        },
        _ => visit.account().await,
    };
    answer.unwrap_or_else(|error| visit.failed(&error, None)).into_response()
}
