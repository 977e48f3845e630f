//! This module has the vocabulary of contracts that are made while the host serves: the stamp of a call that ran under
//! one, the preview that a caller is offered, and why there is none. Sections 10.1 and 10.5. It makes none.

use std::fmt;
use std::time::Duration;

use forecourt_core::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::ECHO_CHARS_MAX;
use crate::method::Method;
use crate::scope::Scope;

/// The contract that a call ran under, as it stands in records of the call. Section 10.1.6.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContractStamp {
    /// The contract. Opaque.
    pub synthesis_id: String,
    /// SHA-256 of the endpoint and the lineage as they were when it was made, in 64 lowercase hexadecimal digits.
    pub contract_hash: String,
    /// The way in which it was made.
    pub negotiation_origin: NegotiationOrigin,
    /// Whether this very call led to it, which its caller is then told. Section 10.1.5. In no record.
    #[serde(skip)]
    pub is_new: bool,
}

/// How a contract came about. Section 10.1.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NegotiationOrigin {
    /// A call of what is not there led to it.
    RcnsGate,
    /// An agent proposed it.
    Propose,
    /// It stands for an endpoint that was registered from one.
    PreRegistered,
}

impl NegotiationOrigin {
    /// The word in records.
    pub fn word(self) -> &'static str {
        match self {
            Self::RcnsGate => "rcns-gate",
            Self::Propose => "propose",
            Self::PreRegistered => "pre-registered",
        }
    }
}

/// Which edition of which recipe a contract was made from. Section 10.5.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecipeLineage {
    /// The recipe.
    pub recipe_name: String,
    /// What its edition was called when the contract was made.
    pub recipe_version: String,
}

/// A contract as its caller sees it before accepting it; nothing was called yet. Section 10.1.3.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContractPreview {
    /// The contract.
    pub synthesis_id: String,
    /// The method to call it by.
    pub method: Method,
    /// The path to call it at.
    pub path: String,
    /// The endpoint as others may see it: its schemas, errors and scopes.
    pub endpoint: Value,
    /// The recipe it was made from; none when it was planned without one.
    pub recipe_lineage: Option<RecipeLineage>,
    /// SHA-256 of `endpoint` and `recipe_lineage`, in hexadecimal.
    pub contract_hash: String,
    /// When it ends.
    pub expires_at: Timestamp,
    /// The calls that would be made, in their order, such as `QUERY /facts`.
    pub plan_summary: Vec<String>,
    /// The same in words: each step, why it is there and what flows where.
    pub plan_explanation: Value,
}

/// Why a call is not served under a contract, or not yet.
#[derive(Clone, Debug, PartialEq)]
pub enum ContractRefusal {
    /// The contract that the call presents is not known: it never existed, was released, or was swept away.
    Unknown {
        /// What was presented.
        synthesis_id: String,
    },
    /// The contract that the call presents is for another method or path.
    OtherPair {
        /// What was presented.
        synthesis_id: String,
        /// The method of the contract.
        method: Method,
        /// The path of the contract.
        path: String,
    },
    /// No contract can be made for the call, or the one it presents may not be used.
    NoContract {
        /// Why, in a word of the vocabulary.
        reason: NoContractReason,
        /// The same in a sentence.
        explanation: String,
        /// The attempt, where one was made that can be looked at. Section 10.1.
        attempt_id: Option<String>,
        /// What helps to recover; null when there is nothing.
        details: Value,
    },
    /// One was made, and waits to be accepted.
    Available(Box<ContractPreview>),
    /// The caller holds no scope for negotiating, or none that the steps need.
    Scope {
        /// What it would have to claim.
        missing: Vec<Scope>,
    },
    /// The caller negotiates too often.
    TooMany {
        /// The bound, as the key that sets it.
        bound: &'static str,
        /// When there is room again.
        retry_after: Duration,
    },
    /// The store is unavailable, so that contracts can't be looked up now.
    Unavailable,
}

/// Why no contract can be had. Section 10.1, and the base protocol's vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoContractReason {
    /// The operator has not opened it.
    RcnsDisabled,
    /// The agent is not vouched for well enough.
    TrustTierInsufficient,
    /// The agent's name is only claimed.
    IdentityUnverified,
    /// Nothing here can be put together to what is asked.
    CompositionImpossible,
    /// Putting it together failed.
    SynthesisError,
    /// It is another agent's, or another session's.
    ContractNotYours,
    /// It has ended.
    ContractRevoked,
}

impl NoContractReason {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::RcnsDisabled => "rcns-disabled",
            Self::TrustTierInsufficient => "trust-tier-insufficient",
            Self::IdentityUnverified => "identity-unverified",
            Self::CompositionImpossible => "composition-impossible",
            Self::SynthesisError => "synthesis-error",
            Self::ContractNotYours => "contract-not-yours",
            Self::ContractRevoked => "contract-revoked",
        }
    }
}

impl ContractRefusal {
    /// The kind, as a word of a closed set.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "contract-not-found",
            Self::OtherPair { .. } => "contract-mismatch",
            Self::NoContract { .. } => "rcns-no-contract",
            Self::Available(_) => "rcns-contract-available",
            Self::Scope { .. } => "negotiation-scope-required",
            Self::TooMany { .. } => "negotiation-rate-limited",
            Self::Unavailable => "contracts-unavailable",
        }
    }
}

impl fmt::Display for ContractRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { synthesis_id } => {
                let id: String = synthesis_id.chars().take(ECHO_CHARS_MAX).collect();
                write!(f, "there is no contract `{id}`: propose anew, or call without it")
            }
            Self::OtherPair { method, path, .. } => {
                write!(f, "the contract is for {method} {path}: call that, or call without it")
            }
            Self::NoContract { explanation, .. } => f.write_str(explanation),
            Self::Available(preview) => write!(
                f,
                "an endpoint was made for this call, and nothing was done yet: send it again with contract `{}` to accept",
                preview.synthesis_id
            ),
            Self::Scope { missing } => {
                let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
                write!(f, "negotiating this needs more scopes: {}", names.join(", "))
            }
            Self::TooMany { bound, .. } => write!(f, "too much is negotiated at once: {bound} is reached"),
            Self::Unavailable => f.write_str("contracts can't be looked up at the moment: try again later"),
        }
    }
}
