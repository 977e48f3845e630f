//! Why the homeserver did not do what it was asked, by the code that it has for it. Client-Server API, 2.4.

use std::time::Duration;

use forecourt_connectors::PlatformError;
use forecourt_connectors::limits::RETRY_AFTER_MAX;
use forecourt_core::json;
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::limits::WAIT_UNSAID;

/// What it says of a token that is not good: an operator can put another in its place, and answers wait for that.
const TOKEN: [&str; 4] = ["M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_UNAUTHORIZED", "M_USER_DEACTIVATED"];

/// Why something was not done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    /// The code of the homeserver; empty where it gave none.
    pub(crate) code: String,
    /// Whether the homeserver answered at all, and its token was good.
    pub(crate) is_answer: bool,
    /// What follows from it.
    pub(crate) error: PlatformError,
}

impl ApiError {
    /// Reads an answer that is no success.
    pub(crate) fn read(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let value = json::parse(body).unwrap_or(Value::Null);
        let text = |key: &str| value[key].as_str().unwrap_or_default().chars().take(200).collect::<String>();
        let code = text("errcode");
        let words = format!("status {}: {code} {}", status.as_u16(), text("error")).trim_end().to_owned();
        let error = match status {
            StatusCode::TOO_MANY_REQUESTS => PlatformError::Later(wait(headers, &value)),
            _ if code == "M_LIMIT_EXCEEDED" => PlatformError::Later(wait(headers, &value)),
            _ if TOKEN.contains(&code.as_str()) => PlatformError::Failed(words),
            status if status.is_client_error() => PlatformError::Refused(words),
            _ => PlatformError::Failed(words),
        };
        let is_answer = !TOKEN.contains(&code.as_str());
        Self { code, is_answer, error }
    }

    /// Something that is no answer of the homeserver's.
    pub(crate) fn without_code(error: PlatformError) -> Self {
        Self { code: String::new(), is_answer: false, error }
    }

    /// Whether there is nothing of that name.
    pub(crate) fn is_not_found(&self) -> bool {
        self.code == "M_NOT_FOUND"
    }

    /// Whether it will never be done for the bot.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.error, PlatformError::Refused(_))
    }
}

impl From<ApiError> for PlatformError {
    fn from(error: ApiError) -> Self {
        error.error
    }
}

/// How long it wants to be left alone. The field of the head is the newer way to say so.
fn wait(headers: &HeaderMap, value: &Value) -> Duration {
    let seconds = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let said = seconds.map(Duration::from_secs).or_else(|| value["retry_after_ms"].as_u64().map(Duration::from_millis));
    said.unwrap_or(WAIT_UNSAID).min(RETRY_AFTER_MAX)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn of(status: u16, body: &str) -> ApiError {
        ApiError::read(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_bytes())
    }

    #[test]
    fn what_passes_or_can_be_mended_is_tried_again_and_what_is_forbidden_is_not() {
        for body in ["{\"errcode\":\"M_UNKNOWN_TOKEN\"}", "{\"errcode\":\"M_MISSING_TOKEN\"}"] {
            assert!(matches!(of(401, body).error, PlatformError::Failed(_)), "{body}");
        }
        assert!(matches!(of(502, "<html>").error, PlatformError::Failed(_)));
        let forbidden = of(403, "{\"errcode\":\"M_FORBIDDEN\",\"error\":\"no\"}");
        assert_eq!(forbidden.error, PlatformError::Refused("status 403: M_FORBIDDEN no".to_owned()));
        assert!(forbidden.is_refused() && !forbidden.is_not_found());
        assert!(of(404, "{\"errcode\":\"M_NOT_FOUND\"}").is_not_found() && !of(404, "").is_not_found());
    }

    #[test]
    fn the_homeserver_is_waited_for_as_long_as_it_says_within_a_bound() {
        let later = |body: &str| match of(429, body).error {
            PlatformError::Later(wait) => wait,
            other => panic!("{other:?}"),
        };
        assert_eq!(later("{\"errcode\":\"M_LIMIT_EXCEEDED\",\"retry_after_ms\":1500}"), Duration::from_millis(1_500));
        assert_eq!(later("{}"), WAIT_UNSAID);
        assert_eq!(later("{\"retry_after_ms\":99999999999}"), RETRY_AFTER_MAX);
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static("7"))]);
        let said = ApiError::read(StatusCode::TOO_MANY_REQUESTS, &headers, b"{\"retry_after_ms\":1}");
        assert_eq!(said.error, PlatformError::Later(Duration::from_secs(7)));
    }

    proptest! {
        #[test]
        fn no_answer_panics(status in 300_u16..600, body in ".{0,60}") {
            let _ = of(status, &body);
        }
    }
}
