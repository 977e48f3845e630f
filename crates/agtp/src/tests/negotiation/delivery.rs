//! Offers and what becomes of them. AGTP-API 10.1.1, 10.1.3.

use super::*;
use crate::tests::support::code;

#[tokio::test]
async fn s10_1_3_an_offer_is_whole_and_nothing_was_done() {
    let hotel = Hotel::open().await;
    let answer = hotel.reserve(&[ALLOW]).await;
    let offer = body(&answer);
    assert_eq!((answer.start.code, answer.start.reason.as_str()), (461, "RCNS Contract Available"));
    assert_eq!((&offer["method"], &offer["path"]), (&json!("RESERVE"), &json!("/weekend")));
    assert_eq!(offer["recipe_lineage"], json!({"recipe_name": "weekend", "recipe_version": "1"}));
    assert!(offer["contract_hash"].as_str().is_some_and(|hash| hash.len() == 64), "{offer}");
    assert!(offer["expires_at"].is_string() && offer["endpoint"]["input_schema"].is_object(), "{offer}");
    assert_eq!(offer["endpoint"]["handler"], json!({"type": "composition"}), "8.9: the kind alone");
    assert_eq!(offer["proposed_synthesis_id"], offer["synthesis_id"]);
    assert_eq!(
        (&offer["contract"]["recipe_name"], &offer["contract"]["path"]),
        (&json!("weekend"), &json!("/weekend"))
    );
    assert_eq!((answer.field("Contract-Synthesized"), hotel.booked()), (None, 0));
}

#[tokio::test]
async fn s10_1_3_an_offer_is_accepted_by_sending_the_call_again() {
    let hotel = Hotel::open().await;
    let id = hotel.offered().await;
    for name in ["Contract-Synthesized", "Synthesis-Id"] {
        let answer = hotel.reserve(&[(name, &id)]).await;
        assert_eq!((answer.start.code, answer.field("Contract-Synthesized")), (200, Some(id.as_str())), "{name}");
        assert_eq!(body(&answer)["reservation_id"], "r-1");
    }
    assert_eq!(hotel.booked(), 2);
    let implicit = hotel.reserve(&[]).await;
    assert_eq!((implicit.start.code, implicit.field("Contract-Synthesized")), (200, Some(id.as_str())), "10.1.1");
}

#[tokio::test]
async fn s10_1_3_an_offer_is_its_agents_alone() {
    let hotel = Hotel::open().await;
    let id = hotel.offered().await;
    let theirs = Sent { by: "gate", line: "RESERVE /weekend", fields: &[presents(&id)], body: stay() };
    let said = hotel.say(theirs).await;
    assert_eq!((said.start.code, word(&body(&said), "reason")), (464, "contract-not-yours"));
    assert!(said.field("RCNS-Attempt-Id").is_some());
    let head = format!("RESERVE /weekend\r\nContract-Synthesized: {id}");
    assert_eq!(code(&hotel.server.ask(&head, &stay().to_string()).await).0, 401, "without a name");
    let without = Sent { by: "gate", line: "RESERVE /weekend", fields: &[], body: stay() };
    assert_eq!(hotel.say(without).await.start.code, 404, "nobody learns of it");
    assert_eq!(hotel.booked(), 0);
}

#[tokio::test]
async fn s10_1_3_optimistic_serves_at_once_and_says_under_what() {
    let hotel = Hotel::with(&format!("{OPEN}mode = \"optimistic\"")).await;
    let answer = hotel.reserve(&[ALLOW]).await;
    let id = answer.field("Contract-Synthesized").expect("the contract").to_owned();
    assert_eq!((answer.start.code, hotel.booked()), (200, 1));
    let again = hotel.reserve(&[presents(&id)]).await;
    assert_eq!((again.start.code, again.field("Contract-Synthesized")), (200, Some(id.as_str())));
}

#[tokio::test]
async fn s10_7_what_the_steps_need_is_asked_for_before_anything_is_done() {
    let hotel = Hotel::open().await;
    let answer = hotel.reserve(&[ALLOW, ("Authority-Scope", "room:read, rcns:negotiate")]).await;
    assert_eq!(answer.start.code, 262, "{}", body(&answer));
    let id = hotel.offered().await;
    let narrow = hotel.reserve(&[presents(&id), ("Authority-Scope", "room:read")]).await;
    assert_eq!((narrow.start.code, hotel.booked()), (455, 0), "{}", body(&narrow));
}

#[tokio::test]
async fn s13_3_what_a_contract_takes_is_held_to_its_schema() {
    let hotel = Hotel::open().await;
    let id = hotel.offered().await;
    for wrong in [json!({"room_id": "7"}), json!({"room_id": "7", "guest": "Ada", "more": 1}), json!({"room_id": 7})] {
        let sent = Sent { by: "chef", line: "RESERVE /weekend", fields: &[presents(&id)], body: wrong.clone() };
        let answer = hotel.say(sent).await;
        assert_eq!(code(&answer), (422, "input-validation-failed".to_owned()), "{wrong}");
    }
    let failed = json!({"room_id": "13", "guest": "Ada"});
    let sent = Sent { by: "chef", line: "RESERVE /weekend", fields: &[presents(&id)], body: failed };
    let answer = hotel.say(sent).await;
    assert_eq!(code(&answer), (422, "composition_failed".to_owned()));
    assert_eq!(answer.field("Contract-Synthesized"), Some(id.as_str()), "refusals under a contract say so too");
}

#[tokio::test]
async fn base_2_2_an_envelope_is_opened_for_contracts_too() {
    let hotel = Hotel::open().await;
    let id = hotel.offered().await;
    let envelope = json!({"method": "RESERVE", "task_id": "t", "parameters": stay()});
    let sent = Sent { by: "chef", line: "RESERVE /weekend", fields: &[presents(&id)], body: envelope };
    assert_eq!(hotel.say(sent).await.start.code, 200);
}

#[tokio::test]
async fn s10_1_6_an_action_that_names_the_endpoint_runs_under_the_contract_too() {
    let hotel = Hotel::open().await;
    let id = hotel.offered().await;
    let execute = json!({"action": "RESERVE /weekend", "parameters": stay()});
    let sent = Sent { by: "chef", line: "EXECUTE /", fields: &[presents(&id)], body: execute };
    let answer = hotel.say(sent).await;
    assert_eq!((answer.start.code, answer.field("Contract-Synthesized")), (200, Some(id.as_str())));
}

#[tokio::test]
async fn s10_1_the_hosts_own_pairs_and_registered_ones_go_on_as_before() {
    let hotel = Hotel::open().await;
    let id = hotel.offered().await;
    let native = Sent { by: "chef", line: "DISCOVER /methods", fields: &[presents(&id), ALLOW], body: Value::Null };
    let answer = hotel.say(native).await;
    assert_eq!((answer.start.code, answer.field("Contract-Synthesized")), (200, None));
    let other = Sent { by: "chef", line: "BOOK /rooms/7", fields: &[presents(&id)], body: json!({"guest": "Ada"}) };
    let answer = hotel.say(other).await;
    assert_eq!(code(&answer), (409, "contract-mismatch".to_owned()));
    assert_eq!(body(&answer)["error"]["contract"], json!({"method": "RESERVE", "path": "/weekend"}));
    let plain = Sent { by: "chef", line: "BOOK /rooms/7", fields: &[ALLOW], body: json!({"guest": "Ada"}) };
    let answer = hotel.say(plain).await;
    assert_eq!((answer.start.code, answer.field("Contract-Synthesized")), (200, None));
}
