//! Refusals of the contract layer.

use forecourt_contract::endpoint::COMPOSITION_ERROR;
use forecourt_contract::refusal::{Broken, IdentityRefusal, NotAllowed, Pair};
use forecourt_contract::{Refusal, Scope};
use serde_json::{Value, json};

use super::Doubt;
use super::host::retry;
use crate::limits::RETRY_BUSY_SECONDS;
use crate::reply::{Problem, Reply};
use crate::status::Status;

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            Refusal::Method { method, suggestions, catalog_version } => {
                Problem::new(Status::METHOD_VIOLATION, "method-violation", message)
                    .with("method", shown(&method))
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
            Refusal::Identity(IdentityRefusal::Unknown) => Doubt::Unknown.into(),
            Refusal::Identity(IdentityRefusal::Missing) => super::unauthorized("agent-unauthenticated", &message),
            Refusal::Identity(IdentityRefusal::NoToken) => super::unauthorized("oauth-required", &message),
            Refusal::Standing { agent_id, is_final } => standing(agent_id, is_final, &message),
            Refusal::NotAllowed { pair, why, allowed_methods, redirects } => {
                let code = match why {
                    NotAllowed::OtherMethods => "method-not-allowed",
                    NotAllowed::Policy => "method-refused-by-policy",
                    NotAllowed::NotImplemented => "method-not-implemented",
                };
                let (allowed, redirects) = (json!(allowed_methods), json!(redirects));
                at(Problem::new(Status::METHOD_NOT_ALLOWED, code, message), &pair)
                    .with("allowed_methods_for_path", allowed.clone())
                    .with("redirects_for_path", redirects.clone())
                    .beside("allowed_methods_for_path", allowed)
                    .beside("redirects_for_path", redirects)
            }
            Refusal::Wildcards(pair) => at(authority("wildcards-required", &message, json!({})), &pair),
            Refusal::Input { pair, violation } => at(violation.into(), &pair),
            Refusal::ScopeAbsent(pair) => {
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
            Refusal::Declared { pair, code, message, details } => {
                at(Problem::new(Status::UNPROCESSABLE, &code, message), &pair).with("details", details)
            }
            Refusal::Step { pair, failed } => {
                let inner = Reply::from(Problem::from(failed.refusal.clone()));
                let (status, underlying) = (inner.status.code, inner.error().unwrap_or_default());
                at(Problem::new(Status::UNPROCESSABLE, COMPOSITION_ERROR, message), &pair)
                    .with("details", failed.details(status, underlying))
            }
            Refusal::Broken { pair, kind, cause } => broken(&pair, kind, &cause, message),
        }
    }
}

/// The problem, with the pair that it is about.
fn at(problem: Problem, pair: &Pair) -> Problem {
    problem.with("method", pair.method.as_str()).with("path", pair.path.as_str())
}

/// A 262: authority that the caller did not bring.
pub(crate) fn authority(kind: &str, explanation: &str, details: Value) -> Problem {
    Problem::new(Status::AUTHORIZATION_REQUIRED, "authorization-required", explanation)
        .with("type", kind)
        .with("explanation", explanation)
        .with("details", details)
}

fn standing(agent_id: Option<String>, is_final: bool, message: &str) -> Problem {
    let (status, code, word) = match is_final {
        true => (Status::GONE, "agent-revoked", "retired"),
        false => (Status::UNAVAILABLE, "agent-suspended", "suspended"),
    };
    Problem::new(status, code, message).with("agent_id", agent_id).with("agent_status", word)
}

fn broken(pair: &Pair, kind: Broken, cause: &str, message: String) -> Problem {
    let (status, code) = match kind {
        Broken::Output => (Status::SERVER_ERROR, "output-validation-failed"),
        Broken::UndeclaredError => (Status::SERVER_ERROR, "undeclared-error-code"),
        Broken::Busy => (Status::UNAVAILABLE, "handler-busy"),
        Broken::Late => (Status::UNAVAILABLE, "handler-timeout"),
        Broken::Crashed => (Status::SERVER_ERROR, "handler-exception"),
    };
    tracing::error!(method = %pair.method, path = pair.path, code, cause, "an endpoint failed");
    let problem = at(Problem::new(status, code, message), pair);
    // One that was late may have done its work: when to repeat it is for the caller to judge.
    if kind == Broken::Busy { retry(problem, Some(RETRY_BUSY_SECONDS)) } else { problem }
}

pub(super) fn names(scopes: &[Scope]) -> Value {
    scopes.iter().map(|scope| Value::from(scope.as_str())).collect()
}

/// The start of what the caller sent.
fn shown(text: &str) -> String {
    text.chars().take(forecourt_contract::limits::ECHO_CHARS_MAX).collect()
}
