//! What the audit is told of issuances.

use forecourt_core::Message;

use super::meet::Claimant;
use super::record::IssuanceRecord;
use super::streams::{Issuances, StateHash};
use crate::audit::{AuditOutcome, AuditRecord};

/// Hex digits of a state's hash that the audit shows.
const SHOWN_DIGITS: usize = 8;

impl Issuances {
    /// Tells of a step that no message took: on a page, or by a payment's own way.
    pub(super) fn note(&self, hash: &StateHash, record: &IssuanceRecord, outcome: AuditOutcome) {
        self.desk.audit.record(AuditRecord {
            at: self.clock.now(),
            agent: record.agent.clone(),
            who: record.subject.clone().or_else(|| network(&record.account)).unwrap_or_default(),
            rule: record.requirement.rule.clone(),
            kind: record.requirement.kind().to_owned(),
            outcome,
            state: Some(shown(hash)),
            transport: None,
            request: None,
            dropped: 0,
        });
    }

    /// Tells of what a message did, or tried.
    pub(super) fn note_message(
        &self,
        hash: &StateHash,
        record: Option<&IssuanceRecord>,
        claimant: &Claimant<'_>,
        message: &Message,
        outcome: AuditOutcome,
    ) {
        let who = claimant.holder.subject.clone().or_else(|| network(&claimant.holder.account));
        self.desk.audit.record(AuditRecord {
            at: self.clock.now(),
            agent: claimant.card.handle().clone(),
            who: who.unwrap_or_default(),
            rule: record.map(|record| record.requirement.rule.clone()).unwrap_or_default(),
            kind: record.map_or("unknown", |record| record.requirement.kind()).to_owned(),
            outcome,
            state: Some(shown(hash)),
            transport: Some(message.received_via.to_owned()),
            request: Some(message.id.as_str().to_owned()),
            dropped: 0,
        });
    }
}

fn shown(hash: &StateHash) -> String {
    hash.as_str().chars().take(SHOWN_DIGITS).collect()
}

/// The network of a caller who proved nothing.
fn network(account: &forecourt_core::Account) -> Option<String> {
    account.key()?.strip_prefix("network:").map(str::to_owned)
}
