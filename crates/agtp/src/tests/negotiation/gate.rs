//! The four locks, each closed alone. AGTP-API 10.1.2, 10.1.5; base 9.1.

use super::*;
use crate::tests::support::code;

#[tokio::test]
async fn s10_1_2_who_did_not_ask_is_told_nothing_of_it() {
    let hotel = Hotel::open().await;
    for fields in [&[][..], &[("Allow-RCNS", "optimistic")], &[("Allow-RCNS", "TRUE")], &[("Allow-RCNS", "false")]] {
        let answer = hotel.reserve(fields).await;
        assert_eq!(code(&answer), (404, "endpoint-not-found".to_owned()), "{fields:?}");
        assert_eq!(answer.field("RCNS-Attempt-Id"), None);
    }
    let sent = Sent { by: "chef", line: "RESERVE /rooms/7", fields: &[], body: stay() };
    assert_eq!(hotel.say(sent).await.start.code, 405, "the path is known");
    assert_eq!(hotel.booked(), 0);
}

#[tokio::test]
async fn s10_1_2_what_the_operator_has_closed_is_told_to_who_asked() {
    let hotel = Hotel::with("[policies]\nsynthesis_enabled = true").await;
    let answer = hotel.reserve(&[ALLOW]).await;
    let said = body(&answer);
    assert_eq!(
        (answer.start.code, word(&said, "code"), word(&said, "reason")),
        (464, "rcns-no-contract", "rcns-disabled")
    );
    assert_eq!(said["reason"], "rcns-disabled");
    assert!(answer.field("RCNS-Attempt-Id").is_some_and(|id| !id.is_empty()), "base 2.5: on every 464");
}

#[tokio::test]
async fn s10_1_2_negotiating_needs_its_scope() {
    let hotel = Hotel::open().await;
    let answer = hotel.reserve(&[ALLOW, ("Authority-Scope", "room:read, room:book")]).await;
    let said = body(&answer);
    assert_eq!(
        (answer.start.code, word(&said, "type"), word(&said, "scope")),
        (262, "scope-required", "rcns:negotiate")
    );
    assert_eq!((&said["type"], &said["scope"]), (&json!("scope-required"), &json!("rcns:negotiate")));
}

#[tokio::test]
async fn s10_1_2_an_agent_must_be_vouched_for() {
    let hotel = Hotel::with(&OPEN.replace("= 2", "= 1")).await;
    let said = body(&hotel.reserve(&[ALLOW]).await);
    assert_eq!(word(&said, "reason"), "trust-tier-insufficient", "{said}");
}

#[tokio::test]
async fn base_9_1_a_name_that_is_only_claimed_does_not_negotiate_where_it_must_be_proven() {
    let hotel = Hotel::with(&format!("{OPEN}require_verified_identity = true")).await;
    let said = body(&hotel.reserve(&[ALLOW]).await);
    assert_eq!(word(&said, "reason"), "identity-unverified", "{said}");
}

#[tokio::test]
async fn s10_1_2_what_nothing_can_be_made_of_is_told_with_its_reason() {
    let hotel = Hotel::open().await;
    let sent = Sent { by: "chef", line: "RESERVE /castle", fields: &[ALLOW], body: stay() };
    let answer = hotel.say(sent).await;
    let said = body(&answer);
    assert_eq!((answer.start.code, word(&said, "reason")), (464, "composition-impossible"));
    assert_eq!((word(&said, "method"), word(&said, "path")), ("RESERVE", "/castle"));
    let id = answer.field("RCNS-Attempt-Id").unwrap();
    let (code, told) = hotel.floor("INSPECT", json!({"target": "rcns-attempt", "attempt_id": id})).await;
    assert_eq!(
        (code, &told["reason"], &told["path_attempted"]),
        (200, &json!("composition-impossible"), &json!("/castle"))
    );
    assert_eq!((&told["method_attempted"], &told["agent_id"]), (&json!("RESERVE"), &json!(hotel.server.id("chef"))));
    let theirs = json!({"target": "rcns-attempt", "attempt_id": id});
    assert_eq!(hotel.floor_by("gate", SCOPES, "INSPECT", theirs.clone()).await.0, 403);
    assert_eq!(hotel.floor_by("gate", OPERATOR, "INSPECT", theirs).await.0, 200);
    let (code, told) = hotel.floor("INSPECT", json!({"target": "rcns-attempt", "attempt_id": "x"})).await;
    assert_eq!((code, word(&told, "code")), (404, "rcns-attempt-not-found"));
}

#[tokio::test]
async fn s10_1_5_negotiating_has_a_rate_of_its_own_for_each_agent() {
    let hotel = Hotel::with(&format!("{OPEN}rate_limit_per_minute = 2")).await;
    let id = hotel.offered().await;
    assert_eq!(hotel.reserve(&[ALLOW, ("Task-ID", "2")]).await.start.code, 461);
    let answer = hotel.reserve(&[ALLOW]).await;
    let said = body(&answer);
    assert_eq!((answer.start.code, word(&said, "scope"), &said["scope"]), (429, "rcns", &json!("rcns")));
    assert!(answer.field("Retry-After").is_some() && word(&said, "bound").contains("rate_limit_per_minute"), "{said}");
    let other = Sent { by: "gate", line: "RESERVE /weekend", fields: &[ALLOW], body: stay() };
    assert_eq!(hotel.say(other).await.start.code, 461, "each agent has its own");
    for _ in 0..4 {
        assert_eq!(hotel.reserve(&[presents(&id)]).await.start.code, 200, "calls under a contract are not counted");
    }
    hotel.server.mounted.clock.advance(std::time::Duration::from_secs(61));
    let sent = Sent { by: "chef", line: "RESERVE /castle", fields: &[ALLOW], body: stay() };
    assert_eq!(hotel.say(sent).await.start.code, 464, "there is room again");
}
