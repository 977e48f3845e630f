//! Several hosts with one store: a session that one began goes on with each, and what is sealed by one is opened by
//! another.

use axum::body::Body;
use forecourt_testhost::Node;
use forecourt_testkit::{ScriptedAgent, card};
use http::{Request, StatusCode};
use serde_json::json;

use crate::questions::{asks, call, with_forms};
use crate::sessions::{begin, hello, within};
use crate::support::{Place, Setup, post, rpc};

async fn nodes() -> [Place; 3] {
    let start = |node| {
        let setup = Setup { issuer: true, node: Some(node), ..Setup::default() };
        setup.with(card("chef"), ScriptedAgent::saying(["soup"])).start()
    };
    let [one, two, three] = Node::many();
    [start(one).await, start(two).await, start(three).await]
}

async fn status(place: &Place, id: &str, token: Option<&str>) -> StatusCode {
    let request = match token {
        Some(token) => within(id).header("authorization", token.to_owned()),
        None => within(id),
    };
    place.send(request.body(rpc(2, "tools/list", json!({}))).unwrap()).await.status
}

async fn end(place: &Place, id: &str) -> StatusCode {
    let end = Request::delete("/mcp").header("host", "demo.localhost").header("mcp-session-id", id);
    place.send(end.body(Body::empty()).unwrap()).await.status
}

#[tokio::test]
async fn a_session_goes_on_with_every_node() {
    let nodes = nodes().await;
    let id = begin(&nodes[0]).await;
    for node in nodes.iter().cycle().take(6) {
        let call = json!({"name": "ask_chef", "arguments": {"message": "hi"}});
        let called = node.send(within(&id).body(rpc(3, "tools/call", call)).unwrap()).await;
        assert_eq!(called.status, StatusCode::OK);
        assert_eq!(called.last()["result"]["content"][0]["text"], "soup");
        assert_eq!(status(node, &id, None).await, StatusCode::OK);
    }
    assert_eq!(status(&nodes[1], "made-up", None).await, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn many_requests_at_once_to_a_node_that_has_not_seen_the_session_are_all_answered() {
    let nodes = nodes().await;
    let id = begin(&nodes[0]).await;
    let ask = async |n: u64| {
        let node = if n.is_multiple_of(2) { &nodes[1] } else { &nodes[2] };
        node.send(within(&id).body(rpc(10 + n, "tools/list", json!({}))).unwrap()).await.status
    };
    let found = futures::future::join_all((0..32).map(ask)).await;
    assert!(found.iter().all(|status| *status == StatusCode::OK), "{found:?}");
}

#[tokio::test]
async fn a_session_that_ended_on_one_node_is_gone_on_all() {
    let nodes = nodes().await;
    let id = begin(&nodes[0]).await;
    assert_eq!(status(&nodes[1], &id, None).await, StatusCode::OK);
    assert_eq!(end(&nodes[2], &id).await, StatusCode::NO_CONTENT, "a node that never saw it ends it");
    for node in &nodes {
        assert_eq!(status(node, &id, None).await, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn whose_a_session_is_holds_on_every_node() {
    let nodes = nodes().await;
    let (ann, bob) = (nodes[0].token("ann"), nodes[0].token("bob"));
    let hello = post("/mcp").header("authorization", &ann).body(rpc(1, "initialize", hello("2025-11-25"))).unwrap();
    let anns = nodes[0].send(hello).await.field("mcp-session-id").to_owned();
    for node in &nodes {
        assert_eq!(status(node, &anns, Some(&bob)).await, StatusCode::NOT_FOUND);
        assert_eq!(status(node, &anns, None).await, StatusCode::NOT_FOUND);
        assert_eq!(status(node, &anns, Some(&ann)).await, StatusCode::OK);
    }
    let nobodys = begin(&nodes[0]).await;
    assert_eq!(status(&nodes[1], &nobodys, None).await, StatusCode::OK);
    assert_eq!(status(&nodes[2], &nobodys, Some(&bob)).await, StatusCode::OK, "bob was the first to show who he is");
    for node in &nodes {
        assert_eq!(status(node, &nobodys, Some(&ann)).await, StatusCode::NOT_FOUND);
        assert_eq!(status(node, &nobodys, None).await, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn of_many_who_show_who_they_are_at_once_one_has_the_session() {
    let nodes = nodes().await;
    let id = begin(&nodes[0]).await;
    let tokens: Vec<String> = (0..12).map(|n| nodes[0].token(&format!("caller-{n}"))).collect();
    let tries = tokens.iter().enumerate().map(|(n, token)| status(&nodes[n % 3], &id, Some(token)));
    let found = futures::future::join_all(tries).await;
    assert_eq!(found.iter().filter(|status| **status == StatusCode::OK).count(), 1, "{found:?}");
}

#[tokio::test]
async fn a_session_nobody_uses_is_forgotten_and_one_in_use_is_not() {
    let nodes = nodes().await;
    let (used, idle) = (begin(&nodes[0]).await, begin(&nodes[0]).await);
    for _ in 0..5 {
        for node in &nodes {
            node.advance(std::time::Duration::from_secs(6 * 60 * 60));
        }
        assert_eq!(status(&nodes[1], &used, None).await, StatusCode::OK);
    }
    assert_eq!(status(&nodes[1], &idle, None).await, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_question_that_one_node_put_is_answered_to_another() {
    let [one, two, _] = Node::many();
    let start = |node| Setup { node: Some(node), ..Setup::default() }.playing("chef", asks()).0.start();
    let (one, two) = (start(one).await, start(two).await);
    let first = call(&one, json!({}), with_forms()).await;
    let state = &first.last()["result"]["requestState"];
    let answered = json!({"diet": {"action": "accept", "content": {"diet": "vegan"}}});
    let again = call(&two, json!({"requestState": state, "inputResponses": answered}), with_forms()).await;
    assert_eq!(again.last()["result"]["resultType"], "input_required", "it asks on: the state was taken");
    let other = json!({"requestState": format!("{}x", state.as_str().unwrap()), "inputResponses": answered});
    assert_eq!(call(&two, other, with_forms()).await.last()["error"]["code"], -32602);
}
