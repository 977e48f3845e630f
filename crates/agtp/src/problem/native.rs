//! Refusals of the host's own methods: from this wire to the contract layer, where steps of compositions
//! meet them, and back. AGTP-API 12.1.

use forecourt_agtp_wire::status::Status;
use forecourt_contract::Refusal;
use forecourt_contract::refusal::{NativeRefusal, NativeRefusalKind};
use serde_json::Value;

use crate::reply::Problem;

/// The codes under which natives are refused. What else can go wrong is ours.
const REASONS: [(NativeRefusalKind, Status); 22] = [
    (NativeRefusalKind::Malformed, Status::BAD_REQUEST),
    (NativeRefusalKind::Unidentified, Status::UNAUTHORIZED),
    (NativeRefusalKind::Authority, Status::AUTHORIZATION_REQUIRED),
    (NativeRefusalKind::Forbidden, Status::FORBIDDEN),
    (NativeRefusalKind::Absent, Status::NOT_FOUND),
    (NativeRefusalKind::NotAllowed, Status::METHOD_NOT_ALLOWED),
    (NativeRefusalKind::TimedOut, Status::TIMEOUT),
    (NativeRefusalKind::Conflict, Status::CONFLICT),
    (NativeRefusalKind::Gone, Status::GONE),
    (NativeRefusalKind::Unfit, Status::UNPROCESSABLE),
    (NativeRefusalKind::TooOften, Status::RATE_LIMITED),
    (NativeRefusalKind::BeyondScope, Status::SCOPE_VIOLATION),
    (NativeRefusalKind::BeyondZone, Status::ZONE_VIOLATION),
    (NativeRefusalKind::NoMethod, Status::METHOD_VIOLATION),
    (NativeRefusalKind::NoPath, Status::ENDPOINT_VIOLATION),
    (NativeRefusalKind::NoContract, Status::NO_CONTRACT),
    (NativeRefusalKind::Rejected, Status::PROPOSAL_REJECTED),
    (NativeRefusalKind::Unsupported, Status::NOT_IMPLEMENTED),
    (NativeRefusalKind::Unavailable, Status::UNAVAILABLE),
    (NativeRefusalKind::DelegateFailed, Status::DELEGATION_FAILURE),
    (NativeRefusalKind::ChainBroken, Status::CHAIN_BROKEN),
    (NativeRefusalKind::Failed, Status::SERVER_ERROR),
];

/// Members of an error that stand beside it too. AGTP-API 11; base 4.
const BESIDE: [&str; 3] = ["allowed_methods_for_path", "redirects_for_path", "scope"];

/// A problem in the contract layer's words.
pub(crate) fn refusal(mut problem: Problem) -> Refusal {
    let mut text = |name: &str| match problem.error.remove(name) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let (code, message) = (text("code"), text("message"));
    let found = REASONS.iter().find(|(_, status)| *status == problem.status);
    let reason = found.map_or(NativeRefusalKind::Failed, |(reason, _)| *reason);
    Refusal::Native(Box::new(NativeRefusal { reason, code, message, details: problem.error }))
}

/// The problem that it was.
pub(super) fn problem(refused: NativeRefusal) -> Problem {
    let NativeRefusal { reason, code, message, details } = refused;
    let mut problem = Problem::new(status(reason), &code, message);
    problem.error.extend(details);
    for name in BESIDE {
        problem.beside.extend(problem.error.get(name).map(|value| (name.to_owned(), value.clone())));
    }
    let seconds = problem.error.get("retry_after_seconds").and_then(Value::as_u64);
    problem.retry(seconds)
}

fn status(reason: NativeRefusalKind) -> Status {
    let found = REASONS.iter().find(|(known, _)| *known == reason);
    found.map_or(Status::SERVER_ERROR, |(_, status)| *status)
}
