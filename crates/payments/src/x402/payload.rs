//! What a payer signs: the payload of `exact` on networks with Ethereum's contracts. x402 section 6.1.

use forecourt_core::Timestamp;
use forecourt_core::policy::{PaymentError, PaymentSubmission, sanitize_map};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::code::{PaymentCode, fault};
use super::requirements::RequirementsV2;
use super::{FAMILY, Version};
use crate::hex::{Address, Nonce};
use crate::units::Units;

/// That a token may be moved, once and within a time. EIP-3009 `TransferWithAuthorization`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Authorization {
    /// Who pays.
    pub from: Address,
    /// Who is paid.
    pub to: Address,
    /// How much.
    pub value: Units,
    /// The second of the Unix clock after which it can be used.
    pub valid_after: Units,
    /// The second of the Unix clock before which it can be used.
    pub valid_before: Units,
    /// What makes it usable once.
    pub nonce: Nonce,
}

/// An authorization, signed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExactPayload {
    /// The signature in hexadecimal. Whoever has it can take the money for the payee.
    pub signature: String,
    /// What is signed.
    pub authorization: Authorization,
}

/// Never prints the signature.
impl std::fmt::Debug for ExactPayload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExactPayload").field("authorization", &self.authorization).finish_non_exhaustive()
    }
}

/// A signed payment, as far as it is read here.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedPayment {
    /// The version of x402, from `x402Version`.
    pub version: Version,
    /// The scheme that its payer means.
    pub scheme: String,
    /// The network that its payer means, in the words of its version.
    pub network: String,
    /// The payer's copy of what was asked for; version 2 alone has one. It selects and nothing else.
    pub accepted: Option<Box<RequirementsV2>>,
    /// The authorization with its signature.
    pub exact: ExactPayload,
}

/// Version 1, as it stands on the wire.
#[derive(Deserialize)]
struct WireV1 {
    scheme: String,
    network: String,
}

impl SignedPayment {
    /// Reads a submitted payment. `invalid_x402_version` for a version that is unknown, `INVALID_PAYLOAD` for whatever
    /// is not as its version and the scheme `exact` say.
    pub fn read(payload: &Map<String, Value>) -> Result<Self, PaymentError> {
        let version = version_of(payload)?;
        let malformed = |error: &dyn std::fmt::Display| {
            fault(PaymentCode::InvalidPayload, format!("the payment can't be read: {error}"))
        };
        let (scheme, network, accepted) = match version {
            Version::V1 => {
                let one = WireV1::deserialize(payload).map_err(|e| malformed(&e))?;
                (one.scheme, one.network, None)
            }
            Version::V2 => {
                let accepted = payload.get("accepted").unwrap_or(&Value::Null);
                let two = RequirementsV2::deserialize(accepted).map_err(|e| malformed(&e))?;
                (two.scheme.clone(), two.network.clone(), Some(Box::new(two)))
            }
        };
        if scheme != "exact" {
            return Err(fault(
                PaymentCode::UnsupportedScheme,
                format!("the scheme `{}` is not known here", brief(&scheme)),
            ));
        }
        let exact = ExactPayload::deserialize(payload.get("payload").unwrap_or(&Value::Null));
        Ok(Self { version, scheme, network, accepted, exact: exact.map_err(|e| malformed(&e))? })
    }

    /// Whether it can be used at `now`: `EXPIRED_PAYMENT` when its time is over or has not come.
    pub(crate) fn check_time(&self, now: Timestamp) -> Result<(), PaymentError> {
        let now = u128::try_from(now.as_second()).unwrap_or_default();
        let Authorization { valid_after, valid_before, .. } = &self.exact.authorization;
        if now >= valid_before.0 {
            return Err(fault(PaymentCode::ExpiredPayment, "the authorization has expired, sign a new one"));
        }
        if now < valid_after.0 {
            return Err(fault(PaymentCode::ExpiredPayment, "the authorization is not valid yet"));
        }
        Ok(())
    }
}

/// The `x402Version` of a payment; `invalid_x402_version` when it is missing, no number or unknown.
pub(super) fn version_of(payload: &Map<String, Value>) -> Result<Version, PaymentError> {
    let number = payload.get("x402Version").unwrap_or(&Value::Null);
    Version::deserialize(number)
        .map_err(|e| fault(PaymentCode::InvalidVersion, format!("the member x402Version can't be read: {e}")))
}

/// A payment that a wire read from its caller, ready for the host. Says the version too, so that the answer can
/// be written in the same one. Whatever could reach into a reader's prototypes is taken out; nothing else is
/// looked at yet. PolicyPart 3.3.3.
pub fn submission(payload: Value) -> Result<(Version, PaymentSubmission), PaymentError> {
    let Value::Object(mut payload) = payload else {
        return Err(fault(PaymentCode::InvalidPayload, "a payment is a JSON object"));
    };
    let version = version_of(&payload)?;
    sanitize_map(&mut payload);
    Ok((version, PaymentSubmission { family: FAMILY, payload }))
}

/// A stranger's word, short enough for a sentence.
pub(super) fn brief(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(64).collect()
}
