//! `Idempotency-Key`: a POST that is sent again is carried out once.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use forecourt_host::{LimitSettings, Rate};
use forecourt_testkit::{ScriptedAgent, Step, card};
use http::Method;
use http::request::Builder;

use crate::support::{Answer, Place, Setup, done, echo, form, post_to, request, text};

const KEY: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";
const QUOTED: &str = "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"";
const OTHER: &str = "0b5f3c1a-6d0e-4f7b-9a52-1c7e2d9f8a63";

fn keyed(path: &str, key: &str) -> Builder {
    post_to(path).header("idempotency-key", key)
}

async fn says(place: &Place, key: &str, words: &str) -> Answer {
    place.send_with(keyed("/~bot", key), form(&[("user", words)])).await
}

async fn bot(agent: &std::sync::Arc<ScriptedAgent>) -> Place {
    Setup::default().with(card("bot"), agent.clone()).start().await
}

#[tokio::test]
async fn a_repetition_gets_the_same_answer_and_the_agent_is_asked_once() {
    let agent = ScriptedAgent::new(vec![Step::Do(text("hi")), Step::Do(done())]);
    let place = bot(&agent).await;
    let first = says(&place, QUOTED, "soup").await.is(200);
    for key in [QUOTED, KEY] {
        assert_eq!(says(&place, key, "soup").await.is(200).body, first.body);
    }
    // As a client library does it, with a boundary of its own each time.
    let other = request(Method::POST, "/~bot").header("accept", "application/json").header("idempotency-key", KEY);
    let other = other.header("content-type", "multipart/form-data; boundary=Y");
    let body = form(&[("user", "soup")]).replace("--X", "--Y");
    assert_eq!(place.send_with(other, body).await.is(200).body, first.body);
    assert_eq!(agent.heard().len(), 1);
    says(&place, OTHER, "soup").await.is(200);
    assert_eq!(agent.heard().len(), 2, "another key is another request");
}

