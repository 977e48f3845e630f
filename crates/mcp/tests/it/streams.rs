//! Streams of sessions: taken up again after they broke, kept for so long, bounded.

use std::time::Duration;

use axum::body::Body;
use forecourt_core::reply::Progress;
use forecourt_core::{Ending, Event};
use forecourt_testkit::{ScriptedAgent, Step, card};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::sessions::{begin, within};
use crate::support::{Place, Setup, ends, post, rpc, says};

/// An answer that is told of on the way.
fn slowly() -> Vec<Step> {
    let half = |note: &str| Event::Progress(Progress { fraction: Some(0.5), note: Some(note.into()) });
    vec![
        Step::Do(half("first")),
        Step::Wait(Duration::from_secs(3)),
        Step::Do(half("second")),
        Step::Wait(Duration::from_secs(3)),
        says("soup"),
        ends(Ending::Complete),
    ]
}

async fn place(steps: Vec<Step>) -> (Place, String) {
    let place = Setup::default().with(card("chef"), ScriptedAgent::new(steps)).start().await;
    let id = begin(&place).await;
    (place, id)
}

fn call() -> Body {
    let params = json!({"name": "ask_chef", "arguments": {"message": "x"}, "_meta": {"progressToken": 1}});
    rpc(2, "tools/call", params)
}

/// The events of a stream that is read to its end, or up to `count`: their ids and what they hold.
async fn events(body: &mut Body, count: usize) -> Vec<(String, Value)> {
    let mut text = String::new();
    let complete = |text: &str| text.matches("\n\n").count();
    while complete(&text) < count
        && let Some(Ok(frame)) = body.frame().await
    {
        if let Ok(bytes) = frame.into_data() {
            text.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    let field = |event: &str, name: &str| {
        event.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned()
    };
    let all = text.split("\n\n").filter(|event| event.contains("id:") || event.contains("data:"));
    all.map(|event| (field(event, "id:"), serde_json::from_str(&field(event, "data:")).unwrap_or_default())).collect()
}

fn again(session: &str, after: &str) -> Request<Body> {
    let get = Request::get("/mcp").header("host", "demo.localhost").header("accept", "text/event-stream");
    let get = get.header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25");
    get.header("last-event-id", after).body(Body::empty()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn s1_a_stream_that_broke_is_taken_up_where_it_was() {
    let (place, session) = place(slowly()).await;
    let mut first = place.raw(within(&session).body(call()).unwrap()).await.into_body();
    let seen = events(&mut first, 2).await;
    let (last, told) = seen.last().unwrap().clone();
    assert_eq!(told["params"]["message"], "first", "{seen:?}");
    drop(first);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut rest = place.raw(again(&session, &last)).await.into_body();
    let rest = events(&mut rest, 2).await;
    assert_eq!(rest[0].1["params"]["message"], "second", "nothing twice, and nothing left out: {rest:?}");
    assert_eq!(rest[1].1["result"]["structuredContent"]["text"], "soup");
}

#[tokio::test(start_paused = true)]
async fn s1_an_answer_that_came_while_nobody_listened_is_there_for_who_comes_back() {
    let (place, session) = place(slowly()).await;
    let mut first = place.raw(within(&session).body(call()).unwrap()).await.into_body();
    let (last, _) = events(&mut first, 2).await.pop().unwrap();
    drop(first);
    tokio::time::sleep(Duration::from_secs(60)).await;
    for _ in 0..2 {
        let answer = place.send(again(&session, &last)).await;
        assert_eq!(answer.messages[0]["params"]["message"], "second");
        assert_eq!(answer.last()["result"]["structuredContent"]["text"], "soup");
        assert_eq!(answer.messages.len(), 2, "and the stream ends: {:?}", answer.messages);
    }
    let other = begin(&place).await;
    assert!(place.send(again(&other, &last)).await.messages.is_empty(), "what is of one session is of no other");
}

#[tokio::test(start_paused = true)]
async fn s1_a_stream_of_no_request_is_taken_up_too_and_ends_with_its_session() {
    let (place, session) = place(slowly()).await;
    let waits = place.raw(again(&session, "0")).await.into_body();
    let end = Request::delete("/mcp").header("host", "demo.localhost").header("mcp-session-id", &session);
    place.send(end.body(Body::empty()).unwrap()).await;
    let told = tokio::time::timeout(Duration::from_secs(5), waits.collect()).await;
    assert!(told.is_ok(), "nobody waits for a session that is over");
}

#[tokio::test(start_paused = true)]
async fn s1_a_place_in_a_stream_that_never_was_is_refused() {
    let (place, session) = place(slowly()).await;
    for after in ["99/99", "nonsense", &"9".repeat(10_000)] {
        let answer = place.raw(again(&session, after)).await;
        assert!(answer.status() != StatusCode::INTERNAL_SERVER_ERROR, "{after}: {}", answer.status());
    }
    let elsewhere = place.raw(again("made-up", "0/0")).await;
    assert_eq!(elsewhere.status(), StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn s1_a_session_that_is_silent_for_half_an_hour_is_over() {
    let (place, session) = place(vec![says("soup"), ends(Ending::Complete)]).await;
    let list = || within(&session).body(rpc(3, "tools/list", json!({}))).unwrap();
    tokio::time::sleep(Duration::from_secs(30 * 60 - 5)).await;
    assert_eq!(place.send(list()).await.status, StatusCode::OK);
    tokio::time::sleep(Duration::from_secs(30 * 60 + 5)).await;
    assert_eq!(place.send(list()).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn s2_the_revision_of_a_request_is_one_that_is_known() {
    let (place, session) = place(vec![says("soup"), ends(Ending::Complete)]).await;
    let of = async |version: Option<&str>| {
        let request = post("/mcp").header("mcp-session-id", session.clone());
        let request = version.iter().fold(request, |request, version| request.header("mcp-protocol-version", *version));
        place.send(request.body(rpc(2, "tools/list", json!({}))).unwrap()).await.status
    };
    assert_eq!(of(None).await, StatusCode::OK, "absent is 2025-03-26");
    for wrong in ["2031-01-01", "latest", ""] {
        assert_eq!(of(Some(wrong)).await, StatusCode::BAD_REQUEST, "{wrong}");
    }
}

#[tokio::test]
async fn s2_several_messages_in_one_body_are_refused() {
    let (place, session) = place(vec![says("soup"), ends(Ending::Complete)]).await;
    let one = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}});
    for batch in [json!([one]), json!([one, one]), json!([])] {
        let answer = place.send(within(&session).body(Body::from(batch.to_string())).unwrap()).await;
        assert!(answer.status.is_client_error(), "{batch}: {}", answer.status);
    }
}
