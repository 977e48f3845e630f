//! What is turned away at the door.

use std::sync::Arc;

use axum::body::Body;
use forecourt_core::gate::RuleVerdict;
use forecourt_core::policy::{AuthChallenge, RefusalKind};
use forecourt_core::{AgentCard, Message, PolicyPart, Rule};
use forecourt_host::{LimitSettings, Rate};
use forecourt_testkit::{ScriptedAgent, card};
use futures::future::BoxFuture;
use http::{Request, StatusCode};
use serde_json::{Value, json};

use crate::support::{Setup, modern, post, rpc};

fn one() -> Setup {
    Setup::default().with(card("chef"), ScriptedAgent::saying(["soup"]))
}

fn list() -> Request<Body> {
    modern("/mcp", "tools/list", json!({}), json!({}))
}

fn listing_with(name: &'static str, value: &str) -> Request<Body> {
    let mut request = list();
    request.headers_mut().insert(name, value.parse().unwrap());
    request
}

#[tokio::test]
async fn s2_pages_of_other_origins_are_403_and_may_not_read_it() {
    let place = Setup { section: "allowed_origins = [\"https://app.example\"]", ..one() }.start().await;
    for origin in ["https://evil.example", "null", "https://demo.localhost.evil.example", "http://app.example"] {
        let answer = place.send(listing_with("origin", origin)).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{origin}");
        assert_eq!(answer.field("access-control-allow-origin"), "");
    }
    for origin in ["https://app.example", "https://demo.localhost", "http://localhost:6274"] {
        let answer = place.send(listing_with("origin", origin)).await;
        assert_eq!((answer.status, answer.field("access-control-allow-origin")), (StatusCode::OK, origin));
        assert!(answer.field("access-control-expose-headers").contains("Mcp-Session-Id"));
    }
}

