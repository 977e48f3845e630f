//! Calls that present a contract. Sections 10.1.3 and 10.1.4.

use forecourt_contract::ContractRefusal;
use forecourt_contract::negotiation::{ContractRequest, NoContractReason, ServingContract};
use serde_json::{Value, json};

use super::event::ContractEvent;
use super::{Negotiator, unavailable};
use crate::contracts::{ContractEndKind, ContractHolder, ContractRecord, ContractState, values};

impl Negotiator {
    /// Serves a call under the contract that it presents. Never makes one: the gate is skipped. An offer is
    /// accepted by that.
    pub(super) async fn present(
        &self,
        synthesis_id: &str,
        holder: &ContractHolder,
        asked: ContractRequest<'_>,
    ) -> Result<ServingContract, ContractRefusal> {
        let unknown = || ContractRefusal::Unknown { synthesis_id: synthesis_id.to_owned() };
        let record = self.parts.contracts.get(synthesis_id).ok_or_else(unknown)?;
        self.may_present(&record, holder, asked)?;
        if record.state == ContractState::Offered {
            let (accepted, is_ours) = self.parts.contracts.accept(&record).await.map_err(unavailable)?;
            let accepted = accepted.ok_or_else(unknown)?;
            // Again, by what stands in the stream: the offer may have expired or been revoked before the acceptance
            // counted.
            self.may_present(&accepted, holder, asked)?;
            if is_ours {
                self.parts.events.happened(ContractEvent::Accepted { contract: &accepted }).await;
            }
        }
        if let Some(serving) = self.serve(&record, asked.path, false).await? {
            return Ok(serving);
        }
        // It could not be served, so it was revoked just now: the caller is told that as it would be by its next call.
        let ended = self.parts.contracts.get(synthesis_id).ok_or_else(unknown)?;
        self.may_present(&ended, holder, asked)?;
        Err(ContractRefusal::Unavailable)
    }

    /// The order in which a presented contract is refused.
    fn may_present(
        &self,
        record: &ContractRecord,
        holder: &ContractHolder,
        asked: ContractRequest<'_>,
    ) -> Result<(), ContractRefusal> {
        self.has_not_ended(record, holder, asked)?;
        if record.holder != *holder || !self.parts.contracts.is_within(record, &asked.call.thread) {
            return Err(self.no_contract(holder, asked, not_yours()));
        }
        if record.method != *asked.method || values(&record.path, asked.path).is_none() {
            return Err(ContractRefusal::OtherPair {
                synthesis_id: record.synthesis_id.to_string(),
                method: record.method.clone(),
                path: record.path.as_str().to_owned(),
            });
        }
        Ok(())
    }

    fn has_not_ended(
        &self,
        record: &ContractRecord,
        holder: &ContractHolder,
        asked: ContractRequest<'_>,
    ) -> Result<(), ContractRefusal> {
        let Some(end) = record.end() else { return Ok(()) };
        match end.kind {
            ContractEndKind::Released | ContractEndKind::Swept => {
                Err(ContractRefusal::Unknown { synthesis_id: record.synthesis_id.to_string() })
            }
            ContractEndKind::Expired | ContractEndKind::Revoked | ContractEndKind::SessionOver => {
                Err(self.no_contract(holder, asked, revoked(record, holder)))
            }
        }
    }
}

/// That a contract is somebody else's.
pub(super) fn not_yours() -> NoContract {
    let explanation = "the contract is bound to another agent, session or connection: propose one of your own";
    NoContract { reason: NoContractReason::ContractNotYours, explanation: explanation.to_owned(), details: Value::Null }
}

/// That a contract has ended. Only its holder is told how.
pub(super) fn revoked(record: &ContractRecord, holder: &ContractHolder) -> NoContract {
    let end = record.end().filter(|_| record.holder == *holder);
    let details = end.map_or(Value::Null, |end| {
        json!({"synthesis_id": record.synthesis_id, "ended_by": end.kind, "ended_at": end.at, "reason": end.reason})
    });
    let why = end.and_then(|end| end.reason.as_deref()).map(|reason| format!(" ({reason})")).unwrap_or_default();
    let explanation = format!("the contract has ended{why}: propose again, or call without it");
    NoContract { reason: NoContractReason::ContractRevoked, explanation, details }
}

/// Why no contract can be had, before it has a name that can be asked about.
pub(super) struct NoContract {
    /// In a word.
    pub reason: NoContractReason,
    /// In a sentence.
    pub explanation: String,
    /// What helps to recover.
    pub details: Value,
}