#[tokio::test]
async fn a_key_that_was_used_for_another_body_is_422() {
    let agent = ScriptedAgent::new(vec![Step::Do(text("hi")), Step::Do(done())]);
    let place = bot(&agent).await;
    says(&place, KEY, "soup").await.is(200);
    let answer = place.send_with(keyed("/~bot", KEY), form(&[("user", "bread")])).await.is(422);
    assert_eq!(answer.json()["code"], "idempotency-key-reused");
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn a_key_is_one_of_its_agent() {
    let agent = ScriptedAgent::new(vec![Step::Do(text("hi")), Step::Do(done())]);
    let place = bot(&agent).await;
    says(&place, KEY, "soup").await.is(200);
    let echoed = place.send_with(keyed("/~echo", KEY), form(&[("user", "bread")])).await;
    echoed.is(200);
}

#[tokio::test(start_paused = true)]
async fn while_it_is_carried_out_a_repetition_is_409_and_then_its_answer() {
    let agent = ScriptedAgent::new(vec![Step::Wait(Duration::from_secs(5)), Step::Do(text("hi")), Step::Do(done())]);
    let place = bot(&agent).await;
    let again = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        says(&place, KEY, "soup").await
    };
    let (first, again) = tokio::join!(says(&place, KEY, "soup"), again);
    assert_eq!(again.is(409).headers["retry-after"], "5");
    let first = first.is(200);
    assert_eq!(says(&place, KEY, "soup").await.is(200).body, first.body);
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_went_away_finds_what_it_began() {
    let agent = ScriptedAgent::new(vec![Step::Wait(Duration::from_secs(5)), Step::Do(text("hi")), Step::Do(done())]);
    let place = bot(&agent).await;
    let gone = tokio::time::timeout(Duration::from_secs(1), says(&place, KEY, "soup")).await;
    assert!(gone.is_err());
    says(&place, KEY, "soup").await.is(409);
    tokio::time::sleep(Duration::from_secs(6)).await;
    let answer = says(&place, KEY, "soup").await.is(200);
    assert!(answer.text().contains("hi"));
    // Nobody was there to hear that it was done, and its task is gone.
    place.clock.advance(Duration::from_secs(60 * 60 + 1));
    says(&place, KEY, "soup").await.is(410);
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn a_request_for_the_background_is_the_same_task() {
    let agent = ScriptedAgent::new(vec![Step::Do(text("hi")), Step::Do(done())]);
    let place = bot(&agent).await;
    let sent = async || {
        let request = keyed("/~bot", KEY).header("prefer", "respond-async");
        place.send_with(request, form(&[("user", "soup")])).await.is(202)
    };
    let (first, again) = (sent().await, sent().await);
    assert_eq!(first.headers["content-location"], again.headers["content-location"]);
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn an_answer_that_is_kept_no_longer_is_410() {
    let agent = ScriptedAgent::new(vec![Step::Do(text("hi")), Step::Do(done())]);
    let place = bot(&agent).await;
    says(&place, KEY, "soup").await.is(200);
    place.clock.advance(Duration::from_secs(60 * 60 + 1));
    says(&place, KEY, "soup").await.is(410);
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn two_keys_or_an_empty_one_are_400() {
    let place = echo().await;
    for request in [keyed("/~echo", KEY).header("idempotency-key", OTHER), keyed("/~echo", "")] {
        place.send_with(request, form(&[("user", "hi")])).await.is(400);
    }
}

#[tokio::test]
async fn a_stranger_needs_a_key_that_nobody_guesses_and_who_signed_in_does_not() {
    let place = Setup { identity: None, ..Setup::default() }.start().await;
    for key in ["1", "msg-1", "order-42"] {
        let answer = place.send_with(keyed("/~echo", key), form(&[("user", "hi")])).await.is(400);
        assert!(answer.json()["hint"].as_str().unwrap().contains("Idempotency-Key"));
        let signed_in = keyed("/~echo", key).header("authorization", place.token("ann"));
        place.send_with(signed_in, form(&[("user", "hi")])).await.is(200);
    }
}

#[tokio::test]
async fn a_caller_never_gets_what_another_one_asked_under_the_same_key() {
    let agent = ScriptedAgent::new(vec![Step::Do(text("hi")), Step::Do(done())]);
    let setup = Setup { identity: None, ..Setup::default() };
    let place = setup.with(card("bot"), agent.clone()).start().await;
    for name in ["ann", "bob"] {
        let request = keyed("/~bot", "1").header("authorization", place.token(name));
        place.send_with(request, form(&[("user", name)])).await.is(200);
    }
    assert_eq!(agent.heard().len(), 2);
}

#[tokio::test]
async fn a_request_that_led_to_nothing_leaves_its_key_free() {
    let agent = ScriptedAgent::new(vec![Step::Do(text("hi")), Step::Do(done())]);
    let place = bot(&agent).await;
    let wrong = place.send_with(keyed("/~bot", KEY), form(&[("state", "not one of ours")])).await;
    assert!(wrong.status.is_client_error(), "{}", wrong.status);
    assert_eq!(agent.heard().len(), 0);
    says(&place, KEY, "hi").await.is(200);
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn a_flood_of_keys_is_refused_before_any_of_them_is_kept() {
    let [one, four] = [1, 4].map(|n| NonZeroU32::new(n).unwrap());
    let per_address = Rate { per_second: one, burst: four };
    let one_key = NonZeroU64::new(2).unwrap();
    let limits = LimitSettings { per_address, idempotency_keys_per_caller_max: one_key, ..LimitSettings::default() };
    let place = Setup { limits, ..Setup::default() }.start().await;
    let mut told = Vec::new();
    for n in 0..8 {
        let request = keyed("/~echo", &format!("{n}-{KEY}"));
        let answer = place.send_with(request, form(&[("user", "hi")])).await;
        told.push((answer.status.as_u16(), answer.text().contains("idempotency_keys")));
    }
    // A call with a key counts twice, and what is refused for coming too often is none of the two keys.
    assert_eq!(told[..2], [(200, false); 2]);
    assert_eq!(told[2..], [(429, false); 6]);
}
