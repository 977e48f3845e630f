//! What the audit is told of issuances.

use forecourt_core::{Account, AnswerUsage, Handle, Message, PolicyPart};

use super::deduction::Deduction;
use super::meet::Claimant;
use super::record::IssuanceRecord;
use super::streams::{Issuances, StateHash};
use crate::audit::{AuditOutcome, AuditRecord, RequestOrigin};
use crate::request::Request;
use crate::usage::MODEL_USAGE;

/// Hex digits of a state's hash that the audit shows.
const SHOWN_DIGITS: usize = 8;

impl Issuances {
    /// Tells of a step, by the request that `record` names.
    pub(super) fn note(&self, hash: &StateHash, record: &IssuanceRecord, outcome: AuditOutcome) {
        self.desk.audit.record(AuditRecord {
            at: self.clock.now(),
            agent: record.agent.clone(),
            who: record.subject.clone().or_else(|| network(&record.account)).unwrap_or_default(),
            rule: record.requirement.rule.clone(),
            kind: record.requirement.kind().to_owned(),
            outcome,
            state: Some(shown(hash)),
            origin: record.origin.clone(),
            usage: AnswerUsage::default(),
            dropped: 0,
        });
    }

    /// Tells of a message that was refused for good, by the finer reason where there is one.
    pub(crate) fn note_refused(&self, agent: &Handle, message: &Message, part: &PolicyPart) {
        let sender = &message.sender;
        let who = sender.owner().map(str::to_owned).or_else(|| sender.network().map(|network| network.to_string()));
        self.desk.audit.record(AuditRecord {
            at: self.clock.now(),
            agent: agent.clone(),
            who: who.unwrap_or_default(),
            rule: part.code.clone().unwrap_or_default(),
            kind: part.kind().to_owned(),
            outcome: AuditOutcome::Refused,
            state: None,
            origin: RequestOrigin::of(message),
            usage: AnswerUsage::default(),
            dropped: 0,
        });
    }

    /// Tells of a text that a guardrail denied, in the message of `record` or in its reply.
    pub(crate) fn note_guarded(&self, mut record: AuditRecord, rule: &str, part: &PolicyPart) {
        record.at = self.clock.now();
        rule.clone_into(&mut record.rule);
        part.kind().clone_into(&mut record.kind);
        self.desk.audit.record(record);
    }

    /// A record of a refusal of `message`, of which the reason is still to be said.
    pub(crate) fn guarded_record(&self, agent: &Handle, message: &Message) -> AuditRecord {
        let sender = &message.sender;
        let who = sender.owner().map(str::to_owned).or_else(|| sender.network().map(|network| network.to_string()));
        AuditRecord {
            at: self.clock.now(),
            agent: agent.clone(),
            who: who.unwrap_or_default(),
            rule: String::new(),
            kind: String::new(),
            outcome: AuditOutcome::Refused,
            state: None,
            origin: RequestOrigin::of(message),
            usage: AnswerUsage::default(),
            dropped: 0,
        }
    }

    /// Tells what models used for an answer.
    pub(crate) fn note_usage(&self, request: &Request, usage: AnswerUsage) {
        let network = || request.network.map(|network| network.to_string());
        self.desk.audit.record(AuditRecord {
            at: self.clock.now(),
            agent: request.resident.card.handle().clone(),
            who: request.owner.clone().or_else(network).unwrap_or_default(),
            rule: String::new(),
            kind: MODEL_USAGE.to_owned(),
            outcome: AuditOutcome::Used,
            state: None,
            origin: RequestOrigin::new(request.via, &request.id),
            usage,
            dropped: 0,
        });
    }

    /// Tells of a deduction.
    pub(super) fn note_deducted(&self, deduction: &Deduction) {
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

    /// Tells of a message with a state that is of no use to it.
    pub(super) fn note_useless(
        &self,
        hash: &StateHash,
        record: Option<&IssuanceRecord>,
        claimant: &Claimant<'_>,
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
            origin: claimant.origin.clone(),
            usage: AnswerUsage::default(),
            dropped: 0,
        });
    }
}

fn shown(hash: &StateHash) -> String {
    hash.as_str().chars().take(SHOWN_DIGITS).collect()
}

/// The network of a caller who proved nothing.
fn network(account: &Account) -> Option<String> {
    account.key()?.strip_prefix("network:").map(str::to_owned)
}
