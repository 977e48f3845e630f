//! The kinds of refusals, and what each demands. PolicyPart 3.1, 3.3.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::challenge::AuthChallenge;
use crate::clock::whole_seconds;
use crate::limits::RETRY_AFTER;

/// Why a request is refused, with the fields that only this kind has.
#[derive(Debug, Clone, PartialEq)]
pub enum RefusalKind {
    /// The person must agree to something first. PolicyPart 3.3.4.
    ConsentRequired {
        /// A single-use bearer token of at least 128 bits.
        state: String,
        /// The URL to which the consent page leads back; origin-bound like `url`.
        return_to: String,
    },
    /// Credentials are missing or wrong. PolicyPart 3.3.1.
    Unauthorized {
        /// At least one challenge, the preferred first.
        auth_challenges: Vec<AuthChallenge>,
    },
    /// It must be paid for. PolicyPart 3.3.3.
    PaymentRequired {
        /// At least one option, the preferred first.
        accepted_payments: Vec<AcceptedPayment>,
    },
    /// Not for this caller.
    Forbidden,
    /// Too often. PolicyPart 3.3.2.
    TooManyRequests {
        /// Seconds to wait, if known.
        retry_after_seconds: Option<u64>,
    },
    /// A law forbids it.
    UnavailableForLegalReasons,
    /// Not now.
    ServiceUnavailable {
        /// Seconds to wait, if known.
        retry_after_seconds: Option<u64>,
    },
    /// A kind of a later version: kept, never taken for success.
    Other(String),
}

/// One way to pay. The payload is opaque here and is passed on unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcceptedPayment {
    /// Which payment protocol the payload belongs to, such as `x402.exact`.
    pub scheme: String,
    /// The offer, in that protocol's words.
    pub payload: Map<String, Value>,
}

impl RefusalKind {
    /// Seconds after which to try again: those that the refusal names, and what is unavailable for now always
    /// names some. `None` for refusals that waiting does not mend, and where nobody knows.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::TooManyRequests { retry_after_seconds } => *retry_after_seconds,
            Self::ServiceUnavailable { retry_after_seconds } => {
                // Every 503 names a time, unlike a 429 without one, which is valid without the header (PolicyPart 3.6).
                Some(retry_after_seconds.unwrap_or_else(|| whole_seconds(RETRY_AFTER)))
            }
            Self::ConsentRequired { .. }
            | Self::Unauthorized { .. }
            | Self::PaymentRequired { .. }
            | Self::Forbidden
            | Self::UnavailableForLegalReasons
            | Self::Other(_) => None,
        }
    }
}
