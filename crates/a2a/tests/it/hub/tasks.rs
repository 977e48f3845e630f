//! Sending, reading and cancelling: who may, when, and how much is shown.

use std::time::Duration;

use forecourt_core::{Ending, Event, Sender};
use forecourt_testkit::{ScriptedAgent, Step};
use serde_json::{Value, json};

use crate::hub::answer::{artifact_text, parts_of, state, status_text};
use crate::hub::support::{InTurn, Place, Setup, alone, ask, bot, done, hanging, text};
use crate::hub::wire::{Op, Wire, merged};

/// An id in the shape of ours that names nothing.
const NO_TASK: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// What asks about one task, without changing what a refusal to answer must not change.
const ABOUT: [Op; 4] = [Op::Get, Op::Cancel, Op::Subscribe, Op::PushList];

async fn begun(place: &Place, wire: Wire, by: &str) -> Value {
    let params = json!({"message": wire.said("hi"), "configuration": wire.at_once()});
    wire.at(place).by(by).call(Op::Send, params).await.task(wire)
}

fn id(task: &Value) -> &str {
    task["id"].as_str().unwrap()
}

fn roles(task: &Value) -> Vec<String> {
    let history = task["history"].as_array().cloned().unwrap_or_default();
    let role = |message: &Value| message["role"].as_str().unwrap().trim_start_matches("ROLE_").to_lowercase();
    history.iter().map(role).collect()
}

#[tokio::test]
async fn unknown_tasks_are_not_found() {
    let place = bot(vec![text("hi"), done()]).await;
    for wire in Wire::ALL {
        for name in [NO_TASK, "x", "%20", "__proto__"] {
            for op in ABOUT {
                wire.at(&place).about(op, name).await.is_fault(wire, -32001);
            }
            let plain = if name == "%20" { " " } else { name };
            wire.at(&place).says_with("hi", json!({"taskId": plain})).await.is_fault(wire, -32001);
        }
    }
}

#[tokio::test]
async fn the_tasks_of_others_do_not_exist() {
    let place = alone(hanging()).await;
    for wire in Wire::ALL {
        let task = begun(&place, wire, "ann").await;
        for other in ["bob", ""] {
            for op in ABOUT {
                wire.at(&place).by(other).about(op, id(&task)).await.is_fault(wire, -32001);
            }
            let told = wire.at(&place).by(other).says_with("hi", json!({"taskId": id(&task)})).await;
            told.is_fault(wire, -32001);
            let unknown = wire.at(&place).by(other).says_with("hi", json!({"taskId": NO_TASK})).await;
            assert_eq!(told.body, unknown.body, "nothing tells them apart");
        }
        assert_eq!(state(&wire.at(&place).by("ann").about(Op::Get, id(&task)).await.task(wire)), "working");
    }
}

#[tokio::test]
async fn a_task_without_an_owner_is_for_whoever_knows_its_id() {
    let place = bot(vec![text("hi"), done()]).await;
    for wire in Wire::ALL {
        let task = wire.at(&place).says("hi").await.task(wire);
        for by in ["", "ann"] {
            assert_eq!(wire.at(&place).by(by).about(Op::Get, id(&task)).await.task(wire), task);
        }
    }
}

#[tokio::test]
async fn a_task_that_ended_takes_nothing_any_more() {
    let endings = [done(), Event::Ending(Ending::failed("No.")), Event::Ending(Ending::Canceled)];
    for ending in endings {
        let place = bot(vec![text("hi"), ending]).await;
        for wire in Wire::ALL {
            let task = wire.at(&place).says("hi").await.task(wire);
            wire.at(&place).says_with("more", json!({"taskId": id(&task)})).await.is_fault(wire, -32004);
            wire.at(&place).about(Op::Cancel, id(&task)).await.is_fault(wire, -32002);
            wire.at(&place).about(Op::Subscribe, id(&task)).await.is_fault(wire, -32004);
            assert_eq!(wire.at(&place).about(Op::Get, id(&task)).await.task(wire), task);
        }
    }
}

#[tokio::test]
async fn a_task_at_work_takes_no_message() {
    let agent = hanging();
    let place = alone(agent.clone()).await;
    for wire in Wire::ALL {
        let task = begun(&place, wire, "").await;
        wire.at(&place).says_with("more", json!({"taskId": id(&task)})).await.is_fault(wire, -32004);
    }
    assert_eq!(agent.heard().len(), Wire::ALL.len());
}

#[tokio::test]
async fn a_conversation_that_is_not_the_tasks_is_invalid() {
    let place = alone(InTurn::of([vec![ask("Which?")]])).await;
    for wire in Wire::ALL {
        let task = wire.at(&place).says("hi").await.task(wire);
        let wrong = json!({"taskId": id(&task), "contextId": "other"});
        wire.at(&place).says_with("red", wrong).await.is_fault(wire, -32602);
        let right = json!({"taskId": id(&task), "contextId": task["contextId"]});
        assert_eq!(state(&wire.at(&place).says_with("red", right).await.task(wire)), "input-required");
    }
}

