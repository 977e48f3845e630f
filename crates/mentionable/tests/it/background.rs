//! REST 5.4: answers in the background, polled and called back.

use std::time::Duration;

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Ending, Event, File, Part, PolicyPart, Question, TaskId};
use forecourt_egress::EgressConfig;
use forecourt_host::TaskAccess;
use forecourt_testkit::{ScriptedAgent, Step, card};
use futures::StreamExt;
use serde_json::Value;

use crate::support::{Answer, Place, Setup, bot, done, echo, form, get, post_to, request, text};
use crate::webhooks::Receiver;

/// Asks `bot` in the background; gives the path of the task.
pub async fn begun(place: &Place) -> String {
    let answer = place.send_with(post_to("/~bot").header("prefer", "respond-async"), form(&[("user", "a")])).await;
    let answer = answer.is(202);
    assert!(answer.body.is_empty());
    assert_eq!(answer.field("preference-applied"), Some("respond-async"));
    answer.has_required_fields("@bot@demo.localhost");
    answer.field("content-location").unwrap().to_owned()
}

/// Waits until a task has settled.
pub async fn settled(place: &Place, path: &str) {
    let id = TaskId::parse(path.strip_prefix("/tasks/").unwrap()).unwrap();
    let mut events = place.host.task(&id, TaskAccess::ById).await.unwrap().subscribe(0);
    while events.next().await.is_some() {}
    while !place.host.task(&id, TaskAccess::ById).await.unwrap().state.is_settled() {
        tokio::task::yield_now().await;
    }
}

async fn polled(place: &Place, path: &str) -> Answer {
    place.ask(path, "text/html").await
}

/// The status object of a bot's task after `events`.
async fn status_after(events: Vec<Event>) -> Value {
    let place = bot(events).await;
    let path = begun(&place).await;
    settled(&place, &path).await;
    let answer = polled(&place, &path).await.is(200);
    assert_eq!(answer.field("content-type"), Some("application/json"));
    answer.has_required_fields("@bot@demo.localhost");
    let envelope = answer.json();
    assert_eq!(path, format!("/tasks/{}", envelope["id"].as_str().unwrap()));
    envelope["status"].clone()
}

#[tokio::test]
async fn s5_4_1_a_task_that_is_worked_on_is_202() {
    let agent = ScriptedAgent::new(vec![Step::Hang]);
    let place = Setup::default().with(card("bot"), agent).start().await;
    let path = begun(&place).await;
    let answer = polled(&place, &path).await.is(202);
    assert_eq!(answer.field("content-location"), Some(path.as_str()));
    let status = answer.json()["status"].clone();
    assert_eq!(status["state"], "working");
    assert!(status.get("message").is_none());
    assert!(status["timestamp"].as_str().unwrap().ends_with('Z'));
}

#[tokio::test]
async fn s5_4_1_a_finished_task_holds_its_message() {
    let status = status_after(vec![text("Hello"), text("!"), done()]).await;
    assert_eq!(status["state"], "completed");
    let part = serde_json::json!({"kind": "text", "text": "Hello!", "mime": "text/markdown"});
    assert_eq!(status["message"], serde_json::json!({"kind": "message", "role": "agent", "parts": [part]}));
}

#[tokio::test]
async fn s5_4_1_each_ending_is_one_of_three_states() {
    let question = Question { text: "Which?".into(), questions: vec![] };
    let refusal = PolicyPart::new(RefusalKind::Forbidden, "no");
    let consent = RefusalKind::ConsentRequired { state: "s".into(), return_to: "https://demo.localhost/b".into() };
    for (ending, state, words) in [
        (Ending::Complete, "completed", None),
        (Ending::Message("m".into()), "completed", Some("m")),
        (Ending::Question(question), "completed", Some("Which?")),
        (Ending::Refused(Box::new(refusal)), "failed", Some("no")),
        (Ending::Refused(Box::new(PolicyPart::new(consent, "ask"))), "failed", Some("ask")),
        (Ending::failed("reason"), "failed", Some("reason")),
        (Ending::Canceled, "failed", Some("The task was cancelled.")),
    ] {
        let refused = matches!(ending, Ending::Refused(_));
        let status = status_after(vec![Event::Ending(ending)]).await;
        assert_eq!(status["state"], state);
        assert_eq!(status["message"]["parts"][0]["text"].as_str(), words);
        assert_eq!(status["message"]["parts"][1].get("kind").is_some(), refused, "the refusal is carried");
    }
}

