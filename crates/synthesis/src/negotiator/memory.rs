//! What the negotiators of a process remember besides contracts: it outlives a change of the deployment, and not
//! the process.

use super::attempts::Attempts;
use super::pending::PendingProposals;
use super::rates::GateRates;
use super::turns::RefusedTurns;

/// What is remembered: looks at the gate, how often they were taken, refused turns, and proposals that are looked at
/// later. Each is bounded, see [`crate::limits`].
#[derive(Default)]
pub struct NegotiationMemory {
    /// Looks at the gate that led to no contract.
    pub(crate) attempts: Attempts,
    /// How often agents have a call looked at.
    pub(crate) rates: GateRates,
    /// How many proposals of a session were refused.
    pub(crate) turns: RefusedTurns,
    /// Proposals that are looked at later.
    pub(crate) proposals: PendingProposals,
}

/// What the tests of those memories are made of.
#[cfg(test)]
pub(super) mod samples {
    use forecourt_core::Timestamp;

    use crate::contracts::ContractHolder;

    pub(in crate::negotiator) fn agent(n: usize) -> ContractHolder {
        ContractHolder { agent_id: n.to_string().into(), is_proven: true }
    }

    pub(in crate::negotiator) fn second(n: i64) -> Timestamp {
        Timestamp::from_second(n).unwrap()
    }
}
