//! What several kinds of refusals say alike.

use forecourt_agtp_wire::status::Status;
use forecourt_contract::Scope;
use forecourt_contract::refusal::Pair;
use serde_json::Value;

use crate::reply::Problem;

/// The problem, with the pair that it is about.
pub(super) fn at(problem: Problem, pair: &Pair) -> Problem {
    problem.with("method", pair.method.as_str()).with("path", pair.path.as_str())
}

/// A 262: authority that the caller did not bring.
pub(crate) fn authority(kind: &str, explanation: &str, details: Value) -> Problem {
    Problem::new(Status::AUTHORIZATION_REQUIRED, "authorization-required", explanation)
        .with("type", kind)
        .with("explanation", explanation)
        .with("details", details)
}

/// Scopes by their names.
pub(super) fn names(scopes: &[Scope]) -> Value {
    scopes.iter().map(|scope| Value::from(scope.as_str())).collect()
}
