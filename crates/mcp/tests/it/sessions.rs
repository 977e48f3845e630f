//! Clients of the revisions up to 2025-11-25, which begin with a handshake.

use axum::body::Body;
use forecourt_testkit::{ScriptedAgent, card};
use http::request::Builder;
use http::{Request, StatusCode};
use serde_json::{Value, json};

use crate::support::{Answer, Place, Setup, post, rpc};

fn one() -> Setup {
    Setup { issuer: true, ..Setup::default().with(card("chef"), ScriptedAgent::saying(["soup"])) }
}

pub(crate) fn hello(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
}

async fn open(place: &Place, request: Builder) -> (String, Answer) {
    let answer = place.send(request.body(rpc(1, "initialize", hello("2025-11-25"))).unwrap()).await;
    let id = answer.field("mcp-session-id").to_owned();
    assert!(!id.is_empty());
    let told = within(&id).body(Body::from(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)).unwrap();
    let told = place.send(told).await;
    // The notification of who signed in is refused to others; the handshake's own tests look at that.
    assert!(told.status == StatusCode::ACCEPTED || told.status == StatusCode::NOT_FOUND);
    (id, answer)
}

/// A session that was begun by nobody in particular.
pub(crate) async fn begin(place: &Place) -> String {
    open(place, post("/mcp")).await.0
}

pub(crate) fn within(session: &str) -> Builder {
    post("/mcp").header("mcp-session-id", session.to_owned()).header("mcp-protocol-version", "2025-11-25")
}

#[tokio::test]
async fn s1_each_older_revision_is_agreed_to_and_unknown_ones_get_the_last_with_a_handshake() {
    let place = one().start().await;
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2031-01-01", "2025-11-25"),
    ] {
        let answer = place.send(post("/mcp").body(rpc(1, "initialize", hello(asked))).unwrap()).await;
        assert_eq!(answer.last()["result"]["protocolVersion"], given, "{asked}");
    }
}

/// The library knows neither as its own; a method that there is not is told from parameters that do not fit.
#[tokio::test]
async fn s1_parameters_that_are_not_a_methods_are_invalid_parameters() {
    let place = one().start().await;
    let session = begin(&place).await;
    for (method, params, code) in [
        ("logging/setLevel", json!({"level": "loud"}), -32602),
        ("logging/setLevel", json!({}), -32602),
        ("prompts/get", json!({}), -32602),
        ("resources/read", json!({"uri": 7}), -32602),
        ("logging/setNoise", json!({}), -32601),
    ] {
        let answer = place.send(within(&session).body(rpc(2, method, params)).unwrap()).await;
        assert_eq!(answer.last()["error"]["code"], code, "{method}: {:?}", answer.last());
    }
}

#[tokio::test]
async fn s2_a_session_lists_and_calls() {
    let place = one().start().await;
    let (id, answer) = open(&place, post("/mcp")).await;
    assert_eq!(answer.last()["result"]["serverInfo"]["name"], "demo.localhost");
    let listed = place.send(within(&id).body(rpc(2, "tools/list", json!({}))).unwrap()).await;
    assert_eq!(listed.last()["result"]["tools"][1]["name"], "ask_chef");
    let call = json!({"name": "ask_chef", "arguments": {"message": "hi"}});
    let called = place.send(within(&id).body(rpc(3, "tools/call", call)).unwrap()).await;
    let result = &called.last()["result"];
    assert_eq!(result["content"][0]["text"], "soup");
    assert_eq!(result["structuredContent"], json!({"state": "completed", "text": "soup"}));
    assert_eq!(result["isError"], false);
    assert!(result.get("resultType").is_none(), "older revisions have no such field");
}

