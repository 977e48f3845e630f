//! Proposals that are looked at later, by their names. Base protocol, negotiation in progress.

use std::collections::HashMap;
use std::time::Duration;

use forecourt_core::Timestamp;
use parking_lot::Mutex;

use super::outcome::ProposeOutcome;
use crate::contracts::ContractHolder;
use crate::limits::{PROPOSAL_TTL, PROPOSALS_MAX, PROPOSALS_PER_AGENT_MAX};

/// The proposals.
#[derive(Default)]
pub(crate) struct PendingProposals(Mutex<HashMap<String, PendingProposal>>);

struct PendingProposal {
    holder: ContractHolder,
    outcome: ProposeOutcome,
    /// When it was decided, or will be at the latest.
    decided_at: Timestamp,
}

impl PendingProposal {
    fn is_over(&self, now: Timestamp) -> bool {
        Duration::try_from(now.duration_since(self.decided_at)).is_ok_and(|age| age >= PROPOSAL_TTL)
    }
}

impl PendingProposals {
    /// Adds one that will be decided at `until` at the latest. `None`: as many are known as may be, of this holder
    /// or in all.
    pub(crate) fn add(
        &self,
        holder: &ContractHolder,
        proposal_id: &str,
        until: Timestamp,
        now: Timestamp,
    ) -> Option<()> {
        let mut all = self.0.lock();
        all.retain(|_, proposal| !proposal.is_over(now));
        // At most a thousand are kept, so counting them costs less than a second index that must agree.
        let own = all.values().filter(|proposal| proposal.holder == *holder).count();
        if own >= PROPOSALS_PER_AGENT_MAX || all.len() >= PROPOSALS_MAX {
            return None;
        }
        let outcome = ProposeOutcome::Pending { proposal_id: proposal_id.to_owned(), until };
        all.insert(proposal_id.to_owned(), PendingProposal { holder: holder.clone(), outcome, decided_at: until });
        Some(())
    }

    /// Decides one.
    pub(crate) fn decide(&self, proposal_id: &str, outcome: ProposeOutcome, now: Timestamp) {
        if let Some(proposal) = self.0.lock().get_mut(proposal_id) {
            (proposal.outcome, proposal.decided_at) = (outcome, now);
        }
    }

    /// Forgets one that came to nothing.
    pub(crate) fn remove(&self, proposal_id: &str) {
        self.0.lock().remove(proposal_id);
    }

    /// What came of a holder's.
    pub(crate) fn get(&self, holder: &ContractHolder, proposal_id: &str, now: Timestamp) -> Option<ProposeOutcome> {
        let all = self.0.lock();
        let own = all.get(proposal_id).filter(|proposal| proposal.holder == *holder && !proposal.is_over(now));
        own.map(|proposal| proposal.outcome.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::negotiator::memory::samples::{agent, second};

    #[test]
    fn so_many_of_an_agent_and_of_all_are_known() {
        let proposals = PendingProposals::default();
        let mut added = 0;
        for n in 0..PROPOSALS_MAX + PROPOSALS_PER_AGENT_MAX {
            let agent = agent(n / (PROPOSALS_PER_AGENT_MAX + 1));
            added += usize::from(proposals.add(&agent, &n.to_string(), second(0), second(0)).is_some());
        }
        let agents = (PROPOSALS_MAX + PROPOSALS_PER_AGENT_MAX).div_ceil(PROPOSALS_PER_AGENT_MAX + 1);
        assert_eq!(added, (PROPOSALS_MAX + PROPOSALS_PER_AGENT_MAX - agents + 1).min(PROPOSALS_MAX));
        assert_eq!(proposals.add(&agent(0), "full", second(0), second(0)), None);
        assert_eq!(proposals.add(&agent(0), "late", second(3_600), second(3_600)), Some(()));
        assert_eq!(proposals.0.lock().len(), 1);
    }

    #[test]
    fn only_its_proposer_is_told_of_one() {
        let proposals = PendingProposals::default();
        proposals.add(&agent(1), "p", second(10), second(0)).unwrap();
        let claimed = ContractHolder { is_proven: false, ..agent(1) };
        assert!(
            proposals.get(&agent(2), "p", second(0)).is_none() && proposals.get(&claimed, "p", second(0)).is_none()
        );
        assert!(matches!(proposals.get(&agent(1), "p", second(0)), Some(ProposeOutcome::Pending { .. })));
        proposals.decide("p", ProposeOutcome::Escalate { turns: 3 }, second(5));
        assert!(matches!(proposals.get(&agent(1), "p", second(5)), Some(ProposeOutcome::Escalate { turns: 3 })));
    }
}
