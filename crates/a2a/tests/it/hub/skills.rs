//! Skills that are called by their name with data, on the hub and for those who name them.

use std::sync::Arc;

use forecourt_core::PolicyPart;
use forecourt_core::policy::RefusalKind;
use forecourt_surface::tool::{Tool, ToolCall, ToolEvent, ToolOutput};
use forecourt_testkit::{ScriptedAgent, card};
use futures::StreamExt;
use serde_json::{Value, json};

use crate::hub::support::{Place, Setup, request};

/// Books a room, and fails or refuses on demand.
fn booking(as_skill: bool) -> Tool {
    let call = |call: ToolCall| {
        let called = match call.arguments["room"].as_str() {
            Some("taken") => ToolOutput {
                structured: json!({"error": {"code": "room_unavailable"}}),
                text: vec!["The room is taken.".to_owned()],
                is_error: true,
                ..ToolOutput::default()
            },
            Some("secret") => {
                let part = PolicyPart::new(RefusalKind::Forbidden, "Not for you.");
                ToolOutput { is_error: true, refusal: Some(Box::new(part)), ..ToolOutput::default() }
            }
            Some("later") => {
                let part = PolicyPart::new(
                    RefusalKind::ServiceUnavailable { retry_after_seconds: Some(5) },
                    "Come again later.",
                );
                ToolOutput { is_error: true, refusal: Some(Box::new(part)), ..ToolOutput::default() }
            }
            Some("old") => ToolOutput {
                structured: json!({"booked": call.arguments}),
                meta: serde_json::Map::from_iter([("example/deprecated".to_owned(), "since 2".into())]),
                ..ToolOutput::default()
            },
            _ => ToolOutput { structured: json!({"booked": call.arguments}), ..ToolOutput::default() },
        };
        futures::stream::iter([ToolEvent::Done(Box::new(called))]).boxed()
    };
    Tool {
        name: "book_rooms".to_owned(),
        title: "Books a room.".to_owned(),
        description: "Books a room for a guest.".to_owned(),
        input: json!({"type": "object", "required": ["room"], "properties": {"room": {"type": "string"}}}).into(),
        output: None,
        agent: None,
        reads_only: false,
        is_idempotent: false,
        as_tool: true,
        as_skill,
        call: Arc::new(call),
        outcome: None,
    }
}

async fn place(as_skill: bool) -> Place {
    let setup = Setup { tools: vec![booking(as_skill)], ..Setup::default() };
    setup.with(card("bot"), ScriptedAgent::saying(["words"])).start().await
}

async fn send(place: &Place, path: &str, method: &str, parts: Value) -> Value {
    let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": parts});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}});
    let post = request("POST", path).header("content-type", "application/json").header("a2a-version", "1.0");
    let answer = place.send(post, call.to_string()).await;
    match method {
        "SendMessage" => answer.json()["result"].clone(),
        _ => {
            let data = answer.text().lines().find_map(|line| line.strip_prefix("data:")).unwrap();
            serde_json::from_str::<Value>(data).unwrap()["result"].clone()
        }
    }
}

fn calling(room: &str) -> Value {
    json!([{"data": {"skill": "book_rooms", "input": {"room": room}}}])
}

#[tokio::test]
async fn a_skill_is_called_by_its_name_and_gives_data() {
    let place = place(true).await;
    for method in ["SendMessage", "SendStreamingMessage"] {
        let result = send(&place, "/a2a", method, calling("12")).await;
        assert_eq!(result["message"]["parts"][0]["data"], json!({"booked": {"room": "12"}}), "{result}");
    }
    let beside_words = json!([{"text": "please"}, {"data": {"skill": "book_rooms", "input": {"room": "1"}}}]);
    let result = send(&place, "/a2a", "SendMessage", beside_words).await;
    assert_eq!(result["message"]["parts"][0]["data"]["booked"]["room"], "1");
}

#[tokio::test]
async fn what_an_endpoint_wants_known_beside_its_result_is_metadata() {
    let result = send(&place(true).await, "/a2a", "SendMessage", calling("old")).await;
    assert_eq!(result["message"]["metadata"], json!({"example/deprecated": "since 2"}), "{result}");
}

#[tokio::test]
async fn a_skill_that_fails_is_a_failed_task_and_one_that_is_refused_a_refused_one() {
    let place = place(true).await;
    let failed = send(&place, "/a2a", "SendMessage", calling("taken")).await;
    assert_eq!(failed["task"]["status"]["state"], "TASK_STATE_FAILED", "{failed}");
    let parts = &failed["task"]["status"]["message"]["parts"];
    assert_eq!(parts[0]["data"]["error"]["code"], "room_unavailable");
    assert_eq!(parts[1]["text"], "The room is taken.");
    let refused = send(&place, "/a2a", "SendMessage", calling("secret")).await;
    assert_eq!(refused["task"]["status"]["state"], "TASK_STATE_REJECTED", "{refused}");
}

#[tokio::test]
async fn other_data_is_for_the_agent() {
    let words = |result: Value| result.to_string().contains("words");
    let place = place(true).await;
    for parts in [
        json!([{"data": {"skill": "paint_rooms", "input": {}}}]),
        json!([{"data": {"skill": 7}}]),
        json!([{"data": {"skill": "book_rooms"}}, {"data": {"skill": "book_rooms"}}]),
        json!([{"text": "{\"skill\": \"book_rooms\"}"}]),
    ] {
        assert!(words(send(&place, "/a2a", "SendMessage", parts.clone()).await), "{parts}");
    }
    assert!(words(send(&place, "/a2a/bot", "SendMessage", calling("12")).await));
}

#[tokio::test]
async fn cards_name_skills_and_how_they_are_called() {
    let hub = async |as_skill| {
        let place = place(as_skill).await;
        place.send(request("GET", "/.well-known/agent-card.json"), "").await.is(200).json()
    };
    let with = hub(true).await;
    let skill = with["skills"].as_array().unwrap().iter().find(|skill| skill["id"] == "book_rooms").unwrap();
    assert_eq!(skill["examples"][0], r#"{"input":{"room":"…"},"skill":"book_rooms"}"#);
    assert!(with["defaultInputModes"].as_array().unwrap().contains(&json!("application/json")));
    let without = hub(false).await;
    assert!(!without.to_string().contains("book_rooms"));
}

#[tokio::test]
async fn a_skill_that_nothing_was_begun_of_is_an_error_that_says_when_to_come_again() {
    let place = place(true).await;
    let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": calling("later")});
    let post = request("POST", "/a2a/message:send").header("content-type", "application/json");
    let answer = place.send(post, json!({ "message": message }).to_string()).await.is(503);
    assert_eq!((answer.field("retry-after"), &answer.json()["task"]), (Some("5"), &Value::Null));
}
