//! Calls that are made once: design decision 31.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Error;
use forecourt_host::{Host, ONCE_KEY_BYTES_MAX, ONCE_PER_CALLER_MAX, ONCE_TRIES_MAX, ONCE_TTL, Once};
use forecourt_testkit::Scripted;
use serde_json::json;

use crate::support::Setup;

async fn host() -> Arc<Host> {
    Setup::default().host(Scripted::saying(["answer"])).await
}

async fn done(host: &Host, caller: &str, key: &str, sent: &[u8]) {
    let Once::First(begun) = host.once(caller, key, sent).await.unwrap() else { panic!("not the first") };
    host.settle_once(begun, Some(json!({"answer": key}))).await.unwrap();
}

#[tokio::test]
async fn the_same_call_gets_the_same_answer_and_another_one_none() {
    let host = host().await;
    done(&host, "ann", "k", b"one").await;
    let again = host.once("ann", "k", b"one").await.unwrap();
    assert!(matches!(again, Once::Again(answer) if answer == json!({"answer": "k"})));
    assert!(matches!(host.once("ann", "k", b"two").await.unwrap(), Once::Other));
}

#[tokio::test]
async fn keys_of_callers_do_not_meet() {
    let host = host().await;
    for (caller, key) in [("ann", "k"), ("bob", "k"), ("ann", "k:k"), ("ann:k", "k")] {
        done(&host, caller, key, b"one").await;
    }
}

#[tokio::test]
async fn what_is_being_done_is_not_done_beside_it() {
    let host = host().await;
    let Once::First(begun) = host.once("ann", "k", b"one").await.unwrap() else { panic!("not the first") };
    assert!(matches!(host.once("ann", "k", b"one").await.unwrap(), Once::Unsettled));
    host.settle_once(begun, None).await.unwrap();
    done(&host, "ann", "k", b"two").await;
}

#[tokio::test]
async fn of_many_at_once_one_is_the_first() {
    let host = host().await;
    let all = futures::future::join_all((0..16).map(|_| host.once("ann", "k", b"one"))).await;
    assert_eq!(all.iter().filter(|once| matches!(once, Ok(Once::First(_)))).count(), 1);
}

#[tokio::test]
async fn a_key_survives_a_restart_and_lives_for_a_day() {
    let setup = Setup::default();
    let again = Setup { store: setup.store.clone(), clock: setup.clock.clone(), ..Setup::default() };
    let clock = setup.clock.clone();
    done(&*setup.host(Scripted::saying(["a"])).await, "ann", "k", b"one").await;
    let host = again.host(Scripted::saying(["a"])).await;
    clock.advance(ONCE_TTL - Duration::from_secs(1));
    assert!(matches!(host.once("ann", "k", b"one").await.unwrap(), Once::Again(_)));
    clock.advance(Duration::from_secs(1));
    assert!(matches!(host.once("ann", "k", b"one").await.unwrap(), Once::First(_)));
}

#[tokio::test]
async fn a_caller_has_a_bounded_number_of_keys() {
    let setup = Setup::default();
    let clock = setup.clock.clone();
    let host = setup.host(Scripted::saying(["a"])).await;
    for n in 0..ONCE_PER_CALLER_MAX {
        done(&host, "ann", &n.to_string(), b"one").await;
    }
    assert!(matches!(host.once("ann", "one more", b"one").await, Err(Error::Unavailable { .. })));
    assert!(matches!(host.once("ann", "0", b"one").await.unwrap(), Once::Again(_)));
    done(&host, "bob", "one more", b"one").await;
    clock.advance(ONCE_TTL);
    done(&host, "ann", "one more", b"one").await;
}

#[tokio::test]
async fn a_key_that_leads_to_nothing_is_tried_a_bounded_number_of_times() {
    let host = host().await;
    for _ in 0..ONCE_TRIES_MAX {
        let Once::First(begun) = host.once("ann", "k", b"one").await.unwrap() else { panic!("not the first") };
        host.settle_once(begun, None).await.unwrap();
    }
    assert!(matches!(host.once("ann", "k", b"one").await, Err(Error::Unavailable { .. })));
    done(&host, "ann", "another", b"one").await;
}

#[tokio::test]
async fn a_key_has_a_bounded_length() {
    let host = host().await;
    done(&host, "ann", &"k".repeat(ONCE_KEY_BYTES_MAX), b"one").await;
    for key in ["", &"k".repeat(ONCE_KEY_BYTES_MAX + 1)] {
        assert!(matches!(host.once("ann", key, b"one").await, Err(Error::Invalid { .. })));
    }
}
