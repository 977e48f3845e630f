//! What is written down of requests: what their callers were asked to do first and did, and what the audit is told.

use std::sync::Arc;

use forecourt_audit::{Audit, AuditOutcome, AuditRecord, RequestOrigin};
use forecourt_core::{AnswerUsage, Clock, Handle, Message, PolicyPart};
use forecourt_issuance::Issuances;

/// The issuances of this host and its audit.
pub(crate) struct Records {
    /// What callers were asked to do first, and did.
    pub(crate) issuances: Arc<Issuances>,
    pub(crate) audit: Audit,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Records {
    /// The same, for another house.
    pub(crate) fn replaced_by(&self, issuances: Issuances) -> Self {
        Self { issuances: Arc::new(issuances), audit: self.audit.clone(), clock: self.clock.clone() }
    }

    /// Tells of a message that was refused for good, by the finer reason where there is one.
    pub(crate) fn note_refused(&self, agent: &Handle, message: &Message, part: &PolicyPart) {
        let record = self.guarded_record(agent, message);
        self.note_guarded(record, part.code.as_deref().unwrap_or_default(), part);
    }

    /// Tells of a text that a guardrail denied, in the message of `record` or in its reply.
    pub(crate) fn note_guarded(&self, mut record: AuditRecord, rule: &str, part: &PolicyPart) {
        record.at = self.clock.now();
        rule.clone_into(&mut record.rule);
        part.kind().clone_into(&mut record.kind);
        self.audit.record(record);
    }

    /// A record of a refusal of `message`, of which the reason is still to be said.
    pub(crate) fn guarded_record(&self, agent: &Handle, message: &Message) -> AuditRecord {
        AuditRecord {
            at: self.clock.now(),
            agent: agent.clone(),
            who: message.sender.caller(None).shown(),
            rule: String::new(),
            kind: String::new(),
            outcome: AuditOutcome::Refused,
            state: None,
            origin: RequestOrigin::of(message),
            usage: AnswerUsage::default(),
            dropped: 0,
        }
    }
}
