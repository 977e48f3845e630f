//! What the negotiators of a process remember besides contracts: it outlives a change of the deployment, and not
//! the process.

use super::attempts::Attempts;
use super::pending::PendingProposals;
use super::rates::GateRates;
use super::turns::RefusedTurns;

/// What is remembered.
#[derive(Default)]
pub(crate) struct NegotiationMemory {
    /// Looks at the gate that led to no contract.
    pub attempts: Attempts,
    /// How often agents have a call looked at.
    pub rates: GateRates,
    /// How many proposals of a session were refused.
    pub turns: RefusedTurns,
    /// Proposals that are looked at later.
    pub proposals: PendingProposals,
}
