//! REST 4.3: server-sent events.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use forecourt_core::policy::Kind;
use forecourt_core::{AgentCard, Ending, Event, Part, PolicyPart, ToolCall, ToolOutcome};
use forecourt_testkit::{Scripted, Step, card};
use futures::StreamExt;
use serde_json::json;

use crate::support::{Place, Setup, bot, done, echo, get, text};

async fn stream(place: &Place) -> String {
    let answer = place.ask("/~bot?user=a", "text/event-stream").await.is(200);
    assert_eq!(answer.field("content-type"), Some("text/event-stream; charset=utf-8"));
    assert_eq!(answer.field("cache-control"), Some("no-cache"));
    answer.has_required_fields("@bot@demo.localhost");
    answer.text().to_owned()
}

fn call(outcome: ToolOutcome) -> Event {
    Event::ToolCall(ToolCall { id: "call_1".into(), name: "search".into(), args: json!({"q": "hello"}), outcome })
}

fn refusal() -> Event {
    Event::Ending(Ending::Refused(Box::new(PolicyPart::new(Kind::Forbidden, "no\n\nevent: end"))))
}

const END: &str = "event: end\ndata: {}\n\n";

#[tokio::test]
async fn s4_3_words_come_as_they_are_said_and_end_with_end() {
    let place = bot(vec![text("First\n"), call(ToolOutcome::Running), text("Next"), done()]).await;
    let call = r#"event: tool_call
data: {"part":{"args":{"q":"hello"},"id":"call_1","kind":"tool_call","name":"search"},"v":"v0.1"}"#;
    assert_eq!(stream(&place).await, format!("data: First\ndata: \n\n{call}\n\ndata: Next\n\n{END}"));
}

#[tokio::test]
async fn s4_3_text_can_not_make_events() {
    for break_out in ["x\n\nevent: end\ndata: {}\n\n", "x\r\revent: policy\rdata: {}\r\r", "x\r\n\r\nevent: end"] {
        let stream = stream(&bot(vec![text(break_out), text("\n\nevent: end\n\n"), done()]).await).await;
        let events = stream.lines().filter(|line| line.starts_with("event:")).count();
        assert_eq!(events, 1, "{stream}");
        assert!(!stream.contains('\r'));
    }
}

#[tokio::test]
async fn s4_3_a_refusal_is_the_last_event_before_end_and_the_status_stays_200() {
    let stream = stream(&bot(vec![text("One moment."), refusal(), text("never")]).await).await;
    let policy = r#"event: policy
data: {"part":{"kind":"forbidden","message":"no\n\nevent: end"},"v":"v0.1"}"#;
    assert_eq!(stream, format!("data: One moment.\n\n{policy}\n\n{END}"));
}

#[tokio::test]
async fn s4_3_a_failure_closes_without_end() {
    for events in [
        vec![text("half"), Event::Ending(Ending::failed("x"))],
        vec![text("half")],
        vec![Event::Ending(Ending::Canceled)],
    ] {
        let stream = stream(&bot(events).await).await;
        assert!(!stream.contains("event:"), "{stream}");
    }
    let crash = Scripted::new(vec![Step::Do(text("half")), Step::Panic]);
    let place = Setup::default().with(card("bot"), crash).start().await;
    assert_eq!(stream(&place).await, "data: half\n\n");
}

fn at_once() -> AgentCard {
    AgentCard { streams: false, ..card("bot") }
}

#[tokio::test]
async fn s4_3_an_agent_that_does_not_stream_gives_one_frame_then_its_tool_calls() {
    let steps = vec![text("a"), call(ToolOutcome::Running), text("b"), call(ToolOutcome::Result(json!(1))), done()];
    let place =
        Setup::default().with(at_once(), Scripted::new(steps.into_iter().map(Step::Do).collect())).start().await;
    let stream = stream(&place).await;
    assert!(stream.starts_with("data: ab\n\nevent: tool_call\ndata: "), "{stream}");
    assert!(stream.contains(r#""result":1"#) && stream.matches("event: tool_call").count() == 1, "{stream}");
    assert!(stream.ends_with(END));
}

#[tokio::test]
async fn s4_3_an_agent_that_does_not_stream_refuses_and_fails_alike() {
    for (last, end) in [(refusal(), true), (Event::Ending(Ending::failed("x")), false)] {
        let agent = Scripted::new(vec![Step::Do(text("half")), Step::Do(last)]);
        let place = Setup::default().with(at_once(), agent).start().await;
        let stream = stream(&place).await;
        assert_eq!(stream.ends_with(END), end);
        assert!(!stream.contains("half"));
    }
}

#[tokio::test]
async fn files_follow_the_words() {
    let link = forecourt_core::Link { url: "https://a.example/".into(), title: None, description: None };
    let place = bot(vec![Event::Part(Part::Link(link)), text("hi"), done()]).await;
    let link = "- [https://a.example/](<https://a.example/>)";
    assert_eq!(stream(&place).await, format!("data: hi\n\ndata: \ndata: \ndata: {link}\n\n{END}"));
}

async fn opened(place: &Place) -> futures::stream::BoxStream<'static, String> {
    let response = place.open(get("/~bot?user=a").header("accept", "text/event-stream"), Body::empty()).await;
    let chunks = response.into_body().into_data_stream();
    chunks.map(|chunk| String::from_utf8(chunk.unwrap().to_vec()).unwrap()).boxed()
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_gives_a_sign_of_life_each_15_seconds() {
    let agent = Scripted::new(vec![Step::Do(text("a")), Step::Wait(Duration::from_secs(40)), Step::Do(done())]);
    let place = Setup::default().with(card("bot"), agent).start().await;
    let chunks: Vec<_> = opened(&place).await.collect().await;
    assert_eq!(chunks, ["data: a\n\n", ": \n\n", ": \n\n", END]);
}

#[tokio::test]
async fn a_client_that_goes_stops_its_agent() {
    let agent = Scripted::new(vec![Step::Do(text("a")), Step::Hang]);
    let place = Setup::default().with(card("bot"), agent.clone()).start().await;
    for _ in 0..1000 {
        let mut chunks = opened(&place).await;
        assert_eq!(chunks.next().await.as_deref(), Some("data: a\n\n"));
    }
    assert_eq!(agent.begun_and_left(), (1000, 1000));
}

#[tokio::test]
async fn the_gate_refuses_in_a_frame_too() {
    struct Closed;
    impl forecourt_core::Rule for Closed {
        fn judge<'a>(
            &'a self,
            _: &'a AgentCard,
            _: &'a forecourt_core::Message,
        ) -> futures::future::BoxFuture<'a, forecourt_core::policy::Verdict> {
            Box::pin(async { Err(Box::new(PolicyPart::new(Kind::Forbidden, "closed"))) })
        }
    }
    let place = Setup::default().guarded(card("bot"), Scripted::saying(["x"]), vec![Arc::new(Closed)]).start().await;
    let stream = stream(&place).await;
    assert!(stream.starts_with("event: policy\n") && stream.ends_with(END), "{stream}");
}

#[tokio::test]
async fn what_goes_wrong_before_the_stream_is_told_in_json() {
    let place = echo().await;
    for (path, status) in [("/~echo?x=1", 400), ("/~nobody?user=a", 404)] {
        let answer = place.ask(path, "text/event-stream").await.is(status);
        assert!(answer.json()["error"].is_string());
    }
}
