//! PROPOSE: endpoints that are made while serving, and what became of proposals that are looked at later.
//! AGTP-API 8.7, 10.3 to 10.8, 11.

use std::sync::Arc;

use forecourt_agtp_wire::status::Status;
use forecourt_contract::call::Thread;
use forecourt_contract::reserved::{PROPOSALS, proposal};
use forecourt_core::Timestamp;
use forecourt_synthesis::contracts::Contract;
use forecourt_synthesis::negotiator::{Negotiator, ProposeOutcome};
use forecourt_synthesis::proposal::{ProposalRefusal, RejectionReason};
use serde_json::{Map, Value, json};

use super::call::MethodCall;
use crate::discovery::Discovery;
use crate::reply::{Body, Problem, Reply};

/// The media type of an endpoint that was made. AGTP-API 17.2.
pub(crate) const ENDPOINT_TYPE: &str = "application/vnd.agtp.endpoint+json";

/// Units of durations, each with its seconds, the longest first. Base 10.
const UNITS: [(u64, char); 4] = [(86_400, 'd'), (3_600, 'h'), (60, 'm'), (1, 's')];

/// Endpoints that callers propose, and what became of them.
pub(super) struct ProposeMethod<'a> {
    pub call: MethodCall<'a>,
    /// Where the request goes: a proposal that is looked at has a path of its own.
    pub path: &'a str,
    /// The whole body: the proposed endpoint.
    pub proposal: &'a Map<String, Value>,
    pub thread: &'a Thread,
    /// Whether it is no request, but a step of a composition.
    pub is_step: bool,
    pub is_synthesis_enabled: bool,
    /// How long a proposal is looked at, at most.
    pub evaluation_seconds: u64,
    pub negotiator: &'a Arc<Negotiator>,
    pub discovery: &'a Discovery,
}

impl ProposeMethod<'_> {
    /// Proposes an endpoint.
    pub(super) async fn run(&self) -> Result<Reply, Problem> {
        if !self.is_synthesis_enabled {
            return Err(ProposalRefusal::disabled().into());
        }
        if self.is_step {
            // A contract whose plan proposes would make another one. AGTP-API 10.1.2.
            return Err(rejected(RejectionReason::PolicyRefused, "no step of a composition proposes an endpoint"));
        }
        self.call.agent_id()?;
        let outcome = self.negotiator.propose(self.proposal, self.call.caller, self.thread).await?;
        // A persistent contract stands among the endpoints of the manifest. AGTP-API 10.8.
        if matches!(&outcome, ProposeOutcome::Approved { contract, .. } if contract.record.is_persistent) {
            self.discovery.refresh().await;
        }
        self.reply_of(outcome, Map::new())
    }

    /// What became of a proposal, for whoever proposed it: by its path, or by its name in the body.
    pub(super) async fn status(&self) -> Result<Reply, Problem> {
        self.call.agent_id()?;
        let named = proposal(self.path).filter(|id| !id.is_empty());
        let id = match named {
            Some(id) => id,
            None => self.call.given.required_text(&["proposal_id"])?,
        };
        let outcome = self.negotiator.proposal(id, self.call.caller).ok_or_else(|| {
            let id: String = id.chars().take(crate::limits::NAME_CHARS_MAX).collect();
            Problem::new(Status::NOT_FOUND, "proposal-not-found", "no proposal of this name is known here")
                .with("proposal_id", id)
        })?;
        let state = match &outcome {
            ProposeOutcome::Pending { .. } => "pending",
            ProposeOutcome::Approved { .. } => "accepted",
            ProposeOutcome::Refused(_) | ProposeOutcome::Escalate { .. } => "rejected",
        };
        let beside = [("state".to_owned(), state.into()), ("proposal_id".to_owned(), id.into())];
        self.reply_of(outcome, beside.into_iter().collect())
    }

    /// An outcome as it is answered, with what is said beside it.
    fn reply_of(&self, outcome: ProposeOutcome, beside: Map<String, Value>) -> Result<Reply, Problem> {
        let problem = match outcome {
            ProposeOutcome::Approved { contract, log } => return Ok(approved(&contract, &log, beside)),
            ProposeOutcome::Pending { proposal_id, until } => return Ok(self.pending(&proposal_id, until, beside)),
            ProposeOutcome::Refused(refusal) => refusal.into(),
            ProposeOutcome::Escalate { turns } => must_escalate(turns),
        };
        Err(Problem { beside: problem.beside.clone().into_iter().chain(beside).collect(), ..problem })
    }

    fn pending(&self, proposal_id: &str, until: Timestamp, beside: Map<String, Value>) -> Reply {
        let seconds = self.evaluation_seconds;
        let started = until.checked_sub(std::time::Duration::from_secs(seconds)).unwrap_or(until);
        let mut body = json!({
            "status": Status::NEGOTIATION_IN_PROGRESS.code,
            "proposal_id": proposal_id,
            "polling_path": format!("{PROPOSALS}/{proposal_id}"),
            "evaluation_started_at": started,
            "max_evaluation_duration": duration(seconds),
            "explanation": "the proposal is looked at: QUERY its `polling_path` for what became of it",
        });
        extend(&mut body, beside);
        Reply::json(Status::NEGOTIATION_IN_PROGRESS, body)
    }
}

