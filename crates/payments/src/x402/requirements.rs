//! What is asked for: one way to pay, in either version. x402 section 5, `PaymentRequirements`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Version;
use crate::hex::Address;
use crate::units::Units;

/// One way to pay, as version 1 writes it. Members that are not known are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequirementsV1 {
    /// `exact`, the one scheme that is known here.
    pub scheme: String,
    /// The network by its name, such as `base-sepolia`.
    pub network: String,
    /// What is paid at least.
    pub max_amount_required: Units,
    /// What is paid for: a URL.
    pub resource: String,
    /// What that is, for people.
    #[serde(default)]
    pub description: String,
    /// The media type of the answer, empty when unknown. Always written, since some readers of version 1 require the
    /// member.
    #[serde(default)]
    pub mime_type: String,
    /// Who is paid.
    pub pay_to: Address,
    /// Seconds within which it can be settled.
    pub max_timeout_seconds: u64,
    /// The token.
    pub asset: Address,
    /// The name and the version of the token for EIP-712.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Map<String, Value>>,
    /// Everything else.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// One way to pay, as version 2 writes it. Members that are not known are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequirementsV2 {
    /// `exact`, the one scheme that is known here.
    pub scheme: String,
    /// The network by CAIP-2, such as `eip155:84532`.
    pub network: String,
    /// What is paid.
    pub amount: Units,
    /// The token.
    pub asset: Address,
    /// Who is paid.
    pub pay_to: Address,
    /// Seconds within which it can be settled.
    pub max_timeout_seconds: u64,
    /// The name and the version of the token for EIP-712.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Map<String, Value>>,
    /// Everything else.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// One way to pay, in either version.
#[derive(Debug, Clone, PartialEq)]
pub enum Requirements {
    /// Of version 1.
    V1(RequirementsV1),
    /// Of version 2.
    V2(RequirementsV2),
}

impl Requirements {
    /// Reads one of `version`. The error says what is wrong.
    pub fn read(version: Version, value: &Value) -> Result<Self, String> {
        match version {
            Version::V1 => RequirementsV1::deserialize(value).map(Self::V1).map_err(|e| e.to_string()),
            Version::V2 => RequirementsV2::deserialize(value).map(Self::V2).map_err(|e| e.to_string()),
        }
    }

    /// Which version it is of.
    pub fn version(&self) -> Version {
        match self {
            Self::V1(_) => Version::V1,
            Self::V2(_) => Version::V2,
        }
    }

    /// Its scheme.
    pub fn scheme(&self) -> &str {
        match self {
            Self::V1(one) => &one.scheme,
            Self::V2(two) => &two.scheme,
        }
    }

    /// Its network, in the words of its version.
    pub fn network(&self) -> &str {
        match self {
            Self::V1(one) => &one.network,
            Self::V2(two) => &two.network,
        }
    }

    /// What is paid.
    pub fn amount(&self) -> Units {
        match self {
            Self::V1(one) => one.max_amount_required,
            Self::V2(two) => two.amount,
        }
    }

    /// The token.
    pub fn asset(&self) -> Address {
        match self {
            Self::V1(one) => one.asset,
            Self::V2(two) => two.asset,
        }
    }

    /// Who is paid.
    pub fn pay_to(&self) -> Address {
        match self {
            Self::V1(one) => one.pay_to,
            Self::V2(two) => two.pay_to,
        }
    }

    /// Seconds within which it can be settled.
    pub(crate) fn max_timeout_seconds(&self) -> u64 {
        match self {
            Self::V1(one) => one.max_timeout_seconds,
            Self::V2(two) => two.max_timeout_seconds,
        }
    }

    /// What the scheme adds: the `name` and `version` that the token signs with.
    pub fn extra(&self, key: &str) -> Option<&str> {
        let extra = match self {
            Self::V1(one) => &one.extra,
            Self::V2(two) => &two.extra,
        };
        extra.as_ref()?.get(key)?.as_str()
    }

    /// Whether so much is what this asks for: at least, in version 1; exactly, in version 2. x402 6.1.2.
    pub(crate) fn is_met_by(&self, value: Units) -> bool {
        match self {
            Self::V1(one) => value >= one.max_amount_required,
            Self::V2(two) => value == two.amount,
        }
    }

    /// As it stands on the wire.
    pub fn to_value(&self) -> Value {
        let written = match self {
            Self::V1(one) => serde_json::to_value(one),
            Self::V2(two) => serde_json::to_value(two),
        };
        written.unwrap_or_default()
    }
}
