//! Calls that are made once: design decision 31.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Clock, Error};
use forecourt_host::{
    Host, IdempotencyOwner, IdempotencyState, LimitSettings, ONCE_KEY_BYTES_MAX, ONCE_TRIES_MAX, ONCE_TTL,
};
use forecourt_testkit::ScriptedAgent;
use serde_json::json;

use crate::support::Setup;

const ANN: IdempotencyOwner<'static> = IdempotencyOwner { name: "ann", session: None, is_proven: true };

fn of(name: &str) -> IdempotencyOwner<'_> {
    IdempotencyOwner { name, session: None, is_proven: true }
}

async fn host() -> Arc<Host> {
    Setup::default().host(ScriptedAgent::saying(["answer"])).await
}

async fn done(host: &Host, caller: &str, key: &str, sent: &[u8]) {
    let IdempotencyState::First(begun) = host.idempotency(of(caller)).begin(key, sent).await.unwrap() else {
        panic!("not the first")
    };
    host.idempotency(of(caller)).settle(begun, Some(json!({"answer": key}))).await.unwrap();
}

#[tokio::test]
async fn the_same_call_gets_the_same_answer_and_another_one_none() {
    let host = host().await;
    done(&host, "ann", "k", b"one").await;
    let again = host.idempotency(ANN).begin("k", b"one").await.unwrap();
    assert!(matches!(again, IdempotencyState::Again(answer) if answer == json!({"answer": "k"})));
    assert!(matches!(host.idempotency(ANN).begin("k", b"two").await.unwrap(), IdempotencyState::Other));
}

#[tokio::test]
async fn keys_of_callers_do_not_meet() {
    let host = host().await;
    for (caller, key) in [("ann", "k"), ("bob", "k"), ("ann", "k:k"), ("ann:k", "k")] {
        done(&host, caller, key, b"one").await;
    }
}

#[tokio::test]
async fn a_refusal_that_is_kept_holds_until_its_moment_and_for_its_call_alone() {
    let setup = Setup::default();
    let clock = setup.clock.clone();
    let host = setup.host(ScriptedAgent::saying(["answer"])).await;
    let begin = |sent: &'static [u8]| host.idempotency(ANN).begin("k", sent);
    let IdempotencyState::First(begun) = begin(b"one").await.unwrap() else { panic!("not the first") };
    let until = clock.now() + Duration::from_secs(60);
    host.idempotency(ANN).settle_refusal(begun, json!("offered"), until).await.unwrap();
    assert!(matches!(begin(b"one").await.unwrap(), IdempotencyState::Again(answer) if answer == json!("offered")));
    assert!(matches!(begin(b"two").await.unwrap(), IdempotencyState::Other));
    let goes_on = |sent: &'static [u8]| host.idempotency(ANN).begin_after("k", sent, &|kept| *kept == "offered");
    assert!(matches!(goes_on(b"two").await.unwrap(), IdempotencyState::Other), "another call does not go on from it");
    let IdempotencyState::First(begun) = goes_on(b"one").await.unwrap() else { panic!("does not go on") };
    host.idempotency(ANN).settle_refusal(begun, json!("offered"), until).await.unwrap();
    clock.advance(Duration::from_secs(60));
    let IdempotencyState::First(begun) = begin(b"two").await.unwrap() else { panic!("the moment has passed") };
    host.idempotency(ANN).settle(begun, Some(json!("offered"))).await.unwrap();
    assert!(matches!(goes_on(b"two").await.unwrap(), IdempotencyState::Again(_)), "what was done is not done again");
}

#[tokio::test]
async fn what_is_being_done_is_not_done_beside_it() {
    let host = host().await;
    let IdempotencyState::First(begun) = host.idempotency(ANN).begin("k", b"one").await.unwrap() else {
        panic!("not the first")
    };
    assert!(matches!(host.idempotency(ANN).begin("k", b"one").await.unwrap(), IdempotencyState::Unsettled { .. }));
    host.idempotency(ANN).settle(begun, None).await.unwrap();
    done(&host, "ann", "k", b"two").await;
}

#[tokio::test]
async fn of_many_at_once_one_is_the_first() {
    let host = host().await;
    let all = futures::future::join_all((0..16).map(|_| host.idempotency(ANN).begin("k", b"one"))).await;
    assert_eq!(all.iter().filter(|once| matches!(once, Ok(IdempotencyState::First(_)))).count(), 1);
}

#[tokio::test]
async fn a_key_survives_a_restart_and_lives_for_a_day() {
    let setup = Setup::default();
    let again = Setup { store: setup.store.clone(), clock: setup.clock.clone(), ..Setup::default() };
    let clock = setup.clock.clone();
    done(&*setup.host(ScriptedAgent::saying(["a"])).await, "ann", "k", b"one").await;
    let host = again.host(ScriptedAgent::saying(["a"])).await;
    clock.advance(ONCE_TTL - Duration::from_secs(1));
    assert!(matches!(host.idempotency(ANN).begin("k", b"one").await.unwrap(), IdempotencyState::Again(_)));
    clock.advance(Duration::from_secs(1));
    assert!(matches!(host.idempotency(ANN).begin("k", b"one").await.unwrap(), IdempotencyState::First(_)));
}

