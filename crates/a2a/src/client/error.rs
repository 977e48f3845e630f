//! Why a remote agent gave no answer.

use std::fmt::Display;

use forecourt_agents::declined::UpstreamError;
use forecourt_egress::{EgressError, Refusal};
use serde_json::Value;

use super::limits::REASON_CHARS_MAX;
use crate::model::OperationError;

/// Why a remote agent gave no answer. `Display` is a sentence for people, without the agent's name;
/// causes that tell of the network are in the log.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PeerError {
    /// No connection was made; nothing was sent. The cause is for the operator.
    #[error("can't be reached at the moment")]
    Unreachable(String),
    /// The rules of this host's way out forbid to ask it; nothing was sent. The rule is for the operator.
    #[error("may not be asked from here")]
    Refused(Refusal),
    /// It did not begin to answer.
    #[error("did not begin to answer in time")]
    Slow,
    /// It began, and then fell silent.
    #[error("stopped in the middle of its answer")]
    Stalled,
    /// It went on for too long.
    #[error("took too long for its answer")]
    Overtime,
    /// The connection broke.
    #[error("broke off in the middle of its answer")]
    Broken,
    /// It said too much.
    #[error("gave an answer that is too large")]
    TooLarge,
    /// We talk to too many agents at the moment.
    #[error("was not asked: too many requests are on their way at the moment")]
    Busy,
    /// Its server answered with a status and without words.
    #[error("answered with status {0}")]
    Status(u16),
    /// Its server said with its status that this host is not served, or not now.
    #[error("{}", or_declined(.message, *.declined))]
    Declined {
        /// Why not.
        declined: UpstreamError,
        /// Its own words, cut short; may be empty.
        message: String,
    },
    /// It said something that A2A does not know. The detail is for the operator.
    #[error("gave an answer that could not be read")]
    Unreadable(String),
    /// It said why not.
    #[error("{message}")]
    Remote {
        /// What that comes to.
        fault: OperationError,
        /// Its own words, cut short.
        message: String,
    },
}

impl PeerError {
    /// Whether the same question may be answered another time: the fault lies on the way.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Slow | Self::Stalled | Self::Broken | Self::Busy => true,
            Self::Status(status) => matches!(status, 408 | 425 | 500..),
            Self::Declined { declined, .. } => matches!(declined, UpstreamError::Later(_)),
            Self::Refused(_) | Self::Overtime | Self::TooLarge | Self::Unreadable(_) | Self::Remote { .. } => false,
        }
    }

    /// What the agent itself said, if it said anything.
    pub fn fault(&self) -> Option<&OperationError> {
        match self {
            Self::Remote { fault, .. } => Some(fault),
            _ => None,
        }
    }

    pub(super) fn unreadable(detail: impl Display) -> Self {
        Self::Unreadable(detail.to_string())
    }

    /// The cause goes to the log: it tells of the inside.
    pub(super) fn of_egress(error: &EgressError) -> Self {
        tracing::warn!(reason = error.log_reason(), "a remote agent failed");
        match error {
            // A name that does not resolve now may do so in a moment; the other rules stay as they are.
            EgressError::Unconnected(_) | EgressError::Refused(Refusal::Unresolved) => {
                Self::Unreachable(error.log_reason())
            }
            EgressError::Refused(rule) => Self::Refused(*rule),
            EgressError::Failed(_) => Self::Broken,
            EgressError::Status(status) => Self::Status(status.as_u16()),
            EgressError::TooLarge { .. } => Self::TooLarge,
            EgressError::Busy => Self::Busy,
        }
    }
}

/// A status that says enough by itself, with whatever stands in the body of its answer.
pub(super) fn of_declined(declined: UpstreamError, body: &Value) -> PeerError {
    let error = body.get("error").unwrap_or(body);
    let said = [&error["message"], &error["detail"], error].into_iter().find_map(Value::as_str);
    PeerError::Declined { declined, message: words(said.unwrap_or_default()) }
}

