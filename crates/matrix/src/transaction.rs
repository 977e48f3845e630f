//! What the homeserver asks of its application service, and whether it is that homeserver. Application Service API
//! 1.13.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use forecourt_connectors::{EventAnswer, EventError, EventRequest, Incoming};
use forecourt_core::json;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json as value};

use crate::event;
use crate::ids::Us;

/// What stands before every path.
const BASE: &str = "_matrix/app/v1/";

/// A transaction, whose events are read one by one. What else is in it is for other application services.
#[derive(Deserialize)]
struct Transaction<'a> {
    #[serde(borrow)]
    events: Vec<&'a RawValue>,
}

/// Holds the one token of a request against that of the homeserver. A token in the address proves nothing: addresses
/// stand in logs.
pub(crate) fn check(hs_token: &str, headers: &HeaderMap) -> Result<(), EventError> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let field = all.next().filter(|_| all.next().is_none()).map(|value| value.as_bytes()).unwrap_or_default();
    let (scheme, token) = field.split_at(field.len().min("Bearer ".len()));
    let is_bearer = scheme.eq_ignore_ascii_case(b"Bearer ");
    let is_ours = verify_slices_are_equal(token, hs_token.as_bytes()).is_ok();
    match is_bearer && is_ours {
        true => Ok(()),
        false => Err(EventError::Unproven("the request does not have the hs_token of the registration")),
    }
}

/// Reads a request, whose token was checked.
pub(crate) fn read(request: &EventRequest<'_>, us: &Us) -> Result<Incoming, EventError> {
    let path = request.path.strip_prefix(BASE).unwrap_or_default();
    let (kind, of) = path.split_once('/').unwrap_or((path, ""));
    match (kind, request.method) {
        // What a transaction is called does not count: each of its events is asked once.
        ("transactions", &Method::PUT) if !of.is_empty() => events(request.body, us),
        ("ping", &Method::POST) => Ok(Incoming::Nothing),
        ("users", &Method::GET) if of == us.user => Ok(Incoming::Nothing),
        ("users", &Method::GET) => Err(EventError::Unknown("there is no such user")),
        ("rooms", &Method::GET) => Err(EventError::Unknown("there is no such room")),
        _ => Err(EventError::Unknown("there is nothing at this path")),
    }
}

/// The events of a transaction, as they are to be looked into. One that can't be read, such as one that nests too deep,
/// is passed over by itself: the homeserver would send it and those behind it again and again.
fn events(body: &[u8], us: &Us) -> Result<Incoming, EventError> {
    let malformed = EventError::Malformed("the transaction can't be read");
    let transaction: Transaction<'_> = serde_json::from_slice(body).map_err(|_| malformed)?;
    let events = transaction.events.into_iter().filter_map(|event| json::parse(event.get().as_bytes()).ok());
    let events: Vec<Incoming> = events.filter(|event| event::concerns_us(event, us)).map(Incoming::Open).collect();
    Ok(if events.is_empty() { Incoming::Nothing } else { Incoming::Several(events) })
}

