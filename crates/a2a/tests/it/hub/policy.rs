//! Refusals on this protocol. PolicyPart 3.5, 4.1, 4.2.

use forecourt_core::json::canonical;
use forecourt_core::policy::{AcceptedPayment, AuthChallenge, RefusalKind};
use forecourt_core::{Ending, Event, Part, PolicyPart};
use forecourt_host::{LimitSettings, Rate};
use forecourt_testkit::{ScriptedAgent, Step, card};
use serde_json::{Value, json};

use crate::hub::answer::{Answer, artifact_text, state, status_text};
use crate::hub::support::{InTurn, Place, Refusing, Setup, alone, bot, done, refuse, text, unlimited};
use crate::hub::wire::{Op, Wire};

const POLICY: &str = "https://mentionable.dev/ns/policy/v0.1";

/// Every kind, with the state that PolicyPart 4.2 gives it.
fn kinds() -> Vec<(PolicyPart, &'static str)> {
    let part = |kind| PolicyPart::new(kind, "Words for a person.");
    let url = "https://demo.localhost/why";
    let with_url = |part: PolicyPart| PolicyPart { url: Some(url.to_owned()), ..part };
    let consent =
        RefusalKind::ConsentRequired { state: "s".repeat(43), return_to: "https://demo.localhost/back".to_owned() };
    let challenge = AuthChallenge::new("Bearer").with("realm", "demo").with("error", "insufficient_scope");
    let payment = AcceptedPayment { scheme: "ln.invoice".to_owned(), payload: Default::default() };
    vec![
        (with_url(part(consent)), "input-required"),
        (part(RefusalKind::PaymentRequired { accepted_payments: vec![payment] }), "input-required"),
        (part(RefusalKind::Unauthorized { auth_challenges: vec![challenge] }), "auth-required"),
        (part(RefusalKind::Forbidden), "rejected"),
        (part(RefusalKind::TooManyRequests { retry_after_seconds: Some(7) }), "failed"),
        (with_url(part(RefusalKind::UnavailableForLegalReasons)), "rejected"),
        (part(RefusalKind::ServiceUnavailable { retry_after_seconds: Some(9) }), "failed"),
    ]
}

/// Checks the envelope, the words and the state of a task or an update.
#[track_caller]
fn carries(value: &Value, part: &PolicyPart, expected: &str) {
    let message = &value["status"]["message"];
    let mut envelope = message["metadata"]["mentionable"]["policy"].clone();
    // A payment that an agent asks for without a state is given one by the host, and a page.
    if matches!(part.kind, RefusalKind::PaymentRequired { .. }) && part.url.is_none() {
        let own = envelope["part"].as_object_mut().unwrap();
        own.retain(|key, _| !matches!(key.as_str(), "url" | "data"));
    }
    assert_eq!(envelope, json!({"v": "v0.1", "part": part}), "{value}");
    assert_eq!(message["extensions"], json!([POLICY]));
    assert_eq!(status_text(value), part.message, "some clients show nothing else");
    assert_eq!(state(value), expected);
}

