//! `Idempotency-Key`: base 2.4.

use forecourt_testkit::Scripted;
use serde_json::{Value, json};

use super::{call_with, server, server_with, word};

const KEY: &str = "\r\nIdempotency-Key: k-1";

#[tokio::test(start_paused = true)]
async fn s2_4_a_call_with_a_key_is_made_once() {
    let agent = Scripted::saying(["Booked."]);
    let server = server_with(agent.clone()).await;
    let ask = || call_with(&server, "EXECUTE", KEY, json!({"action": "book"}));
    let (first, second) = (ask().await, ask().await);
    assert_eq!((first.0, &first), (200, &second));
    assert_eq!(agent.heard().len(), 1);
    let other = call_with(&server, "EXECUTE", KEY, json!({"action": "cancel"})).await;
    assert_eq!((other.0, word(&other.1)), (409, "idempotency-key-reused"));
    let gate = format!("EXECUTE /\r\nAgent-ID: {}{KEY}", server.id("gate"));
    assert_eq!(server.ask(&gate, "{\"action\": \"book\"}").await.start.code, 200);
}

#[tokio::test]
async fn s2_4_an_endpoint_is_called_once_for_a_key() {
    let server = server().await;
    let ask = async |n: u32| {
        let response = server.ask_as_chef(&format!("BOOK /rooms/a{KEY}"), &json!({"n": n}).to_string()).await;
        (response.start.code, crate::tests::support::body(&response))
    };
    assert_eq!(ask(1).await, ask(1).await);
    let (code, body): (u16, Value) = ask(2).await;
    assert_eq!((code, word(&body)), (409, "idempotency-key-reused"));
}

#[tokio::test(start_paused = true)]
async fn s2_4_the_key_in_the_parameters_counts_too() {
    let agent = Scripted::saying(["Booked."]);
    let server = server_with(agent.clone()).await;
    for _ in 0..2 {
        let parameters = json!({"action": "book", "idempotency_key": "k-2"});
        assert_eq!(call_with(&server, "EXECUTE", "", parameters).await.0, 200);
    }
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn s2_4_a_refusal_frees_the_key() {
    let server = server().await;
    let (code, _) = call_with(&server, "NOTIFY", KEY, json!({"recipient": "nobody", "content": "x"})).await;
    assert_eq!(code, 404);
    let (code, body) = call_with(&server, "NOTIFY", KEY, json!({"recipient": "gate", "content": "x"})).await;
    assert_eq!(code, 200, "{body}");
}

#[tokio::test]
async fn s2_4_a_secret_that_is_told_once_is_not_kept() {
    let server = server().await;
    let rest = json!({"session_id": "s-1"});
    assert_eq!(call_with(&server, "SUSPEND", KEY, rest.clone()).await.0, 200);
    assert_eq!(call_with(&server, "SUSPEND", KEY, rest).await.0, 409);
}
