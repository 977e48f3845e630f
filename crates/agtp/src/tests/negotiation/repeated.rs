//! Keys of calls that negotiate. AGTP-API 10.1.5; base 2.4.

use std::time::Duration;

use super::*;

const KEY: (&str, &str) = ("Idempotency-Key", "k-1");

#[tokio::test]
async fn s10_1_5_an_offer_is_repeated_whole_for_its_key() {
    let hotel = Hotel::open().await;
    let first = hotel.reserve(&[ALLOW, KEY]).await;
    let second = hotel.reserve(&[ALLOW, KEY]).await;
    assert_eq!((first.start.code, body(&first)), (461, body(&second)));
    let (_, listed) =
        hotel.floor("INSPECT", json!({"target": "contract", "synthesis_id": body(&first)["synthesis_id"]})).await;
    assert_eq!(listed["state"], "offered");
    let theirs = Sent { by: "gate", line: "RESERVE /weekend", fields: &[ALLOW, KEY], body: stay() };
    assert_ne!(body(&hotel.say(theirs).await)["synthesis_id"], body(&first)["synthesis_id"], "keys are an agent's own");
    let other = Sent { by: "chef", line: "RESERVE /weekend", fields: &[ALLOW, KEY], body: json!({"room_id": "8"}) };
    let said = hotel.say(other).await;
    assert_eq!((said.start.code, word(&body(&said), "code")), (409, "idempotency-key-reused"));
    let elsewhere = Sent { by: "chef", line: "RESERVE /castle", fields: &[ALLOW, KEY], body: stay() };
    assert_eq!(hotel.say(elsewhere).await.start.code, 409);
}

#[tokio::test]
async fn s10_1_5_whoever_accepts_goes_on_under_the_same_key_once() {
    let hotel = Hotel::open().await;
    let offer = body(&hotel.reserve(&[ALLOW, KEY]).await);
    let id = offer["synthesis_id"].as_str().unwrap();
    let done = hotel.reserve(&[presents(id), KEY]).await;
    assert_eq!((done.start.code, hotel.booked()), (200, 1), "{}", body(&done));
    for fields in [&[presents(id), KEY][..], &[ALLOW, KEY]] {
        let again = hotel.reserve(fields).await;
        assert_eq!((again.start.code, body(&again), hotel.booked()), (200, body(&done), 1));
        assert_eq!(again.field("Contract-Synthesized"), Some(id), "the whole answer");
    }
}

#[tokio::test]
async fn s10_1_5_a_reason_is_repeated_whole_and_then_looked_at_anew() {
    let hotel = Hotel::open().await;
    let castle = || Sent { by: "chef", line: "RESERVE /castle", fields: &[ALLOW, KEY], body: stay() };
    let (first, second) = (hotel.say(castle()).await, hotel.say(castle()).await);
    assert_eq!((first.start.code, body(&first)), (464, body(&second)));
    assert!(first.field("RCNS-Attempt-Id").is_some());
    assert_eq!(first.field("RCNS-Attempt-Id"), second.field("RCNS-Attempt-Id"));
    hotel.server.mounted.clock.advance(Duration::from_secs(61));
    let third = hotel.say(castle()).await;
    assert_ne!(first.field("RCNS-Attempt-Id"), third.field("RCNS-Attempt-Id"), "the window is over");
}

#[tokio::test]
async fn s10_1_5_other_refusals_free_the_key() {
    let hotel = Hotel::open().await;
    let narrow = [ALLOW, KEY, ("Authority-Scope", "room:read, room:book")];
    assert_eq!(hotel.reserve(&narrow).await.start.code, 262);
    assert_eq!(hotel.reserve(&[ALLOW, KEY]).await.start.code, 461);
}

#[tokio::test]
async fn s10_1_5_a_proposal_with_a_key_is_made_once() {
    let hotel = Hotel::open().await;
    let propose = || Sent { by: "chef", line: "PROPOSE /", fields: &[KEY], body: json!({"endpoint": weekend()}) };
    let (first, second) = (hotel.say(propose()).await, hotel.say(propose()).await);
    assert_eq!((first.start.code, body(&first)), (263, body(&second)));
    assert_eq!(first.field("Content-Type"), second.field("Content-Type"));
}

#[tokio::test]
async fn s10_1_3_optimistic_calls_with_a_key_are_done_once() {
    let hotel = Hotel::with(&format!("{OPEN}mode = \"optimistic\"")).await;
    let (first, second) = (hotel.reserve(&[ALLOW, KEY]).await, hotel.reserve(&[ALLOW, KEY]).await);
    assert_eq!((first.start.code, hotel.booked()), (200, 1));
    assert_eq!(first.field("Contract-Synthesized"), second.field("Contract-Synthesized"));
    assert!(first.field("Contract-Synthesized").is_some());
}
