//! SUSPEND: sessions that rest. Base 3.1.

use std::time::Duration;

use forecourt_core::Clock;
use serde_json::{Value, json};

use super::{call, call_with, server, word};
use crate::limits::RESTING_AGE_MAX;
use crate::sessions::{Resting, SessionLedger, SessionName};
use crate::tests::support::Server;

const SESSION: &str = "\r\nSession-ID: s-1";

fn of_chef(session: &str) -> SessionName<'_> {
    SessionName { agent: "chef", session }
}

async fn rest(server: &Server, more: Value) -> Value {
    let mut parameters = json!({"session_id": "s-1", "reason": "awaiting_input"});
    parameters.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (code, body) = call(server, "SUSPEND", parameters).await;
    assert_eq!(code, 200, "{body}");
    body
}

async fn query(server: &Server, fields: &str) -> u16 {
    call_with(server, "QUERY", fields, json!({"intent": "x"})).await.0
}

#[tokio::test]
async fn s3_1_a_session_that_rests_is_refused_until_its_nonce_wakes_it() {
    let server = server().await;
    let body = rest(&server, json!({"checkpoint": {"at": 3}})).await;
    let nonce = body["resumption_nonce"].as_str().unwrap();
    assert_eq!((nonce.len(), &body["status"]), (22, &json!("suspended")));
    let (code, refused) = call_with(&server, "QUERY", SESSION, json!({"intent": "x"})).await;
    assert_eq!((code, word(&refused)), (409, "session-suspended"));
    assert_eq!(refused["error"]["suspension_id"], body["suspension_id"]);
    let (code, endpoint) = call_with(&server, "EXECUTE", SESSION, json!({"action": "BOOK /rooms/a"})).await;
    assert_eq!((code, word(&endpoint)), (409, "session-suspended"));
    assert_eq!((query(&server, "").await, query(&server, "\r\nSession-ID: s-2").await), (200, 200));

    let wrong = json!({"session_id": "s-1", "resumption_nonce": "AAAAAAAAAAAAAAAAAAAAAA"});
    assert_eq!(call_with(&server, "SUSPEND", SESSION, wrong).await.0, 403);
    let right = json!({"session_id": "s-1", "resumption_nonce": nonce});
    let (code, woken) = call_with(&server, "SUSPEND", SESSION, right.clone()).await;
    assert_eq!((code, &woken["status"], &woken["checkpoint"]), (200, &json!("resumed"), &json!({"at": 3})));
    assert_eq!(query(&server, SESSION).await, 200);
    let (code, body) = call_with(&server, "SUSPEND", SESSION, right).await;
    assert_eq!((code, word(&body)), (404, "suspension-not-found"), "a nonce wakes once");
}

#[tokio::test]
async fn s3_1_the_nonce_is_kept_as_a_hash() {
    let server = server().await;
    let body = rest(&server, json!({})).await;
    let nonce = body["resumption_nonce"].as_str().unwrap();
    let stream = format!("session:64:{}:s-1", server.id("chef"));
    let (_, entry) = server.mounted.mount.host.ledger("agtp").last(&stream).await.unwrap().unwrap();
    assert!(!entry.body.to_string().contains(nonce));
}

#[tokio::test]
async fn s3_1_a_session_wakes_by_itself_when_its_time_has_come() {
    let server = server().await;
    rest(&server, json!({"ttl_seconds": 60})).await;
    server.mounted.clock.advance(Duration::from_secs(59));
    assert_eq!(query(&server, SESSION).await, 409);
    server.mounted.clock.advance(Duration::from_secs(1));
    assert_eq!(query(&server, SESSION).await, 200);
}

#[tokio::test]
async fn s3_1_a_session_is_its_agents_own() {
    let server = server().await;
    rest(&server, json!({})).await;
    let head = format!("QUERY /\r\nAgent-ID: {}{SESSION}", server.id("gate"));
    assert_eq!(server.ask(&head, "{\"intent\": \"x\"}").await.start.code, 200);
}

#[tokio::test]
async fn s3_1_a_moment_that_has_passed_is_408_and_one_too_far_422() {
    let server = server().await;
    let now = server.mounted.clock.now();
    for (resume_by, status) in [(now, 408), (now + Duration::from_secs(31 * 86_400), 422)] {
        let (code, _) = call(&server, "SUSPEND", json!({"session_id": "s", "resume_by": resume_by})).await;
        assert_eq!(code, status);
    }
    let (code, body) = call(&server, "SUSPEND", json!({"synthesis_id": "s"})).await;
    assert_eq!((code, word(&body)), (404, "contract-not-found"));
}

