//! NLWeb 4.1.2, 4.2: promises given, checked on and cancelled.

use std::time::Duration;

use forecourt_core::limits::TASK_TTL;
use forecourt_core::{Ending, Event, Part, TaskId, TaskState};
use forecourt_host::{Run, TaskAccess};
use forecourt_testkit::{ScriptedAgent, Step, card};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::support::*;

/// An agent that takes a minute, and says so half way.
fn slow() -> Vec<Step> {
    let ending: Vec<Step> = found(&["Pea"]).into_iter().map(Step::Do).collect();
    let begin = [Step::Do(progress(0.25, "Analyzing your meals")), Step::Wait(Duration::from_secs(60))];
    begin.into_iter().chain(ending).collect()
}

fn token(answer: &Answer) -> String {
    answer.json()["promise"]["token"].as_str().unwrap_or_else(|| panic!("no promise: {}", answer.text)).to_owned()
}

/// Lets an agent work for `seconds`.
async fn pass(place: &Place, seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    place.clock.advance(Duration::from_secs(seconds));
}

#[tokio::test(start_paused = true)]
async fn s4_1_2_what_takes_longer_than_the_host_waits_is_a_promise_under_202() {
    let (place, _) = scripted(slow()).await;
    let session = json!({"state": "x"});
    let answer = place.ask(json!({"query": {"text": "plan"}, "meta": {"session_context": session}})).await;
    assert_eq!(answer.verdict(), (202, "promise".to_owned(), String::new()));
    let promise = &answer.json()["promise"];
    assert_eq!((&promise["progress"], &promise["message"]), (&json!(0.25), &json!("Analyzing your meals")));
    assert!(promise["estimated_time"].as_u64().is_some());
    assert!(TaskId::parse(&token(&answer)).is_some());
    assert_eq!(answer.json()["_meta"]["session_context"], session);
}

#[tokio::test(start_paused = true)]
async fn s4_1_2_how_long_the_host_waits_is_configured() {
    let agent = || ScriptedAgent::new(slow());
    let quick = Setup::default().with(card("bot"), agent()).section("sync_wait_seconds = 61").start().await;
    assert_eq!(quick.say("plan").await.verdict().1, "answer");
    let never = Setup::default().with(card("bot"), agent()).section("sync_wait_seconds = 0").start().await;
    assert_eq!(never.say("plan").await.verdict().1, "promise");
}

#[tokio::test(start_paused = true)]
async fn s4_2_a_running_promise_is_promised_again_and_a_kept_one_is_the_answer() {
    let (place, _) = scripted(slow()).await;
    let promised = place.ask(json!({"query": {"text": "plan"}, "prefer": {"mode": "list, summarize"}})).await;
    let token = token(&promised);
    pass(&place, 20).await;
    let again = place.awaits(&token, "checkin").await;
    assert_eq!(again.verdict(), (202, "promise".to_owned(), String::new()));
    // 20 seconds were a quarter of it.
    assert_eq!(
        (&again.json()["promise"]["token"], &again.json()["promise"]["estimated_time"]),
        (&json!(token), &json!(60))
    );
    pass(&place, 60).await;
    let kept = place.awaits(&token, "checkin").await;
    assert_eq!(kept.verdict(), (200, "answer".to_owned(), String::new()));
    let results = kept.json()["results"].clone();
    assert_eq!((&results[0]["@type"], &results[1]["name"]), (&json!("SearchSummary"), &json!("Pea")));
    assert_eq!(place.awaits(&token, "checkin").await.json(), kept.json());
}

#[tokio::test(start_paused = true)]
async fn s4_2_the_answer_of_a_promise_is_written_as_it_was_asked_for() {
    let (place, _) = scripted(slow()).await;
    let prefer = json!({"response_format": "chatgpt_app"});
    let token = token(&place.ask(json!({"query": {"text": "plan", "max_results": 1}, "prefer": prefer})).await);
    pass(&place, 61).await;
    let kept = place.awaits(&token, "checkin").await.json();
    assert_eq!(
        (&kept["_meta"]["response_format"], &kept["content"][0]["text"]),
        (&json!("chatgpt_app"), &json!("1 soups match."))
    );
}