/// A host that remembers so many keys of one caller, and of all.
fn bounded(per_caller: u64, all: u64) -> Setup {
    let limits = LimitSettings {
        idempotency_keys_per_caller_max: per_caller.try_into().unwrap(),
        idempotency_keys_max: all.try_into().unwrap(),
        ..LimitSettings::default()
    };
    Setup { limits, ..Setup::default() }
}

/// The bound that refused a key, and the seconds to wait.
async fn refused(host: &Host, caller: IdempotencyOwner<'_>, key: &str) -> (String, u64) {
    let IdempotencyState::Refused(part) = host.idempotency(caller).begin(key, b"one").await.unwrap() else {
        panic!("not refused")
    };
    assert_eq!(part.kind(), "too_many_requests");
    (part.message.clone(), part.kind.retry_after_seconds().unwrap())
}

#[test]
fn one_honest_caller_does_not_meet_the_bound() {
    let limits = LimitSettings::default();
    assert_eq!(limits.idempotency_keys_per_caller_max.get(), 100_000);
    assert_eq!(limits.idempotency_keys_max.get(), 1_000_000);
}

#[tokio::test]
async fn a_caller_has_a_bounded_number_of_keys() {
    let setup = bounded(3, 100);
    let clock = setup.clock.clone();
    let host = setup.host(ScriptedAgent::saying(["a"])).await;
    done(&host, "ann", "0", b"one").await;
    clock.advance(Duration::from_secs(60));
    for n in 1..3 {
        done(&host, "ann", &n.to_string(), b"one").await;
    }
    let (message, wait) = refused(&host, ANN, "one more").await;
    assert!(message.starts_with("limits.idempotency_keys_per_caller_max is reached: 3 "), "{message}");
    assert_eq!(wait, ONCE_TTL.as_secs() - 60, "until the oldest is forgotten");
    assert!(matches!(host.idempotency(ANN).begin("0", b"one").await.unwrap(), IdempotencyState::Again(_)));
    done(&host, "bob", "one more", b"one").await;
    clock.advance(Duration::from_secs(wait));
    done(&host, "ann", "one more", b"one").await;
    refused(&host, ANN, "and one").await;
}

#[tokio::test]
async fn keys_are_counted_for_each_session_of_a_caller() {
    let host = bounded(1, 100).host(ScriptedAgent::saying(["a"])).await;
    let ann = |session| IdempotencyOwner { name: "ann", session, is_proven: true };
    for (key, session) in [("0", None), ("1", Some("s1")), ("2", Some("s2"))] {
        assert!(matches!(host.idempotency(ann(session)).begin(key, b"one").await.unwrap(), IdempotencyState::First(_)));
        refused(&host, ann(session), "one more").await;
    }
    assert!(
        matches!(
            host.idempotency(ann(Some("s2"))).begin("0", b"one").await.unwrap(),
            IdempotencyState::Unsettled { .. }
        ),
        "they mean the same"
    );
}

#[tokio::test]
async fn all_callers_together_have_a_bounded_number_of_keys() {
    let host = bounded(100, 2).host(ScriptedAgent::saying(["a"])).await;
    done(&host, "ann", "0", b"one").await;
    done(&host, "bob", "0", b"one").await;
    let (message, _) = refused(&host, of("eve"), "0").await;
    assert!(message.starts_with("limits.idempotency_keys_max is reached: 2 "), "{message}");
}

#[tokio::test]
async fn a_host_that_drains_begins_nothing_under_a_key() {
    let host = host().await;
    host.drain(Duration::ZERO).await;
    assert!(matches!(host.idempotency(ANN).begin("k", b"one").await, Err(Error::Unavailable { .. })));
}

#[tokio::test]
async fn a_key_that_leads_to_nothing_is_tried_a_bounded_number_of_times() {
    let host = host().await;
    for _ in 0..ONCE_TRIES_MAX {
        let IdempotencyState::First(begun) = host.idempotency(ANN).begin("k", b"one").await.unwrap() else {
            panic!("not the first")
        };
        host.idempotency(ANN).settle(begun, None).await.unwrap();
    }
    assert!(refused(&host, ANN, "k").await.0.contains("in vain"));
    done(&host, "ann", "another", b"one").await;
}

#[tokio::test]
async fn a_key_has_a_bounded_length() {
    let host = host().await;
    done(&host, "ann", &"k".repeat(ONCE_KEY_BYTES_MAX), b"one").await;
    for key in ["", &"k".repeat(ONCE_KEY_BYTES_MAX + 1)] {
        assert!(matches!(host.idempotency(ANN).begin(key, b"one").await, Err(Error::Invalid { .. })));
    }
}

#[tokio::test]
async fn strangers_use_up_half_of_the_keys_and_leave_the_rest_to_callers_that_are_known() {
    let host = bounded(10, 4).host(ScriptedAgent::saying(["a"])).await;
    let stranger = |name| IdempotencyOwner { name, session: None, is_proven: false };
    for name in ["one", "two"] {
        let first = host.idempotency(stranger(name)).begin("k", b"one").await.unwrap();
        assert!(matches!(first, IdempotencyState::First(_)));
    }
    let (message, _) = refused(&host, stranger("three"), "k").await;
    assert!(message.starts_with("half of limits.idempotency_keys_max"), "{message}");
    done(&host, "ann", "a", b"one").await;
    done(&host, "ann", "b", b"one").await;
    let (message, _) = refused(&host, ANN, "c").await;
    assert!(message.starts_with("limits.idempotency_keys_max is reached: 4 "), "{message}");
}
