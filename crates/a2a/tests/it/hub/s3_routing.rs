//! Hub card 3: whom a message is for.

use std::time::{Duration, Instant};

use forecourt_testkit::{ScriptedAgent, card};
use serde_json::{Value, json};

use crate::hub::answer::artifact_text;
use crate::hub::support::{InTurn, Place, Setup, ask, done, text, two};
use crate::hub::wire::{Op, Wire, merged};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Which of the two agents answers `words` in a conversation.
#[track_caller]
fn answered(task: &Value) -> String {
    assert!(task["contextId"].is_string(), "{task}");
    artifact_text(task)
}

async fn in_context(place: &Place, wire: Wire, context: &str, words: &str) -> String {
    answered(&wire.at(place).says_with(words, json!({"contextId": context})).await.task(wire))
}

async fn to_whom(place: &Place, words: &str) -> String {
    answered(&Wire::Rpc10.at(place).says(words).await.task(Wire::Rpc10))
}

#[tokio::test]
async fn s3_1_mentions_are_read_without_case_and_lowercased() {
    let (place, _, gate) = two().await;
    for (words, given) in [
        ("@gate hi", "hi"),
        ("@GATE hi", "hi"),
        ("@Gate, hi", "hi"),
        ("@gate: hi!", "hi!"),
        ("hi @gate", "hi @gate"),
        ("(@gate)", "(@gate)"),
        ("hi\n@gate\nhi", "hi\n@gate\nhi"),
        ("@gate", "@gate"),
    ] {
        assert_eq!(to_whom(&place, words).await, "gate", "{words}");
        assert_eq!(gate.heard().pop().unwrap().text(), given, "whom it is for is not what it says");
    }
}

#[tokio::test]
async fn s3_1_a_name_that_is_longer_than_a_handle_is_no_mention() {
    let longest = "a".repeat(30);
    let (chef, long) = (ScriptedAgent::saying(["chef"]), ScriptedAgent::saying(["long"]));
    let place = Setup::default().with(card("chef"), chef).with(card(&longest), long).start().await;
    assert_eq!(to_whom(&place, &format!("@{longest} hi")).await, "long");
    assert_eq!(to_whom(&place, &format!("@{longest}a hi")).await, "chef");
}

#[tokio::test]
async fn s3_2_first_mention_wins() {
    let (place, chef, gate) = two().await;
    for wire in Wire::ALL {
        let answer = wire.at(&place).says("@gate ask @chef about it").await;
        assert_eq!(answered(&answer.task(wire)), "gate", "{wire:?}");
    }
    assert_eq!((chef.heard().len(), gate.heard().len()), (0, Wire::ALL.len()));
}

#[tokio::test]
async fn s3_2_later_mentions_stay_in_the_text() {
    let (place, _, gate) = two().await;
    let words = "@gate what would @chef say, and @gate again?";
    to_whom(&place, words).await;
    assert_eq!(gate.heard()[0].text(), "what would @chef say, and @gate again?");
}

#[tokio::test]
async fn s3_2_only_the_leading_text_is_read() {
    let (place, _, _) = two().await;
    for wire in Wire::ALL {
        let message = wire.saying(&[wire.text("hi"), wire.text("@gate")]);
        let answer = wire.at(&place).call(Op::Send, wire.sending(message)).await;
        assert_eq!(answered(&answer.task(wire)), "chef", "{wire:?}");
    }
}

#[tokio::test]
async fn s3_2_an_unknown_first_mention_falls_through_and_the_next_is_not_tried() {
    let (place, _, _) = two().await;
    assert_eq!(to_whom(&place, "@nobody hi").await, "chef");
    assert_eq!(to_whom(&place, "@nobody ask @gate").await, "chef");
    assert_eq!(in_context(&place, Wire::Rpc10, "c", "@gate hi").await, "gate");
    assert_eq!(in_context(&place, Wire::Rpc10, "c", "@nobody hi").await, "gate", "falls through to the conversation");
}