fn or_declined(message: &str, declined: UpstreamError) -> String {
    if message.is_empty() { declined.to_string() } else { message.to_owned() }
}

/// A member `error` of JSON-RPC. Some servers write nothing but a sentence.
pub(super) fn of_rpc(error: &Value) -> PeerError {
    if let Some(said) = error.as_str().or(error["message"].as_str().filter(|_| error["code"].is_null())) {
        return PeerError::Remote { fault: OperationError::Internal, message: words(said) };
    }
    let Some(code) = error["code"].as_i64() else {
        return PeerError::unreadable("an error without a code");
    };
    let message = words(error["message"].as_str().unwrap_or_default());
    PeerError::Remote { fault: by_code(code, &message), message: or_code(message, code) }
}

/// A body that came with a status other than success: what 1.0 writes (`google.rpc.Status` under
/// `error`), or what 0.3 writes (a bare object with a code).
pub(super) fn of_rest(status: u16, body: &Value) -> PeerError {
    let error = body.get("error").unwrap_or(body);
    if let Some(said) = error.as_str() {
        let message = words(said);
        let fault = by_status(status, &message).unwrap_or(OperationError::Internal);
        return PeerError::Remote { fault, message };
    }
    if !error.is_object() {
        return PeerError::Status(status);
    }
    let message = words(error["message"].as_str().or(error["detail"].as_str()).unwrap_or_default());
    let details = error["details"].as_array().or(error["data"].as_array()).map_or(&[][..], Vec::as_slice);
    let reason = details.iter().find_map(|detail| detail["reason"].as_str());
    let fault = match (reason, error["code"].as_i64()) {
        (Some(reason), _) => by_reason(reason, &message),
        // 0.3 writes the code of JSON-RPC there, 1.0 the HTTP status.
        (None, Some(code)) if code < 0 => Some(by_code(code, &message)),
        (None, _) => None,
    };
    match fault.or_else(|| by_status(status, &message)) {
        Some(fault) => PeerError::Remote { fault, message: or_code(message, i64::from(status)) },
        None => PeerError::Status(status),
    }
}

/// The table of errors, from JSON-RPC's side. Unknown codes are theirs and internal.
fn by_code(code: i64, message: &str) -> OperationError {
    let words = message.to_owned();
    match code {
        -32700 => OperationError::Parse(words),
        -32600 => OperationError::InvalidRequest(words),
        -32601 => OperationError::MethodNotFound(words),
        -32602 => OperationError::param("params", words),
        -32001 => OperationError::TaskNotFound,
        -32002 => OperationError::TaskNotCancelable,
        -32003 => OperationError::PushNotificationNotSupported,
        -32004 => OperationError::UnsupportedOperation(words),
        -32005 => OperationError::ContentTypeNotSupported(words),
        -32006 => OperationError::InvalidAgentResponse,
        -32007 => OperationError::ExtendedAgentCardNotConfigured,
        -32008 => OperationError::ExtensionSupportRequired(words),
        -32009 => OperationError::VersionNotSupported(words),
        _ => OperationError::Internal,
    }
}

fn by_reason(reason: &str, message: &str) -> Option<OperationError> {
    let code = match reason {
        "TASK_NOT_FOUND" => -32001,
        "TASK_NOT_CANCELABLE" => -32002,
        "PUSH_NOTIFICATION_NOT_SUPPORTED" => -32003,
        "UNSUPPORTED_OPERATION" => -32004,
        "CONTENT_TYPE_NOT_SUPPORTED" => -32005,
        "INVALID_AGENT_RESPONSE" => -32006,
        "EXTENDED_AGENT_CARD_NOT_CONFIGURED" => -32007,
        "EXTENSION_SUPPORT_REQUIRED" => -32008,
        "VERSION_NOT_SUPPORTED" => -32009,
        _ => return None,
    };
    Some(by_code(code, message))
}