/// A contract that was made. AGTP-API 10.4.3.
fn approved(contract: &Contract, log: &[String], beside: Map<String, Value>) -> Reply {
    let record = &contract.record;
    let granted = record.expires_at.duration_since(record.issued_at).as_secs();
    let mut body = json!({
        "status": Status::PROPOSAL_APPROVED.code,
        "method": record.method,
        "path": record.path.as_str(),
        "synthesis_id": record.synthesis_id,
        "endpoint": contract.endpoint,
        "contract_hash": record.contract_hash,
        "expires_at": record.expires_at,
        "persistent": record.is_persistent,
        "granted_duration": duration(u64::try_from(granted).unwrap_or_default()),
        "synthesis_log": log,
        "plan_explanation": contract.explanation,
    });
    if let Some(lineage) = &record.lineage {
        body["recipe_lineage"] = json!(lineage);
    }
    extend(&mut body, beside);
    let bytes = serde_json::to_vec(&body).unwrap_or_default().into();
    let body = Body::Made { media_type: ENDPOINT_TYPE, bytes };
    Reply { status: Status::PROPOSAL_APPROVED, fields: Vec::new(), body }
}

fn extend(body: &mut Value, beside: Map<String, Value>) {
    if let Some(body) = body.as_object_mut() {
        body.extend(beside);
    }
}

fn rejected(reason: RejectionReason, explanation: &str) -> Problem {
    ProposalRefusal::Rejected { reason, explanation: explanation.to_owned(), counter_proposal: None }.into()
}

/// As many proposals were refused as may be. AGTP-API 10.3.
fn must_escalate(turns: u32) -> Problem {
    let explanation = format!("{turns} proposals of this session were refused: ESCALATE, or call what there is");
    rejected(RejectionReason::PolicyRefused, &explanation)
        .with("turns", turns)
        .with("escalate", json!({"method": "ESCALATE", "path": "/", "reason": "scope_limit"}))
}

/// Seconds in their longest whole unit, such as `24h`.
fn duration(seconds: u64) -> String {
    let whole = |(unit, _): &(u64, char)| seconds > 0 && seconds.is_multiple_of(*unit);
    let (unit, word) = UNITS.into_iter().find(whole).unwrap_or((1, 's'));
    format!("{}{word}", seconds / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_10_durations_are_said_in_their_longest_whole_unit() {
        for (seconds, text) in [(86_400, "1d"), (90_000, "25h"), (600, "10m"), (61, "61s"), (0, "0s")] {
            assert_eq!(duration(seconds), text);
        }
    }
}
