//! x402 over A2A: the flat keys of metadata, and what stands under them. Pure functions. A2A x402 extension
//! v0.2, sections 5, 7 and 9; facts sheet 9.1.

use forecourt_core::policy::{AcceptedPayment, PaymentFault, PaymentSubmission};
use serde_json::{Map, Value};

use super::code::{PaymentCode, fault};
use super::envelope::envelopes;
use super::payload::submission;

/// The extension as its own specification names it.
pub const EXTENSION: &str = "https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2";
/// The extension as x402's own transports name it, in both versions.
pub const EXTENSION_V0_1: &str = "https://github.com/google-a2a/a2a-x402/v0.1";

/// How it stands with the payment: a [`PaymentStatus`].
pub const STATUS: &str = "x402.payment.status";
/// What is asked for: an envelope.
pub const REQUIRED: &str = "x402.payment.required";
/// The signed payment, in a message of the caller.
pub const PAYLOAD: &str = "x402.payment.payload";
/// The receipts, all of them, in an array.
pub const RECEIPTS: &str = "x402.payment.receipts";
/// Why it failed: a short code.
pub const ERROR: &str = "x402.payment.error";

/// How it stands with a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentStatus {
    /// It must be paid.
    Required,
    /// The caller has signed.
    Submitted,
    /// The caller does not want to pay.
    Rejected,
    /// It was checked.
    Verified,
    /// The money is there.
    Completed,
    /// It failed.
    Failed,
}

impl PaymentStatus {
    /// All of them, in the order in which a payment goes through them.
    pub const ALL: [Self; 6] =
        [Self::Required, Self::Submitted, Self::Rejected, Self::Verified, Self::Completed, Self::Failed];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Required => "payment-required",
            Self::Submitted => "payment-submitted",
            Self::Rejected => "payment-rejected",
            Self::Verified => "payment-verified",
            Self::Completed => "payment-completed",
            Self::Failed => "payment-failed",
        }
    }

    /// What the metadata of a message says; `None` when it says nothing that is known.
    pub fn read(metadata: &Map<String, Value>) -> Option<Self> {
        let word = metadata.get(STATUS)?.as_str()?;
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

/// What the caller's message says of a payment.
#[derive(Debug, Clone, PartialEq)]
pub enum CallerPayment {
    /// It pays.
    Submitted(PaymentSubmission),
    /// It does not want to pay.
    Rejected,
}

/// Reads the metadata of a caller's message; `None` when it is about something else.
///
/// # Errors
/// `INVALID_PAYLOAD` for a submission without a payment, or with one that is not an object.
pub fn from_metadata(metadata: &Map<String, Value>) -> Result<Option<CallerPayment>, PaymentFault> {
    match PaymentStatus::read(metadata) {
        Some(PaymentStatus::Submitted) => {
            let payload = metadata.get(PAYLOAD).cloned();
            let missing = || fault(PaymentCode::InvalidPayload, format!("{PAYLOAD} is missing"));
            submission(payload.ok_or_else(missing)?).map(|(_, payment)| Some(CallerPayment::Submitted(payment)))
        }
        Some(PaymentStatus::Rejected) => Ok(Some(CallerPayment::Rejected)),
        _ => Ok(None),
    }
}

/// The metadata of a refusal that can be paid for: the first envelope, unchanged. `None` when there is no way
/// of x402 among `accepted`. PolicyPart 4.2.
pub fn required(accepted: &[AcceptedPayment]) -> Option<Map<String, Value>> {
    let envelope = envelopes(accepted).next()?;
    Some(entries([(STATUS, status(PaymentStatus::Required)), (REQUIRED, Value::Object(envelope.clone()))]))
}

/// The metadata of an answer that was paid for: every receipt of the task, the oldest first.
pub fn completed(receipts: &[Map<String, Value>]) -> Map<String, Value> {
    let receipts = receipts.iter().cloned().map(Value::Object).collect();
    entries([(STATUS, status(PaymentStatus::Completed)), (RECEIPTS, Value::Array(receipts))])
}

/// The metadata of a payment that was not taken.
pub fn failed(fault: &PaymentFault, receipts: &[Map<String, Value>]) -> Map<String, Value> {
    let receipts: Vec<Value> = receipts.iter().cloned().map(Value::Object).collect();
    let mut metadata = entries([(STATUS, status(PaymentStatus::Failed)), (ERROR, Value::String(fault.code.clone()))]);
    if !receipts.is_empty() {
        metadata.insert(RECEIPTS.to_owned(), Value::Array(receipts));
    }
    metadata
}

/// The metadata with which a payment is sent.
pub fn submitted(payload: &Map<String, Value>) -> Map<String, Value> {
    entries([(STATUS, status(PaymentStatus::Submitted)), (PAYLOAD, Value::Object(payload.clone()))])
}

fn status(status: PaymentStatus) -> Value {
    status.as_str().into()
}

fn entries<const N: usize>(entries: [(&str, Value); N]) -> Map<String, Value> {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
