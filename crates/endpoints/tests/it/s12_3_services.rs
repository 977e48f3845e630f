//! Section 12.3: what comes back from a service elsewhere, and everything that it may do wrong.

use forecourt_contract::limits::SERVICE_ANSWER_BYTES_DEFAULT;
use forecourt_contract::refusal::BrokenContract;
use forecourt_contract::{Call, Refusal};
use serde_json::{Value, json};

use crate::s12_3_requests::service;
use crate::support::{answer, call, deployment, loaded, problems};
use crate::upstream::{Act, Upstream};

/// What comes of calling an endpoint in front of a service.
async fn through(upstream: &Upstream, method: &str, more: &str) -> Result<Value, Refusal> {
    let text = service("/rooms", method, &upstream.url("/secret-path?key=s3cret"), more);
    let folder = deployment(&[("endpoints/a.toml", &text)]);
    let loaded = loaded(folder.path());
    assert_eq!(problems(&loaded), Vec::<String>::new());
    answer(&loaded, call("QUERY", "/rooms", json!({}))).await
}

/// The declared error that an answer of the service comes to. Nothing of the service is in it.
async fn error(upstream: &Upstream, more: &str) -> String {
    let refusal = through(upstream, "GET", more).await.unwrap_err();
    let said = format!("{refusal:?}");
    for inside in ["secret", "127.0.0.1", "leak", &upstream.address.port().to_string()] {
        assert!(!said.contains(inside), "{said}");
    }
    let Refusal::Declared { code, details, .. } = refusal else { panic!("{said}") };
    assert_eq!(details, Value::Null);
    code
}

async fn error_of(status: &str, body: &str, more: &str) -> String {
    error(&Upstream::answering(status, body).await, more).await
}

const MAP: &str = "error_map = { 404 = \"room_not_found\", 403 = \"room_not_found\" }";

#[tokio::test]
async fn s12_3_a_service_that_does_not_answer_in_time() {
    let part = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"a\"".to_vec();
    for begun in [Vec::new(), b"HTTP/1.1 200".to_vec(), part] {
        let upstream = Upstream::new(Act::Hang(begun)).await;
        assert_eq!(error(&upstream, "timeout_seconds = 0.2").await, "upstream_timeout");
    }
}

#[tokio::test]
async fn s12_3_a_service_that_can_not_be_reached() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut upstream = Upstream::answering("200 OK", "{}").await;
    upstream.address = closed.local_addr().unwrap();
    drop(closed);
    assert_eq!(error(&upstream, "").await, "upstream_connection_error");
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"leak\"".to_vec();
    for begun in [Vec::new(), b"HTTP/1.1 2".to_vec(), b"SSH-2.0-leak\r\n".to_vec(), cut] {
        assert_eq!(error(&Upstream::new(Act::Send(begun)).await, "").await, "upstream_connection_error");
    }
}

#[tokio::test]
async fn s12_3_a_service_that_does_not_speak_json() {
    for body in [" ", "<html>leak</html>", "{\"a\":1", "{\"a\":1,\"a\":2}", "{} {}", "\u{feff}{}", &"[".repeat(100)] {
        assert_eq!(error_of("200 OK", body, "").await, "upstream_malformed_response", "{body}");
    }
}

#[tokio::test]
async fn s12_3_an_answer_without_a_body_is_nothing_unless_something_was_promised() {
    for status in ["200 OK", "201 Created", "202 Accepted"] {
        assert_eq!(result(status, "", "").await, Ok(json!({})), "{status}");
    }
    let upstream = Upstream::answering("200 OK", "").await;
    let text = service("/rooms", "DELETE", &upstream.url("/"), "");
    let text = text.replacen("output_schema = {", "output_schema = { required = [\"beds\"],", 1);
    let folder = deployment(&[("endpoints/a.toml", &text)]);
    let refusal = answer(&loaded(folder.path()), call("QUERY", "/rooms", json!({}))).await.unwrap_err();
    assert!(matches!(&refusal, Refusal::Declared { code, .. } if code == "upstream_malformed_response"), "{refusal:?}");
}

#[tokio::test]
async fn s12_3_a_service_that_does_not_let_us_in() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        assert_eq!(error_of(status, "{\"leak\":1}", "").await, "upstream_authentication_failed");
    }
    assert_eq!(error_of("403 Forbidden", "{\"leak\":1}", MAP).await, "room_not_found");
    assert_eq!(error_of("401 Unauthorized", "{\"leak\":1}", MAP).await, "upstream_authentication_failed");
}

