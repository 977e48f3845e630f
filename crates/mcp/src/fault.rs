//! Refusals below the protocol: what is turned away before the SDK sees it.

use forecourt_core::PolicyPart;
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::body::BodyError;
use forecourt_surface::refusal;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};

/// The code of JSON-RPC for what is no valid request. Refusals have none of their own (PolicyPart 4.2).
const INVALID_REQUEST: i32 = -32600;
/// The code of JSON-RPC for what is no JSON.
const PARSE_ERROR: i32 = -32700;

/// A status with words, as an error of JSON-RPC to the request `id`.
pub(crate) fn answer(status: StatusCode, id: &Value, words: &str) -> HttpAnswer {
    written(status, id, INVALID_REQUEST, words)
}

/// A body that is no JSON, so that it names no request. JSON-RPC 5.1.
pub(crate) fn no_json(error: &serde_json::Error) -> HttpAnswer {
    written(StatusCode::BAD_REQUEST, &Value::Null, PARSE_ERROR, &format!("the body is not valid JSON: {error}"))
}

fn written(status: StatusCode, id: &Value, code: i32, words: &str) -> HttpAnswer {
    let mut head = HeaderMap::new();
    head.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": words}});
    HttpAnswer::whole(status, head, body.to_string())
}

/// A body that was not read to its end.
pub(crate) fn unread(error: BodyError) -> HttpAnswer {
    let status = match error {
        BodyError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
        BodyError::Broken => StatusCode::BAD_REQUEST,
    };
    answer(status, &Value::Null, &error.to_string())
}

/// A refusal, with the fields that it demands.
pub(crate) fn refused(part: &PolicyPart, id: &Value, canonical_host: &str) -> HttpAnswer {
    let mut answer = answer(refusal::status(&part.kind), id, &part.message);
    refusal::add_fields(&mut answer.head, part, canonical_host);
    answer
}