#[tokio::test]
async fn s2_a_session_that_ended_is_gone() {
    let place = one().start().await;
    let (id, _) = open(&place, post("/mcp")).await;
    let end = Request::delete("/mcp").header("host", "demo.localhost").header("mcp-session-id", &id);
    let ended = place.send(end.body(Body::empty()).unwrap()).await;
    assert_eq!(ended.status, StatusCode::NO_CONTENT);
    let after = place.send(within(&id).body(rpc(2, "tools/list", json!({}))).unwrap()).await;
    assert_eq!(after.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn s2_requests_without_a_session_or_with_a_made_up_one_are_refused() {
    let place = one().start().await;
    let none = place.send(post("/mcp").body(rpc(1, "tools/list", json!({}))).unwrap()).await;
    assert_eq!(none.status, StatusCode::BAD_REQUEST);
    let made_up = place.send(within("made-up").body(rpc(1, "tools/list", json!({}))).unwrap()).await;
    assert_eq!(made_up.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn s6_a_session_is_no_authentication() {
    let place = one().start().await;
    let (ann, bob) = (place.token("ann"), place.token("bob"));
    let (id, _) = open(&place, post("/mcp").header("authorization", &ann)).await;
    let as_who = async |token: Option<&str>| {
        let request = match token {
            Some(token) => within(&id).header("authorization", token.to_owned()),
            None => within(&id),
        };
        place.send(request.body(rpc(2, "tools/list", json!({}))).unwrap()).await.status
    };
    assert_eq!(as_who(Some(&bob)).await, StatusCode::NOT_FOUND);
    assert_eq!(as_who(None).await, StatusCode::NOT_FOUND);
    assert_eq!(as_who(Some(&ann)).await, StatusCode::OK);
}

fn opening(network: u8) -> Request<Body> {
    // What other methods have in their params makes this no other method.
    let mut params = hello("2025-11-25");
    params["name"] = json!(network);
    let mut request = post("/mcp").body(rpc(1, "initialize", params)).unwrap();
    request.extensions_mut().insert(forecourt_core::ClientAddr([192, 0, 2, network].into()));
    request
}

/// Opens a session, and gives its id.
async fn open_from(place: &Place, network: u8) -> String {
    let answer = place.send(opening(network)).await;
    assert_eq!(answer.status, StatusCode::OK, "{:?}", answer.messages);
    answer.field("mcp-session-id").to_owned()
}

async fn status_within(place: &Place, id: &str) -> StatusCode {
    place.send(within(id).body(rpc(2, "tools/list", json!({}))).unwrap()).await.status
}

#[tokio::test]
async fn b5_2000_sessions_of_11_addresses_keep_no_twelfth_out() {
    let place = one().start().await;
    let busy = open_from(&place, 50).await;
    assert_eq!(status_within(&place, &busy).await, StatusCode::OK);
    for n in 0..2_000_u32 {
        open_from(&place, (n % 11) as u8).await;
    }
    let mine = open_from(&place, 12).await;
    assert_eq!(status_within(&place, &mine).await, StatusCode::OK);
    assert_eq!(status_within(&place, &busy).await, StatusCode::OK, "who was at work stays");
}

#[tokio::test]
async fn b5_one_caller_has_256_sessions_in_use_and_no_more() {
    let place = one().start().await;
    let first = open_from(&place, 1).await;
    assert_eq!(status_within(&place, &first).await, StatusCode::OK);
    for _ in 1..256 {
        let id = open_from(&place, 1).await;
        assert_eq!(status_within(&place, &id).await, StatusCode::OK);
    }
    let refused = place.send(opening(1)).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(!refused.field("retry-after").is_empty());
    let words = refused.last()["error"]["message"].as_str().unwrap();
    assert!(words.contains("256 MCP sessions of this caller"), "{words}");
    assert_eq!(status_within(&place, &first).await, StatusCode::OK);
    open_from(&place, 2).await;
    let end = Request::delete("/mcp").header("host", "demo.localhost").header("mcp-session-id", &first);
    place.send(end.body(Body::empty()).unwrap()).await;
    open_from(&place, 1).await;
}

/// The events of an answer as they were sent, without what is no data.
async fn data(place: &Place, request: Request<Body>) -> Vec<String> {
    use http_body_util::BodyExt;
    let bytes = place.raw(request).await.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("data:")).map(|line| line.trim().to_owned()).collect()
}

#[tokio::test]
async fn s2_no_stream_before_2025_11_25_begins_with_an_event_without_data() {
    let place = one().start().await;
    for (version, is_primed) in [("2025-03-26", false), ("2025-06-18", false), ("2025-11-25", true)] {
        let answer = place.send(post("/mcp").body(rpc(1, "initialize", hello(version))).unwrap()).await;
        let id = answer.field("mcp-session-id").to_owned();
        let begun = data(&place, post("/mcp").body(rpc(1, "initialize", hello(version))).unwrap()).await;
        assert_eq!(begun.len(), 1, "{version}: the handshake is its answer alone: {begun:?}");
        let list = post("/mcp").header("mcp-session-id", &id).header("mcp-protocol-version", version);
        let told = list.body(Body::from(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)).unwrap();
        place.send(told).await;
        let list = post("/mcp").header("mcp-session-id", &id).header("mcp-protocol-version", version);
        let listed = data(&place, list.body(rpc(2, "tools/list", json!({}))).unwrap()).await;
        assert_eq!(listed[0].is_empty(), is_primed, "{version}: {listed:?}");
        assert!(listed.last().unwrap().contains("ask_chef"), "{version}");
    }
}