#[tokio::test]
async fn s2_browsers_may_ask_first() {
    let place = one().start().await;
    let ask = |origin: &str| {
        let request = Request::options("/mcp").header("host", "demo.localhost").header("origin", origin);
        request.header("access-control-request-headers", "mcp-param-city").body(Body::empty()).unwrap()
    };
    let answer = place.send(ask("http://localhost:6274")).await;
    assert_eq!(
        (answer.status, answer.field("access-control-allow-headers")),
        (StatusCode::NO_CONTENT, "mcp-param-city")
    );
    assert_eq!(place.send(ask("https://evil.example")).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn s2_other_names_for_this_host_are_refused() {
    let place = one().start().await;
    assert_eq!(place.send(listing_with("host", "evil.example")).await.status, StatusCode::FORBIDDEN);
    assert_eq!(place.send(listing_with("host", "demo.localhost:8443")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn what_the_sdk_refuses_is_an_error_of_json_rpc() {
    let place = one().start().await;
    let bare = post("/mcp").body(rpc(3, "tools/list", json!({}))).unwrap();
    let put = Request::put("/mcp").header("host", "demo.localhost").body(Body::empty()).unwrap();
    for (request, status, id) in [
        (bare, StatusCode::BAD_REQUEST, json!(3)),
        (listing_with("accept", "text/html"), StatusCode::NOT_ACCEPTABLE, json!(1)),
        (listing_with("content-type", "text/plain"), StatusCode::UNSUPPORTED_MEDIA_TYPE, json!(1)),
        (put, StatusCode::METHOD_NOT_ALLOWED, Value::Null),
    ] {
        let answer = place.send(request).await;
        assert_eq!((answer.status, answer.field("content-type")), (status, "application/json"));
        assert_eq!((&answer.last()["id"], &answer.last()["error"]["code"]), (&id, &json!(-32600)));
    }
}

#[tokio::test]
async fn s2_clients_that_accept_anything_are_served() {
    let place = one().start().await;
    assert_eq!(place.send(listing_with("accept", "*/*")).await.status, StatusCode::OK);
    let mut silent = list();
    silent.headers_mut().remove("accept");
    assert_eq!(place.send(silent).await.status, StatusCode::OK);
    assert_eq!(place.send(listing_with("accept", "text/html")).await.status, StatusCode::NOT_ACCEPTABLE);
}

#[tokio::test]
async fn s2_bodies_are_json_and_bounded() {
    let place = one().start().await;
    let of = |bytes: usize| post("/mcp").body(Body::from("x".repeat(bytes))).unwrap();
    assert_eq!(place.send(of(4 * 1024 * 1024)).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(place.send(of(4 * 1024 * 1024 + 1)).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(place.send(listing_with("content-type", "text/plain")).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    for hostile in ["[]", "[{}]", "null", "{\"jsonrpc\":\"2.0\"}", "{\"method\":{}}"] {
        let answer = place.send(post("/mcp").body(Body::from(hostile)).unwrap()).await;
        assert!(answer.status.is_client_error(), "{hostile}: {}", answer.status);
    }
}

#[tokio::test]
async fn s2_broken_json_is_a_parse_error_and_json_that_is_no_message_an_invalid_request() {
    let place = one().start().await;
    let send = async |body: &'static [u8]| {
        let answer = place.send(post("/mcp").body(Body::from(body)).unwrap()).await;
        (answer.status, answer.last()["error"]["code"].clone(), answer.last()["id"].clone())
    };
    for broken in [&b"{\"jsonrpc\":\"2.0\",\"id\":1,"[..], b"", b"nope", b"\xff\xfe"] {
        assert_eq!(send(broken).await, (StatusCode::BAD_REQUEST, json!(-32700), Value::Null), "{broken:?}");
    }
    for wrong in [&b"[]"[..], b"[{}]", b"null", b"{\"id\":7}", b"7"] {
        let (status, code, _) = send(wrong).await;
        assert_eq!((status, code), (StatusCode::BAD_REQUEST, json!(-32600)), "{wrong:?}");
    }
    assert_eq!(send(b"{\"id\":7}").await.2, 7);
}

#[tokio::test]
async fn paths_that_are_no_endpoint_are_404() {
    let place = one().start().await;
    for path in ["/mcp/nobody", "/mcp/chef/more", "/mcp/%2e%2e"] {
        let answer = place.send(modern(path, "tools/list", json!({}), json!({}))).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(place.send(modern("/mcp/chef/", "tools/list", json!({}), json!({}))).await.status, StatusCode::OK);
}

#[tokio::test]
async fn too_many_requests_are_429_with_when_to_come_back() {
    let two = Rate { burst: 2.try_into().unwrap(), per_second: 1.try_into().unwrap() };
    let limits = LimitSettings { per_address: two, ..LimitSettings::default() };
    let place = Setup { limits: Some(limits), ..one() }.start().await;
    let from_one_address = || {
        let mut request = list();
        request.extensions_mut().insert(forecourt_core::ClientAddr([192, 0, 2, 1].into()));
        request
    };
    for _ in 0..2 {
        assert_eq!(place.send(from_one_address()).await.status, StatusCode::OK);
    }
    let answer = place.send(from_one_address()).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(!answer.field("retry-after").is_empty());
}

#[tokio::test]
async fn s6_metadata_is_below_the_well_known_path_and_at_its_root() {
    let place = Setup { issuer: true, ..one() }.start().await;
    let get = |path: &str| Request::get(path).header("host", "demo.localhost").body(Body::empty()).unwrap();
    for (path, resource) in [
        ("/.well-known/oauth-protected-resource", "https://demo.localhost"),
        ("/.well-known/oauth-protected-resource/", "https://demo.localhost"),
        ("/.well-known/oauth-protected-resource/mcp", "https://demo.localhost/mcp"),
        ("/.well-known/oauth-protected-resource/mcp/chef", "https://demo.localhost/mcp/chef"),
    ] {
        let answer = place.send(get(path)).await;
        assert_eq!(answer.last()["resource"], resource, "{path}");
        assert_eq!(answer.last()["authorization_servers"], json!(["https://login.example"]));
    }
    for path in ["/mcp/nobody", "/elsewhere", "//", "/mcp/chef/x"] {
        let answer = place.send(get(&format!("/.well-known/oauth-protected-resource{path}"))).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
    let open = one().start().await;
    let answer = open.send(get("/.well-known/oauth-protected-resource/mcp")).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn s6_a_token_that_does_not_hold_is_401_and_leads_to_the_metadata() {
    let place = Setup { issuer: true, ..one() }.start().await;
    let answer = place.send(listing_with("authorization", "Bearer not-a-token")).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    let challenge = answer.field("www-authenticate");
    assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
    let leads = "resource_metadata=\"https://demo.localhost/.well-known/oauth-protected-resource/mcp\"";
    assert!(challenge.contains(leads), "{challenge}");
    let token = place.token("ann");
    assert_eq!(place.send(listing_with("authorization", &token)).await.status, StatusCode::OK);
}

/// Lets only callers pass that proved who they are.
struct SignedIn;

impl Rule for SignedIn {
    fn judge<'a>(&'a self, _: &'a AgentCard, message: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        Box::pin(async move {
            let kind = RefusalKind::Unauthorized { auth_challenges: vec![AuthChallenge::new("Bearer")] };
            match message.sender.verified {
                true => Ok(()),
                false => Err(PolicyPart::new(kind, "Sign in first.").into()),
            }
        })
    }
}

#[tokio::test]
async fn s6_an_agent_that_wants_to_know_its_callers_makes_clients_sign_in() {
    let rules: Vec<Arc<dyn Rule>> = vec![Arc::new(SignedIn)];
    let agent = ScriptedAgent::saying(["soup"]);
    let place = Setup { issuer: true, ..Setup::default().guarded(card("chef"), agent, rules) }.start().await;
    // Who only looks around is not asked who it is.
    assert_eq!(place.send(list()).await.status, StatusCode::OK);
    let call =
        || modern("/mcp/chef", "tools/call", json!({"name": "ask_chef", "arguments": {"message": "x"}}), json!({}));
    let answer = place.send(call()).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.field("www-authenticate").contains("/.well-known/oauth-protected-resource/mcp/chef"));
    assert_eq!(answer.last()["error"]["message"], "Sign in first.");
    let mut signed_in = call();
    signed_in.headers_mut().insert("authorization", place.token("ann").parse().unwrap());
    let answer = place.send(signed_in).await;
    assert_eq!(answer.last()["result"]["isError"], Value::Bool(false));
}

#[tokio::test]
async fn s6_a_session_learns_by_its_transport_that_it_must_sign_in() {
    let rules: Vec<Arc<dyn Rule>> = vec![Arc::new(SignedIn)];
    let agent = ScriptedAgent::saying(["soup"]);
    let place = Setup { issuer: true, ..Setup::default().guarded(card("chef"), agent, rules) }.start().await;
    let id = crate::sessions::begin(&place).await;
    let call = json!({"name": "ask_chef", "arguments": {"message": "x"}});
    let answer = place.send(crate::sessions::within(&id).body(rpc(2, "tools/call", call)).unwrap()).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.field("www-authenticate").contains("/.well-known/oauth-protected-resource/mcp"));
}

/// Never answers.
struct Silent;

impl forecourt_core::Agent for Silent {
    fn handle(&self, _: forecourt_core::Admitted) -> forecourt_core::EventStream {
        Box::pin(futures::stream::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn s6_an_answer_that_takes_long_begins_all_the_same() {
    let place = Setup::default().with(card("chef"), Arc::new(Silent)).start().await;
    let id = crate::sessions::begin(&place).await;
    let call = json!({"name": "ask_chef", "arguments": {"message": "x"}});
    let asked_at = tokio::time::Instant::now();
    let answer = place.raw(crate::sessions::within(&id).body(rpc(2, "tools/call", call)).unwrap()).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(asked_at.elapsed() < std::time::Duration::from_secs(3), "{:?}", asked_at.elapsed());
}

#[tokio::test]
async fn chains_of_agents_end() {
    let place = one().start().await;
    let mut request =
        modern("/mcp", "tools/call", json!({"name": "ask_chef", "arguments": {"message": "x"}}), json!({}));
    request.headers_mut().insert("forecourt-hops", "8".parse().unwrap());
    assert_eq!(place.send(request).await.last()["error"]["code"], -32600);
    let body = rpc(1, "tools/list", json!({}));
    assert_eq!(place.send(post("/mcp").body(body).unwrap()).await.status, StatusCode::BAD_REQUEST);
}
