//! x402 over plain HTTP: where offers, payments and receipts stand in requests and answers. Pure functions.
//! x402 transports, `http.md` of both versions; facts sheet 9.4.
//!
//! | | version 1 | version 2 |
//! |---|---|---|
//! | what is asked for | members of the JSON body of a 402 | `PAYMENT-REQUIRED` |
//! | the payment | `X-PAYMENT` | `PAYMENT-SIGNATURE` |
//! | the receipt | `X-PAYMENT-RESPONSE` | `PAYMENT-RESPONSE` |
//!
//! Every header holds JSON in base64.

use ::http::{HeaderMap, HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use forecourt_core::json;
use forecourt_core::policy::{AcceptedPayment, PaymentError, PaymentSubmission};
use serde_json::{Map, Value};

use super::Version;
use super::code::{PaymentCode, fault};
use super::envelope::envelope_of;
use super::payload::submission;
use crate::limits::PAYMENT_HEADER_BYTES_MAX;

/// A payment of version 1, in a request.
pub const X_PAYMENT: HeaderName = HeaderName::from_static("x-payment");
/// A receipt of version 1, in an answer.
pub const X_PAYMENT_RESPONSE: HeaderName = HeaderName::from_static("x-payment-response");
/// What version 2 asks for, in a 402.
pub const PAYMENT_REQUIRED: HeaderName = HeaderName::from_static("payment-required");
/// A payment of version 2, in a request.
pub const PAYMENT_SIGNATURE: HeaderName = HeaderName::from_static("payment-signature");
/// A receipt of version 2, in an answer.
pub const PAYMENT_RESPONSE: HeaderName = HeaderName::from_static("payment-response");

/// The headers of answers that a page of another origin must be allowed to read, for CORS.
pub const EXPOSED: [HeaderName; 3] = [X_PAYMENT_RESPONSE, PAYMENT_REQUIRED, PAYMENT_RESPONSE];
/// The headers of requests that a page of another origin must be allowed to send, for CORS.
pub const ALLOWED: [HeaderName; 2] = [X_PAYMENT, PAYMENT_SIGNATURE];

/// The payment that a request brings, and the version to answer in; `None` when it brings none. For requests
/// that may change something: a GET must not settle money.
///
/// # Errors
/// `INVALID_PAYLOAD` for a header that is no base64 of strict JSON or has more than
/// [`PAYMENT_HEADER_BYTES_MAX`] bytes, and for a request with two payments: nobody guesses which one is meant.
pub fn from_headers(headers: &HeaderMap) -> Result<Option<(Version, PaymentSubmission)>, PaymentError> {
    let mut found = headers.get_all(X_PAYMENT).iter().chain(headers.get_all(PAYMENT_SIGNATURE));
    match (found.next(), found.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => submission(decode(value)?).map(Some),
        // Settling one of the two could charge for something that the caller did not mean.
        (Some(_), Some(_)) => Err(fault(PaymentCode::InvalidPayload, "the request brings more than one payment")),
    }
}

/// What an answer with status 402 says of the ways to pay.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PaymentPrompt {
    /// `PAYMENT-REQUIRED`, when there is an offer of version 2.
    pub header: Option<HeaderValue>,
    /// `x402Version`, `accepts` and what else an offer of version 1 has, when there is one: its clients read
    /// these members at the top of the JSON body, beside whatever else stands there.
    pub body: Option<Map<String, Value>>,
}

/// How the ways to pay of a refusal are told to clients of x402; empty when there is none of theirs. `reason`
/// is a short sentence, such as why the last payment was not taken.
pub fn required(accepted: &[AcceptedPayment], reason: &str) -> PaymentPrompt {
    let with_reason = |envelope: &Map<String, Value>| {
        let mut envelope = envelope.clone();
        envelope.insert("error".to_owned(), reason.into());
        envelope
    };
    let header = envelope_of(accepted, Version::V2).and_then(|envelope| encode(&with_reason(envelope)));
    PaymentPrompt { header, body: envelope_of(accepted, Version::V1).map(with_reason) }
}

/// The header of an answer that was paid for. `details` is the receipt in the scheme's words.
pub fn receipt(version: Version, details: &Map<String, Value>) -> Option<(HeaderName, HeaderValue)> {
    let name = match version {
        Version::V1 => X_PAYMENT_RESPONSE,
        Version::V2 => PAYMENT_RESPONSE,
    };
    Some((name, encode(details)?))
}

/// The header with which a payment is sent.
pub fn payment(version: Version, payload: &Map<String, Value>) -> Option<(HeaderName, HeaderValue)> {
    let name = match version {
        Version::V1 => X_PAYMENT,
        Version::V2 => PAYMENT_SIGNATURE,
    };
    let mut value = encode(payload)?;
    // Whoever reads the header can have the signed money moved; HTTP/2 then keeps it out of its compression table.
    value.set_sensitive(true);
    Some((name, value))
}

/// Reads one of these headers.
///
/// # Errors
/// `INVALID_PAYLOAD` for what is no base64 of strict JSON, or has more than [`PAYMENT_HEADER_BYTES_MAX`] bytes.
pub fn decode(value: &HeaderValue) -> Result<Value, PaymentError> {
    let wrong = |message: String| fault(PaymentCode::InvalidPayload, message);
    let text = value.as_bytes();
    // Before decoding, so that the bound also holds for what is allocated.
    if text.len() > PAYMENT_HEADER_BYTES_MAX {
        return Err(wrong(format!("a payment has at most {PAYMENT_HEADER_BYTES_MAX} bytes")));
    }
    // Client libraries differ over the padding, and neither form means anything else.
    let bytes = STANDARD.decode(text).or_else(|_| STANDARD_NO_PAD.decode(text));
    let bytes = bytes.map_err(|_| wrong("the payment is not base64".to_owned()))?;
    json::parse(&bytes).map_err(|error| wrong(format!("the payment is not JSON: {error}")))
}

fn encode(value: &Map<String, Value>) -> Option<HeaderValue> {
    let text = serde_json::to_vec(value).ok()?;
    HeaderValue::from_str(&STANDARD.encode(text)).ok()
}
