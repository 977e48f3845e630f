//! Texts judged by a service of the operator's: a signed post, and its answer.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::json;
use forecourt_egress::limits::CONNECT_TIME_MAX;
use forecourt_egress::{Deadlines, Egress, Purpose, UpstreamRequest, WebhookPost};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::{GuardCase, Judge, JudgeError, Ruling};
use crate::limits::{GUARD_ANSWER_BYTES_MAX, GUARDED_BYTES_MAX};

/// Posts `{"agent", "side", "before", "text"}`, signed as webhooks are, and reads
/// `{"decision": "allow" | "deny" | "replace", "text"}`.
pub struct WebhookJudge {
    /// The way out.
    pub egress: Arc<Egress>,
    /// Where to.
    pub url: String,
    /// What signs the post.
    pub secret: Option<String>,
    /// How long the answer may take.
    pub time_max: Duration,
}

impl Judge for WebhookJudge {
    fn judge<'a>(&'a self, case: GuardCase<'a>) -> BoxFuture<'a, Result<Ruling, JudgeError>> {
        self.ask(case).boxed()
    }
}

impl WebhookJudge {
    async fn ask(&self, case: GuardCase<'_>) -> Result<Ruling, JudgeError> {
        let body = json!({"agent": case.agent, "side": case.side.name(), "before": case.before, "text": case.text});
        let WebhookPost { headers, body } = WebhookPost::json(&body, self.secret.as_deref());
        let bounds = Deadlines {
            connect: CONNECT_TIME_MAX.min(self.time_max),
            first_byte: self.time_max,
            total: self.time_max,
            body_bytes_max: GUARD_ANSWER_BYTES_MAX,
        };
        let request = UpstreamRequest { headers, ..UpstreamRequest::post(self.url.as_str(), body) }.within(bounds);
        let fetched = self.egress.fetch(Purpose::Upstream, request).await;
        let fetched = fetched.map_err(|error| JudgeError(error.log_reason().to_string()))?;
        // What is no JSON has no `decision`, and so counts as an answer that could not be had.
        ruling(&json::parse(&fetched.bytes).unwrap_or_default())
    }
}

fn ruling(answer: &Value) -> Result<Ruling, JudgeError> {
    match (answer["decision"].as_str(), answer["text"].as_str()) {
        (Some("allow"), _) => Ok(Ruling::Allow),
        (Some("deny"), _) => Ok(Ruling::Deny),
        (Some("replace"), Some(text)) if text.len() <= GUARDED_BYTES_MAX => Ok(Ruling::Replace(text.to_owned())),
        (Some("replace"), Some(_)) => Err(JudgeError(format!("`text` has more than {GUARDED_BYTES_MAX} bytes"))),
        (Some("replace"), None) => Err(JudgeError("`replace` without `text`".to_owned())),
        _ => Err(JudgeError("`decision` must be `allow`, `deny` or `replace`".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_none_is_a_fault() {
        assert_eq!(ruling(&json!({"decision": "allow"})), Ok(Ruling::Allow));
        assert_eq!(ruling(&json!({"decision": "deny", "text": "x"})), Ok(Ruling::Deny));
        assert_eq!(ruling(&json!({"decision": "replace", "text": "x"})), Ok(Ruling::Replace("x".to_owned())));
        let long = "x".repeat(GUARDED_BYTES_MAX + 1);
        for wrong in [
            json!({}),
            json!(null),
            json!({"decision": "ALLOW"}),
            json!({"decision": "replace"}),
            json!({"decision": "replace", "text": long}),
        ] {
            assert!(ruling(&wrong).is_err());
        }
    }
}
