//! Refusals of contracts that are made while serving. AGTP-API 10.1, 11.

use forecourt_agtp_wire::status::Status;
use forecourt_contract::ContractRefusal;
use forecourt_contract::negotiation::ContractPreview;
use forecourt_contract::refusal::Pair;
use forecourt_core::clock::whole_seconds;
use forecourt_core::limits::RETRY_AFTER;
use serde_json::{Value, json};

use super::members::{at, authority, names};
use crate::reply::Problem;

/// What is offered, in the words of the reference implementation. Base 9.5.
fn summary(preview: &ContractPreview) -> Value {
    let lineage = preview.recipe_lineage.as_ref();
    json!({
        "method": preview.method,
        "path": preview.path,
        "plan_summary": preview.plan_summary,
        "recipe_name": lineage.map(|lineage| &lineage.recipe_name),
        "recipe_version": lineage.map(|lineage| &lineage.recipe_version),
        "policy_name": if lineage.is_some() { "recipes" } else { "schemas" },
    })
}

/// A refusal as this wire spells it.
pub(super) fn problem(pair: &Pair, refusal: ContractRefusal, message: &str) -> Problem {
    let code = refusal.kind();
    let problem = match refusal {
        ContractRefusal::Unknown { synthesis_id } => {
            let id: String = synthesis_id.chars().take(crate::limits::NAME_CHARS_MAX).collect();
            Problem::new(Status::NOT_FOUND, code, message).with("synthesis_id", id)
        }
        ContractRefusal::OtherPair { synthesis_id, method, path } => Problem::new(Status::CONFLICT, code, message)
            .with("synthesis_id", synthesis_id)
            .with("contract", json!({"method": method, "path": path})),
        // By the id of the attempt INSPECT tells its caller more. Base 3.3.
        ContractRefusal::NoContract { reason, attempt_id, details, .. } => {
            let mut problem = Problem::new(Status::NO_CONTRACT, code, message)
                .with("reason", reason.word())
                .with("explanation", message)
                .with("details", details)
                .beside("reason", reason.word());
            problem.fields.extend(attempt_id.map(|id| ("RCNS-Attempt-Id", id)));
            problem
        }
        ContractRefusal::Available(preview) => {
            let mut problem = Problem::new(Status::CONTRACT_AVAILABLE, code, message);
            // The preview is what is said: it stands beside the error, where the specification has it. The reference
            // implementation reads the two members that come first.
            problem = problem
                .beside("proposed_synthesis_id", preview.synthesis_id.as_str())
                .beside("contract", summary(&preview));
            if let Ok(Value::Object(fields)) = serde_json::to_value(*preview) {
                problem.beside.extend(fields);
            }
            problem
        }
        ContractRefusal::Scope { missing } => {
            let details = json!({"code": code, "missing_scopes": names(&missing)});
            let scope = missing.first().map(|scope| scope.as_str().to_owned());
            let problem = authority("scope-required", message, details).with("scope", scope.clone());
            problem.beside("type", "scope-required").beside("scope", scope)
        }
        ContractRefusal::TooMany { bound, retry_after } => Problem::new(Status::RATE_LIMITED, "rate-limited", message)
            .with("scope", "rcns")
            .with("bound", bound)
            .beside("scope", "rcns")
            .retry(Some(whole_seconds(retry_after))),
        ContractRefusal::Unavailable => {
            Problem::new(Status::UNAVAILABLE, code, message).retry(Some(whole_seconds(RETRY_AFTER)))
        }
    };
    at(problem, pair)
}
