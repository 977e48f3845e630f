//! What happens to contracts, for the lifecycle stream of their agents. Section 10.1.4; base protocol, lifecycle.

use futures::future::BoxFuture;

use crate::contracts::ContractRecord;

/// Who is told what happened to a contract, after it was written.
pub trait ContractEvents: Send + Sync {
    /// Takes note of it. What becomes of the contract does not depend on it.
    fn happened<'a>(&'a self, event: ContractEvent<'a>) -> BoxFuture<'a, ()>;
}

/// Something that happened to a contract.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContractEvent<'a> {
    /// It came into force: proposed and approved, offered and accepted, or made for a call and used at once.
    Accepted {
        /// The contract.
        contract: &'a ContractRecord,
    },
    /// It was released.
    Released {
        /// The contract.
        contract: &'a ContractRecord,
        /// Why.
        reason: ReleaseReason<'a>,
        /// Who did: the holder's Agent-ID, or the operator's name.
        actor: &'a str,
    },
    /// It was revoked.
    Revoked {
        /// The contract.
        contract: &'a ContractRecord,
        /// Why, in words for people.
        reason: Option<&'a str>,
        /// Who did: the holder's Agent-ID, or the operator's name. None: the host, since a step of its plan leads
        /// nowhere any more.
        actor: Option<&'a str>,
    },
}

/// Why a contract was released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseReason<'a> {
    /// Its holder gave it back, and may have said why.
    Caller(Option<&'a str>),
    /// A sweep. Section 10.1.4.1.
    PolicyChangeInvalidation,
}

impl ContractEvent<'_> {
    /// The event's name on the wire.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Accepted { .. } => "rcns_propose_accepted",
            Self::Released { .. } => "rcns_release",
            Self::Revoked { .. } => "rcns_revoke",
        }
    }

    /// What happened to which contract.
    pub fn contract(&self) -> &ContractRecord {
        match self {
            Self::Accepted { contract } | Self::Released { contract, .. } | Self::Revoked { contract, .. } => contract,
        }
    }
}

impl ReleaseReason<'_> {
    /// The reason on the wire.
    pub fn text(&self) -> &str {
        match self {
            Self::Caller(reason) => reason.unwrap_or("released-by-caller"),
            Self::PolicyChangeInvalidation => "policy-change-invalidation",
        }
    }
}
