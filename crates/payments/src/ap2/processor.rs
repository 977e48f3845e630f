//! The client of a payment processor of the operator's: it holds, takes and gives back what a mandate is for.
//!
//! Three requests, each a POST of JSON and each done once however often it is asked: their names are this host's own, so
//! that nothing that was lost on the way is done twice. `docs/manual/payment-ap2.md` has them for whoever writes a processor.

use forecourt_core::json;
use forecourt_egress::{Deadlines, Egress, EgressError, Purpose, UpstreamRequest};
use forecourt_jose::encoding::sha256;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::amount::Amount;
use crate::ap2_settings::Ap2Settings;
use crate::facilitator::{brief, never_left, turns_away};
use crate::limits::{ANSWER_BYTES_MAX, PROCESSOR_TIME_MAX};
use crate::settings_error::SettingsError;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The client of one processor.
pub(super) struct Processor {
    egress: Egress,
    base: String,
    authorization: Option<HeaderValue>,
}

/// What a processor is asked about: one mandate for one cart.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ProcessorOrder {
    /// Names it: the same for every request about it.
    pub(super) reference: String,
    /// What is paid.
    pub(super) amount: Amount,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProcessorRequest<'a> {
    /// To hold the money, by these mandates.
    Authorize(&'a Value),
    /// To take what is held.
    Capture,
    /// To let go of what is held, or to refund what was taken. Final: nothing is held or taken under this name again.
    Release,
}

/// Where a payment stands at its processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ProcessorStatus {
    /// The money is held.
    Authorized,
    /// It was taken.
    Captured,
    /// Nothing is held.
    Declined,
    /// What was held is let go of, or nothing ever was.
    Released,
    /// What was taken is on its way back.
    Refunded,
    /// It is at work.
    Pending,
}

#[derive(Deserialize)]
struct WireAnswer {
    reference: String,
    amount: Amount,
    status: ProcessorStatus,
    #[serde(default)]
    reason: Option<String>,
}

/// Why there is no answer that says what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProcessorError {
    /// Nothing was done: it was not reached, or turned the request away unread.
    NotAsked(String),
    /// Nobody knows what it did.
    NoAnswer(String),
}

impl ProcessorOrder {
    /// The order of one mandate: its payer's name for it names it here as well.
    pub(super) fn new(cart: &str, fingerprint: &str, amount: Amount) -> Self {
        let hash = sha256(format!("{cart} {fingerprint}").as_bytes());
        Self { reference: hash.iter().map(|byte| format!("{byte:02x}")).collect(), amount }
    }
}

impl ProcessorRequest<'_> {
    fn operation(&self) -> &'static str {
        match self {
            Self::Authorize(_) => "authorize",
            Self::Capture => "capture",
            Self::Release => "release",
        }
    }
}

impl ProcessorError {
    /// For the operator.
    pub(super) fn into_reason(self) -> String {
        match self {
            Self::NotAsked(reason) | Self::NoAnswer(reason) => reason,
        }
    }
}

