//! One request and its answer. While the engine is busy (429, 503) or can't be reached, the same is tried again, after the
//! time that it asks for.

use std::time::Duration;

use bytes::Bytes;
use forecourt_egress::{Deadlines, Egress, EgressError, UpstreamRequest, UpstreamResponse};
use forecourt_retrieval::RetrievalError;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::Value;

use super::attempts::Attempts;
use crate::limits::{ANSWER_BYTES_MAX, HEAD_TIME_MAX};

/// Bytes of what an engine says of a refusal, for the operator.
const REASON_BYTES_MAX: usize = 400;

/// The way to one engine.
pub(super) struct Exchange {
    pub(super) egress: Egress,
    /// Without a slash at its end.
    pub(super) base: String,
    pub(super) headers: HeaderMap,
}

/// An answer that was understood.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Value,
    /// For how long the engine asks to be left alone.
    pub(super) retry_after: Option<Duration>,
}

impl Answer {
    /// The body of a success.
    pub(super) fn success(self) -> Result<Value, RetrievalError> {
        match self.status.is_success() {
            true => Ok(self.body),
            false => Err(refused(self.status, &self.body)),
        }
    }
}

/// What the engine says of a status that is no success.
pub(super) fn refused(status: StatusCode, body: &Value) -> RetrievalError {
    let error = &body["error"];
    let causes = [&error["root_cause"][0]["reason"], &error["reason"], error];
    let reason = causes.iter().find_map(|cause| cause.as_str()).unwrap_or_default();
    let mut reason = reason.to_owned();
    let end =
        (0..=REASON_BYTES_MAX.min(reason.len())).rev().find(|at| reason.is_char_boundary(*at)).unwrap_or_default();
    reason.truncate(end);
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => RetrievalError::Refused(format!(
            "it answers {status}: see whether `headers` of the engine has an `Authorization` that may use the index {reason}"
        )),
        _ if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
            RetrievalError::Unavailable(format!("it answers {status} {reason}"))
        }
        _ => RetrievalError::Refused(format!("it answers {status}: {reason}")),
    }
}

/// What goes to the engine.
#[derive(Clone, Copy)]
pub(super) enum Body<'a> {
    None,
    Json(&'a Value),
    /// A line for each action and each document.
    Lines(&'a Bytes),
}

impl Exchange {
    /// Asks a question until the engine is not busy, and gives its answer, whatever its status.
    pub(super) async fn send(&self, method: Method, path: &str, body: Body<'_>) -> Result<Answer, RetrievalError> {
        self.send_within(&mut Attempts::of_question(), method, path, body).await
    }

    /// The same with what is left of some attempts.
    pub(super) async fn send_within(
        &self,
        attempts: &mut Attempts,
        method: Method,
        path: &str,
        body: Body<'_>,
    ) -> Result<Answer, RetrievalError> {
        loop {
            let answer = self.once(method.clone(), path, body, attempts.time()).await;
            let asked = match &answer {
                Ok(answer) if is_busy(answer.status) => answer.retry_after,
                Err(error) if error.is_passing() => None,
                _ => return answer,
            };
            if !attempts.wait(asked).await {
                return answer;
            }
            tracing::debug!(path, attempts = attempts.made(), "a search engine is busy");
        }
    }

    async fn once(
        &self,
        method: Method,
        path: &str,
        body: Body<'_>,
        total: Duration,
    ) -> Result<Answer, RetrievalError> {
        let url = format!("{}{path}", self.base);
        let (mime, bytes) = match body {
            Body::None => (None, Bytes::new()),
            Body::Json(value) => (Some("application/json"), Bytes::from(value.to_string())),
            Body::Lines(lines) => (Some("application/x-ndjson"), lines.clone()),
        };
        let mut request =
            UpstreamRequest { method, headers: self.headers.clone(), ..UpstreamRequest::post(&url, bytes) };
        if let Some(mime) = mime {
            request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(mime));
        }
        let request = request.within(Deadlines {
            connect: forecourt_egress::limits::CONNECT_TIME_MAX,
            first_byte: total.min(HEAD_TIME_MAX),
            total,
            body_bytes_max: ANSWER_BYTES_MAX,
        });
        let UpstreamResponse { status, headers, body, .. } =
            self.egress.send_upstream(request).await.map_err(|error| self.unanswered(&error))?;
        let bytes = body.collect().await.map_err(|error| self.unanswered(&error))?;
        let body = match serde_json::from_slice(&bytes) {
            Ok(body) => body,
            // A proxy before it says in its own words that it is away.
            Err(_) if !status.is_success() => Value::Null,
            Err(error) => return Err(RetrievalError::Unreadable(error.to_string())),
        };
        Ok(Answer { status, body, retry_after: retry_after(&headers) })
    }

    fn unanswered(&self, error: &EgressError) -> RetrievalError {
        let why = error.log_reason();
        match error {
            EgressError::Refused(_) => RetrievalError::Refused(format!("{} is not asked: {why}", self.base)),
            EgressError::TooLarge { bytes_max } => RetrievalError::Unreadable(format!(
                "an answer has more than {bytes_max} bytes; ask for fewer candidates"
            )),
            _ => RetrievalError::Unavailable(format!("{}: {why}", self.base)),
        }
    }
}

/// Whether the same may be taken a little later.
pub(super) fn is_busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_says_what_the_engine_says_and_what_to_do() {
        let body = json!({"error": {"root_cause": [{"reason": "no such field"}], "reason": "all shards failed"}, "status": 400});
        assert_eq!(
            refused(StatusCode::BAD_REQUEST, &body).to_string(),
            "the search engine refuses: it answers 400 Bad Request: no such field"
        );
        assert!(refused(StatusCode::UNAUTHORIZED, &Value::Null).to_string().contains("`Authorization`"));
        assert!(refused(StatusCode::BAD_GATEWAY, &Value::Null).is_passing());
        let long = json!({"error": "ä".repeat(REASON_BYTES_MAX)});
        assert!(refused(StatusCode::BAD_REQUEST, &long).to_string().len() < REASON_BYTES_MAX + 100);
    }
}