#[track_caller]
fn has_fields(answer: &Answer, part: &PolicyPart) {
    let expected = match &part.kind {
        RefusalKind::Unauthorized { .. } => Some((
            "www-authenticate",
            r#"Bearer error="insufficient_scope", realm="demo", resource_metadata="https://demo.localhost/.well-known/oauth-protected-resource/a2a""#,
        )),
        RefusalKind::TooManyRequests { .. } => Some(("retry-after", "7")),
        RefusalKind::ServiceUnavailable { .. } => Some(("retry-after", "9")),
        RefusalKind::UnavailableForLegalReasons => Some(("link", r#"<https://demo.localhost/why>; rel="blocked-by""#)),
        _ => None,
    };
    for name in ["www-authenticate", "retry-after", "link"] {
        let wanted = expected.filter(|(field, _)| *field == name).map(|(_, value)| value);
        if !matches!(part.kind, RefusalKind::ConsentRequired { .. }) {
            assert_eq!(answer.field(name), wanted, "{:?}", part.kind);
        }
    }
}

fn payable(payments: Value) -> PolicyPart {
    let part = json!({"kind": "payment_required", "message": "Two coins.", "accepted_payments": payments});
    serde_json::from_value(part).unwrap()
}

#[tokio::test]
async fn s4_2_every_kind_has_its_state_and_never_a_code_of_its_own() {
    for (part, expected) in kinds() {
        let place = bot(vec![refuse(part.clone())]).await;
        for wire in Wire::ALL {
            let answer = wire.at(&place).says("hi").await.is(200);
            carries(&answer.task(wire), &part, expected);
            has_fields(&answer, &part);
        }
    }
}

#[tokio::test]
async fn s4_2_a_refusal_by_the_agents_own_rule_is_the_same() {
    for (part, expected) in kinds() {
        let agent = ScriptedAgent::saying(["hi"]);
        let rules = vec![Refusing::always(part.clone())];
        let place = Setup::default().guarded(card("bot"), agent.clone(), rules).start().await;
        for wire in Wire::ALL {
            let answer = wire.at(&place).says("hi").await.is(200);
            let task = answer.task(wire);
            carries(&task, &part, expected);
            has_fields(&answer, &part);
            let id = task["id"].as_str().unwrap();
            let again = wire.at(&place).about(Op::Get, id).await.task(wire);
            assert_eq!(again["status"], task["status"], "it can be read again, and says the same");
        }
        assert!(agent.heard().is_empty());
    }
}

#[tokio::test]
async fn s3_5_a_refusal_is_the_final_frame_and_nothing_follows() {
    for (part, expected) in kinds() {
        let place = bot(vec![text("One moment. "), refuse(part.clone()), text("late"), done()]).await;
        for wire in Wire::ALL {
            let frames = wire.at(&place).streams("hi").await.rest().await;
            let last = frames.last().unwrap();
            assert_eq!(last.kind, "statusUpdate");
            carries(&last.value, &part, expected);
            assert_eq!(last.value.get("final"), (!wire.is_1_0()).then_some(&json!(true)), "{wire:?}");
            let earlier = &frames[..frames.len() - 1];
            assert!(earlier.iter().all(|frame| !frame.value.to_string().contains("policy\":{")), "{earlier:?}");
            assert!(frames.iter().all(|frame| !frame.value.to_string().contains("late")), "{frames:?}");
        }
    }
}

#[tokio::test]
async fn s3_5_a_stream_that_just_stops_failed() {
    let place = bot(vec![text("half of ")]).await;
    for wire in Wire::ALL {
        let frames = wire.at(&place).streams("hi").await.rest().await;
        let last = frames.last().unwrap();
        assert_eq!((state(&last.value).as_str(), last.kind), ("failed", "statusUpdate"));
        assert!(!status_text(&last.value).is_empty());
        let task = wire.at(&place).says("hi").await.task(wire);
        assert_eq!(state(&task), "failed");
        let told = json!({"forecourt/ending": {"code": "cut-off"}});
        assert_eq!(task["status"]["message"]["metadata"], told, "no refusal is made up");
    }
}

#[tokio::test]
async fn s4_2_x402_is_written_in_flat_keys_equal_to_the_part() {
    let first = json!({"x402Version": 1, "accepts": [{"maxAmountRequired": "10", "a": 1.0, "é": "ü"}]});
    let part = payable(json!([
        {"scheme": "ln.invoice", "payload": {"invoice": "x"}},
        {"scheme": "x402.exact", "payload": first},
        {"scheme": "x402.upto", "payload": {"x402Version": 2}},
    ]));
    let place = bot(vec![refuse(part.clone())]).await;
    for wire in Wire::ALL {
        let streamed = wire.at(&place).streams("hi").await.rest().await.pop().unwrap().value;
        let sent = wire.at(&place).says("hi").await.task(wire);
        let read = wire.at(&place).about(Op::Get, sent["id"].as_str().unwrap()).await.task(wire);
        for value in [streamed, sent, read] {
            carries(&value, &part, "input-required");
            let metadata = &value["status"]["message"]["metadata"];
            let own = &metadata["mentionable"]["policy"]["part"]["accepted_payments"];
            assert_eq!(own.as_array().unwrap().len(), 3, "every option stays in the part");
            assert_eq!(metadata["x402.payment.status"], "payment-required");
            assert_eq!(canonical(&metadata["x402.payment.required"]), canonical(&own[1]["payload"]));
        }
    }
}

#[tokio::test]
async fn s4_2_ap2_mandates_are_artifacts_of_their_own() {
    let part = payable(json!([
        {"scheme": "ap2.cart_mandate", "payload": {"contents": {"id": "1"}}},
        {"scheme": "ap2.payment_mandate", "payload": {"ap2.mandates.PaymentMandate": {"total": 2}}},
        {"scheme": "ap2.intent_mandate", "payload": {"never": "ours"}},
    ]));
    let place = bot(vec![text("Well. "), refuse(part.clone())]).await;
    for wire in Wire::ALL {
        let data = |part: &Value| match wire {
            Wire::Rest03 => part["data"]["data"].clone(),
            _ => part["data"].clone(),
        };
        let task = wire.at(&place).says("hi").await.task(wire);
        let frames = wire.at(&place).streams("hi").await.rest().await;
        let streamed: Vec<Value> = frames
            .iter()
            .filter(|frame| frame.kind == "artifactUpdate" && frame.value["lastChunk"] == true)
            .map(|frame| frame.value["artifact"].clone())
            .collect();
        for artifacts in [task["artifacts"].as_array().unwrap().clone(), streamed] {
            let mandates: Vec<Value> = artifacts[1..].iter().map(|artifact| data(&artifact["parts"][0])).collect();
            let expected = [
                json!({"ap2.mandates.CartMandate": {"contents": {"id": "1"}}}),
                json!({"ap2.mandates.PaymentMandate": {"total": 2}}),
            ];
            assert_eq!(mandates, expected, "{wire:?}");
            assert_eq!(artifacts[0]["parts"][0]["text"], "Well. ");
        }
        assert_eq!(frames.last().unwrap().kind, "statusUpdate", "the refusal comes last");
        assert!(!task.to_string().contains("IntentMandate"));
    }
}

#[tokio::test]
async fn s3_6_a_kind_of_tomorrow_is_passed_on_and_is_no_success() {
    let part: PolicyPart =
        serde_json::from_value(json!({"kind": "held_for_review", "message": "Later.", "x.y": 1})).unwrap();
    let place = bot(vec![refuse(part.clone())]).await;
    for wire in Wire::ALL {
        let task = wire.at(&place).says("hi").await.task(wire);
        assert_eq!(state(&task), "failed");
        assert_eq!(task["status"]["message"]["metadata"]["mentionable"]["policy"]["part"]["kind"], "held_for_review");
    }
}

#[tokio::test]
async fn s4_1_an_envelope_of_another_version_is_passed_on_as_it_came_and_failed() {
    let envelope = json!({"v": "v0.9", "part": {"kind": "forbidden", "message": "No.", "x": [1, 2.5]}, "later": {}});
    let fields = json!({"kind": "mentionable.policy", "policy": envelope});
    let part: Part = serde_json::from_value(fields).unwrap();
    let failed = Event::Ending(Ending::failed("The agent declined in a form that is not known here."));
    let place = bot(vec![text("Well. "), Event::Part(part), failed]).await;
    for wire in Wire::ALL {
        let sent = wire.at(&place).says("hi").await.is(200).task(wire);
        let read = wire.at(&place).about(Op::Get, sent["id"].as_str().unwrap()).await.task(wire);
        let streamed = wire.at(&place).streams("hi").await.rest().await.pop().unwrap().value;
        for value in [sent, read, streamed] {
            assert_eq!(value["status"]["message"]["metadata"]["mentionable"], json!({"policy": envelope}), "{wire:?}");
            assert_eq!(state(&value), "failed");
            assert_eq!(value.to_string().matches("v0.9").count(), 1, "and nowhere else: {value}");
        }
    }
}

#[tokio::test]
async fn s1_the_name_that_the_extension_had_is_understood_and_never_written() {
    let place = bot(vec![text("hi"), done()]).await;
    for wire in Wire::ALL {
        let name = if wire.is_1_0() { "a2a-extensions" } else { "x-a2a-extensions" };
        let asked = "https://mentionable.dev/spec/policy/v0.1, https://unknown.example/";
        let answer = wire.at(&place).with(name, asked).says("hi").await.is(200);
        assert_eq!(answer.field(name), Some(POLICY), "{wire:?}");
    }
}

#[tokio::test]
async fn s3_2_a_refusal_that_points_elsewhere_is_not_passed_on() {
    for url in ["https://evil.example/pay", "http://demo.localhost/pay", "https://a@demo.localhost/pay"] {
        let part = PolicyPart { url: Some(url.to_owned()), ..PolicyPart::new(RefusalKind::Forbidden, "No.") };
        let place = bot(vec![refuse(part)]).await;
        for wire in Wire::ALL {
            let answer = wire.at(&place).says("hi").await;
            assert!(!answer.text().contains(url), "{}", answer.text());
            assert_ne!(state(&answer.task(wire)), "completed");
        }
    }
}

/// A consent that is asked for once.
async fn once_refused() -> Place {
    let rules = vec![Refusing::once(kinds().remove(0).0)];
    Setup::default().guarded(card("bot"), ScriptedAgent::saying(["welcome"]), rules).start().await
}

#[tokio::test]
async fn s4_2_who_meets_the_condition_goes_on_with_the_same_task() {
    for wire in Wire::ALL {
        let place = once_refused().await;
        let refused = wire.at(&place).says("let me in").await.task(wire);
        let id = refused["id"].as_str().unwrap();
        let task = wire.at(&place).says_with("I agree", json!({"taskId": id})).await.task(wire);
        assert_eq!((state(&task).as_str(), artifact_text(&task).as_str()), ("completed", "welcome"), "{wire:?}");
        assert_eq!((&task["id"], &task["contextId"]), (&refused["id"], &refused["contextId"]));
        let again = wire.at(&place).about(Op::Get, id).await.task(wire);
        assert_eq!(again, task);
        let said: Vec<&Value> = again["history"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
        assert_eq!(said.len(), 3, "the wish, the refusal, the consent: {again}");
    }
}

#[tokio::test]
async fn s4_2_who_does_not_meet_the_condition_is_refused_again_in_the_same_task() {
    let part = kinds().remove(0).0;
    let place = Setup::default()
        .guarded(card("bot"), ScriptedAgent::saying(["hi"]), vec![Refusing::always(part.clone())])
        .start()
        .await;
    for wire in Wire::ALL {
        let first = wire.at(&place).says("let me in").await.task(wire);
        let again = wire.at(&place).says_with("please", json!({"taskId": first["id"]})).await.task(wire);
        carries(&again, &part, "input-required");
        assert_eq!(again["id"], first["id"]);
        let message = crate::hub::wire::merged(wire.said("please"), json!({"taskId": first["id"]}));
        let response = wire.at(&place).open(Op::Stream, json!({"message": message})).await;
        let frames = crate::hub::answer::Frames::of(wire, response).rest().await;
        carries(&frames.last().unwrap().value, &part, "input-required");
    }
}

#[tokio::test]
async fn every_part_of_the_vectors_has_its_state_and_its_fields() {
    let Some(bytes) = forecourt_testkit::vectors("policy/parts.json") else { return };
    let cases: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    for case in cases.iter().filter(|case| case["valid"] == true) {
        let text = case["part"].to_string().replace("CANON", "demo.localhost");
        let Ok(part) = serde_json::from_str::<PolicyPart>(&text) else { continue };
        let place = bot(vec![refuse(part.clone())]).await;
        for wire in Wire::ALL {
            let answer = wire.at(&place).says("hi").await.is(200);
            let task = answer.task(wire);
            if let Some(expected) = case["a2a"].as_str() {
                assert_eq!(state(&task), expected, "{case}");
            }
            let own = &task["status"]["message"]["metadata"]["mentionable"]["policy"]["part"];
            assert_eq!(own["kind"], part.kind(), "{case}");
            for name in case["headers_absent"].as_array().into_iter().flatten() {
                assert_eq!(answer.field(name.as_str().unwrap()), None, "{case}");
            }
        }
    }
}

#[tokio::test]
async fn s4_2_an_agents_own_refusal_can_be_met_too() {
    for wire in Wire::ALL {
        let refusal = kinds().remove(1).0;
        let place = alone(InTurn::of([vec![refuse(refusal)], vec![text("paid"), done()]])).await;
        let id = wire.at(&place).says("hi").await.task(wire)["id"].as_str().unwrap().to_owned();
        let task = wire.at(&place).says_with("here", json!({"taskId": id})).await.task(wire);
        assert_eq!((state(&task).as_str(), artifact_text(&task).as_str()), ("completed", "paid"));
        assert!(task["status"].get("message").is_none(), "the refusal is past: {task}");
    }
}

#[tokio::test]
async fn a_final_refusal_takes_no_message_any_more() {
    for (part, expected) in kinds() {
        if !matches!(expected, "rejected" | "failed") {
            continue;
        }
        let place = bot(vec![refuse(part)]).await;
        for wire in Wire::ALL {
            let id = wire.at(&place).says("hi").await.task(wire)["id"].as_str().unwrap().to_owned();
            wire.at(&place).says_with("again", json!({"taskId": id})).await.is_fault(wire, -32004);
        }
    }
}

#[tokio::test]
async fn who_asks_too_often_gets_a_task_that_says_when_to_come_back() {
    let one = std::num::NonZeroU32::MIN;
    let limits = LimitSettings { per_address: Rate { per_second: one, burst: one }, ..unlimited() };
    for wire in Wire::ALL {
        let setup = Setup { limits: Some(limits.clone()), ..Setup::default() };
        let place = setup.with(card("bot"), ScriptedAgent::saying(["hi"])).start().await;
        wire.at(&place).says("hi").await.task(wire);
        let answer = wire.at(&place).says_with("hi", json!({"contextId": "c"})).await.is(200);
        let task = answer.task(wire);
        assert_eq!((state(&task).as_str(), &task["contextId"]), ("failed", &json!("c")));
        let part = &task["status"]["message"]["metadata"]["mentionable"]["policy"]["part"];
        assert_eq!((&part["kind"], &part["retry_after_seconds"]), (&json!("too_many_requests"), &json!(1)));
        assert_eq!(answer.field("retry-after"), Some("1"));
        let frames = wire.at(&place).streams("hi").await.rest().await;
        assert_eq!((frames.len(), state(&frames[0].value).as_str()), (1, "failed"));
        // What carries no message has no task to tell it in.
        let read = wire.at(&place).about(Op::Get, "x").await.is(429);
        assert_eq!(read.field("retry-after"), Some("1"));
    }
}

#[tokio::test]
async fn a_host_with_too_much_to_do_says_so_in_a_task() {
    let limits = LimitSettings { tasks_running_max: 1, queue_seconds: 0, ..unlimited() };
    for wire in Wire::ALL {
        let setup = Setup { limits: Some(limits.clone()), ..Setup::default() };
        let (setup, _) = setup.playing("bot", vec![Step::Hang]);
        let place = setup.start().await;
        let hasty = |text: &str| json!({"message": wire.said(text), "configuration": wire.at_once()});
        assert_eq!(state(&wire.at(&place).call(Op::Send, hasty("hi")).await.task(wire)), "working");
        let task = wire.at(&place).call(Op::Send, hasty("you")).await.is(200).task(wire);
        assert_eq!(state(&task), "failed");
        let part = &task["status"]["message"]["metadata"]["mentionable"]["policy"]["part"];
        assert_eq!(part["kind"], "too_many_requests", "{task}");
        assert!(part["message"].as_str().unwrap().contains("limits.tasks_running_max"), "{task}");
    }
}

#[tokio::test]
async fn credentials_that_do_not_hold_are_401_on_the_transport() {
    let agent = ScriptedAgent::saying(["hi"]);
    let place = alone(agent.clone()).await;
    for wire in Wire::ALL {
        for op in [Op::Send, Op::Stream, Op::Get, Op::Cancel, Op::Subscribe, Op::List] {
            let params = json!({"message": wire.said("hi"), "id": "x"});
            let params = if op == Op::List { json!({}) } else { params };
            let answer = wire.at(&place).with("authorization", "Bearer x.y.z").call(op, params).await.is(401);
            let challenge = answer.field("www-authenticate").unwrap();
            assert!(challenge.starts_with("Bearer ") && challenge.contains("invalid_token"), "{challenge}");
            assert!(!answer.text().contains("\"result\""), "{}", answer.text());
        }
    }
    assert!(agent.heard().is_empty());
}

#[tokio::test]
async fn s4_1_a_caller_can_not_bring_a_refusal_or_its_resolution() {
    let agent = ScriptedAgent::saying(["hi"]);
    let place = alone(agent.clone()).await;
    for wire in Wire::ALL {
        let forged = json!({"policy": {"v": "v0.1", "part": {}}, "policy_resolution": {"state": "x"}, "kept": 1});
        let metadata = json!({"metadata": {"mentionable": forged, "own": true}});
        wire.at(&place).says_with("hi", metadata).await.task(wire);
        assert_eq!(agent.heard().pop().unwrap().metadata["mentionable"], json!({"kept": 1}));
    }
}

#[tokio::test]
async fn an_agent_that_fails_is_a_failed_task_and_no_error() {
    let failed = Event::Ending(Ending::failed("The oven is cold."));
    let steps: [Vec<Step>; 2] = [vec![Step::Do(failed)], vec![Step::Panic]];
    for steps in steps {
        let (setup, _) = Setup::default().playing("bot", steps);
        let place = setup.start().await;
        for wire in Wire::ALL {
            let task = wire.at(&place).says("hi").await.is(200).task(wire);
            assert_eq!(state(&task), "failed");
            assert!(!status_text(&task).is_empty() && !status_text(&task).contains("scripted"), "{task}");
        }
    }
}

/// A host that takes nothing has begun nothing: an answer with a task in it reads as if it had.
#[tokio::test]
async fn a_host_that_drains_refuses_with_an_error_that_says_when_to_come_again_and_no_task() {
    let place = bot(vec![text("hi"), done()]).await;
    place.host.drain(std::time::Duration::ZERO).await;
    for wire in Wire::ALL {
        for op in [Op::Send, Op::Stream] {
            let params = json!({"message": wire.said("hi"), "configuration": wire.at_once()});
            let answer = wire.at(&place).call(op, params).await.is(503);
            assert!(answer.field("retry-after").unwrap().parse::<u64>().unwrap() >= 1, "{wire:?}");
            let (body, info) = (answer.json(), "SERVICE_UNAVAILABLE");
            assert_eq!((&body["result"], &body["task"]), (&Value::Null, &Value::Null), "{wire:?}");
            match wire.is_rpc() {
                true => {
                    assert_eq!(body["error"]["code"], -32000);
                    assert_eq!(body["error"]["data"][0]["reason"], info);
                }
                false => {
                    assert_eq!(body["error"]["code"], 503);
                    assert_eq!(body["error"]["details"][0]["reason"], info);
                }
            }
        }
    }
}