#[tokio::test]
async fn s3_2_mail_addresses_and_other_domains_are_no_mentions() {
    let (place, _, _) = two().await;
    for words in [
        "write to me@gate",
        "joe@gate.example",
        "see https://social.example/@gate",
        "@gate@other.example hi",
        "ask ünï@gate",
        "@gateé",
    ] {
        assert_eq!(to_whom(&place, words).await, "chef", "{words}");
    }
    assert_eq!(to_whom(&place, "@gate@demo.localhost hi").await, "gate");
    assert_eq!(to_whom(&place, "mail joe@x.example, then @gate").await, "gate");
}

#[tokio::test]
async fn s3_2_ten_thousand_mentions_take_no_time_and_the_first_wins() {
    let (place, _, gate) = two().await;
    let spam = format!("@gate {}", "@chef @nobody a@b ".repeat(10_000));
    let began = Instant::now();
    assert_eq!(to_whom(&place, &spam).await, "gate");
    // A search that is not linear takes minutes here.
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(gate.heard()[0].text() == spam["@gate ".len()..], "all behind the first one");
}

#[tokio::test]
async fn s3_2_a_message_without_text_goes_to_the_default_agent() {
    let (place, chef, _) = two().await;
    for wire in Wire::ALL {
        let kind = if wire == Wire::Rpc03 { json!({"kind": "data"}) } else { json!({}) };
        let data = merged(kind, json!({"data": {"a": "@gate"}}));
        wire.at(&place).call(Op::Send, wire.sending(wire.saying(&[data]))).await.task(wire);
    }
    assert_eq!(chef.heard().len(), Wire::ALL.len());
}

#[tokio::test]
async fn s3_3_without_mention_and_conversation_the_default_agent_answers() {
    let (place, _, _) = two().await;
    for wire in Wire::ALL {
        assert_eq!(answered(&wire.at(&place).says("hello?").await.task(wire)), "chef");
        assert_eq!(in_context(&place, wire, "never seen", "hello?").await, "chef");
    }
}

#[tokio::test]
async fn s3_3_no_mention_goes_on_with_the_agent_of_the_conversation() {
    let (place, _, gate) = two().await;
    for wire in Wire::ALL {
        let first = wire.at(&place).says("@gate hi").await.task(wire);
        let context = first["contextId"].as_str().unwrap();
        assert_eq!(in_context(&place, wire, context, "and then?").await, "gate", "{wire:?}");
        let heard = gate.heard().pop().unwrap();
        let said: Vec<String> = heard.history.iter().map(|turn| turn.parts[0].as_text().unwrap().to_owned()).collect();
        assert_eq!(said, ["@gate hi", "gate"], "{wire:?}");
    }
}

#[tokio::test]
async fn s3_3_a_name_that_the_client_made_up_is_kept() {
    let (place, _, _) = two().await;
    for wire in Wire::ALL {
        let name = format!("my conversation/{wire:?} é");
        let answer = wire.at(&place).says_with("@gate hi", json!({"contextId": name})).await;
        assert_eq!(answer.task(wire)["contextId"], name);
        assert_eq!(in_context(&place, wire, &name, "more").await, "gate");
    }
}

#[tokio::test]
async fn s3_3_the_conversation_goes_on_whatever_version_is_spoken() {
    let (place, _, _) = two().await;
    in_context(&place, Wire::Rpc03, "c", "@gate hi").await;
    for wire in Wire::ALL {
        assert_eq!(in_context(&place, wire, "c", "more").await, "gate", "{wire:?}");
    }
}

