//! The client of a facilitator: it checks payments and settles them. x402 section 7, facts sheet 9.3.

use std::time::Duration;

use forecourt_core::json;
use forecourt_core::policy::sanitize_map;
use forecourt_egress::{Deadlines, Egress, EgressError, Purpose, UpstreamRequest};
use futures::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value};

use crate::limits::{ANSWER_BYTES_MAX, SETTLE_TIME_MAX, VERIFY_TIME_MAX, WORD_CHARS_MAX};
use crate::x402::Version;

/// What a facilitator can settle: version, scheme and network. x402 section 7.3.
pub type SupportedKind = (u64, String, String);

/// A facilitator behind a URL that the operator wrote down. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Facilitator {
    egress: Egress,
    base: String,
}

/// A facilitator's answer to `/verify` or `/settle`, read from a response of any status.
#[derive(Debug, Clone, PartialEq)]
pub struct FacilitatorReply {
    /// `isValid` or `success`.
    pub is_positive: bool,
    /// `invalidReason` or `errorReason` in lower case; empty when the answer names none.
    pub reason: String,
    /// `invalidMessage` or `errorMessage`: the reason as a sentence, for the log only.
    pub explanation: Option<String>,
    /// The transaction, when there is one.
    pub transaction: Option<String>,
    /// The payer's address, as the facilitator found it.
    pub payer: Option<String>,
    /// The whole answer, for the receipt; without keys that could reach a reader's prototypes.
    pub details: Map<String, Value>,
}

/// Why a facilitator gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FacilitatorError {
    /// Nothing was sent, or it was turned away unread: it did nothing.
    #[error("the facilitator was not reached: {0}")]
    NotAsked(String),
    /// The question was sent, and no answer came that can be read: nobody knows what it did.
    #[error("the facilitator gave no answer: {0}")]
    NoAnswer(String),
}

/// A payment, and what it is for, as a facilitator is asked about it.
#[derive(Clone, Copy)]
pub struct FacilitatorQuestion<'a> {
    /// The version of both.
    pub version: Version,
    /// The signed payment.
    pub payload: &'a Map<String, Value>,
    /// What was asked for: out of the host's own offer, never the payer's copy of it.
    pub requirements: &'a Value,
}

impl Facilitator {
    /// The facilitator at `url`, to which the names of its operations are added.
    pub fn new(egress: Egress, url: &str) -> Self {
        Self { egress, base: url.trim_end_matches('/').to_owned() }
    }

