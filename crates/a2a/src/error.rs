//! The table of errors: what each fault is called on each binding.

use http::StatusCode;
use serde_json::{Value, json};

use crate::model::{OperationError, Version, Violation};

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ErrorRow {
    /// The code of JSON-RPC.
    pub(crate) rpc: i32,
    /// The status of HTTP+JSON.
    pub(crate) http: StatusCode,
    /// The code of gRPC, by number and by name.
    pub(crate) grpc: (i32, &'static str),
    /// The reason of A2A's own errors.
    pub(crate) reason: Option<&'static str>,
}

const INVALID_ARGUMENT: (i32, &str) = (3, "INVALID_ARGUMENT");
const NOT_FOUND: (i32, &str) = (5, "NOT_FOUND");
const FAILED_PRECONDITION: (i32, &str) = (9, "FAILED_PRECONDITION");
const UNIMPLEMENTED: (i32, &str) = (12, "UNIMPLEMENTED");
const INTERNAL: (i32, &str) = (13, "INTERNAL");
const DOMAIN: &str = "a2a-protocol.org";

impl OperationError {
    /// What this is called on each binding.
    pub(crate) fn row(&self) -> ErrorRow {
        let general = |rpc, http, grpc| ErrorRow { rpc, http, grpc, reason: None };
        let own = |rpc, http, grpc, reason| ErrorRow { rpc, http, grpc, reason: Some(reason) };
        // The statuses are those of 1.0.1. 1.0.0 had 409 for a task that can't be cancelled, 415 for a media type and
        // 502 for an agent's invalid answer.
        let (bad, missing, ours) = (StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND, StatusCode::INTERNAL_SERVER_ERROR);
        match self {
            Self::Parse(_) => general(-32700, bad, INVALID_ARGUMENT),
            Self::InvalidRequest(_) => general(-32600, bad, INVALID_ARGUMENT),
            Self::MethodNotFound(_) => general(-32601, missing, UNIMPLEMENTED),
            Self::InvalidParams(_) => general(-32602, bad, INVALID_ARGUMENT),
            Self::Internal => general(-32603, ours, INTERNAL),
            Self::TaskNotFound => own(-32001, missing, NOT_FOUND, "TASK_NOT_FOUND"),
            Self::TaskNotCancelable => own(-32002, bad, FAILED_PRECONDITION, "TASK_NOT_CANCELABLE"),
            Self::PushNotificationNotSupported => {
                own(-32003, bad, FAILED_PRECONDITION, "PUSH_NOTIFICATION_NOT_SUPPORTED")
            }
            Self::UnsupportedOperation(_) => own(-32004, bad, FAILED_PRECONDITION, "UNSUPPORTED_OPERATION"),
            Self::ContentTypeNotSupported(_) => own(-32005, bad, INVALID_ARGUMENT, "CONTENT_TYPE_NOT_SUPPORTED"),
            Self::InvalidAgentResponse => own(-32006, ours, INTERNAL, "INVALID_AGENT_RESPONSE"),
            Self::ExtendedAgentCardNotConfigured => {
                own(-32007, bad, FAILED_PRECONDITION, "EXTENDED_AGENT_CARD_NOT_CONFIGURED")
            }
            Self::ExtensionSupportRequired(_) => own(-32008, bad, FAILED_PRECONDITION, "EXTENSION_SUPPORT_REQUIRED"),
            Self::VersionNotSupported(_) => own(-32009, bad, FAILED_PRECONDITION, "VERSION_NOT_SUPPORTED"),
        }
    }

    /// The error of JSON-RPC. Its `data` has the form of 1.0, which 0.3 leaves open.
    pub(crate) fn to_rpc(&self) -> Value {
        let mut error = json!({"code": self.row().rpc, "message": self.to_string()});
        let details = self.details();
        if !details.is_empty() {
            error["data"] = details.into();
        }
        error
    }

    /// The body of an error of HTTP+JSON. Clients of 0.3, which leaves it open, look for the code of
    /// JSON-RPC beside what 1.0 has.
    pub(crate) fn to_rest(&self, version: Version) -> Value {
        let row = self.row();
        let mut error = json!({"code": row.http.as_u16(), "status": row.grpc.1, "message": self.to_string()});
        let details = self.details();
        if !details.is_empty() {
            error["details"] = details.into();
        }
        match version {
            Version::V1_0 => json!({"error": error}),
            Version::V0_3 => json!({"error": error, "code": row.rpc, "message": self.to_string()}),
        }
    }

    /// What a program can go by: the reason of an A2A error, the fields that are wrong.
    pub(crate) fn details(&self) -> Vec<Value> {
        let reason = self.row().reason.map(
            |reason| json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": DOMAIN}),
        );
        let violations = match self {
            Self::InvalidParams(violations) => Some(json!({
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": violations.iter().map(violation).collect::<Vec<_>>(),
            })),
            _ => None,
        };
        reason.into_iter().chain(violations).collect()
    }
}

fn violation(one: &Violation) -> Value {
    json!({"field": one.field, "description": one.description})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_of_the_table() {
        let text = String::new;
        let rows = [
            (OperationError::Parse(text()), -32700, 400, 3),
            (OperationError::InvalidRequest(text()), -32600, 400, 3),
            (OperationError::MethodNotFound(text()), -32601, 404, 12),
            (OperationError::param("a", "b"), -32602, 400, 3),
            (OperationError::Internal, -32603, 500, 13),
            (OperationError::TaskNotFound, -32001, 404, 5),
            (OperationError::TaskNotCancelable, -32002, 400, 9),
            (OperationError::PushNotificationNotSupported, -32003, 400, 9),
            (OperationError::UnsupportedOperation(text()), -32004, 400, 9),
            (OperationError::ContentTypeNotSupported(text()), -32005, 400, 3),
            (OperationError::InvalidAgentResponse, -32006, 500, 13),
            (OperationError::ExtendedAgentCardNotConfigured, -32007, 400, 9),
            (OperationError::ExtensionSupportRequired(text()), -32008, 400, 9),
            (OperationError::VersionNotSupported(text()), -32009, 400, 9),
        ];
        for (fault, rpc, http, grpc) in rows {
            let row = fault.row();
            assert_eq!((row.rpc, row.http.as_u16(), row.grpc.0), (rpc, http, grpc), "{fault:?}");
            assert_eq!(fault.to_rpc()["code"], rpc);
            for version in [Version::V0_3, Version::V1_0] {
                assert_eq!(fault.to_rest(version)["error"]["code"], http);
            }
            assert_eq!(fault.to_rest(Version::V0_3)["code"], rpc);
            assert_eq!(fault.to_rest(Version::V1_0).get("code"), None);
        }
    }

    #[test]
    fn details_are_a_list_of_typed_objects() {
        assert_eq!(
            OperationError::TaskNotFound.to_rpc()["data"],
            json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND",
                    "domain": "a2a-protocol.org"}])
        );
        let wrong = OperationError::param("message.parts", "must not be empty");
        assert_eq!(wrong.to_rest(Version::V1_0)["error"]["details"][0]["fieldViolations"][0]["field"], "message.parts");
        assert!(OperationError::Parse(String::new()).to_rpc().get("data").is_none());
    }
}