#[tokio::test]
async fn a_question_is_answered_in_the_same_task() {
    for wire in Wire::ALL {
        let place = alone(InTurn::of([vec![text("Well. "), ask("Which?")], vec![text("red it is"), done()]])).await;
        let asked = wire.at(&place).says("paint it").await.task(wire);
        assert_eq!((state(&asked).as_str(), status_text(&asked).as_str()), ("input-required", "Which?"));
        let task = wire.at(&place).says_with("red", json!({"taskId": id(&asked)})).await.task(wire);
        assert_eq!((id(&task), &task["contextId"]), (id(&asked), &asked["contextId"]));
        assert_eq!((state(&task).as_str(), artifact_text(&task).as_str()), ("completed", "red it is"));
        assert_eq!(roles(&task), ["user", "agent", "user"], "{task}");
        assert_eq!(task["history"][0]["messageId"], "m1", "under the caller's id");
    }
}

#[tokio::test]
async fn the_agent_hears_what_was_said_in_its_task() {
    let second = ScriptedAgent::saying(["ok"]);
    let asking = ScriptedAgent::new(vec![Step::Do(ask("Which?"))]);
    let place = alone(InTurn::scripts([asking, second.clone()])).await;
    let wire = Wire::Rpc10;
    let asked = wire.at(&place).says("paint it").await.task(wire);
    wire.at(&place).says_with("red", json!({"taskId": id(&asked)})).await.task(wire);
    let heard = second.heard().remove(0);
    let said: Vec<&str> = heard.history.iter().filter_map(|turn| turn.parts[0].as_text()).collect();
    assert_eq!((heard.text().as_str(), said), ("red", vec!["paint it", "Which?"]));
}

#[tokio::test]
async fn history_is_as_long_as_was_asked() {
    for wire in Wire::ALL {
        let place = alone(InTurn::of([vec![ask("Which?")], vec![text("ok"), done()]])).await;
        let asked = wire.at(&place).says("paint it").await.task(wire);
        let task = wire.at(&place).says_with("red", json!({"taskId": id(&asked)})).await.task(wire);
        let read = async |length: i64| {
            let params = json!({"id": id(&task), "historyLength": length});
            wire.at(&place).call(Op::Get, params).await
        };
        assert_eq!(read(0).await.task(wire).get("history"), None, "{wire:?}");
        assert_eq!(roles(&read(1).await.task(wire)), ["user"]);
        let newest = read(2).await.task(wire);
        assert_eq!(parts_of(&newest["history"][0])[0]["text"], "Which?");
        assert_eq!(roles(&newest), ["agent", "user"], "the newest, oldest first");
        assert_eq!(roles(&read(100).await.task(wire)).len(), 3);
        read(-1).await.is_fault(wire, -32602);
        let configuration =
            merged(wire.sending(wire.said("hi")), json!({"configuration": {"historyLength": 0, "blocking": true}}));
        assert_eq!(wire.at(&place).call(Op::Send, configuration).await.task(wire).get("history"), None);
    }
}

