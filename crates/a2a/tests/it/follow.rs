//! Answers that break, hang or are left: nothing is lost, said twice, or left running.

use std::time::Duration;

use axum::response::IntoResponse;
use forecourt_core::{Ending, Event, FailureCause};
use futures::StreamExt;
use serde_json::{Value, json};

use crate::peer::*;

fn begun() -> Vec<Value> {
    vec![json!({"task": task_10("WORKING", Value::Null, json!([]))}), text_10("Hel", false, false)]
}

fn artifact(text: &str) -> Value {
    json!([{"artifactId": "a1", "parts": [{"text": text}]}])
}

#[tokio::test]
async fn a_broken_stream_is_taken_up_where_the_task_stands() {
    let mut peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |number, _| match number {
            0 => rpc_stream(&begun(), After::Break),
            _ => rpc_stream(
                &[
                    json!({"task": task_10("WORKING", Value::Null, artifact("Hello"))}),
                    text_10(" you", true, true),
                    status_10("COMPLETED", Value::Null),
                ],
                After::Close,
            ),
        },
    )
    .await;
    let events = events(&build(&peer.base, ""), "hi").await;
    let text = |event: &Event| if let Event::Text(text) = event { Some(text.clone()) } else { None };
    assert_eq!(events.iter().filter_map(text).collect::<Vec<_>>(), ["Hel", "lo", " you"]);
    assert_eq!(events.last(), Some(&Event::Ending(Ending::Complete)));
    assert_eq!(peer.next().await.method(), "SendStreamingMessage");
    let again = peer.next().await;
    assert_eq!((again.method().as_str(), &again.body["params"]["id"]), ("SubscribeToTask", &json!("t1")));
}

#[tokio::test]
async fn event_ids_are_sent_back() {
    let mut peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |number, _| {
            let numbered = |items: &[Value], first: usize| {
                let frames = rpc_frames(items).into_iter().enumerate();
                frames.map(|(at, frame)| format!("id: {}\n{frame}", first + at)).collect()
            };
            match number {
                0 => sse(numbered(&begun(), 1), After::Break),
                _ => sse(numbered(&[text_10("lo", true, true), status_10("COMPLETED", Value::Null)], 3), After::Close),
            }
        },
    )
    .await;
    assert_eq!(ask(&build(&peer.base, ""), "hi").await.text(), "Hello");
    assert!(!peer.next().await.headers.contains_key("last-event-id"));
    assert_eq!(peer.next().await.headers["last-event-id"], "2");
}

#[tokio::test]
async fn a_task_that_can_not_be_subscribed_to_is_looked_at() {
    let peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |number, heard| match (number, heard.method().as_str()) {
            (0, _) => rpc_stream(&begun(), After::Break),
            (_, "SubscribeToTask") => rpc_error(-32004, "no"),
            (_, "GetTask") if number < 3 => rpc_result(task_10("WORKING", Value::Null, artifact("Hell"))),
            _ => rpc_result(task_10("COMPLETED", Value::Null, artifact("Hello"))),
        },
    )
    .await;
    assert_eq!(ask(&build(&peer.base, ""), "hi").await.text(), "Hello");
}

#[tokio::test]
async fn pieces_out_of_the_middle_wait_for_the_whole() {
    let peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |number, heard| match (number, heard.method().as_str()) {
            (0, _) => rpc_stream(&begun(), After::Break),
            // "lo" went by unheard.
            (_, "SubscribeToTask") => {
                rpc_stream(&[text_10(" you", true, true), status_10("COMPLETED", Value::Null)], After::Close)
            }
            _ => rpc_result(task_10("COMPLETED", Value::Null, artifact("Hello you"))),
        },
    )
    .await;
    assert_eq!(ask(&build(&peer.base, ""), "hi").await.text(), "Hello you");
}

#[tokio::test]
async fn s3_5_a_stream_that_closes_without_an_end_has_failed() {
    let peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |number, _| if number == 0 { rpc_stream(&begun(), After::Close) } else { rpc_error(-32001, "gone") },
    )
    .await;
    let answer = ask(&build(&peer.base, ""), "hi").await;
    assert!(failure(&answer).contains("The agent behind this one "), "{answer:?}");
    assert_eq!(answer.text(), "Hel", "what came is not thrown away");
}

#[tokio::test]
async fn attempts_at_going_on_have_an_end() {
    let mut peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |number, _| match number {
            0 => rpc_stream(&begun(), After::Close),
            _ => axum::http::StatusCode::SERVICE_UNAVAILABLE.into_response(),
        },
    )
    .await;
    let built = build(&peer.base, "");
    let mut answer = begin(&built, message("hi")).await;
    while !matches!(answer.next().await, Some(Event::Text(_))) {}
    tokio::time::pause();
    let Some(Event::Ending(Ending::Failed { .. })) = answer.next().await else { panic!("a failure") };
    drop(answer);
    let mut methods = Vec::new();
    while let Ok(heard) = peer.heard.try_recv() {
        methods.push(heard.method());
    }
    let tries = methods.iter().filter(|method| *method == "SubscribeToTask").count();
    assert!(tries <= forecourt_a2a::client::limits::RESUMES_FRUITLESS_MAX as usize, "{methods:?}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_gone_once_it_has_begun_is_not_to_be_asked_again() {
    // A piece of an answer says nothing of the task's state, and is a beginning all the same.
    for first in [json!({"task": task_10("WORKING", Value::Null, json!([]))}), text_10("Hel", false, false)] {
        let base = dying_peer(rpc_frames(&[first])).await;
        let answer = ask(&build(&base, ""), "hi").await;
        let Ending::Failed { cause: FailureCause::CutOff, reason } = &answer.ending else { panic!("{answer:?}") };
        assert!(reason.contains("may have begun"), "{reason}");
    }
}

#[tokio::test]
async fn whoever_leaves_cancels_there() {
    let mut peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |number, _| match number {
            0 => rpc_stream(&begun(), After::Hang),
            _ => rpc_result(task_10("CANCELED", Value::Null, json!([]))),
        },
    )
    .await;
    let built = build(&peer.base, "");
    let mut answer = begin(&built, message("hi")).await;
    while !matches!(answer.next().await, Some(Event::Text(_))) {}
    drop(answer);
    assert_eq!(peer.next().await.method(), "SendStreamingMessage");
    let cancel = peer.next().await;
    assert_eq!((cancel.method().as_str(), &cancel.body["params"]["id"]), ("CancelTask", &json!("t1")));
}

#[tokio::test]
async fn an_agent_that_falls_silent_is_given_up() {
    let mut peer =
        peer(|base| json_answer(card_10(base, "JSONRPC", true)), |_, _| rpc_stream(&begun(), After::Hang)).await;
    let built = build(&peer.base, "idle_seconds = 30\ntotal_seconds = 100\n");
    let mut answer = begin(&built, message("hi")).await;
    while !matches!(answer.next().await, Some(Event::Text(_))) {}
    // From here on only the clock can end it.
    tokio::time::pause();
    let Some(Event::Ending(Ending::Failed { reason, .. })) = answer.next().await else { panic!("a failure") };
    assert!(reason.starts_with("The agent behind this one"), "{reason}");
    tokio::time::resume();
    drop(answer);
    let mut cancelled = false;
    for _ in 0..40 {
        let Ok(Some(heard)) = tokio::time::timeout(Duration::from_secs(5), peer.heard.recv()).await else { break };
        cancelled |= heard.method() == "CancelTask";
        if cancelled {
            break;
        }
    }
    assert!(cancelled);
}
