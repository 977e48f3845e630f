//! Reading the deployment again: `GET` and `POST /reload` on the admin listener.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::StatusCode;
use serde_json::json;

use super::reloader::Reloader;
use crate::live::LiveHouse;
use crate::reload::{AttemptOutcome, ReloadTrigger};

#[derive(Clone)]
struct ReloadState {
    reloader: Arc<Reloader>,
    live: Arc<LiveHouse>,
}

/// The routes, which are to be put behind the admin token.
pub(super) fn routes(reloader: Arc<Reloader>, live: Arc<LiveHouse>) -> Router {
    Router::new().route("/reload", get(status).post(reload)).with_state(ReloadState { reloader, live })
}

/// The last attempt, and whether files are watched.
async fn status(State(state): State<ReloadState>) -> Response {
    Json(state.reloader.status(state.live.houses())).into_response()
}

/// Reads the deployment again and answers once that is done: 200 when it is served, 422 with what is wrong with it,
/// 409 when it needs a restart.
async fn reload(State(state): State<ReloadState>) -> Response {
    // A caller that goes away stops nothing.
    let reloading = tokio::spawn(async move { state.reloader.reload(ReloadTrigger::Admin).await });
    match reloading.await {
        Ok(Some(attempt)) => {
            let status = match attempt.outcome {
                AttemptOutcome::Applied => StatusCode::OK,
                AttemptOutcome::Refused => StatusCode::UNPROCESSABLE_ENTITY,
                AttemptOutcome::NeedsRestart => StatusCode::CONFLICT,
            };
            (status, Json(attempt)).into_response()
        }
        Ok(None) | Err(_) => {
            let why = "this server was not told where its deployment comes from, or is stopping";
            (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "error": why }))).into_response()
        }
    }
}
