//! `Idempotency-Key`: base 2.4.

use forecourt_core::Ending;
use forecourt_host::{LimitSettings, Rate};
use forecourt_testhost::Blueprint;
use forecourt_testkit::ScriptedAgent;
use serde_json::{Value, json};

use super::{call_with, ends, server, server_with, word};
use crate::tests::support::{blueprint, server_of};

const KEY: &str = "\r\nIdempotency-Key: k-1";

#[tokio::test(start_paused = true)]
async fn s2_4_a_call_with_a_key_is_made_once() {
    let agent = ScriptedAgent::saying(["Booked."]);
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
    let agent = ScriptedAgent::saying(["Booked."]);
    let server = server_with(agent.clone()).await;
    for _ in 0..2 {
        let parameters = json!({"action": "book", "idempotency_key": "k-2"});
        assert_eq!(call_with(&server, "EXECUTE", "", parameters).await.0, 200);
    }
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn s2_4_a_call_of_another_agent_is_another_call() {
    let server = server().await;
    let ask = async |name: &str| {
        let response = server.ask_as_chef(&format!("QUERY /agents/{name}{KEY}"), "{\"intent\": \"x\"}").await;
        (response.start.code, crate::tests::support::body(&response))
    };
    assert_eq!(ask("chef").await.0, 200);
    assert_eq!(ask("chef").await.0, 200);
    let head = format!("QUERY /{KEY}");
    assert_eq!(server.ask_as_chef(&head, "{\"intent\": \"x\"}").await.start.code, 409, "not by the same path");
}

#[tokio::test]
async fn s2_4_a_number_beyond_what_is_exact_everywhere_does_not_void_the_key() {
    let server = server().await;
    for (n, code) in [(9_007_199_254_740_993_u64, 200), (9_007_199_254_740_993, 200), (9_007_199_254_740_995, 409)] {
        let response = server.ask_as_chef(&format!("BOOK /rooms/a{KEY}"), &json!({"n": n}).to_string()).await;
        assert_eq!(response.start.code, code, "{n}");
    }
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
async fn s2_4_what_was_begun_is_not_done_again_however_it_ended() {
    let agent = ends(Ending::failed("the oven is cold"));
    let server = server_with(agent.clone()).await;
    for how in ["taken", "undeclared", "wrong", "crash"] {
        let ask = async |n: u32| {
            let head = format!("BOOK /rooms/a\r\nIdempotency-Key: {how}");
            let response = server.ask_as_chef(&head, &json!({"how": how, "n": n}).to_string()).await;
            (response.start.code, crate::tests::support::body(&response))
        };
        let first = ask(1).await;
        assert!(matches!(first.0, 422 | 500), "{first:?}");
        assert_eq!(ask(1).await, first);
        assert_eq!(word(&ask(2).await.1), "idempotency-key-reused", "{how}");
    }
    let ask = || call_with(&server, "EXECUTE", KEY, json!({"action": "bake"}));
    let (first, second) = (ask().await, ask().await);
    assert_eq!((first.0, word(&first.1), &first), (500, "agent-failed", &second));
    let ask = async |n: u32| {
        let parameters = json!({"action": "BOOK /rooms/a", "parameters": {"how": "taken", "n": n}});
        let said = json!({"idempotency_key": "by-name"});
        let body = [parameters, said].into_iter().flat_map(|part| part.as_object().unwrap().clone());
        let response = server.ask_as_chef("EXECUTE /", &Value::Object(body.collect()).to_string()).await;
        (response.start.code, word(&crate::tests::support::body(&response)).to_owned())
    };
    assert_eq!(ask(1).await, (422, "room_unavailable".to_owned()));
    assert_eq!(ask(2).await, (409, "idempotency-key-reused".to_owned()), "an endpoint by its name, too");
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn s2_4_an_answer_that_is_too_large_to_keep_is_not_made_again() {
    let server = server().await;
    for (bytes, second) in [(200 * 1024, 200), (300 * 1024, 409)] {
        let ask = async || {
            let body = json!({"text": "x".repeat(bytes)}).to_string();
            let response = server.ask_as_chef(&format!("BOOK /rooms/a\r\nIdempotency-Key: {bytes}"), &body).await;
            (response.start.code, crate::tests::support::body(&response))
        };
        assert_eq!(ask().await.0, 200);
        let (code, body) = ask().await;
        assert_eq!((code, body["error"]["status"].is_null()), (second, second == 200));
    }
}

#[tokio::test]
async fn base_4_repetitions_count_against_the_limits_too() {
    let one = std::num::NonZeroU32::MIN;
    let per_address = Rate { per_second: one, burst: one };
    let limits = LimitSettings { per_address, ..forecourt_testhost::unlimited() };
    let server = server_of(Blueprint { limits, ..blueprint("") }).await;
    let mut codes = Vec::new();
    for _ in 0..5 {
        codes.push(server.ask_as_chef(&format!("BOOK /rooms/a{KEY}"), "{}").await.start.code);
    }
    assert!(codes[0] == 200 && codes.contains(&429), "{codes:?}");
}

#[tokio::test]
async fn s2_4_a_secret_that_is_told_once_is_not_kept() {
    let server = server().await;
    let rest = json!({"session_id": "s-1"});
    assert_eq!(call_with(&server, "SUSPEND", KEY, rest.clone()).await.0, 200);
    assert_eq!(call_with(&server, "SUSPEND", KEY, rest).await.0, 409);
}

#[tokio::test]
async fn s2_4_the_key_after_the_last_one_is_refused_by_the_name_of_its_bound() {
    let limits =
        LimitSettings { idempotency_keys_per_caller_max: 2.try_into().unwrap(), ..forecourt_testhost::unlimited() };
    let server = server_of(Blueprint { limits, ..blueprint("") }).await;
    let ask = async |key: u32, session: &str| {
        let head = format!("BOOK /rooms/a\r\nSession-ID: {session}\r\nIdempotency-Key: {key}");
        server.ask_as_chef(&head, "{}").await
    };
    for key in 0..2 {
        assert_eq!(ask(key, "s1").await.start.code, 200);
    }
    let refused = ask(2, "s1").await;
    assert_eq!(refused.start.code, 429);
    let body = crate::tests::support::body(&refused);
    assert_eq!(word(&body), "rate-limited");
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains("limits.idempotency_keys_per_caller_max"), "{message}");
    let wait: u64 = refused.field("Retry-After").unwrap().parse().unwrap();
    assert!((1..=86_400).contains(&wait), "{wait}");
    assert_eq!(ask(2, "s2").await.start.code, 200, "another session counts for itself");
}
