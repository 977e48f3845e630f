//! Refusals below the protocol: what is turned away before the SDK sees it.

use forecourt_core::{Error, PolicyPart};
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::body::BodyError;
use forecourt_surface::failure::HostFailure;
use forecourt_surface::refusal;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};

/// The code of JSON-RPC for what is no valid request. Refusals have none of their own (PolicyPart 4.2).
const INVALID_REQUEST: i32 = -32600;
/// The code of JSON-RPC for what is no JSON.
const PARSE_ERROR: i32 = -32700;

/// A status with words, as an error of JSON-RPC to the request `id`.
pub(crate) fn answer(status: StatusCode, id: &Value, words: &str) -> HttpAnswer {
    written(status, id, json!({"code": INVALID_REQUEST, "message": words}))
}

/// The store is away: the same request may work in a moment.
pub(crate) fn unavailable(id: &Value) -> HttpAnswer {
    let mut answer = answer(StatusCode::SERVICE_UNAVAILABLE, id, "the host can't look at its sessions; try again");
    answer.head.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    answer
}

/// A session that could not be kept: there is no room for it, which is said with the bound, or the store is away.
pub(crate) fn unkept(error: &Error, id: &Value, canonical_host: &str) -> HttpAnswer {
    match error {
        Error::Full { bound } => refused(&bound.refusal(), id, canonical_host),
        _ => unavailable(id),
    }
}

/// A body that is no JSON, so that it names no request. JSON-RPC 5.1.
pub(crate) fn no_json(error: &serde_json::Error) -> HttpAnswer {
    let words = format!("the body is not valid JSON: {error}");
    written(StatusCode::BAD_REQUEST, &Value::Null, json!({"code": PARSE_ERROR, "message": words}))
}

fn written(status: StatusCode, id: &Value, error: Value) -> HttpAnswer {
    let mut head = HeaderMap::new();
    head.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
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

/// A failure of the host as MCP spells it, for the table of errors.
pub(crate) fn spelling(failure: HostFailure) -> Option<String> {
    match failure {
        HostFailure::Error(error) => Some(format!("`isError` `{}`", error.code())),
        HostFailure::Refused(part) => Some(format!("`isError`, HTTP {}", refusal::status(&part.kind).as_u16())),
        HostFailure::Ended(ending) => Some(format!("`isError` `{}`", ending.code())),
        HostFailure::Call(refusal) => Some(format!("`isError` `{}`", refusal.kind())),
    }
}

/// A refusal, with the fields that it demands.
pub(crate) fn refused(part: &PolicyPart, id: &Value, canonical_host: &str) -> HttpAnswer {
    // The number says nothing of which refusal it is, so that programs go by the name of its kind.
    let error = json!({"code": INVALID_REQUEST, "message": part.message, "data": {"code": part.kind()}});
    let mut answer = written(refusal::status(&part.kind), id, error);
    refusal::add_fields(&mut answer.head, part, canonical_host);
    answer
}

#[cfg(test)]
mod tests {
    use forecourt_core::QuotaBound;

    use super::*;

    #[test]
    fn a_session_without_room_is_refused_by_the_name_of_the_bound() {
        let refused = |error| unkept(&error, &json!(1), "demo.localhost");
        let full = refused(Error::Full { bound: QuotaBound::Caller { max: 7 } });
        assert_eq!(full.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(full.head.contains_key(RETRY_AFTER));
        for error in [Error::Full { bound: QuotaBound::Disk }, Error::unavailable()] {
            assert_eq!(refused(error).status, StatusCode::SERVICE_UNAVAILABLE);
        }
    }
}
