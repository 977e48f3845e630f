//! This module signs and writes the record of each response before that leaves. Without a record no response leaves,
//! where the operator wants that. Base 2.5, 8.1.

use forecourt_agtp_wire::message::{Request, Response};
use forecourt_agtp_wire::status::Status;
use forecourt_attribution::{ContractFields, LogError, RecordDraft};
use forecourt_contract::call::CallTrail;
use forecourt_core::clock::whole_seconds;
use forecourt_core::ids::uuid7;
use forecourt_core::{Clock, Entropy};

use super::facts::{ActionFacts, request_hash};
use crate::limits::{NAME_CHARS_MAX, RECORDS_RETRY_AFTER};
use crate::records::{RecordFacts, Records};
use crate::reply::Problem;
use crate::settings::AuditFailure;

/// Where a response carries its record, and what that is called.
const FIELDS: (&str, &str) = ("Attribution-Record", "Audit-ID");

/// Seals responses with their records.
#[derive(Clone, Copy)]
pub(super) struct RecordSeal<'a> {
    pub records: &'a Records,
    /// The name of this server.
    pub server_id: &'a str,
    pub clock: &'a dyn Clock,
    pub entropy: &'a dyn Entropy,
}

impl RecordSeal<'_> {
    /// Whether responses can leave. Asked before anything is done, so that nothing is done whose answer can't leave.
    ///
    /// # Errors
    /// 503, where the operator wants that.
    pub(super) async fn require_log(&self) -> Result<(), Problem> {
        let records = self.records;
        if records.unusable().is_some() {
            return Err(not_kept(false));
        }
        match records.log() {
            Some(log) if records.on_failure == AuditFailure::Refuse => log.ready().await.map_err(|_| not_kept(false)),
            _ => Ok(()),
        }
    }

    /// The response with its record, which is written by then.
    ///
    /// # Errors
    /// It can't be kept, and the operator wants responses refused then.
    pub(super) async fn seal(
        &self,
        request: Option<&Request>,
        response: &mut Response,
        (facts, trail): (&RecordFacts, &CallTrail),
        response_id: &str,
    ) -> Result<(), Problem> {
        let Some(log) = self.records.log() else { return Ok(()) };
        let action = ActionFacts::of(trail);
        let (now, entropy) = (self.clock.now(), self.entropy);
        let action_id = action.is_state_changing.then(|| uuid7(now, entropy));
        let field = |name: &str| {
            let value = request.and_then(|request| request.field(name));
            // A request that was refused for a name that is too long has a record, too: without that name.
            value.filter(|value| !value.is_empty() && value.len() <= NAME_CHARS_MAX)
        };
        let contract = action.contract.as_ref().map(|stamp| ContractFields {
            synthesis_id: &stamp.synthesis_id,
            contract_hash: &stamp.contract_hash,
            negotiation_origin: stamp.negotiation_origin.word(),
        });
        let agent = facts.agent.as_deref();
        let draft = RecordDraft {
            server_id: self.server_id,
            status: response.start.code,
            issued_at: now,
            agent: agent.map(|agent| &agent.agent_id),
            owner_id: agent.and_then(|agent| agent.posture.owner_id.as_deref()).unwrap_or_default(),
            request_id: field("Request-ID").unwrap_or_default(),
            response_id,
            request_hash: request.map(request_hash),
            session_id: field("Session-ID"),
            task_id: field("Task-ID"),
            principal_id: facts.principal_id.as_deref(),
            acting_principal_id: facts.acting_principal_id.as_deref(),
            action_id: action_id.as_deref(),
            requested_method: action.requested_method.as_deref(),
            contract,
            prior_actions: &facts.prior_actions,
            identity_assurance: facts.assurance,
        };
        match log.record(draft).await {
            Ok(record) => {
                for (name, value) in [(FIELDS.0, &record.jws), (FIELDS.1, &record.audit_id)] {
                    if response.fields.push(name, value).is_err() {
                        tracing::error!(name, "a record holds what a field can't");
                    }
                }
                Ok(())
            }
            Err(error) => self.without_record(&error),
        }
    }

    /// What becomes of a response whose record was not kept.
    fn without_record(&self, error: &LogError) -> Result<(), Problem> {
        tracing::debug!(%error, "a response has no record");
        match self.records.on_failure {
            AuditFailure::Refuse => Err(not_kept(true)),
            AuditFailure::Serve => Ok(()),
        }
    }
}

/// The problem that no record can be kept. It has none itself.
fn not_kept(may_be_done: bool) -> Problem {
    let message = match may_be_done {
        true => {
            "the record of this response could not be kept, so it is not sent; what was asked for may have been done: \
                 repeat it with the same Idempotency-Key, or look before you do"
        }
        false => "records of responses can't be kept at the moment, so nothing was done: try again later",
    };
    let problem = Problem::new(Status::UNAVAILABLE, "record-not-kept", message).with("may_be_done", may_be_done);
    problem.retry(Some(whole_seconds(RECORDS_RETRY_AFTER)))
}
