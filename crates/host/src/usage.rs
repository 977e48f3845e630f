//! What language models use for answers, written into the audit.

use forecourt_audit::{AuditOutcome, AuditRecord, RequestOrigin};
use forecourt_core::usage::{AnswerUsage, ModelUsage, UsageSink};

use crate::request::Request;

/// The kind of an audit record that tells what models used for an answer.
pub const MODEL_USAGE: &str = "model_usage";

impl UsageSink for Request {
    fn add(&self, used: ModelUsage) {
        self.used.lock().add(used);
    }

    fn so_far(&self) -> AnswerUsage {
        self.used.lock().clone()
    }
}

/// Writes into the audit what models used. A request is gone when the last who could add to it is, and nothing else
/// knows of an answer that its caller left when it is over.
impl Drop for Request {
    fn drop(&mut self) {
        let used = std::mem::take(self.used.get_mut());
        if !used.is_empty() {
            note(self, used);
        }
    }
}

/// Tells the audit what models used for an answer.
fn note(request: &Request, usage: AnswerUsage) {
    request.records.audit.record(AuditRecord {
        at: request.records.clock.now(),
        agent: request.resident.card.handle().clone(),
        who: request.caller().shown(),
        rule: String::new(),
        kind: MODEL_USAGE.to_owned(),
        outcome: AuditOutcome::Used,
        state: None,
        origin: RequestOrigin::new(request.via, &request.id),
        usage,
        dropped: 0,
    });
}
