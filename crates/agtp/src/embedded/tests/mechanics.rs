//! EXECUTE, DELEGATE, ESCALATE, CONFIRM and NOTIFY. Base 3.1.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Ending, Event, TaskId};
use forecourt_host::{OperatorAnswer, OperatorDecision, QUEUE_WAITING_PER_CALLER_MAX, TaskAccess};
use forecourt_identity::HostKeys;
use forecourt_identity::jws::{self, Jws};
use forecourt_testkit::{CountedEntropy, ScriptedAgent, Step};
use serde_json::{Value, json};

use super::super::confirm::keep;
use super::{asks, call, ends, hangs, server, server_as, server_with, word};
use crate::tests::support::{Server, blueprint, body, server_of};

async fn inspected(server: &Server, task: &Value) -> Value {
    call(server, "INSPECT", json!({"target": "task", "task_id": task})).await.1
}

#[tokio::test]
async fn s3_1_mechanics_are_for_agents_that_say_who_they_are() {
    let server = server().await;
    for method in ["EXECUTE", "DELEGATE", "ESCALATE", "CONFIRM", "SUSPEND", "NOTIFY"] {
        let response = server.ask(&format!("{method} /"), "{}").await;
        assert_eq!((response.start.code, word(&body(&response))), (401, "agent-unauthenticated"), "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn s3_1_an_action_that_is_done_in_time_is_answered() {
    let agent = ScriptedAgent::saying(["Booked."]);
    let server = server_with(agent.clone()).await;
    let parameters =
        json!({"action": "book", "parameters": {"room": 5}, "payload": "notes", "payload_type": "text/plain"});
    let (code, body) = call(&server, "EXECUTE", parameters).await;
    assert_eq!((code, &body["status"], &body["result"]["content"]), (200, &json!("completed"), &json!("Booked.")));
    assert_eq!(agent.heard()[0].parts.len(), 3);
    let (_, by_alias) = call(&server, "EXECUTE", json!({"plan_id": "plan-1"})).await;
    assert_eq!(by_alias["action"], "plan-1");
}

#[tokio::test(start_paused = true)]
async fn s3_1_an_action_that_takes_longer_is_202_with_a_task_that_can_be_read() {
    let slow = vec![
        Step::Wait(Duration::from_secs(60)),
        Step::Do(Event::Text("Done.".to_owned())),
        Step::Do(Event::Ending(Ending::Complete)),
    ];
    let server = server_with(ScriptedAgent::new(slow)).await;
    let (code, body) = call(&server, "EXECUTE", json!({"action": "bake", "timeout": 1})).await;
    assert_eq!((code, &body["status"]), (202, &json!("working")), "{body}");
    let task = body["task_id"].clone();
    assert_eq!(body["poll"]["parameters"], json!({"target": "task", "task_id": task}));
    assert_eq!(inspected(&server, &task).await["status"], "working");
    tokio::time::sleep(Duration::from_secs(61)).await;
    let done = inspected(&server, &task).await;
    assert_eq!((&done["status"], &done["result"]["content"]), (&json!("completed"), &json!("Done.")));
}

#[tokio::test]
async fn s3_1_an_action_that_names_an_endpoint_is_a_call_of_it() {
    let server = server().await;
    let action = |action: &str, parameters: Value| json!({"action": action, "parameters": parameters});
    let (code, body) = call(&server, "EXECUTE", action("BOOK /rooms/five", json!({"n": 1}))).await;
    assert_eq!(code, 200, "{body}");
    assert_eq!(body["result"]["input"], json!({"n": 1, "room": "five"}));
    let (code, body) = call(&server, "EXECUTE", action("BOOK /rooms/five", json!({"n": "x"}))).await;
    assert_eq!((code, word(&body)), (422, "input-validation-failed"));
    let (code, body) = call(&server, "EXECUTE", action("PURCHASE /rooms/five", json!({}))).await;
    assert_eq!((code, word(&body)), (455, "scope-violation"));
    let (code, body) = call(&server, "EXECUTE", action("BOOK /nowhere", json!({}))).await;
    assert_eq!((code, word(&body)), (404, "endpoint-not-found"));
    for own in ["EXECUTE /", "EXECUTE /?", "SUSPEND /?session_id=s-1"] {
        let (code, body) = call(&server, "EXECUTE", action(own, json!({}))).await;
        assert_eq!((code, &body["error"]["field"]), (422, &json!("/action")), "{own}: {body}");
    }
}

fn delegation(server: &Server, scope: Value) -> Value {
    json!({"target_agent_id": server.id("gate"), "task": "open", "authority_scope": scope, "delegation_token": "d-1"})
}

#[tokio::test(start_paused = true)]
async fn s3_1_work_is_handed_to_an_agent_here_in_the_callers_name_with_less_than_the_caller_may() {
    let server = server().await;
    let response = ask_with_all_scopes(&server, delegation(&server, json!(["booking:room"]))).await;
    assert_eq!(response.0, 200, "{}", response.1);
    let body = response.1;
    assert_eq!((&body["delegated_to"], &body["scope_granted"]), (&json!(server.id("gate")), &json!(["booking:room"])));
    assert_eq!(body["result"]["content"], "Hello.");
}

/// As `chef`, which claims nothing and so has all that it declared.
async fn ask_with_all_scopes(server: &Server, parameters: Value) -> (u16, Value) {
    let response = server.ask(&format!("DELEGATE /\r\nAgent-ID: {}", server.id("chef")), &parameters.to_string()).await;
    (response.start.code, body(&response))
}

#[tokio::test]
async fn s3_1_nobody_hands_on_as_much_as_it_may_or_more() {
    let server = server().await;
    for scope in [json!(["payments:take"]), json!(["booking:room", "documents:query"]), json!("*:*")] {
        let (code, body) = ask_with_all_scopes(&server, delegation(&server, scope.clone())).await;
        assert_eq!((code, &body["error"]["type"]), (262, &json!("scope-required")), "{scope} {body}");
    }
    let (code, body) = ask_with_all_scopes(&server, delegation(&server, json!([1]))).await;
    assert_eq!((code, &body["error"]["field"]), (422, &json!("/authority_scope")));
}

#[tokio::test]
async fn s3_1_an_agent_that_is_not_here_is_given_nothing() {
    let server = server().await;
    for (target, status, code) in
        [("0".repeat(64), 404, "agent-not-found"), ("nobody".to_owned(), 404, "recipient-not-found")]
    {
        let parameters = Value::Object(
            delegation(&server, json!([]))
                .as_object()
                .cloned()
                .unwrap()
                .into_iter()
                .chain([("target_agent_id".to_owned(), target.into())])
                .collect(),
        );
        let (found, body) = ask_with_all_scopes(&server, parameters).await;
        assert_eq!((found, word(&body)), (status, code));
    }
}

#[tokio::test]
async fn s4_551_a_link_that_cannot_be_verified_is_named() {
    let server = server().await;
    for (name, value) in [("delegation_token", json!("a.b.c")), ("delegation_chain", json!(["x"]))] {
        let mut parameters = delegation(&server, json!([]));
        parameters[name] = value;
        let (code, body) = ask_with_all_scopes(&server, parameters).await;
        assert_eq!((code, word(&body)), (551, "authority-chain-broken"), "{name}");
        assert_eq!(body["error"]["link"], name);
    }
}

#[tokio::test]
async fn s4_551_a_token_holds_after_the_key_that_signed_it_was_replaced_until_that_is_no_longer_good() {
    let server = server().await;
    let keys = &server.mounted.mount.keys;
    let claims = json!({"sub": server.id("chef")}).to_string();
    let mut parameters = delegation(&server, json!(["booking:room"]));
    parameters["delegation_token"] = jws::sign(keys.load().current(), "JWT", claims.as_bytes()).into();
    let now = server.mounted.mount.host.clock().now();
    let (folder, entropy) = (tempfile::tempdir().unwrap(), CountedEntropy::default());
    let mut rotated = HostKeys::clone(&keys.load());
    rotated.rotate(folder.path(), &entropy, now).unwrap();
    keys.store(Arc::new(rotated.clone()));
    assert_eq!(ask_with_all_scopes(&server, parameters.clone()).await.0, 200);
    // Replaced so long ago that it is good no more.
    let mut late = HostKeys::in_memory(&entropy);
    late.rotate(folder.path(), &entropy, now).unwrap();
    keys.store(Arc::new(late));
    assert_eq!(ask_with_all_scopes(&server, parameters).await.0, 551);
}

#[tokio::test]
async fn s3_1_a_decision_that_was_made_meanwhile_keeps_its_first_receipt_and_another_one_comes_behind_it() {
    let server = server().await;
    let host = &server.mounted.mount.host;
    let (ledger, until) = (host.ledger("test"), host.clock().now() + Duration::from_secs(60));
    let receipt = |status: &str, id: &str| json!({"status": status, "attestation_id": id});
    // Each looked before the others had written.
    let first = keep(&ledger, "r", receipt("accepted", "1"), until, 0).await.unwrap();
    let second = keep(&ledger, "r", receipt("accepted", "2"), until, 0).await.unwrap();
    let other = keep(&ledger, "r", receipt("rejected", "3"), until, 0).await.unwrap();
    assert_eq!((&first["attestation_id"], &second), (&json!("1"), &first));
    assert_eq!(ledger.last("r").await.unwrap().map(|(number, kept)| (number, kept.body)), Some((2, other)));
}

#[tokio::test(start_paused = true)]
async fn s4_550_what_the_other_agent_could_not_do_is_told() {
    let server = server_with(ends(Ending::failed("The oven is cold."))).await;
    let mut parameters = delegation(&server, json!([]));
    parameters["target_agent_id"] = server.id("chef").into();
    let (code, body) = ask_with_all_scopes(&server, parameters).await;
    assert_eq!((code, word(&body)), (550, "delegation-failed"));
    assert_eq!(body["error"]["sub_agent_error"], json!({"code": "agent-failed", "message": "The oven is cold."}));
}

#[tokio::test(start_paused = true)]
async fn s3_1_delegated_work_ends_at_its_deadline() {
    let server = server_with(hangs()).await;
    let mut parameters = delegation(&server, json!([]));
    parameters["target_agent_id"] = server.id("chef").into();
    let now = server.mounted.mount.host.clock().now();
    parameters["deadline"] = json!(now);
    assert_eq!(ask_with_all_scopes(&server, parameters.clone()).await.0, 408);
    parameters["deadline"] = json!(now + Duration::from_secs(30));
    let (code, body) = ask_with_all_scopes(&server, parameters).await;
    assert_eq!(code, 202, "{body}");
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert_eq!(inspected(&server, &body["task_id"]).await["status"], "canceled");
}

#[tokio::test(start_paused = true)]
async fn s3_1_a_callback_is_told_by_the_tasks_webhook() {
    let server = server_with(hangs()).await;
    let mut parameters = delegation(&server, json!([]));
    parameters["target_agent_id"] = server.id("chef").into();
    for closed in ["http://198.41.0.4/", "https://127.0.0.1/", "https://[fd00::1]/", "https://demo.localhost/", "x"] {
        parameters["callback"] = closed.into();
        let (code, body) = ask_with_all_scopes(&server, parameters.clone()).await;
        assert_eq!((code, &body["error"]["field"]), (422, &json!("/callback")), "{closed}");
    }
    parameters["callback"] = "https://198.41.0.4/done".into();
    let (code, body) = ask_with_all_scopes(&server, parameters).await;
    assert_eq!(code, 202, "{body}");
    let task = TaskId::parse(body["task_id"].as_str().unwrap()).unwrap();
    let hooks = server.mounted.mount.host.task(&task, TaskAccess::ById).await.unwrap().webhooks().await.unwrap();
    assert_eq!(hooks.iter().map(|hook| hook.url.as_str()).collect::<Vec<_>>(), ["https://198.41.0.4/done"]);
}

fn escalation() -> Value {
    json!({"task_id": "t-1", "reason": "scope_limit", "context": {"question": "May I?"}, "priority": "urgent"})
}

#[tokio::test]
async fn s3_1_an_escalation_waits_for_the_operator_and_its_answer_can_be_read() {
    let server = server().await;
    let host = &server.mounted.mount.host;
    let (code, body) = call(&server, "ESCALATE", escalation()).await;
    assert_eq!((code, &body["status"], &body["routed_to"]), (202, &json!("pending_review"), &json!("operator")));
    let (_, again) = call(&server, "ESCALATE", escalation()).await;
    assert_eq!(again["escalation_id"], body["escalation_id"]);
    let asked = host.operator().questions().await.unwrap().remove(0);
    assert_eq!((asked.inquiry.subject.as_str(), asked.inquiry.urgency.as_str()), ("t-1", "urgent"));
    assert_eq!(
        (asked.inquiry.by, asked.inquiry.agent.unwrap().to_string()),
        (Some(server.id("chef")), "chef".to_owned())
    );
    let answer = OperatorAnswer {
        decision: OperatorDecision::Accepted,
        reason: Some("Yes.".to_owned()),
        by: "ops".to_owned(),
        at: asked.asked_at,
    };
    let _ = host.operator().answer(&asked.id, answer).await.unwrap();
    let (_, read) = call(&server, "INSPECT", json!({"target": "escalation", "escalation_id": asked.id})).await;
    assert_eq!((&read["status"], &read["answer"]["reason"]), (&json!("accepted"), &json!("Yes.")));
}

#[tokio::test]
async fn s3_1_an_escalation_is_read_by_who_asked_alone() {
    let server = server().await;
    let (_, body) = call(&server, "ESCALATE", escalation()).await;
    let parameters = json!({"target": "escalation", "escalation_id": body["escalation_id"]});
    let head = format!("INSPECT /\r\nAgent-ID: {}", server.id("gate"));
    assert_eq!(server.ask(&head, &parameters.to_string()).await.start.code, 404);
}

#[tokio::test]
async fn s3_1_what_is_kept_for_the_operator_has_a_bound() {
    let server = server().await;
    // Quotes are two of the bytes.
    let long = "x".repeat(crate::limits::KEPT_BYTES_MAX - 1);
    let reason = |more: usize| "x".repeat(crate::limits::REASON_BYTES_MAX - 2 + more);
    assert_eq!(call(&server, "DEPRECATE", json!({"reason": reason(0)})).await.0, 200);
    for (method, parameters) in [
        ("ESCALATE", json!({"task_id": "t", "reason": "ethical_flag", "context": long})),
        ("ESCALATE", json!({"task_id": "t".repeat(256), "reason": "ethical_flag", "context": "c"})),
        ("CONFIRM", json!({"attestation_target": "t", "decision": "confirmed", "rationale": reason(1)})),
        ("REINSTATE", json!({"reason": reason(1)})),
        ("DEPRECATE", json!({"actor": "a".repeat(256)})),
    ] {
        let (code, body) = call(&server, method, parameters).await;
        assert_eq!((code, word(&body)), (422, "input-validation-failed"), "{method}");
    }
}

#[tokio::test]
async fn s3_1_the_reference_implementations_escalation_is_taken() {
    let (code, body) =
        call(&server().await, "ESCALATE", json!({"decision_point": "pay?", "target_authority": "human"})).await;
    assert_eq!((code, &body["priority"]), (202, &json!("normal")), "{body}");
}

#[tokio::test]
async fn s3_1_a_recipient_that_reads_no_queue_is_not_found_and_a_full_queue_is_unavailable() {
    let server = server().await;
    let mut parameters = escalation();
    parameters["recipient"] = "the-queen".into();
    let (code, body) = call(&server, "ESCALATE", parameters.clone()).await;
    assert_eq!((code, word(&body)), (404, "recipient-not-found"));
    parameters["recipient"] = "operator".into();
    for n in 0..QUEUE_WAITING_PER_CALLER_MAX {
        parameters["task_id"] = format!("t-{n}").into();
        assert_eq!(call(&server, "ESCALATE", parameters.clone()).await.0, 202);
    }
    parameters["task_id"] = "one-more".into();
    assert_eq!(call(&server, "ESCALATE", parameters).await.0, 503);
}

#[tokio::test(start_paused = true)]
async fn s3_1_a_task_that_waits_goes_on_with_the_decision() {
    let agent = asks();
    let server = server_with(agent.clone()).await;
    let (code, body) = call(&server, "EXECUTE", json!({"action": "book"})).await;
    assert_eq!((code, &body["status"]), (200, &json!("input_required")), "{body}");
    let decision = json!({"target_id": body["task_id"], "status": "rejected", "reason": "too dear"});
    let (code, receipt) = call(&server, "CONFIRM", decision.clone()).await;
    assert_eq!((code, &receipt["status"]), (200, &json!("rejected")), "{receipt}");
    assert_eq!(agent.heard().len(), 2);
    assert!(agent.heard()[1].text().contains("rejected: too dear"));
    let (_, again) = call(&server, "CONFIRM", decision).await;
    assert_eq!((again["attestation_id"].clone(), agent.heard().len()), (receipt["attestation_id"].clone(), 2));
}

#[tokio::test(start_paused = true)]
async fn s3_1_a_receipt_is_signed_by_this_host() {
    let server = server_with(asks()).await;
    let (_, body) = call(&server, "EXECUTE", json!({"action": "book"})).await;
    let (_, receipt) = call(&server, "CONFIRM", json!({"target_id": body["task_id"], "status": "deferred"})).await;
    let jws = Jws::parse(receipt["attestation"].as_str().unwrap()).unwrap();
    let key = server.service.keys.load().current().verify_key().unwrap();
    let claims: Value = serde_json::from_slice(jws.verify_with(&key).unwrap()).unwrap();
    assert_eq!((&claims["target_id"], &claims["status"]), (&body["task_id"], &json!("deferred")));
    assert_eq!(claims["agent_id"], server.id("chef"));
}

#[tokio::test]
async fn s3_1_who_asked_does_not_decide_and_nobody_does_for_others() {
    let server = server().await;
    let (_, body) = call(&server, "ESCALATE", escalation()).await;
    let decision = json!({"target_id": body["escalation_id"], "status": "accepted"});
    let (code, refused) = call(&server, "CONFIRM", decision.clone()).await;
    assert_eq!((code, word(&refused)), (403, "own-escalation"));
    let head = format!("CONFIRM /\r\nAgent-ID: {}", server.id("gate"));
    let response = server.ask(&head, &decision.to_string()).await;
    assert_eq!((response.start.code, word(&crate::tests::support::body(&response))), (403, "operator-scope-required"));
}

#[tokio::test]
async fn s3_1_an_agent_with_the_operators_scope_decides() {
    let mut blueprint = blueprint("");
    blueprint.identities.scopes = forecourt_contract::ScopeSet::parse_list("inspect:all, booking:room").ok();
    let server = server_of(blueprint).await;
    let (_, body) = call(&server, "ESCALATE", escalation()).await;
    let decision = json!({"target_id": body["escalation_id"], "status": "accepted"}).to_string();
    let head = format!("CONFIRM /\r\nAgent-ID: {}", server.id("gate"));
    let without = format!("{head}\r\nAuthority-Scope: booking:room");
    assert_eq!(server.ask(&without, &decision).await.start.code, 403, "it claims less than it has");
    let response = server.ask(&head, &decision).await;
    assert_eq!(response.start.code, 200, "{response:?}");
    assert!(!server.mounted.mount.host.operator().questions().await.unwrap()[0].waits());
}

#[tokio::test]
async fn s3_1_a_target_that_nobody_knows_is_404_and_the_reference_implementations_is_attested() {
    let server = server().await;
    let (code, body) = call(&server, "CONFIRM", json!({"target_id": "x", "status": "accepted"})).await;
    assert_eq!((code, word(&body)), (404, "confirm-target-not-found"));
    let (code, body) = call(&server, "CONFIRM", json!({"attestation_target": "x", "decision": "confirmed"})).await;
    assert_eq!((code, &body["status"]), (200, &json!("accepted")), "{body}");
}

#[tokio::test(start_paused = true)]
async fn s3_1_a_notification_is_handed_over_and_receipted() {
    let agent = ScriptedAgent::saying(["Thanks."]);
    let server = server_with(agent.clone()).await;
    let id = server.id("chef");
    for recipient in [id.as_str(), "chef", "@chef@demo.localhost", &format!("agtp://{id}")] {
        let (code, body) = call(&server, "NOTIFY", json!({"recipient": recipient, "content": "Soup!"})).await;
        assert_eq!((code, &body["status"]), (200, &json!("delivered")), "{recipient} {body}");
        assert!(body["notification_id"].is_string());
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(agent.heard().len(), 4);
    let (code, _) = call(&server, "NOTIFY", json!({"recipient": "chef", "event": "done", "payload": {"n": 1}})).await;
    assert_eq!(code, 200);
}

#[tokio::test]
async fn s3_1_what_a_notification_asks_for_is_honoured_or_refused() {
    let server = server().await;
    let note = |more: Value| {
        let mut note = json!({"recipient": "gate", "content": "x"});
        note.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        note
    };
    let rows = [
        (note(json!({"recipient": "nobody"})), 404, "recipient-not-found"),
        (note(json!({"recipient": "@gate@elsewhere.example"})), 404, "recipient-not-found"),
        (note(json!({"delivery_guarantee": "exactly_once"})), 422, "guarantee-not-offered"),
        (note(json!({"expiry": "2001-01-01T00:00:00Z"})), 408, "notification-expired"),
        (note(json!({"delivery_guarantee": "at_most_once", "urgency": "critical"})), 200, ""),
    ];
    for (parameters, status, code) in rows {
        let (found, body) = call(&server, "NOTIFY", parameters.clone()).await;
        assert_eq!((found, word(&body)), (status, code), "{parameters}");
    }
}

#[tokio::test(start_paused = true)]
async fn s3_1_a_task_of_somebody_who_proved_to_own_it_is_nobody_elses() {
    let server = server_as(forecourt_testkit::card("chef"), hangs()).await;
    let host = &server.mounted.mount.host;
    let handle = forecourt_core::Handle::parse("chef").unwrap();
    let id = forecourt_core::MessageId::parse("m").unwrap();
    let mut message =
        forecourt_core::Message::new(id, handle, vec![forecourt_core::Part::text("x")], "rest", host.clock().now());
    message.sender = forecourt_core::Sender {
        address: "@ann@e.example".to_owned(),
        verified: true,
        ..forecourt_core::Sender::anonymous()
    };
    let reply = host.receive(message, forecourt_host::Run::in_background(None)).await.unwrap();
    let task = json!(reply.task.unwrap().expose());
    assert_eq!(word(&inspected(&server, &task).await), "task-not-found");
}
