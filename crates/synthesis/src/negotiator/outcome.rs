//! What comes of negotiating.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Timestamp;

use crate::contracts::{Contract, ContractHolder, ContractRecord};
use crate::proposal::ProposalRefusal;

/// What comes of a proposal.
#[derive(Clone, Debug)]
pub enum ProposeOutcome {
    /// A contract was made, and is in force.
    Approved {
        /// The contract.
        contract: Arc<Contract>,
        /// How it came about and how it differs from what was asked for, in a sentence each.
        log: Vec<String>,
    },
    /// None was made.
    Refused(ProposalRefusal),
    /// None was looked for: as many proposals of this session were refused as may be, and its agent must ESCALATE.
    /// Section 10.3.
    Escalate {
        /// How many were refused.
        turns: u32,
    },
    /// It is looked at, and can be asked for.
    Pending {
        /// Its name. Opaque.
        proposal_id: String,
        /// When it is decided at the latest.
        until: Timestamp,
    },
}

/// Why it can't be negotiated now. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NegotiationError {
    /// The caller has no name that a contract could be bound to.
    #[error("only agents that are known by name may negotiate")]
    Unnamed,
    /// A bound is met.
    #[error("too much is negotiated at once: {bound} is reached")]
    TooMany {
        /// Which, as the key that sets it.
        bound: &'static str,
        /// When there is room again, at the earliest.
        retry_after: Duration,
    },
    /// The store is away.
    #[error("contracts can't be looked up at the moment: try again later")]
    Unavailable,
}

/// Who ends a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContractActor<'a> {
    /// Whoever made it, by name and proof. Ends none of others.
    Holder(&'a ContractHolder),
    /// An operator, by the name that is recorded.
    Operator(&'a str),
}

/// What a sweep did with a contract. Section 10.1.4.1.
#[derive(Clone, Debug)]
pub struct SweptContract {
    /// The contract, as it stood before.
    pub contract: Arc<ContractRecord>,
    /// What was done.
    pub disposition: SweepDisposition,
    /// What the recipe's edition is called now. `None`: there is no such recipe any more.
    pub current_version: Option<String>,
}

/// What becomes of a contract in a sweep. Section 10.1.4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepDisposition {
    /// Its recipe is the one that it was made from.
    Unchanged,
    /// Its recipe is another one now, and it goes on.
    Grandfathered,
    /// Its recipe is another one now, and it has ended.
    Evicted,
}

impl SweepDisposition {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Grandfathered => "grandfathered",
            Self::Evicted => "evicted",
        }
    }
}

/// The persistent contracts in force.
#[derive(Clone, Debug)]
pub struct PersistentContracts {
    /// Another number whenever the set is another one.
    pub edition: u64,
    /// The contracts, the oldest first.
    pub contracts: Arc<[Contract]>,
}
