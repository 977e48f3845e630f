//! Refusals of proposals, and of what is done to contracts besides calling them. AGTP-API 10.3 to 10.6; base 3.4.

use forecourt_agtp_wire::status::Status;
use forecourt_contract::ContractRefusal;
use forecourt_contract::negotiation::NoContractReason;
use forecourt_core::clock::whole_seconds;
use forecourt_core::limits::RETRY_AFTER;
use forecourt_synthesis::negotiator::NegotiationError;
use forecourt_synthesis::proposal::ProposalRefusal;
use serde_json::{Value, json};

use super::members::{authority, names};
use super::unauthorized;
use crate::reply::Problem;

impl From<ProposalRefusal> for Problem {
    fn from(refusal: ProposalRefusal) -> Self {
        match refusal {
            ProposalRefusal::Grammar(refusal) => (*refusal).into(),
            ProposalRefusal::Malformed { issue, field, message } => {
                Self::new(Status::BAD_REQUEST, "bad-request", message.as_str())
                    .with("issue", issue)
                    .with("reason", issue)
                    .with("explanation", message)
                    .with("field", field.as_str())
                    .with("details", json!({"field": field}))
                    .beside("reason", issue)
            }
            ProposalRefusal::Scope { missing } => {
                let names = names(&missing);
                let listed: Vec<&str> = missing.iter().map(|scope| scope.as_str()).collect();
                let message = format!("the proposed endpoint needs scopes that are not claimed: {}", listed.join(", "));
                authority("scope-required", &message, json!({"missing_scopes": names}))
            }
            ProposalRefusal::Rejected { reason, explanation, counter_proposal } => {
                let rejected = Self::new(Status::PROPOSAL_REJECTED, "proposal-rejected", explanation.as_str())
                    .with("reason", reason.word())
                    .with("explanation", explanation);
                counter_proposal
                    .into_iter()
                    .fold(rejected, |problem, counter| problem.with("counter_proposal", counter))
            }
        }
    }
}

impl From<NegotiationError> for Problem {
    fn from(error: NegotiationError) -> Self {
        let message = error.to_string();
        match error {
            NegotiationError::Unnamed => unauthorized("agent-unauthenticated", &message),
            NegotiationError::TooMany { bound, retry_after } => {
                Self::new(Status::RATE_LIMITED, "rate-limited", message)
                    .with("bound", bound)
                    .retry(Some(whole_seconds(retry_after)))
            }
            NegotiationError::Unavailable => {
                let seconds = whole_seconds(RETRY_AFTER);
                Self::new(Status::UNAVAILABLE, "contracts-unavailable", message).retry(Some(seconds))
            }
        }
    }
}

/// Why a contract was not released or revoked. Nobody presents it here, so that another one's is forbidden, and
/// one that has ended already is a conflict. Base 3.4.
pub(crate) fn contract_not_ended(synthesis_id: &str, refusal: &ContractRefusal) -> Problem {
    let problem = match refusal {
        ContractRefusal::Unavailable => NegotiationError::Unavailable.into(),
        ContractRefusal::NoContract { reason: NoContractReason::ContractNotYours, .. } => not_yours(),
        ContractRefusal::NoContract { reason, explanation, .. } => {
            Problem::new(Status::CONFLICT, reason.word(), explanation.as_str()).with("reason", reason.word())
        }
        _ => Problem::new(Status::NOT_FOUND, "contract-not-found", "no contract of this name is known here"),
    };
    let id: String = synthesis_id.chars().take(crate::limits::NAME_CHARS_MAX).collect();
    problem.with("synthesis_id", Value::from(id))
}

/// The problem that a contract is another caller's.
pub(crate) fn not_yours() -> Problem {
    let word = NoContractReason::ContractNotYours.word();
    Problem::new(Status::FORBIDDEN, word, "this contract is another caller's").with("reason", word)
}