#[tokio::test]
async fn s12_3_a_service_that_fails_or_declines() {
    for status in ["400 Bad", "404 Not Found", "409 Conflict", "429 Slow", "500 Oops", "503 Later", "599 Odd"] {
        assert_eq!(error_of(status, "leak", "").await, "upstream_error", "{status}");
    }
    assert_eq!(error_of("404 Not Found", "leak", MAP).await, "room_not_found");
    assert_eq!(error_of("500 Oops", "leak", MAP).await, "upstream_error");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Upstream::answering("200 OK", "{\"leak\":1}").await;
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let head = format!("HTTP/1.1 {status}\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", elsewhere.url("/"));
        assert_eq!(error(&Upstream::new(Act::Send(head.into_bytes())).await, "").await, "upstream_error");
    }
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn a_body_has_a_bound() {
    let just = format!("\"{}\"", "a".repeat(SERVICE_ANSWER_BYTES_DEFAULT - 2));
    let upstream = Upstream::answering("200 OK", &just).await;
    assert!(through(&upstream, "GET", "").await.is_ok());
    assert_eq!(error_of("200 OK", &format!("{just} "), "").await, "upstream_malformed_response");
    assert_eq!(error(&Upstream::new(Act::Flood).await, "").await, "upstream_malformed_response");
}

#[tokio::test]
async fn bounds_are_the_handlers() {
    let body = |bytes: usize| format!("\"{}\"", "a".repeat(bytes - 2));
    let more = "answer_bytes_max = 100\naddress_bytes_max = 65536";
    assert!(result("200 OK", &body(100), more).await.is_ok());
    let refusal = result("200 OK", &body(101), more).await.unwrap_err();
    assert!(format!("{refusal:?}").contains("more than 100 bytes"), "{refusal:?}");
    // As base64 within JSON, fewer bytes of the service are as many of ours.
    assert!(result("200 OK", &body(20), &format!("{more}\nanswer = \"text\"")).await.is_ok());
    assert!(result("200 OK", &body(90), &format!("{more}\nanswer = \"text\"")).await.is_err());
}

async fn result(status: &str, body: &str, more: &str) -> Result<Value, Refusal> {
    through(&Upstream::answering(status, body).await, "GET", more).await
}

#[tokio::test]
async fn s12_3_fields_come_back_under_our_names() {
    let more = "output_transform = { confirmation_code = \"confirmationNumber\", a = \"b\" }";
    let body =
        r#"{"confirmationNumber": "C1", "confirmation_code": "old", "b": 1, "other": {"confirmationNumber": 2}}"#;
    let expected = json!({"confirmation_code": "C1", "a": 1, "other": {"confirmationNumber": 2}});
    assert_eq!(result("201 Created", body, more).await, Ok(expected));
}

#[tokio::test]
async fn an_answer_without_a_body_is_an_empty_object() {
    assert_eq!(result("204 No Content", "", "").await, Ok(json!({})));
    let upstream = Upstream::new(Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".to_vec())).await;
    assert_eq!(through(&upstream, "HEAD", "").await, Ok(json!({})));
}

#[tokio::test]
async fn what_is_no_object_is_wrapped_where_an_object_was_promised() {
    assert_eq!(result("200 OK", "[1, 2]", "").await, Ok(json!({"result": [1, 2]})));
    let upstream = Upstream::answering("200 OK", "[1, 2]").await;
    let text = service("/rooms", "GET", &upstream.url("/"), "")
        .replace("output_schema = { type = \"object\" }", "output_schema = { type = \"array\" }");
    let folder = deployment(&[("endpoints/a.toml", &text)]);
    assert_eq!(answer(&loaded(folder.path()), call("QUERY", "/rooms", json!({}))).await, Ok(json!([1, 2])));
}

#[tokio::test]
async fn s13_3_what_was_not_promised_is_ours_to_answer_for() {
    let upstream = Upstream::answering("200 OK", "{\"leak\": 1}").await;
    let text = service("/rooms", "GET", &upstream.url("/"), "").replace(
        "output_schema = { type = \"object\" }",
        "output_schema = { type = \"object\", required = [\"code\"] }",
    );
    let folder = deployment(&[("endpoints/a.toml", &text)]);
    let refusal = answer(&loaded(folder.path()), call("QUERY", "/rooms", json!({}))).await.unwrap_err();
    assert!(matches!(refusal, Refusal::Broken { kind: BrokenContract::Output, .. }), "{refusal:?}");
}

#[tokio::test]
async fn a_long_line_of_hosts_can_be_seen() {
    let upstream = Upstream::answering("200 OK", "{}").await;
    let folder = deployment(&[("endpoints/a.toml", &service("/rooms", "GET", &upstream.url("/"), ""))]);
    let nested = Call { depth: 3, ..call("QUERY", "/rooms", json!({})) };
    assert_eq!(answer(&loaded(folder.path()), nested).await, Ok(json!({})));
    assert!(upstream.request().1.contains(&"forecourt-hops: 4".to_owned()));
}