impl Processor {
    /// The processor of these settings.
    pub(super) fn new(settings: &Ap2Settings, url: &str, egress: Egress) -> Result<Self, SettingsError> {
        let bearer = |secret: &String| {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", secret.trim())).map_err(|_| {
                let hint = "take it out of what its processor gave you, without line breaks";
                SettingsError::new("ap2: `processor_secret` holds what no header can", hint)
            })?;
            value.set_sensitive(true);
            Ok(value)
        };
        let authorization = settings.processor_secret.as_ref().map(bearer).transpose()?;
        // Told now, and not to the first payer.
        egress.foresees(Purpose::Service, url).map_err(|error| {
            let message = format!("ap2: `processor` can't be reached: {error}");
            let hint = "networks of your own, this machine among them, are opened by `allow` in [egress], http there by \
                        `allow_http`, and other ports than 443 elsewhere by `ports`";
            SettingsError::new(message, hint)
        })?;
        Ok(Self { egress, base: url.trim_end_matches('/').to_owned(), authorization })
    }

    /// Whether it is the one at `url`.
    pub(super) fn is_at(&self, url: &str) -> bool {
        self.base == url.trim_end_matches('/')
    }

    /// Asks for something, and says where the payment stands then.
    pub(super) async fn ask(
        &self,
        order: &ProcessorOrder,
        request: ProcessorRequest<'_>,
    ) -> Result<ProcessorStatus, ProcessorError> {
        let operation = request.operation();
        let mut body = json!(order);
        if let ProcessorRequest::Authorize(mandates) = request {
            body["mandates"] = mandates.clone();
        }
        let key = HeaderValue::from_str(&format!("{operation}-{}", order.reference));
        let key = key.map_err(|_| ProcessorError::NotAsked("a name that no header can hold".to_owned()))?;
        let usual = Purpose::Service.deadlines(self.egress.config());
        let (first_byte, total) = (PROCESSOR_TIME_MAX, PROCESSOR_TIME_MAX);
        let mut sent = UpstreamRequest::post(format!("{}/{operation}", self.base), body.to_string())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(IDEMPOTENCY_KEY, key)
            .within(Deadlines { first_byte, total, body_bytes_max: ANSWER_BYTES_MAX, ..usual });
        if let Some(authorization) = &self.authorization {
            sent = sent.header(AUTHORIZATION, authorization.clone());
        }
        let answer = self.egress.send(Purpose::Service, sent).await.map_err(|error| failure(&error))?;
        let status = answer.status;
        let body = answer.body.collect().await.map_err(|error| ProcessorError::NoAnswer(error.log_reason()))?;
        judged(order, operation, status, &body)
    }
}

/// What an answer says, if it is about this order and of a status that says something of it.
fn judged(
    order: &ProcessorOrder,
    operation: &str,
    status: StatusCode,
    body: &[u8],
) -> Result<ProcessorStatus, ProcessorError> {
    if turns_away(status) {
        return Err(ProcessorError::NotAsked(format!("it answers {operation} with {status}")));
    }
    let unclear = |what: &str| ProcessorError::NoAnswer(format!("{status} {what} from {operation}"));
    if !status.is_success() && status != StatusCode::PAYMENT_REQUIRED {
        return Err(unclear("that says nothing"));
    }
    let read = json::parse(body).ok().and_then(|value| serde_json::from_value::<WireAnswer>(value).ok());
    let answer = read.ok_or_else(|| unclear("that can't be read"))?;
    let is_same_amount =
        answer.amount.currency == order.amount.currency && answer.amount.digits() == order.amount.digits();
    if answer.reference != order.reference || !is_same_amount {
        return Err(unclear("about another payment"));
    }
    if answer.status == ProcessorStatus::Declined {
        // Its words are for the operator: what they say of a person is not for whoever asks on their behalf.
        let reason = answer.reason.as_deref().map(brief);
        tracing::info!(operation, reason, "a payment processor declined");
    }
    Ok(answer.status)
}

/// What a failed exchange means.
fn failure(error: &EgressError) -> ProcessorError {
    let reason = error.log_reason();
    match never_left(error) {
        true => ProcessorError::NotAsked(reason),
        false => ProcessorError::NoAnswer(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_says_whether_something_was_done() {
        let order = ProcessorOrder::new("cart", "mandate", Amount::of("EUR", "0.5").unwrap());
        let mut body = json!(order);
        body["status"] = "declined".into();
        let declined = body.to_string();
        let said = |status: u16, body: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            judged(&order, "capture", status, body.as_bytes())
        };
        for status in [200, 201, 402] {
            assert_eq!(said(status, &declined), Ok(ProcessorStatus::Declined), "{status}");
        }
        for status in [302, 401, 403, 404, 405, 413, 415, 429] {
            let answer = said(status, &declined);
            assert!(matches!(answer, Err(ProcessorError::NotAsked(_))), "{status} {answer:?}");
        }
        let whole = declined.as_str();
        for (status, body) in [(400, whole), (409, whole), (500, whole), (200, ""), (402, "no"), (200, "[]")] {
            let answer = said(status, body);
            assert!(matches!(answer, Err(ProcessorError::NoAnswer(_))), "{status} {body} {answer:?}");
        }
    }
}
