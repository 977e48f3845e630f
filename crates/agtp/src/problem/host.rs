//! Refusals of the host: its limits, and the rules of its agents.

use forecourt_agtp_wire::status::Status;
use forecourt_core::PolicyPart;
use forecourt_core::policy::RefusalKind;
use serde_json::Value;

use super::unauthorized;
use crate::reply::Problem;

/// The field with the state of a refusal, by which its caller goes on once the condition is met: in the refusal, and in
/// the call that comes after it. PolicyPart 5.4.
pub(crate) const STATE: &str = "Mentionable-State";

impl From<PolicyPart> for Problem {
    /// The whole refusal goes along as `details`, for who understands it, and its state in a field, for who just calls
    /// again once the condition is met.
    fn from(part: PolicyPart) -> Self {
        let (details, state) = (Value::Object(part.to_json()), part.state());
        let refused = |status, code: &str| Problem::new(status, code, part.message.as_str());
        // Authority that a person still has to give is what this wire calls missing credentials.
        let lacking = |explanation: &str| {
            refused(Status::AUTHORIZATION_REQUIRED, "authorization-required")
                .with("type", "credentials-missing")
                .with("explanation", explanation)
        };
        let problem = match part.kind {
            RefusalKind::ConsentRequired { .. } | RefusalKind::PaymentRequired { .. } => lacking(&part.message),
            RefusalKind::Unauthorized { .. } => unauthorized("oauth-required", &part.message),
            // A kind that is not known here is never taken for a success. PolicyPart 3.6.
            RefusalKind::Forbidden | RefusalKind::Other(_) => refused(Status::FORBIDDEN, "forbidden"),
            // This wire has no 451.
            RefusalKind::UnavailableForLegalReasons => refused(Status::FORBIDDEN, "unavailable-for-legal-reasons"),
            RefusalKind::TooManyRequests { retry_after_seconds } => {
                let limited = refused(Status::RATE_LIMITED, "rate-limited").with("scope", "requests");
                limited.beside("scope", "requests").retry(retry_after_seconds)
            }
            RefusalKind::ServiceUnavailable { .. } => {
                refused(Status::UNAVAILABLE, "unavailable").retry(part.kind.retry_after_seconds())
            }
        };
        let mut problem = problem.with("details", details);
        if let Some(state) = state {
            problem.fields.push((STATE, state.expose().to_owned()));
        }
        problem
    }
}
