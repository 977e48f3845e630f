//! Refusals of the contract layer.

use forecourt_agtp_wire::status::Status;
use forecourt_contract::Refusal;
use forecourt_contract::endpoint::COMPOSITION_ERROR;
use forecourt_contract::refusal::{BrokenContract, FailedStep, IdentityRefusal, NotAllowed, Recovery};
use serde_json::{Value, json};

use super::members::{at, authority, names};
use super::{IdentityError, native, negotiation};
use crate::limits::RETRY_BUSY_SECONDS;
use crate::reply::{Problem, Reply};

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let was_begun = refusal.was_begun();
        let hint = hint(&refusal);
        let mut problem = problem_of(refusal);
        match hint {
            // What lacks authority says so among its details.
            Some((name, value)) if problem.status == Status::AUTHORIZATION_REQUIRED => {
                if let Some(details) = problem.error.get_mut("details").and_then(Value::as_object_mut) {
                    details.insert(name.to_owned(), value);
                }
            }
            Some((name, value)) => problem = problem.with(name, value),
            None => {}
        }
        if was_begun { problem.into_outcome() } else { problem }
    }
}

/// How to get further, where the refusal itself does not say it on this wire.
fn hint(refusal: &Refusal) -> Option<(&'static str, Value)> {
    match refusal.recovery()? {
        Recovery::ListEndpoints if matches!(refusal, Refusal::NotFound(_)) => Some(("discover", "/methods".into())),
        Recovery::Identify if matches!(refusal, Refusal::Identity(_)) => Some(("header", super::NAME_FIELD.into())),
        Recovery::Claim(scopes) if !scopes.is_empty() => Some(("missing_scopes", names(scopes))),
        _ => None,
    }
}

/// A refusal as a problem, a kind in each arm. Those that were refused before the call was let in come first.
fn problem_of(refusal: Refusal) -> Problem {
    let message = refusal.to_string();
    match refusal {
        Refusal::Method { method, suggestions, catalog_version } => {
            Problem::new(Status::METHOD_VIOLATION, "method-violation", message)
                .with("method", excerpt(&method))
                .with("suggestions", suggestions)
                .with("catalog_version", catalog_version)
        }
        Refusal::Path { path, segment, reason } => {
            Problem::new(Status::ENDPOINT_VIOLATION, "endpoint-violation", message)
                .with("path", path)
                .with("segment", segment)
                .with("explanation", reason)
        }
        Refusal::NotFound(pair) => at(Problem::new(Status::NOT_FOUND, "endpoint-not-found", message), &pair),
        Refusal::Identity(refusal) => identity(refusal, &message),
        Refusal::Standing { agent_id, is_final } => standing(agent_id, is_final, &message),
        Refusal::NotAllowed { pair, why, allowed_methods, redirects } => {
            at(not_allowed(why, (json!(allowed_methods), json!(redirects)), &message), &pair)
        }
        Refusal::Wildcards(pair) => at(authority("wildcards-required", &message, json!({})), &pair),
        Refusal::Input { pair, violation } => at(violation.into(), &pair),
        Refusal::ScopeAbsent { pair, .. } => {
            at(authority("scope-required", &message, json!({"header": "Authority-Scope"})), &pair)
        }
        Refusal::ScopeClaim { pair, excess } => {
            let details = json!({"code": "scope-claim-invalid", "excess_scopes": names(&excess)});
            at(authority("scope-required", &message, details), &pair)
        }
        Refusal::Scope { pair, missing } => {
            let problem = Problem::new(Status::SCOPE_VIOLATION, "scope-violation", message.as_str());
            at(problem, &pair).with("missing_scopes", names(&missing)).with("explanation", message)
        }
        Refusal::Contract { pair, refusal } => negotiation::problem(&pair, *refusal, &message),
        Refusal::Declared { pair, code, message, details } => {
            at(Problem::new(Status::UNPROCESSABLE, &code, message), &pair).with("details", details)
        }
        Refusal::Step { pair, failed } => at(failed_step(&failed, &message), &pair),
        Refusal::Native(refused) => native::problem(*refused),
        // The cause is in the log already.
        Refusal::Broken { pair, kind, .. } => at(broken(kind, &message), &pair),
        Refusal::Busy { pair, .. } => {
            let problem = at(Problem::new(Status::UNAVAILABLE, "handler-busy", message), &pair);
            problem.retry(Some(RETRY_BUSY_SECONDS))
        }
        Refusal::Late { pair, .. } => at(Problem::new(Status::UNAVAILABLE, "handler-timeout", message), &pair),
    }
}

fn identity(refusal: IdentityRefusal, message: &str) -> Problem {
    match refusal {
        IdentityRefusal::Unknown => IdentityError::Unknown.into(),
        IdentityRefusal::Missing => super::unauthorized("agent-unauthenticated", message),
        IdentityRefusal::NoToken => super::unauthorized("oauth-required", message),
    }
}

fn not_allowed(why: NotAllowed, (allowed, redirects): (Value, Value), message: &str) -> Problem {
    let code = match why {
        NotAllowed::OtherMethods => "method-not-allowed",
        NotAllowed::Policy => "method-refused-by-policy",
        NotAllowed::NotImplemented => "method-not-implemented",
    };
    Problem::new(Status::METHOD_NOT_ALLOWED, code, message)
        .with("allowed_methods_for_path", allowed.clone())
        .with("redirects_for_path", redirects.clone())
        .beside("allowed_methods_for_path", allowed)
        .beside("redirects_for_path", redirects)
}

/// A step of a composition that failed, with its own refusal as this wire has it.
fn failed_step(failed: &FailedStep, message: &str) -> Problem {
    let inner = Reply::from(Problem::from(failed.refusal.clone()));
    let (status, underlying) = (inner.status.code, inner.error().unwrap_or_default());
    let details = failed.details(status, underlying);
    Problem::new(Status::UNPROCESSABLE, COMPOSITION_ERROR, message).with("details", details)
}

fn broken(kind: BrokenContract, message: &str) -> Problem {
    let code = match kind {
        BrokenContract::Output => "output-validation-failed",
        BrokenContract::UndeclaredError => "undeclared-error-code",
        BrokenContract::Crashed => "handler-exception",
    };
    Problem::new(Status::SERVER_ERROR, code, message)
}

fn standing(agent_id: Option<String>, is_final: bool, message: &str) -> Problem {
    let (status, code, word) = match is_final {
        true => (Status::GONE, "agent-revoked", "retired"),
        false => (Status::UNAVAILABLE, "agent-suspended", "suspended"),
    };
    Problem::new(status, code, message).with("agent_id", agent_id).with("agent_status", word)
}

/// The start of what the caller sent.
fn excerpt(text: &str) -> String {
    text.chars().take(forecourt_contract::limits::ECHO_CHARS_MAX).collect()
}