    /// Checks a payment. Changes nothing, within [`VERIFY_TIME_MAX`].
    pub fn verify<'a>(
        &'a self,
        question: FacilitatorQuestion<'a>,
    ) -> BoxFuture<'a, Result<FacilitatorReply, FacilitatorError>> {
        Box::pin(async move { self.ask("verify", "isValid", "invalidReason", question, VERIFY_TIME_MAX).await })
    }

    /// Takes the money, within [`SETTLE_TIME_MAX`].
    pub fn settle<'a>(
        &'a self,
        question: FacilitatorQuestion<'a>,
    ) -> BoxFuture<'a, Result<FacilitatorReply, FacilitatorError>> {
        Box::pin(async move { self.ask("settle", "success", "errorReason", question, SETTLE_TIME_MAX).await })
    }

    /// What it can settle: version, scheme and network of each kind.
    pub fn supported(&self) -> BoxFuture<'_, Result<Vec<SupportedKind>, FacilitatorError>> {
        Box::pin(async move {
            let request = UpstreamRequest::get(format!("{}/supported", self.base)).within(self.within(VERIFY_TIME_MAX));
            let (status, body) = self.exchange(request).await?;
            let kinds = body.get("kinds").and_then(Value::as_array);
            let kinds = kinds.ok_or_else(|| FacilitatorError::NoAnswer(format!("{status} without `kinds`")))?;
            let text = |kind: &Value, key: &str| kind[key].as_str().map(str::to_owned);
            let read =
                |kind: &Value| Some((kind["x402Version"].as_u64()?, text(kind, "scheme")?, text(kind, "network")?));
            Ok(kinds.iter().filter_map(read).collect())
        })
    }

    async fn ask(
        &self,
        operation: &str,
        outcome: &str,
        reason: &str,
        question: FacilitatorQuestion<'_>,
        within: Duration,
    ) -> Result<FacilitatorReply, FacilitatorError> {
        let body = serde_json::json!({
            "x402Version": question.version,
            "paymentPayload": question.payload,
            "paymentRequirements": question.requirements,
        });
        let request = UpstreamRequest::post(format!("{}/{operation}", self.base), body.to_string())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .within(self.within(within));
        let (status, mut details) = self.exchange(request).await?;
        sanitize_map(&mut details);
        // A negative answer may come with any status; an answer without an outcome is none.
        let Some(is_positive) = details.get(outcome).and_then(Value::as_bool) else {
            return Err(match turns_away(status) {
                true => FacilitatorError::NotAsked(format!("it answers {operation} with {status}")),
                false => FacilitatorError::NoAnswer(format!("{status} without `{outcome}` from {operation}")),
            });
        };
        let word = |key: &str| details.get(key).and_then(Value::as_str).filter(|word| !word.is_empty()).map(brief);
        Ok(FacilitatorReply {
            is_positive,
            reason: word(reason).unwrap_or_default().to_lowercase(),
            explanation: word("invalidMessage").or_else(|| word("errorMessage")),
            transaction: word("transaction"),
            payer: word("payer"),
            details,
        })
    }

    /// Sends a request, and reads the object that answers it; empty when the answer is something else.
    async fn exchange(&self, request: UpstreamRequest) -> Result<(StatusCode, Map<String, Value>), FacilitatorError> {
        // `send`, not `fetch`: facilitators put `isValid: false` into a 4xx too, and `fetch` would drop that body
        // (facts sheet 9.3).
        let answer = self.egress.send(Purpose::Service, request).await.map_err(|error| failure(&error))?;
        let status = answer.status;
        let body = answer.body.collect().await.map_err(|e| FacilitatorError::NoAnswer(e.log_reason()))?;
        match json::parse(&body) {
            Ok(Value::Object(body)) => Ok((status, body)),
            // A page of a proxy in between says nothing of the money; the missing outcome decides in `ask`.
            _ => Ok((status, Map::new())),
        }
    }

    fn within(&self, total: Duration) -> Deadlines {
        let usual = Purpose::Service.deadlines(self.egress.config());
        // A facilitator answers only once the transaction is in a block, so nothing comes before the very end.
        Deadlines { first_byte: total, total, body_bytes_max: ANSWER_BYTES_MAX, ..usual }
    }
}

/// Whether a status says that the request was turned away before anybody looked at the payment. A 400 does not:
/// facilitators answer so when anything at all went wrong, after they sent a transaction too.
pub(crate) fn turns_away(status: StatusCode) -> bool {
    status.is_redirection() || matches!(status.as_u16(), 401 | 403 | 404 | 405 | 413 | 415 | 429)
}

/// Whether a request surely never left, so that nothing was done: only then it may be called not asked.
pub(crate) fn never_left(error: &EgressError) -> bool {
    match error {
        EgressError::Refused(_) | EgressError::Unconnected(_) | EgressError::Busy => true,
        EgressError::Failed(_) | EgressError::Status(_) | EgressError::TooLarge { .. } => false,
    }
}

/// What a failed exchange means for the payment: one that was not asked about is refused, and may be sent again.
fn failure(error: &EgressError) -> FacilitatorError {
    let reason = error.log_reason();
    match never_left(error) {
        true => FacilitatorError::NotAsked(reason),
        false => FacilitatorError::NoAnswer(reason),
    }
}

/// A stranger's words, without control characters and within [`WORD_CHARS_MAX`].
pub(crate) fn brief(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(WORD_CHARS_MAX).collect()
}
