//! A message that is sent again: the same task for a day, whatever binding it comes over.

use std::time::Duration;

use forecourt_testkit::{ScriptedAgent, Step};
use serde_json::{Value, json};

use crate::hub::answer::{artifact_text, state, status_text};
use crate::hub::support::{InTurn, Place, alone, ask, bot, done, text};
use crate::hub::wire::{Op, Wire};

/// An id as client libraries make it up.
const UUID: &str = "8c7e1f1e-6f0b-4a0e-9f57-2f6c3f1b8f6a";

async fn says(place: &Place, wire: Wire, by: &str, words: &str, id: &str) -> Value {
    wire.at(place).by(by).says_with(words, json!({"messageId": id})).await.task(wire)
}

#[tokio::test]
async fn the_same_message_of_the_same_caller_is_the_same_task() {
    for by in ["", "ann"] {
        let agent = ScriptedAgent::new(vec![Step::Do(text("hi")), Step::Do(done())]);
        let place = alone(agent.clone()).await;
        let first = says(&place, Wire::Rpc10, by, "hello", UUID).await;
        for wire in Wire::ALL {
            let again = says(&place, wire, by, "hello", UUID).await;
            assert_eq!((&again["id"], artifact_text(&again)), (&first["id"], "hi".to_owned()), "{wire:?}");
        }
        assert_eq!(agent.heard().len(), 1, "the agent was asked once");
    }
}

#[tokio::test]
async fn other_words_another_caller_or_another_endpoint_make_another_message() {
    let place = bot(vec![text("hi"), done()]).await;
    let wire = Wire::Rpc10;
    let first = says(&place, wire, "ann", "hello", UUID).await;
    assert_ne!(says(&place, wire, "ann", "goodbye", UUID).await["id"], first["id"]);
    assert_ne!(says(&place, wire, "bob", "hello", UUID).await["id"], first["id"]);
    assert_ne!(says(&place, wire, "", "hello", UUID).await["id"], first["id"]);
    let params = json!({"messageId": UUID});
    let elsewhere = wire.at(&place).to("/a2a/bot").by("ann").says_with("hello", params).await.task(wire);
    assert_ne!(elsewhere["id"], first["id"]);
}

#[tokio::test]
async fn an_id_that_anybody_may_come_upon_names_no_message() {
    let place = bot(vec![text("hi"), done()]).await;
    for id in ["m1", "msg-1", "tck-complete-task-1a2b3c4d"] {
        let first = says(&place, Wire::Rpc10, "", "hello", id).await;
        assert_ne!(says(&place, Wire::Rpc10, "", "hello", id).await["id"], first["id"], "{id}");
    }
}

#[tokio::test]
async fn after_a_day_it_is_another_task() {
    let place = bot(vec![text("hi"), done()]).await;
    let first = says(&place, Wire::Rpc10, "", "hello", UUID).await;
    place.clock.advance(Duration::from_secs(24 * 60 * 60 - 1));
    // The task itself is kept for an hour; the message is not carried out twice for that.
    let late = Wire::Rpc10.at(&place).says_with("hello", json!({"messageId": UUID})).await;
    late.is_fault(Wire::Rpc10, -32004);
    place.clock.advance(Duration::from_secs(2));
    assert_ne!(says(&place, Wire::Rpc10, "", "hello", UUID).await["id"], first["id"]);
}

#[tokio::test]
async fn an_answer_that_is_sent_again_is_taken_once() {
    let place = alone(InTurn::of([vec![ask("Which?")], vec![text("red"), done()]])).await;
    let wire = Wire::Rpc10;
    let asked = says(&place, wire, "", "paint it", "m1").await;
    assert_eq!(status_text(&asked), "Which?");
    let answer = json!({"messageId": UUID, "taskId": asked["id"]});
    for _ in 0..2 {
        let task = wire.at(&place).says_with("red", answer.clone()).await.task(wire);
        assert_eq!((state(&task).as_str(), artifact_text(&task).as_str()), ("completed", "red"));
    }
}

#[tokio::test(start_paused = true)]
async fn two_that_come_at_once_are_one() {
    let agent = ScriptedAgent::new(vec![Step::Wait(Duration::from_secs(1)), Step::Do(text("hi")), Step::Do(done())]);
    let place = alone(agent.clone()).await;
    let wire = Wire::Rpc10;
    let (one, other) = tokio::join!(says(&place, wire, "", "hello", UUID), says(&place, wire, "", "hello", UUID));
    assert_eq!((&one["id"], agent.heard().len()), (&other["id"], 1));
}

#[tokio::test]
async fn a_stream_that_is_asked_for_again_is_told_again() {
    let place = bot(vec![text("a"), text("b"), done()]).await;
    for wire in Wire::V1_0 {
        let mut message = wire.said("hello");
        message["messageId"] = format!("{UUID}-{wire:?}").into();
        let open = || wire.at(&place).open(Op::Stream, json!({"message": message}));
        let first = crate::hub::answer::Frames::of(wire, open().await).rest().await;
        assert_eq!(crate::hub::answer::Frames::of(wire, open().await).rest().await, first);
    }
}