#[tokio::test]
async fn s3_1_a_session_that_rests_does_not_rest_twice() {
    let server = server().await;
    rest(&server, json!({})).await;
    let (code, body) = call(&server, "SUSPEND", json!({"session_id": "s-1"})).await;
    assert_eq!((code, word(&body)), (409, "session-suspended"));
}

#[tokio::test]
async fn s3_1_a_session_rests_on_after_a_restart() {
    let server = server().await;
    rest(&server, json!({})).await;
    // What a service that was just made knows.
    let fresh = crate::service::Service::new(&server.mounted.mount, server.service.settings.clone());
    let fresh = Server { service: fresh, ..server };
    assert_eq!((query(&fresh, SESSION).await, query(&fresh, "\r\nSession-ID: s-2").await), (409, 200));
}

#[tokio::test]
async fn s3_1_what_is_kept_of_a_session_has_a_bound() {
    let server = server().await;
    let kept = crate::limits::KEPT_BYTES_MAX;
    for (name, bytes, code) in
        [("a".repeat(255), kept, 200), ("b".repeat(256), kept, 422), ("c".repeat(255), kept + 1, 422)]
    {
        // Quotes are two of its bytes.
        let parameters = json!({"session_id": name, "checkpoint": "x".repeat(bytes - 2)});
        assert_eq!(call(&server, "SUSPEND", parameters).await.0, code, "{bytes}");
    }
}

#[tokio::test]
async fn a_session_rests_and_wakes_in_every_process_within_the_bound() {
    let server = server().await;
    let (host, clock) = (SessionLedger::of(&server.mounted.mount.host), &server.mounted.clock);
    let (here, elsewhere) = (Resting::default(), Resting::default());
    let session = of_chef("s-1");
    let until = clock.now() + Duration::from_secs(60);
    assert!(!elsewhere.may_rest(host, session).await.unwrap());
    here.add(host, session, until).await.unwrap();
    assert!(here.may_rest(host, session).await.unwrap());
    clock.advance(RESTING_AGE_MAX);
    assert!(!elsewhere.may_rest(host, session).await.unwrap(), "what was read still holds");
    clock.advance(Duration::from_millis(1));
    assert!(elsewhere.may_rest(host, session).await.unwrap());
    elsewhere.remove(host, session, until).await;
    clock.advance(RESTING_AGE_MAX + Duration::from_millis(1));
    for process in [&here, &elsewhere, &Resting::default()] {
        assert!(!process.may_rest(host, session).await.unwrap());
    }
}

#[tokio::test]
async fn sessions_are_heard_of_though_all_that_was_written_before_has_expired() {
    let server = server().await;
    let (host, clock) = (SessionLedger::of(&server.mounted.mount.host), &server.mounted.clock);
    let (here, elsewhere) = (Resting::default(), Resting::default());
    for _ in 0..2 {
        for session in ["s-1", "s-2", "s-3"] {
            here.add(host, of_chef(session), clock.now() + Duration::from_secs(60)).await.unwrap();
        }
        assert!(elsewhere.may_rest(host, of_chef("s-3")).await.unwrap());
        clock.advance(Duration::from_secs(61));
        assert!(!elsewhere.may_rest(host, of_chef("s-3")).await.unwrap());
        clock.advance(RESTING_AGE_MAX + Duration::from_millis(1));
    }
    // The stream has begun anew, and its numbers are low again.
    here.add(host, of_chef("s-4"), clock.now() + Duration::from_secs(60)).await.unwrap();
    assert!(elsewhere.may_rest(host, of_chef("s-4")).await.unwrap());
    clock.advance(Duration::from_secs(61));
    // And beyond those that were read already, before anybody looks again.
    for session in ["s-5", "s-6"] {
        here.add(host, of_chef(session), clock.now() + Duration::from_secs(60)).await.unwrap();
    }
    for session in ["s-5", "s-6"] {
        assert!(elsewhere.may_rest(host, of_chef(session)).await.unwrap(), "{session}");
    }
}