#[tokio::test]
async fn s5_4_1_several_questions_are_named_in_the_message() {
    let questions = vec![
        serde_json::json!({"id": "kind", "text": "Which kind?", "type": "single_select", "options": ["Pea", "Bean"]}),
        serde_json::json!({"id": "minutes", "text": "How long?", "type": "number"}),
    ];
    let question = Question { text: "Tell me more.".into(), questions: questions.clone() };
    let status = status_after(vec![Event::Ending(Ending::Question(question))]).await;
    let parts = &status["message"]["parts"];
    let words = "Tell me more.\n\n- Which kind? (`kind`: Pea, Bean)\n- How long? (`minutes`: a number)";
    assert_eq!(parts[0]["text"], words);
    assert_eq!(parts[1]["data"]["questions"], serde_json::Value::Array(questions));
}

#[tokio::test]
async fn s5_4_1_unknown_and_expired_tasks_are_404_in_json() {
    let place = bot(vec![done()]).await;
    let path = begun(&place).await;
    settled(&place, &path).await;
    place.clock.advance(Duration::from_secs(3599));
    place.send(get(&path)).await.is(200);
    place.clock.advance(Duration::from_secs(1));
    for path in [path, format!("/tasks/{}", "A".repeat(43)), "/tasks/x".into()] {
        let answer = place.send(get(&path)).await.is(404);
        assert_eq!(answer.text(), r#"{"error":"task not found or expired","code":"task-not-found"}"#);
        answer.has_required_fields("@echo@demo.localhost");
        assert!(place.ask(&path, "text/html").await.is(404).text().starts_with("<!doctype html>"));
    }
}

#[tokio::test]
async fn s5_4_prefer_on_get_is_ignored() {
    let answer = echo().await.send(get("/~echo?user=a").header("prefer", "respond-async")).await.is(200);
    assert_eq!(answer.field("preference-applied"), None);
}

#[tokio::test]
async fn s5_4_a_callback_elsewhere_is_passed_over_in_silence() {
    let place = echo().await;
    for callback in [
        "https://evil.example/x",
        "https://127.0.0.1/x",
        "https://demo.localhost.evil.example/",
        "https://demo.localhost/x",
        "http://demo.localhost:1/x",
        "nonsense",
        "",
    ] {
        let prefer = format!("respond-async; callback=\"{callback}\"");
        let answer = place.send_with(post_to("/~echo").header("prefer", prefer), form(&[("user", "a")])).await.is(200);
        assert_eq!(answer.field("preference-applied"), None, "{callback}");
        assert_eq!(answer.json()["parts"][0]["text"], "a");
    }
}

#[tokio::test]
async fn s5_4_a_refusal_at_the_gate_is_told_at_once() {
    use std::num::NonZeroU32;
    let one = forecourt_host::Rate { per_second: NonZeroU32::MIN, burst: NonZeroU32::MIN };
    let limits = forecourt_host::LimitSettings { per_address: one, ..Default::default() };
    let place = Setup { limits, ..Setup::default().bot(vec![done()]) }.start().await;
    begun(&place).await;
    let again = post_to("/~bot").header("prefer", "respond-async");
    place.send_with(again, form(&[("user", "a")])).await.is(429);
}

/// A place that may post to loopback, and somebody who listens there.
pub async fn with_receiver(events: Vec<Event>) -> (Place, Receiver) {
    let egress =
        EgressConfig { allow: vec!["127.0.0.0/8".parse().unwrap()], allow_http: true, ..EgressConfig::default() };
    (Setup { egress, ..Setup::default().bot(events) }.start().await, Receiver::listening().await)
}

#[tokio::test]
async fn s5_4_the_callback_gets_the_envelope_of_the_poll() {
    let (place, mut receiver) = with_receiver(vec![text("hi"), done()]).await;
    let prefer = format!("respond-async; callback=\"{}\"", receiver.url);
    let ask = request(http::Method::POST, "/~bot").header("content-type", crate::support::MULTIPART);
    let mut ask = ask.header("prefer", prefer);
    ask.headers_mut().unwrap().insert("host", "127.0.0.1:8080".parse().unwrap());
    let path = place.send_with(ask, form(&[("user", "a")])).await.is(202).field("content-location").unwrap().to_owned();
    let told = receiver.next().await;
    assert_eq!(told.headers["content-type"], "application/json");
    assert!(!told.headers.contains_key("x-hub-signature-256"));
    assert_eq!(serde_json::from_slice::<Value>(&told.body).unwrap(), place.send(get(&path)).await.is(200).json());
}

#[tokio::test]
async fn s5_6_files_of_a_task_are_pointers() {
    let file = Event::Part(Part::File(File::inline("image/png", Some("a.png".into()), "12345".into())));
    let place = bot(vec![text("Here."), file, done()]).await;
    let path = begun(&place).await;
    settled(&place, &path).await;
    let part = place.send(get(&path)).await.is(200).json()["status"]["message"]["parts"][1].clone();
    let id = part["id"].as_str().unwrap();
    let url = format!("{path}/artifacts/{id}");
    let expected = serde_json::json!(
        {"kind": "file", "id": id, "mime": "image/png", "size": 5, "name": "a.png", "url": url});
    assert_eq!(part, expected);
}
