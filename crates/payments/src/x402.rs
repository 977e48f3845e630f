//! x402, versions 1 and 2: what is asked for, what is signed, and where both stand on the wire.
//!
//! A version is told by the member `x402Version` of whatever is read, never by the place it stands in.

mod code;
mod envelope;
pub mod http;
mod payload;
mod requirements;

pub use code::{PaymentCode, fault};
pub use envelope::{PaymentRequired, Resource, SCHEME, envelopes};
pub use payload::{Authorization, ExactPayload, SignedPayment, submission};
pub use requirements::{Requirements, RequirementsV1, RequirementsV2};

use serde::{Deserialize, Serialize};

/// The family of schemes that this module knows: what their names begin with, before the first dot.
pub const FAMILY: &str = "x402";

/// Whether a receipt is one of x402, which says whether it succeeded. x402 section 7.2.
pub fn is_receipt(details: &serde_json::Map<String, serde_json::Value>) -> bool {
    details.contains_key("success")
}

/// A version of the protocol. On the wire a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub enum Version {
    /// Networks have names, such as `base-sepolia`; at least the amount is paid.
    V1,
    /// Networks are named by CAIP-2, such as `eip155:84532`; exactly the amount is paid.
    V2,
}

impl From<Version> for u64 {
    fn from(version: Version) -> Self {
        match version {
            Version::V1 => 1,
            Version::V2 => 2,
        }
    }
}

impl TryFrom<u64> for Version {
    type Error = String;

    fn try_from(number: u64) -> Result<Self, String> {
        match number {
            1 => Ok(Self::V1),
            2 => Ok(Self::V2),
            other => Err(format!("x402 has no version {other} here (known: 1, 2)")),
        }
    }
}