#[tokio::test]
async fn s3_3_a_mention_switches_and_the_new_agent_has_no_history() {
    let (place, chef, gate) = two().await;
    in_context(&place, Wire::Rpc10, "c", "@gate my secret is 42").await;
    assert_eq!(in_context(&place, Wire::Rpc10, "c", "@chef hi").await, "chef");
    assert!(chef.heard().pop().unwrap().history.is_empty());
    assert_eq!(in_context(&place, Wire::Rpc10, "c", "more").await, "chef", "the mapping follows");
    assert_eq!(chef.heard().pop().unwrap().history.len(), 2);
    assert_eq!(in_context(&place, Wire::Rpc10, "c", "@gate back").await, "gate");
    assert_eq!(gate.heard().pop().unwrap().history.len(), 2, "its own turns are still its own");
}

#[tokio::test]
async fn s3_3_seven_idle_days_forget() {
    let (place, _, _) = two().await;
    in_context(&place, Wire::Rpc10, "c", "@gate hi").await;
    place.clock.advance(7 * DAY - Duration::from_secs(1));
    assert_eq!(in_context(&place, Wire::Rpc10, "c", "more").await, "gate");
    in_context(&place, Wire::Rpc10, "d", "@gate hi").await;
    place.clock.advance(7 * DAY);
    assert_eq!(in_context(&place, Wire::Rpc10, "d", "more").await, "chef");
}

#[tokio::test]
async fn s3_3_a_conversation_that_is_used_is_not_idle() {
    let (place, _, _) = two().await;
    in_context(&place, Wire::Rpc10, "c", "@gate hi").await;
    for _ in 0..4 {
        place.clock.advance(3 * DAY);
        assert_eq!(in_context(&place, Wire::Rpc10, "c", "more").await, "gate");
    }
}

#[tokio::test]
async fn s3_3_the_same_name_is_another_conversation_for_another_caller() {
    let (place, _, gate) = two().await;
    let said = |by: &'static str, words: &'static str| {
        let call = Wire::Rpc10.at(&place).by(by);
        async move { answered(&call.says_with(words, json!({"contextId": "c"})).await.task(Wire::Rpc10)) }
    };
    assert_eq!(said("ann", "@gate my secret is 42").await, "gate");
    assert_eq!(said("bob", "hi").await, "chef");
    assert_eq!(said("", "hi").await, "chef");
    assert_eq!(said("bob", "@gate hi").await, "gate");
    assert!(gate.heard().pop().unwrap().history.is_empty());
    assert_eq!(said("ann", "hi").await, "gate");
}

#[tokio::test]
async fn s3_3_a_task_that_waits_stays_with_its_agent() {
    let asking = InTurn::of([vec![ask("Which?")], vec![text("gate"), done()]]);
    let chef = ScriptedAgent::saying(["chef"]);
    let place = Setup::default().with(card("chef"), chef.clone()).with(card("gate"), asking).start().await;
    let wire = Wire::Rpc10;
    let task = wire.at(&place).says("@gate hi").await.task(wire);
    let answer = wire.at(&place).says_with("@chef the red one", json!({"taskId": task["id"]})).await;
    assert_eq!(artifact_text(&answer.task(wire)), "gate");
    assert!(chef.heard().is_empty());
}

#[tokio::test]
async fn s3_3_a_conversation_of_another_wire_goes_on_with_the_agent_it_was_switched_to() {
    let (place, _, gate) = two().await;
    let session = place.begins_elsewhere("gate").await;
    assert_eq!(in_context(&place, Wire::Rpc10, &session, "@gate hi").await, "gate");
    assert_eq!(gate.heard().pop().unwrap().history.len(), 2);
    assert_eq!(in_context(&place, Wire::Rpc10, &session, "more").await, "gate");
    assert_eq!(gate.heard().pop().unwrap().history.len(), 4);
    assert_eq!(in_context(&place, Wire::Rpc10, &session, "@chef hi").await, "chef");
    assert_eq!(in_context(&place, Wire::Rpc10, &session, "@gate hi").await, "gate");
    assert_eq!(in_context(&place, Wire::Rpc10, &session, "more").await, "gate");
}
