//! What a failed call says: a code, a sentence, and details for programs. The sheet's table of errors.

use bytes::Bytes;
use forecourt_core::PolicyPart;
use forecourt_core::policy::RefusalKind;
use forecourt_surface::body::BodyError;
use http::HeaderMap;
use prost_reflect::prost::Message;
use serde_json::json;
use tonic::metadata::MetadataMap;
use tonic::{Code, Status};

use super::{Denial, schema, transcode};
use crate::model::OperationError;

/// Characters of the sentence. It travels in a header field, percent-encoded, and clients take
/// 8 KiB for all fields.
pub(super) const MESSAGE_CHARS_MAX: usize = 512;
/// Bytes of the details; above, there are none. They travel in a header field too, in base64.
pub(super) const DETAILS_BYTES_MAX: usize = 4 * 1024;
const DOMAIN: &str = "a2a-protocol.org";

impl From<Denial> for Status {
    fn from(denial: Denial) -> Self {
        match denial {
            Denial::Fault(fault) => of_fault(&fault),
            Denial::Refused { part, fields } => of_refusal(&part, fields),
        }
    }
}

/// The status of a fault.
pub(super) fn of_fault(fault: &OperationError) -> Status {
    let code = fault.row().grpc.0;
    let message = short(fault.to_string());
    let details = details(code, &message, fault).unwrap_or_default();
    Status::with_details(Code::from_i32(code), message, details)
}

fn details(code: i32, message: &str, fault: &OperationError) -> Option<Bytes> {
    let general = general_reason(fault)
        .map(|reason| json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": DOMAIN}));
    let all: Vec<_> = general.into_iter().chain(fault.details()).collect();
    let status = json!({"code": code, "message": message, "details": all});
    let bytes = transcode::write(&schema::status()?, status).ok()?.encode_to_vec();
    (bytes.len() <= DETAILS_BYTES_MAX).then(|| bytes.into())
}

/// The reason of what is no error of A2A's own. JSON-RPC has codes for these; here the code alone
/// does not tell them apart, and clients go by the reason.
fn general_reason(fault: &OperationError) -> Option<&'static str> {
    match fault {
        OperationError::Parse(_) | OperationError::InvalidRequest(_) => Some("INVALID_REQUEST"),
        OperationError::MethodNotFound(_) => Some("METHOD_NOT_FOUND"),
        OperationError::InvalidParams(_) => Some("INVALID_PARAMS"),
        OperationError::Internal => Some("INTERNAL_ERROR"),
        _ => None,
    }
}

fn of_refusal(part: &PolicyPart, fields: HeaderMap) -> Status {
    let code = match part.kind {
        RefusalKind::Unauthorized { .. } => Code::Unauthenticated,
        RefusalKind::Forbidden | RefusalKind::UnavailableForLegalReasons => Code::PermissionDenied,
        RefusalKind::TooManyRequests { .. } => Code::ResourceExhausted,
        RefusalKind::ServiceUnavailable { .. } => Code::Unavailable,
        RefusalKind::ConsentRequired { .. } | RefusalKind::PaymentRequired { .. } | RefusalKind::Other(_) => {
            Code::FailedPrecondition
        }
    };
    Status::with_metadata(code, short(part.message.clone()), MetadataMap::from_headers(fields))
}

/// The status of a body that was not read to its end.
pub(super) fn of_body(error: BodyError) -> Status {
    let code = match error {
        BodyError::TooLarge { .. } => Code::ResourceExhausted,
        BodyError::TooSlow => Code::DeadlineExceeded,
        BodyError::Broken => Code::Cancelled,
    };
    Status::new(code, error.to_string())
}

fn short(message: String) -> String {
    match message.char_indices().nth(MESSAGE_CHARS_MAX) {
        None => message,
        Some((end, _)) => format!("{}…", &message[..end]),
    }
}
