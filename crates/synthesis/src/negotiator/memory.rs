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
