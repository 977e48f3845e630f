//! HTTP clients. Base 12.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use forecourt_core::ClientAddr;
use forecourt_testhost::resident;
use forecourt_testkit::{ScriptedAgent, Step, card};
use http::{HeaderValue, Request};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::time::timeout;
use tower::ServiceExt;

use super::support::{LOCAL, Server, blueprint, server, server_of};

async fn ask(server: &Server, method: &str, target: &str, fields: &[(&str, &str)], body: &str) -> (Response, Value) {
    let mut request = Request::builder().method(method).uri(target).extension(ClientAddr(LOCAL));
    let chef = server.id("chef");
    for (name, value) in [("Agent-ID", chef.as_str()), ("Authority-Scope", "booking:room")].iter().chain(fields) {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let router = crate::gateway::router(std::sync::Arc::clone(&server.service));
    let (head, body) = router.oneshot(request).await.unwrap().into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let said = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
    (Response::from_parts(head, Body::empty()), said)
}

fn codes(response: &Response) -> (u16, Option<&str>) {
    let code = response.headers().get("agtp-status-code").map(|value| value.to_str().unwrap());
    (response.status().as_u16(), code)
}

#[tokio::test]
async fn base_12_http_calls_endpoints() {
    let server = server("").await;
    let (response, said) = ask(&server, "BOOK", "/rooms/7?n=1&n=2", &[("X-Task-Id", "t")], r#"{"text": "x"}"#).await;
    assert_eq!(codes(&response), (200, Some("200")));
    assert_eq!(said["input"], json!({"room": "7", "n": 2, "text": "x"}));
    let headers = response.headers();
    assert_eq!(headers["task-id"], "t");
    assert_eq!(headers["content-type"], "application/vnd.agtp.book+json");
    assert!(headers.contains_key("server-id") && headers.contains_key("response-id"));
}

#[tokio::test]
async fn a_service_behind_an_endpoint_that_leads_back_here_comes_to_an_end() {
    let server = server("").await;
    let (response, _) = ask(&server, "BOOK", "/rooms/7", &[("forecourt-hops", "1")], "").await;
    assert_eq!(response.status(), 200);
    let (response, _) = ask(&server, "BOOK", "/rooms/7", &[("forecourt-hops", "8")], "").await;
    assert_eq!(response.status(), 422);
}

#[tokio::test]
async fn base_12_methods_of_http_go_through_the_aliases() {
    let server = server("").await;
    let (response, said) = ask(&server, "GET", "/rooms/7", &[], "").await;
    assert_eq!((codes(&response), &said["input"]["room"]), ((200, Some("200")), &json!("7")));
    let (head, nothing) = ask(&server, "HEAD", "/rooms/7", &[], "").await;
    assert_eq!((codes(&head), nothing), ((200, Some("200")), Value::Null));
    assert_eq!(head.headers()["content-length"], said.to_string().len().to_string(), "as GET has it");
    let (refused, said) = ask(&server, "POST", "/rooms/7", &[], "{}").await;
    assert_eq!((refused.status().as_u16(), &said["allowed_methods_for_path"][0]), (405, &json!("BOOK")));
    assert_eq!(refused.headers()["allow"], "BOOK, FETCH, PURCHASE");
}

#[tokio::test]
async fn base_12_a_refusal_is_no_success_and_keeps_its_code() {
    let server = server("").await;
    let claim = ("Authority-Scope", "payments:take");
    for (method, target, fields, wanted) in [
        ("GET", "/nowhere", &[][..], (404, Some("404"))),
        ("PURCHASE", "/rooms/7", &[], (455, Some("455"))),
        ("OPTIONS", "/rooms/7", &[], (459, Some("459"))),
        ("GET", "/rooms/fetch/keys", &[], (460, Some("460"))),
        ("GET", "/rooms/7?x=1", &[], (422, Some("422"))),
        ("GET", "/rooms/7", &[claim], (400, Some("400"))),
        ("GET", "/rooms/7", &[("Delegation-Chain", "x")], (501, Some("501"))),
    ] {
        assert_eq!(codes(&ask(&server, method, target, fields, "").await.0), wanted, "{method} {target}");
    }
    let request = || Request::builder().uri("/rooms/7").header("x-agent-id", server.id("chef"));
    // Whose address nobody knows is not taken for this machine, whose callers need no more than a name.
    let router = crate::gateway::router(std::sync::Arc::clone(&server.service));
    let unknown = router.oneshot(request().body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(codes(&unknown), (401, Some("401")));
    let request = request().extension(ClientAddr(LOCAL));
    let router = crate::gateway::router(std::sync::Arc::clone(&server.service));
    let unclaimed = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(codes(&unclaimed), (403, Some("262")));
    let router = crate::gateway::router(std::sync::Arc::clone(&server.service));
    let unnamed = Request::builder().uri("/rooms/7").extension(ClientAddr(LOCAL));
    let unnamed = router.oneshot(unnamed.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(codes(&unnamed), (401, Some("401")));
    assert_eq!(unnamed.headers()["www-authenticate"], "Bearer");
}

#[tokio::test]
async fn pages_of_the_web_are_kept_out() {
    let server = server("").await;
    let (response, said) = ask(&server, "GET", "/rooms/7", &[("Origin", "https://evil.example")], "").await;
    assert_eq!((codes(&response), &said["error"]["code"]), ((403, Some("403")), &json!("origin-refused")));
    assert_eq!(response.headers().get("access-control-allow-origin"), None::<&HeaderValue>);
    for site in ["cross-site", "same-site", "same-origin", ""] {
        let (response, _) = ask(&server, "GET", "/rooms/7", &[("Sec-Fetch-Site", site)], "").await;
        assert_eq!(codes(&response), (403, Some("403")), "an image on a page: {site}");
    }
    let (response, _) = ask(&server, "GET", "/rooms/7", &[("Sec-Fetch-Site", "none")], "").await;
    assert_ne!(codes(&response).0, 403);
}

#[tokio::test]
async fn base_12_bodies_keep_their_bound() {
    let server = server("[limits]\nbody_bytes_max = 10").await;
    let (response, said) = ask(&server, "BOOK", "/rooms/7", &[], "{\"n\": 1234567}").await;
    assert_eq!((codes(&response), &said["error"]["code"]), ((400, Some("400")), &json!("body-too-large")));
}

#[tokio::test(start_paused = true)]
async fn base_2_4_a_call_with_a_key_is_made_to_its_end_though_its_client_leaves() {
    let mut blueprint = blueprint("");
    blueprint.residents[0] = resident(card("chef"), ScriptedAgent::new(vec![Step::Hang]), Vec::new());
    let server = server_of(blueprint).await;
    let ask = || ask(&server, "EXECUTE", "/", &[("Idempotency-Key", "k")], r#"{"action": "bake"}"#);
    assert!(timeout(Duration::from_secs(1), ask()).await.is_err(), "it takes longer");
    tokio::time::sleep(2 * crate::limits::WORK_PATIENCE).await;
    let (response, said) = ask().await;
    assert_eq!((codes(&response).0, &said["status"]), (202, &json!("working")), "{said}");
}
