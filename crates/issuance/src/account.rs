//! This module writes the audit records of issuances.

use forecourt_core::policy::Requirement;
use forecourt_core::{AnswerUsage, Handle};

use crate::claimant::Claimant;
use crate::deduction::Deduction;
use crate::record::IssuanceRecord;
use crate::streams::{Issuances, StateHash};
use forecourt_audit::{AuditOutcome, AuditRecord, RequestOrigin};

/// Hex digits of a state's hash that the audit shows.
const SHOWN_DIGITS: usize = 8;

impl Issuances {
    /// Tells of a step, by the request that `record` names.
    pub(crate) fn note(&self, hash: &StateHash, record: &IssuanceRecord, outcome: AuditOutcome) {
        self.desk.audit.record(AuditRecord {
            at: self.clock.now(),
            agent: record.agent.clone(),
            // The proven subject or the network, never the conversation: its token is a secret.
            who: record.account.shown().to_owned(),
            rule: record.requirement.rule.clone(),
            kind: record.requirement.kind().to_owned(),
            outcome,
            state: Some(shown(hash)),
            origin: record.origin.clone(),
            usage: AnswerUsage::default(),
            dropped: 0,
        });
    }

    /// Tells of a deduction.
    pub(crate) fn note_deducted(&self, deduction: &Deduction) {
        self.desk.audit.record(AuditRecord {
            at: self.clock.now(),
            agent: deduction.agent.clone(),
            who: deduction.who.clone(),
            rule: deduction.requirement.rule.clone(),
            kind: deduction.requirement.kind().to_owned(),
            outcome: AuditOutcome::Deducted,
            state: None,
            origin: deduction.origin.clone(),
            usage: AnswerUsage::default(),
            dropped: 0,
        });
    }

    /// Tells of a consent of `who` that was taken back.
    pub(crate) fn note_withdrawn(&self, agent: &Handle, requirement: &Requirement, who: &str, origin: &RequestOrigin) {
        self.desk.audit.record(AuditRecord {
            at: self.clock.now(),
            agent: agent.clone(),
            who: who.to_owned(),
            rule: requirement.rule.clone(),
            kind: requirement.kind().to_owned(),
            outcome: AuditOutcome::Withdrawn,
            state: None,
            origin: origin.clone(),
            usage: AnswerUsage::default(),
            dropped: 0,
        });
    }

    /// Tells of a message with a state that is of no use to it.
    pub(crate) fn note_useless(
        &self,
        hash: &StateHash,
        record: Option<&IssuanceRecord>,
        claimant: &Claimant<'_>,
        outcome: AuditOutcome,
    ) {
        self.desk.audit.record(AuditRecord {
            at: self.clock.now(),
            agent: claimant.card.handle().clone(),
            who: claimant.holder.account.shown().to_owned(),
            rule: record.map(|record| record.requirement.rule.clone()).unwrap_or_default(),
            kind: record.map_or("unknown", |record| record.requirement.kind()).to_owned(),
            outcome,
            state: Some(shown(hash)),
            origin: claimant.origin.clone(),
            usage: AnswerUsage::default(),
            dropped: 0,
        });
    }
}

pub(crate) fn shown(hash: &StateHash) -> String {
    hash.as_str().chars().take(SHOWN_DIGITS).collect()
}