#[tokio::test(start_paused = true)]
async fn s4_2_a_cancelled_promise_is_a_failure_from_then_on() {
    let (place, agent) = scripted(slow()).await;
    let token = token(&place.say("plan").await);
    for action in ["cancel", "checkin", "cancel"] {
        let answer = place.awaits(&token, action).await;
        assert_eq!(answer.verdict(), (200, "failure".to_owned(), "CANCELLED".to_owned()), "{action}");
    }
    tokio::task::yield_now().await;
    assert_eq!(agent.begun_and_left(), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn s4_2_a_kept_promise_can_not_be_cancelled_and_stays_the_answer() {
    let (place, _) = scripted(slow()).await;
    let token = token(&place.say("plan").await);
    pass(&place, 61).await;
    assert_eq!(place.awaits(&token, "cancel").await.verdict().1, "answer");
}

#[tokio::test(start_paused = true)]
async fn s4_2_endings_of_every_kind_are_told() {
    for (ending, verdict) in [
        (Ending::Question(question()), (200, "elicitation", "")),
        (Ending::failed("No."), (200, "failure", "INTERNAL_ERROR")),
        (Ending::Message("Done.".to_owned()), (200, "answer", "")),
    ] {
        let steps = vec![Step::Wait(Duration::from_secs(60)), Step::Do(Event::Ending(ending))];
        let (place, _) = scripted(steps).await;
        let token = token(&place.say("plan").await);
        pass(&place, 61).await;
        let answer = place.awaits(&token, "checkin").await;
        assert_eq!(answer.verdict(), (verdict.0, verdict.1.to_owned(), verdict.2.to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn s4_2_unknown_expired_malformed_and_foreign_tokens_look_alike() {
    let (place, _) = scripted(slow()).await;
    let asked = place
        .send(
            post("/ask").header("authorization", place.token("alice")),
            json!({"query": {"text": "plan"}}).to_string(),
        )
        .await;
    let token = token(&asked);
    let check = |authorization: Option<String>| {
        let request = match authorization {
            Some(value) => post("/await").header("authorization", value),
            None => post("/await"),
        };
        let body = json!({"promise_token": token, "action": "cancel"}).to_string();
        place.send(request, body)
    };
    let unknown = place.awaits(&"a".repeat(43), "checkin").await;
    assert_eq!(unknown.verdict(), (404, "failure".to_owned(), "NOT_FOUND".to_owned()));
    for foreign in [
        place.awaits("x", "checkin").await,
        place.awaits("promise_xyz", "cancel").await,
        check(None).await,
        check(Some(place.token("bob"))).await,
    ] {
        assert_eq!((foreign.status, foreign.text), (unknown.status, unknown.text.clone()));
    }
    let own = place
        .send(
            post("/await").header("authorization", place.token("alice")),
            json!({"promise_token": token, "action": "checkin"}).to_string(),
        )
        .await;
    assert_eq!(own.status, 202);
    pass(&place, 61).await;
    place.clock.advance(TASK_TTL);
    assert_eq!(check(Some(place.token("alice"))).await.text, unknown.text);
}

#[tokio::test(start_paused = true)]
async fn s4_2_another_agents_promise_is_not_kept_at_this_address() {
    let slow = ScriptedAgent::new(slow());
    let place = Setup::default().with(card("bot"), slow).with(card("gate"), ScriptedAgent::saying(["x"])).start().await;
    let token = token(&place.say("plan").await);
    let body = json!({"promise_token": token, "action": "checkin"}).to_string();
    assert_eq!(place.send(post("/~gate/await"), body.clone()).await.status, 404);
    assert_eq!(place.send(post("/~bot/await"), body).await.status, 202);
}

#[tokio::test(start_paused = true)]
async fn s4_2_a_request_that_is_none_is_400_and_names_the_field() {
    let place = bot(vec![done()]).await;
    for (field, body) in [
        ("promise_token", json!({"action": "checkin"})),
        ("promise_token", json!({"promise_token": 1, "action": "checkin"})),
        ("promise_token", json!({"promise_token": "", "action": "checkin"})),
        ("action", json!({"promise_token": "a"})),
        ("action", json!({"promise_token": "a", "action": "resume"})),
        ("meta", json!({"promise_token": "a", "action": "cancel", "meta": 1})),
    ] {
        let answer = place.send(post("/await"), body.to_string()).await;
        assert_eq!(answer.verdict(), (400, "failure".to_owned(), "INVALID_QUERY".to_owned()), "{field}");
        assert!(answer.message().contains(field), "{}", answer.text);
    }
}

#[tokio::test(start_paused = true)]
async fn s4_2_a_promise_is_a_task_of_every_wire() {
    let (place, _) = scripted(slow()).await;
    let token = token(&place.say("plan").await);
    let task = place.host.task(&TaskId::parse(&token).unwrap(), TaskAccess::ById).await.unwrap();
    assert_eq!((task.state, task.received_via.as_str()), (TaskState::Working, "nlweb"));
    let message = forecourt_core::Message::new(
        forecourt_core::MessageId::parse("m1").unwrap(),
        forecourt_core::Handle::parse("bot").unwrap(),
        vec![Part::text("hi")],
        "elsewhere",
        place.host.clock().now(),
    );
    let reply = place.host.receive(message, Run::in_background(None)).await.unwrap();
    let elsewhere = reply.task.unwrap();
    assert_eq!(place.awaits(elsewhere.expose(), "checkin").await.status, 202);
    pass(&place, 61).await;
    let kept: Value = place.awaits(elsewhere.expose(), "checkin").await.json();
    assert_eq!(kept["results"][0]["name"], "Pea");
}
