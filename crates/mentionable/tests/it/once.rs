//! `Idempotency-Key`: a POST that is sent again is carried out once.

use std::time::Duration;

use forecourt_testkit::{ScriptedAgent, Step, card};
use http::Method;
use http::request::Builder;

use crate::support::{Answer, Place, Setup, done, echo, form, post_to, request, text};

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
    let first = says(&place, "\"k1\"", "soup").await.is(200);
    for key in ["\"k1\"", "k1"] {
        assert_eq!(says(&place, key, "soup").await.is(200).body, first.body);
    }
    // As a client library does it, with a boundary of its own each time.
    let other = request(Method::POST, "/~bot").header("accept", "application/json").header("idempotency-key", "k1");
    let other = other.header("content-type", "multipart/form-data; boundary=Y");
    let body = form(&[("user", "soup")]).replace("--X", "--Y");
    assert_eq!(place.send_with(other, body).await.is(200).body, first.body);
    assert_eq!(agent.heard().len(), 1);
    says(&place, "k2", "soup").await.is(200);
    assert_eq!(agent.heard().len(), 2, "another key is another request");
}

#[tokio::test]
async fn a_key_that_was_used_for_another_body_is_422() {
    let agent = ScriptedAgent::new(vec![Step::Do(text("hi")), Step::Do(done())]);
    let place = bot(&agent).await;
    says(&place, "k", "soup").await.is(200);
    let answer = place.send_with(keyed("/~bot", "k"), form(&[("user", "bread")])).await.is(422);
    assert_eq!(answer.json()["code"], "idempotency-key-reused");
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn a_key_is_one_of_its_agent() {
    let agent = ScriptedAgent::new(vec![Step::Do(text("hi")), Step::Do(done())]);
    let place = bot(&agent).await;
    says(&place, "k", "soup").await.is(200);
    let echoed = place.send_with(keyed("/~echo", "k"), form(&[("user", "bread")])).await;
    echoed.is(200);
}

#[tokio::test(start_paused = true)]
async fn while_it_is_carried_out_a_repetition_is_409_and_then_its_answer() {
    let agent = ScriptedAgent::new(vec![Step::Wait(Duration::from_secs(5)), Step::Do(text("hi")), Step::Do(done())]);
    let place = bot(&agent).await;
    let again = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        says(&place, "k", "soup").await
    };
    let (first, again) = tokio::join!(says(&place, "k", "soup"), again);
    assert_eq!(again.is(409).headers["retry-after"], "5");
    let first = first.is(200);
    assert_eq!(says(&place, "k", "soup").await.is(200).body, first.body);
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_went_away_finds_what_it_began() {
    let agent = ScriptedAgent::new(vec![Step::Wait(Duration::from_secs(5)), Step::Do(text("hi")), Step::Do(done())]);
    let place = bot(&agent).await;
    let gone = tokio::time::timeout(Duration::from_secs(1), says(&place, "k", "soup")).await;
    assert!(gone.is_err());
    says(&place, "k", "soup").await.is(409);
    tokio::time::sleep(Duration::from_secs(6)).await;
    let answer = says(&place, "k", "soup").await.is(200);
    assert!(answer.text().contains("hi"));
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn a_request_for_the_background_is_the_same_task() {
    let agent = ScriptedAgent::new(vec![Step::Do(text("hi")), Step::Do(done())]);
    let place = bot(&agent).await;
    let sent = async || {
        let request = keyed("/~bot", "k").header("prefer", "respond-async");
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
    says(&place, "k", "soup").await.is(200);
    place.clock.advance(Duration::from_secs(60 * 60 + 1));
    says(&place, "k", "soup").await.is(410);
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn two_keys_or_an_empty_one_are_400() {
    let place = echo().await;
    for request in [keyed("/~echo", "a").header("idempotency-key", "b"), keyed("/~echo", "")] {
        place.send_with(request, form(&[("user", "hi")])).await.is(400);
    }
}