/// The body of an answer. Client-Server API, 1.1: standard error response.
pub(crate) fn answer_body(answer: &EventAnswer<'_>) -> Value {
    let (code, words) = match answer {
        EventAnswer::Taken => return value!({}),
        EventAnswer::Refused(EventError::Unproven(why)) => ("M_UNAUTHORIZED", *why),
        EventAnswer::Refused(EventError::Malformed(why)) => ("M_NOT_JSON", *why),
        EventAnswer::Refused(EventError::Unknown(why)) => ("M_NOT_FOUND", *why),
        EventAnswer::TooLarge => ("M_TOO_LARGE", "the transaction is too large"),
        EventAnswer::Unreadable => ("M_UNKNOWN", "the request could not be read"),
        EventAnswer::NoConnector => ("M_NOT_FOUND", "there is no such connector"),
        EventAnswer::Again(why) => ("M_UNKNOWN", *why),
    };
    value!({"errcode": code, "error": words})
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    const TOKEN: &str = "hs-0123456789abcdef";

    fn us() -> Us {
        Us::new("kitchen", "example.org")
    }

    fn headers(values: &[&str]) -> HeaderMap {
        let mut all = HeaderMap::new();
        for value in values {
            all.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        all
    }

    fn asked(method: &Method, path: &str, body: &str) -> Result<Incoming, EventError> {
        let (headers, body) = (HeaderMap::new(), body.as_bytes());
        read(&EventRequest { method, path, headers: &headers, body }, &us())
    }

    #[test]
    fn only_the_homeserver_has_its_token() {
        let (right, longer) = (format!("Bearer {TOKEN}"), format!("Bearer {TOKEN}x"));
        let (right, longer) = (right.as_str(), longer.as_str());
        assert!(check(TOKEN, &headers(&[right])).is_ok());
        assert!(check(TOKEN, &headers(&[&right.replace("Bearer", "bearer")])).is_ok());
        assert!(check(TOKEN, &HeaderMap::new()).is_err() && check(TOKEN, &headers(&[right, right])).is_err());
        for wrong in ["", "Bearer", "Bearer ", TOKEN, "Basic x", &right[..right.len() - 1], longer] {
            assert!(check(TOKEN, &headers(&[wrong])).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_the_homeserver_asks_is_told_apart_by_method_and_path() {
        let message =
            r#"{"type":"m.room.message","event_id":"$1","room_id":"!r","sender":"@ann:example.org","content":{}}"#;
        let transaction = format!("{{\"events\":[{message},{{\"type\":\"m.room.topic\"}},7]}}");
        let incoming = asked(&Method::PUT, "_matrix/app/v1/transactions/1", &transaction).unwrap();
        assert!(matches!(incoming, Incoming::Several(events) if events.len() == 1));
        assert_eq!(asked(&Method::PUT, "_matrix/app/v1/transactions/2", "{\"events\":[]}"), Ok(Incoming::Nothing));
        assert_eq!(asked(&Method::POST, "_matrix/app/v1/ping", "{}"), Ok(Incoming::Nothing));
        assert_eq!(asked(&Method::GET, "_matrix/app/v1/users/@kitchen:example.org", ""), Ok(Incoming::Nothing));
        for (method, path) in [
            (Method::GET, "_matrix/app/v1/users/@ann:example.org"),
            (Method::GET, "_matrix/app/v1/rooms/#a:example.org"),
            (Method::POST, "_matrix/app/v1/transactions/1"),
            (Method::PUT, "_matrix/app/v1/transactions"),
            (Method::PUT, "transactions/1"),
            (Method::GET, ""),
        ] {
            assert!(matches!(asked(&method, path, "{\"events\":[]}"), Err(EventError::Unknown(_))), "{method} {path}");
        }
        for body in ["", "[]", "{}", "{\"events\":{}}", "{\"events\":[}"] {
            let refused = asked(&Method::PUT, "_matrix/app/v1/transactions/1", body);
            assert!(matches!(refused, Err(EventError::Malformed(_))), "{body}");
        }
    }

    #[test]
    fn an_event_that_can_not_be_read_holds_up_none_behind_it() {
        let message =
            r#"{"type":"m.room.message","event_id":"$1","room_id":"!r","sender":"@ann:example.org","content":{}}"#;
        let deep = format!("{{\"type\":\"m.room.message\",\"content\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
        for bad in [deep.as_str(), "{\"type\":1,\"type\":2}", "\"\\ud800\"", "1e999", "null"] {
            let transaction = format!("{{\"ephemeral\":[{bad}],\"events\":[{bad},{message}]}}");
            let incoming = asked(&Method::PUT, "_matrix/app/v1/transactions/1", &transaction);
            assert!(matches!(incoming, Ok(Incoming::Several(events)) if events.len() == 1), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(body in proptest::collection::vec(any::<u8>(), 0..200), path in "[a-z_/1]{0,40}") {
            let headers = HeaderMap::new();
            let _ = read(&EventRequest { method: &Method::PUT, path: &path, headers: &headers, body: &body }, &us());
            let _ = events(&body, &us());
        }
    }
}