#[tokio::test(start_paused = true)]
async fn sending_waits_for_the_end_unless_told_otherwise() {
    let steps = vec![Step::Do(text("slow")), Step::Wait(Duration::from_secs(30)), Step::Do(done())];
    let (setup, _) = Setup::default().playing("bot", steps);
    let place = setup.start().await;
    for wire in Wire::ALL {
        assert_eq!(state(&wire.at(&place).says("hi").await.task(wire)), "completed");
        let task = begun(&place, wire, "").await;
        assert!(matches!(state(&task).as_str(), "submitted" | "working"), "{task}");
        tokio::time::sleep(Duration::from_secs(31)).await;
        let later = wire.at(&place).about(Op::Get, id(&task)).await.task(wire);
        assert_eq!((state(&later).as_str(), artifact_text(&later).as_str()), ("completed", "slow"));
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_has_a_ceiling_and_the_task_goes_on() {
    let steps = vec![Step::Do(text("slow")), Step::Wait(Duration::from_secs(300)), Step::Do(done())];
    let (setup, _) = Setup { section: "blocking_seconds = 10", ..Setup::default() }.playing("bot", steps);
    let place = setup.start().await;
    for wire in Wire::ALL {
        let began = tokio::time::Instant::now();
        let task = wire.at(&place).says("hi").await.task(wire);
        assert_eq!((state(&task).as_str(), began.elapsed().as_secs()), ("working", 10));
        assert_eq!(artifact_text(&task), "slow", "with what there is so far");
        tokio::time::sleep(Duration::from_secs(300)).await;
        assert_eq!(state(&wire.at(&place).about(Op::Get, id(&task)).await.task(wire)), "completed");
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_does_not_cancel() {
    let steps = vec![Step::Wait(Duration::from_secs(30)), Step::Do(text("done")), Step::Do(done())];
    let (setup, agent) = Setup::default().playing("bot", steps);
    let place = setup.start().await;
    for wire in Wire::ALL {
        let left = tokio::time::timeout(Duration::from_secs(1), wire.at(&place).says("hi")).await;
        assert!(left.is_err());
        let mut frames = wire.at(&place).streams("hi").await;
        let task = frames.next().await.unwrap().value;
        drop(frames);
        tokio::time::sleep(Duration::from_secs(31)).await;
        assert_eq!(state(&wire.at(&place).about(Op::Get, id(&task)).await.task(wire)), "completed");
    }
    let many = 2 * Wire::ALL.len();
    assert_eq!(agent.begun_and_left(), (many, many));
}

#[tokio::test(start_paused = true)]
async fn cancelling_reaches_the_agent() {
    let agent = hanging();
    let place = alone(agent.clone()).await;
    for (wire, count) in Wire::ALL.into_iter().zip(1..) {
        let task = begun(&place, wire, "ann").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let canceled = wire.at(&place).by("ann").about(Op::Cancel, id(&task)).await.task(wire);
        assert_eq!((state(&canceled).as_str(), id(&canceled)), ("canceled", id(&task)));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(agent.begun_and_left(), (count, count), "its stream is dropped");
        let read = wire.at(&place).by("ann").about(Op::Get, id(&task)).await.task(wire);
        assert_eq!((state(&read).as_str(), artifact_text(&read).as_str()), ("canceled", "Well. "), "{read}");
    }
}

#[tokio::test]
async fn a_task_that_waits_can_be_cancelled() {
    let place = bot(vec![ask("Which?")]).await;
    for wire in Wire::ALL {
        let task = wire.at(&place).says("hi").await.task(wire);
        assert_eq!(state(&wire.at(&place).about(Op::Cancel, id(&task)).await.task(wire)), "canceled");
        wire.at(&place).says_with("red", json!({"taskId": id(&task)})).await.is_fault(wire, -32004);
    }
}

#[tokio::test]
async fn of_two_cancellations_one_is_too_late() {
    for wire in Wire::ALL {
        let place = alone(hanging()).await;
        let task = begun(&place, wire, "").await;
        let cancel = || wire.at(&place).about(Op::Cancel, id(&task));
        let (one, other) = tokio::join!(cancel(), cancel());
        let done = [&one, &other].iter().filter(|answer| !answer.text().contains("\"error\"")).count();
        assert!(done >= 1, "{} {}", one.text(), other.text());
        wire.at(&place).about(Op::Cancel, id(&task)).await.is_fault(wire, -32002);
        assert_eq!(state(&wire.at(&place).about(Op::Get, id(&task)).await.task(wire)), "canceled");
    }
}

#[tokio::test]
async fn cancel_over_http_json_needs_no_body() {
    let place = alone(hanging()).await;
    for (wire, prefix) in [(Wire::Rest10, ""), (Wire::Rest03, "/v1")] {
        let task = begun(&place, wire, "").await;
        let head = crate::hub::support::request("POST", &format!("/a2a{prefix}/tasks/{}:cancel", id(&task)));
        assert_eq!(state(&place.send(head, "").await.task(wire)), "canceled");
    }
}

#[tokio::test]
async fn a_direct_answer_is_a_message_and_no_task() {
    let place = bot(vec![Event::Ending(Ending::Message("Just so.".to_owned()))]).await;
    for wire in Wire::ALL {
        let message = wire.at(&place).says_with("hi", json!({"contextId": "c"})).await.message(wire);
        assert_eq!((&message["contextId"], message.get("taskId")), (&json!("c"), None));
        assert_eq!(parts_of(&message)[0]["text"], "Just so.");
        assert_eq!(message["role"], if wire == Wire::Rpc03 { "agent" } else { "ROLE_AGENT" });
        let frames = wire.at(&place).streams("hi").await.rest().await;
        assert_eq!((frames.len(), frames[0].kind), (1, "message"), "after which nothing follows");
    }
}

#[tokio::test]
async fn what_is_read_is_the_same_from_read_to_read() {
    let place = bot(vec![text("hi"), Event::Ending(Ending::failed("No flour."))]).await;
    for wire in Wire::ALL {
        let task = wire.at(&place).says("hi").await.task(wire);
        assert_eq!((state(&task).as_str(), status_text(&task).as_str()), ("failed", "No flour."));
        place.clock.advance(Duration::from_secs(60));
        assert_eq!(wire.at(&place).about(Op::Get, id(&task)).await.task(wire), task, "its message ids too");
    }
}

#[tokio::test]
async fn the_agent_gets_what_the_caller_said() {
    let agent = ScriptedAgent::saying(["hi"]);
    let place = alone(agent.clone()).await;
    for wire in Wire::ALL {
        let message = merged(
            wire.said("hi"),
            json!({"messageId": "m 7", "contextId": "c", "extensions": ["https://a.example/x"],
            "metadata": {"https://a.example/x": {"deep": [1]}}}),
        );
        wire.at(&place).by("ann").with("accept-language", "de").call(Op::Send, wire.sending(message)).await.task(wire);
        let heard = agent.heard().pop().unwrap();
        assert_eq!((heard.id.as_str(), heard.thread.as_ref().unwrap().expose()), ("m 7", "c"));
        assert_eq!(heard.metadata["https://a.example/x"], json!({"deep": [1]}));
        assert_eq!(heard.extensions, ["https://a.example/x"]);
        assert_eq!(heard.received_via, "a2a");
        let Sender { verified, peer, .. } = &heard.sender;
        assert!(*verified && *peer == Some("192.0.2.1".parse().unwrap()) && heard.sender.owner().is_some());
        assert!(heard.language.is_some());
    }
}

#[tokio::test]
async fn tasks_are_forgotten_after_their_time() {
    let place = bot(vec![text("hi"), done()]).await;
    for wire in Wire::ALL {
        let task = wire.at(&place).says("hi").await.task(wire);
        place.clock.advance(forecourt_core::limits::TASK_TTL - Duration::from_secs(1));
        wire.at(&place).about(Op::Get, id(&task)).await.task(wire);
        place.clock.advance(Duration::from_secs(2));
        wire.at(&place).about(Op::Get, id(&task)).await.is_fault(wire, -32001);
    }
}

#[tokio::test]
async fn chains_of_agents_end() {
    let agent = ScriptedAgent::saying(["hi"]);
    let place = alone(agent.clone()).await;
    let chained = |hop: u32| json!({"metadata": {"mentionable": {"agent_chain": {"hop": hop}}}});
    for wire in Wire::ALL {
        wire.at(&place).says_with("hi", chained(8)).await.task(wire);
        assert_eq!(agent.heard().pop().unwrap().hop, 7);
        wire.at(&place).says_with("hi", chained(9)).await.is_fault(wire, -32602);
    }
}

#[tokio::test]
async fn of_two_answers_to_one_question_one_is_taken() {
    for wire in Wire::ALL {
        let second = ScriptedAgent::new(vec![Step::Do(text("Well. ")), Step::Hang]);
        let asking = ScriptedAgent::new(vec![Step::Do(ask("Which?"))]);
        let place = alone(InTurn::scripts([asking, second.clone()])).await;
        let asked = wire.at(&place).says("hi").await.task(wire);
        let message = merged(wire.said("red"), json!({"taskId": id(&asked)}));
        let params = json!({"message": message, "configuration": wire.at_once()});
        let answer = || wire.at(&place).call(Op::Send, params.clone());
        let (one, other) = tokio::join!(answer(), answer());
        let (taken, refused) =
            if one.text().contains("-32004") || one.status != 200 { (other, one) } else { (one, other) };
        assert_eq!(state(&taken.task(wire)), "working");
        refused.is_fault(wire, -32004);
        assert_eq!(second.heard().len(), 1);
    }
}

#[tokio::test]
async fn a_message_at_the_endpoint_of_an_agent_reaches_that_agents_tasks_alone() {
    let chef = ScriptedAgent::saying(["chef"]);
    let gate = InTurn::of([vec![ask("Which?")]]);
    let setup = Setup::default().with(forecourt_testkit::card("chef"), chef.clone());
    let place = setup.with(forecourt_testkit::card("gate"), gate).start().await;
    for wire in Wire::ALL {
        let task = wire.at(&place).says("@gate hi").await.task(wire);
        let told = json!({"taskId": id(&task)});
        wire.at(&place).to("/a2a/chef").says_with("red", told.clone()).await.is_fault(wire, -32001);
        assert_eq!(id(&wire.at(&place).to("/a2a/gate").says_with("red", told).await.task(wire)), id(&task));
    }
    assert!(chef.heard().is_empty());
}

#[tokio::test]
async fn callers_have_so_many_tasks_at_once() {
    let limits = forecourt_host::LimitSettings { tasks_per_caller_max: 2, ..crate::hub::support::unlimited() };
    for wire in Wire::ALL {
        let setup = Setup { limits: Some(limits.clone()), ..Setup::default() };
        let place = setup.with(forecourt_testkit::card("bot"), hanging()).start().await;
        for _ in 0..2 {
            begun(&place, wire, "ann").await;
        }
        assert_eq!(state(&begun(&place, wire, "ann").await), "failed");
        assert_ne!(state(&begun(&place, wire, "bob").await), "failed");
    }
}