/// Nothing but a status says little: a path that is not there, or a request that is wrong.
fn by_status(status: u16, message: &str) -> Option<OperationError> {
    match status {
        400 | 422 => Some(OperationError::InvalidRequest(message.to_owned())),
        // Not TaskNotFound: a server that has no such path answers the same.
        404 | 405 => Some(OperationError::UnsupportedOperation(message.to_owned())),
        415 => Some(OperationError::ContentTypeNotSupported(message.to_owned())),
        501 => Some(OperationError::UnsupportedOperation(message.to_owned())),
        _ => None,
    }
}

fn or_code(message: String, code: i64) -> String {
    match message.is_empty() {
        true => format!("answered with the error {code}"),
        false => message,
    }
}

/// Somebody else's words on one line, cut short.
pub(super) fn words(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(REASON_CHARS_MAX).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fault(fault: PeerError) -> Option<OperationError> {
        fault.fault().cloned()
    }

    #[test]
    fn what_a_rule_forbids_stays_forbidden_and_a_name_may_resolve_later() {
        let refused = |rule| PeerError::of_egress(&EgressError::Refused(rule));
        for rule in [Refusal::Port, Refusal::OwnHost, Refusal::PrivateAddress] {
            assert_eq!(refused(rule), PeerError::Refused(rule));
            assert!(!refused(rule).is_passing(), "{rule:?}");
        }
        assert!(matches!(refused(Refusal::Unresolved), PeerError::Unreachable(_)));
    }

    #[test]
    fn errors_without_sense_are_unreadable_or_a_status() {
        for value in [json!(null), json!([1]), json!({"code": "1"})] {
            assert!(matches!(of_rpc(&value), PeerError::Unreadable(_)), "{value}");
        }
        for value in [json!(null), json!([1])] {
            assert_eq!(of_rest(500, &value), PeerError::Status(500));
        }
        assert_eq!(of_rest(503, &json!({"error": {"code": 503}})), PeerError::Status(503));
    }

    #[test]
    fn an_error_may_be_a_sentence() {
        for said in [
            of_rpc(&json!("no\ngas")),
            of_rpc(&json!({"message": "no gas"})),
            of_rest(500, &json!({"error": "no gas"})),
        ] {
            assert_eq!(said, PeerError::Remote { fault: OperationError::Internal, message: "no gas".to_owned() });
        }
    }

    #[test]
    fn a_status_that_says_enough_keeps_the_words_of_any_body() {
        let bodies = [json!({"error": "x"}), json!({"error": {"code": -1, "message": "x"}}), json!({"detail": "x"})];
        for body in bodies {
            let fault = of_declined(UpstreamError::Forbidden, &body);
            assert_eq!(fault, PeerError::Declined { declined: UpstreamError::Forbidden, message: "x".to_owned() });
        }
        assert_eq!(
            of_declined(UpstreamError::Credentials, &Value::Null).to_string(),
            UpstreamError::Credentials.to_string()
        );
        assert!(of_declined(UpstreamError::Later(None), &Value::Null).is_passing());
    }

    #[test]
    fn both_bindings_name_the_same_faults() {
        let rpc = of_rpc(&json!({"code": -32001, "message": "gone"}));
        let details = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND"}]);
        let new = of_rest(404, &json!({"error": {"code": 404, "message": "gone", "details": details}}));
        let old = of_rest(404, &json!({"code": -32001, "message": "gone"}));
        for one in [rpc, new, old] {
            assert_eq!(one.to_string(), "gone");
            assert_eq!(fault(one), Some(OperationError::TaskNotFound));
        }
        assert_eq!(fault(of_rpc(&json!({"code": -32099, "message": "x"}))), Some(OperationError::Internal));
    }

    #[test]
    fn words_of_strangers_are_one_short_line() {
        let long = of_rpc(&json!({"code": -1, "message": format!("a\u{1b}[31m\nb{}", "x".repeat(REASON_CHARS_MAX))}));
        let text = long.to_string();
        assert!(text.starts_with("a [31m b") && text.chars().count() == REASON_CHARS_MAX, "{text}");
        assert_eq!(of_rpc(&json!({"code": -7})).to_string(), "answered with the error -7");
    }
}
