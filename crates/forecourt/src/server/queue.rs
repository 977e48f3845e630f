//! Questions that wait for the operator: `GET /queue`, `GET` and `POST /queue/{id}` on the admin listener.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use forecourt_core::Error;
use forecourt_core::limits::RETRY_AFTER;
use forecourt_host::{Host, OperatorAnswer, OperatorAnswerOutcome, OperatorDecision, OperatorQuestion};
use http::{StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::live::LiveHouse;

/// Bytes of an answer.
const ANSWER_BYTES_MAX: usize = 16 * 1024;
/// Who answers here, unless the answer says so itself.
const OPERATOR: &str = "operator";
const FORM: &str = "send {\"decision\": \"accepted\", \"rejected\" or \"deferred\", \"reason\": \"…\"}";

/// The routes, which are to be put behind the admin token.
pub(super) fn routes(live: Arc<LiveHouse>) -> Router {
    Router::new().route("/queue", get(list)).route("/queue/{id}", get(one).post(answer)).with_state(live)
}

/// Which questions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueFilter {
    /// Those that were answered as well.
    #[serde(default)]
    all: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionBody {
    decision: OperatorDecision,
    reason: Option<String>,
    by: Option<String>,
}

/// Why there is no answer, for the operator.
struct QueueRefusal(StatusCode, String);

impl IntoResponse for QueueRefusal {
    fn into_response(self) -> Response {
        let mut response = (self.0, Json(json!({"error": self.1}))).into_response();
        if self.0 == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER.as_secs().into());
        }
        response
    }
}

impl From<Error> for QueueRefusal {
    fn from(error: Error) -> Self {
        tracing::error!(%error, "the operator's queue can't be read or written");
        Self(StatusCode::SERVICE_UNAVAILABLE, "the queue can't be read or written; the log says why".to_owned())
    }
}

/// The oldest first: those that wait, and with `?all=true` those that were answered.
async fn list(
    State(live): State<Arc<LiveHouse>>,
    Query(wanted): Query<QueueFilter>,
) -> Result<Json<Value>, QueueRefusal> {
    let mut questions = host(&live)?.operator().questions().await?;
    questions.retain(|asked| wanted.all || asked.waits());
    let waiting = questions.iter().filter(|asked| asked.waits()).count();
    Ok(Json(json!({"waiting": waiting, "questions": questions})))
}

async fn one(
    State(live): State<Arc<LiveHouse>>,
    Path(id): Path<String>,
) -> Result<Json<OperatorQuestion>, QueueRefusal> {
    host(&live)?.operator().question(&id).await?.map(Json).ok_or_else(unknown)
}

async fn answer(
    State(live): State<Arc<LiveHouse>>,
    Path(id): Path<String>,
    body: Body,
) -> Result<(StatusCode, Json<OperatorQuestion>), QueueRefusal> {
    let wrong = |_| QueueRefusal(StatusCode::BAD_REQUEST, FORM.to_owned());
    let body = to_bytes(body, ANSWER_BYTES_MAX).await.map_err(wrong)?;
    let wrong = |_| QueueRefusal(StatusCode::BAD_REQUEST, FORM.to_owned());
    let DecisionBody { decision, reason, by } = serde_json::from_slice(&body).map_err(wrong)?;
    let host = host(&live)?;
    let answer =
        OperatorAnswer { decision, reason, by: by.unwrap_or_else(|| OPERATOR.to_owned()), at: host.clock().now() };
    match host.operator().answer(&id, answer).await? {
        OperatorAnswerOutcome::Now(asked) => Ok((StatusCode::OK, Json(*asked))),
        // What holds, so that the operator sees who was first.
        OperatorAnswerOutcome::Before(asked) => Ok((StatusCode::CONFLICT, Json(*asked))),
        OperatorAnswerOutcome::Unknown => Err(unknown()),
    }
}

/// The host as it stands now.
fn host(live: &LiveHouse) -> Result<Arc<Host>, QueueRefusal> {
    Ok(live.now().ok_or_else(Error::unavailable)?.host.clone())
}

fn unknown() -> QueueRefusal {
    QueueRefusal(StatusCode::NOT_FOUND, "no such question; GET /queue tells which wait".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_one_of_three_words() {
        let read = |text: &str| serde_json::from_str::<DecisionBody>(text).map(|decided| decided.decision).ok();
        assert_eq!(read(r#"{"decision": "deferred"}"#), Some(OperatorDecision::Deferred));
        for wrong in [r#"{"decision": "yes"}"#, r#"{"decision": "accepted", "x": 1}"#, "{}", "[]", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
