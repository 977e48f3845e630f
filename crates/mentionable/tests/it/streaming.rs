//! REST 4.3: server-sent events.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{AgentCard, Ending, Event, File, FileSource, Part, PolicyPart, Question, ToolCall, ToolOutcome};
use forecourt_testkit::{ScriptedAgent, Step, card};
use futures::StreamExt;
use serde_json::{Value, json};

use crate::support::{Answer, Place, Setup, bot, done, echo, get, text};

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
    Event::Ending(Ending::Refused(Box::new(PolicyPart::new(RefusalKind::Forbidden, "no\n\nevent: end"))))
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
async fn s4_3_a_failure_in_the_middle_closes_without_end_and_says_why_in_a_comment() {
    for (last, code, why) in [
        (vec![Event::Ending(Ending::failed("the\n\ndata: oven"))], "agent-failed", "the data: oven"),
        (vec![Event::Ending(Ending::declined("never"))], "declined", "never"),
        (vec![], "cut-off", "the agent stopped before its answer was whole"),
        (vec![Event::Ending(Ending::Canceled)], "canceled", "the answer was cancelled before its end"),
    ] {
        let stream = stream(&bot([vec![text("half")], last].concat()).await).await;
        assert_eq!(stream, format!("data: half\n\n: code {code}\n\n: error {why}\n\n"));
    }
    let crash = ScriptedAgent::new(vec![Step::Do(text("half")), Step::Panic]);
    let place = Setup::default().with(card("bot"), crash).start().await;
    assert_eq!(stream(&place).await, "data: half\n\n: code agent-failed\n\n: error the agent broke down\n\n");
}

#[tokio::test]
async fn s4_3_a_failure_before_the_first_byte_is_502() {
    let progress = Event::Progress(forecourt_core::Progress { fraction: Some(0.5), note: None });
    for before in [vec![], vec![text("")], vec![progress, Event::Part(link("https://a.example/"))]] {
        for (last, code, why) in [
            (Ending::failed("the oven is cold"), "agent-failed", "the oven is cold"),
            (Ending::Canceled, "canceled", "the answer was cancelled before its end"),
        ] {
            let place = bot([before.clone(), vec![Event::Ending(last)]].concat()).await;
            let answer = place.ask("/~bot?user=a", "text/event-stream").await.is(502);
            assert_eq!(answer.field("content-type"), Some("application/json"));
            assert_eq!(answer.json(), json!({"error": why, "code": code}));
            answer.has_required_fields("@bot@demo.localhost");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn s4_3_the_first_byte_is_waited_for_until_a_sign_of_life_is_due() {
    for (seconds, status, body) in [
        (14, 502, r#"{"error":"late","code":"agent-failed"}"#),
        (16, 200, ": \n\n: code agent-failed\n\n: error late\n\n"),
    ] {
        let steps = vec![Step::Wait(Duration::from_secs(seconds)), Step::Do(Event::Ending(Ending::failed("late")))];
        let place = Setup::default().with(card("bot"), ScriptedAgent::new(steps)).start().await;
        let answer = place.ask("/~bot?user=a", "text/event-stream").await.is(status);
        assert_eq!(answer.text(), body);
    }
}

fn link(url: &str) -> Part {
    Part::Link(forecourt_core::Link { url: url.into(), title: None, description: None })
}

fn at_once() -> AgentCard {
    AgentCard { streams: false, ..card("bot") }
}

#[tokio::test]
async fn s4_3_an_agent_that_does_not_stream_gives_one_frame_then_its_tool_calls() {
    let steps = vec![text("a"), call(ToolOutcome::Running), text("b"), call(ToolOutcome::Result(json!(1))), done()];
    let place =
        Setup::default().with(at_once(), ScriptedAgent::new(steps.into_iter().map(Step::Do).collect())).start().await;
    let stream = stream(&place).await;
    assert!(stream.starts_with("data: ab\n\nevent: tool_call\ndata: "), "{stream}");
    assert!(stream.contains(r#""result":1"#) && stream.matches("event: tool_call").count() == 1, "{stream}");
    assert!(stream.ends_with(END));
}

#[tokio::test]
async fn s4_3_an_agent_that_does_not_stream_refuses_and_fails_alike() {
    for (last, status) in [(refusal(), 200), (Event::Ending(Ending::failed("x")), 502)] {
        let agent = ScriptedAgent::new(vec![Step::Do(text("half")), Step::Do(last)]);
        let place = Setup::default().with(at_once(), agent).start().await;
        let answer = place.ask("/~bot?user=a", "text/event-stream").await.is(status);
        assert_eq!(answer.text().ends_with(END), status == 200);
        assert!(!answer.text().contains("half"));
    }
}

/// What a reader of a stream understands by WHATWG HTML 9.2.6: the data of the events without a name.
fn words_of(stream: &str) -> String {
    let events = stream.split("\n\n").filter(|event| event.starts_with("data:"));
    let data = |event: &str| {
        let lines: Vec<&str> = event.lines().map(|line| line.strip_prefix("data: ").unwrap()).collect();
        lines.join("\n")
    };
    events.map(data).collect()
}

/// Words, files and questions, in an order that no form must change.
fn rich() -> Vec<Event> {
    let file = File {
        id: None,
        name: Some("soup.png".into()),
        mime: "image/png".into(),
        size_bytes: None,
        source: FileSource::Url { url: "https://a.example/soup.png".into(), expires_at: None },
    };
    let questions = vec![
        json!({"id": "kind", "text": "Which kind?", "type": "single_select", "options": ["Pea", "Bean"]}),
        json!({"id": "minutes", "text": "How long?", "type": "number"}),
    ];
    let question = Question { text: "Tell me more.".into(), questions };
    vec![
        Event::Part(link("https://a.example/")),
        text("Two"),
        Event::Part(Part::text(" soups.")),
        Event::Part(Part::File(file)),
        Event::Part(Part::File(File::inline("image/png", None, "bytes".into()))),
        Event::Part(Part::data(json!({"name": "an item"}))),
        Event::Ending(Ending::Question(question)),
    ]
}

#[tokio::test]
async fn s5_3_the_words_are_the_same_in_every_form() {
    for streams in [true, false] {
        let steps = rich().into_iter().map(Step::Do).collect();
        let agent = AgentCard { streams, ..card("bot") };
        let place = Setup::default().with(agent, ScriptedAgent::new(steps)).start().await;
        let json = place.ask("/~bot?user=a", "application/json").await.is(200).json();
        let texts = json["parts"].as_array().unwrap().iter().filter(|part| part["kind"] == "text");
        let texts: String = texts.map(|part| part["content"].as_str().unwrap()).collect();
        assert_eq!(
            texts,
            "Two soups.\n\nTell me more.\n\n- Which kind? (`kind`: Pea, Bean)\n- How long? (`minutes`: a number)"
        );
        assert_eq!(place.ask("/~bot?user=a", "text/markdown").await.is(200).text(), texts);
        assert_eq!(words_of(&stream(&place).await), texts, "streams: {streams}");
    }
}

#[tokio::test]
async fn s4_2_files_and_links_are_fields_beside_words() {
    let place = bot(rich()).await;
    let both = [
        r#"<https://a.example/>; rel="related""#,
        r#"<https://a.example/soup.png>; rel="enclosure"; type="image/png"; title*=UTF-8''soup.png"#,
    ];
    let fields = |answer: &Answer| {
        answer.headers.get_all("link").iter().map(|field| field.to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(fields(&place.ask("/~bot?user=a", "text/markdown").await), both);
    let streamed = place.ask("/~bot?user=a", "text/event-stream").await;
    assert_eq!(fields(&streamed), both[..1], "what is known before the first word");
    let json = place.ask("/~bot?user=a", "application/json").await.json();
    let kinds: Vec<_> = json["parts"].as_array().unwrap().iter().map(|part| part["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["link", "text", "text", "file", "file", "data", "text", "data"]);
    assert_eq!(json["parts"][7]["data"]["questions"][0]["id"], "kind");
}

#[tokio::test]
async fn s4_3_files_and_links_follow_the_words_in_comments() {
    let stream = stream(&bot(rich()).await).await;
    let comments: Vec<Value> = stream
        .lines()
        .filter_map(|line| line.strip_prefix(": part "))
        .map(|json| serde_json::from_str::<Value>(json).unwrap()["part"].take())
        .collect();
    let kinds: Vec<_> = comments.iter().map(|part| part["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["link", "file", "file", "data"], "{stream}");
    assert_eq!((&comments[2]["mime"], &comments[2]["size_bytes"]), (&json!("image/png"), &json!(5)));
    assert_eq!(comments[2]["bytes_ref"]["kind"], "inline", "a small file can be opened from the chat");
    assert_eq!(comments[3]["data"]["questions"][1]["id"], "minutes");
}

#[tokio::test]
async fn s4_3_where_there_are_no_words_files_and_links_are_a_list() {
    let stream = stream(&bot(vec![Event::Part(link("https://a.example/")), done()]).await).await;
    assert_eq!(stream, format!("data: - [https://a.example/](<https://a.example/>)\n\n{END}"));
}

#[tokio::test]
async fn s4_3_bytes_of_large_files_stay_out_of_a_stream() {
    const BYTES_MAX: usize = 256 * 1024;
    for (bytes, is_in) in [(BYTES_MAX, true), (BYTES_MAX + 1, false)] {
        let file = forecourt_core::File::inline("image/png", None, vec![0; bytes].into());
        let stream = stream(&bot(vec![text("Here."), Event::Part(Part::File(file)), done()]).await).await;
        assert_eq!(stream.contains("bytes_ref"), is_in, "{bytes}");
    }
}

async fn opened(place: &Place) -> futures::stream::BoxStream<'static, String> {
    let response = place.open(get("/~bot?user=a").header("accept", "text/event-stream"), Body::empty()).await;
    let chunks = response.into_body().into_data_stream();
    chunks.map(|chunk| String::from_utf8(chunk.unwrap().to_vec()).unwrap()).boxed()
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_gives_a_sign_of_life_each_15_seconds() {
    let agent = ScriptedAgent::new(vec![Step::Do(text("a")), Step::Wait(Duration::from_secs(40)), Step::Do(done())]);
    let place = Setup::default().with(card("bot"), agent).start().await;
    let chunks: Vec<_> = opened(&place).await.collect().await;
    assert_eq!(chunks, ["data: a\n\n", ": \n\n", ": \n\n", END]);
}

#[tokio::test]
async fn a_client_that_goes_stops_its_agent() {
    let agent = ScriptedAgent::new(vec![Step::Do(text("a")), Step::Hang]);
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
        ) -> futures::future::BoxFuture<'a, forecourt_core::gate::RuleVerdict> {
            Box::pin(async { Err(PolicyPart::new(RefusalKind::Forbidden, "closed").into()) })
        }
    }
    let place =
        Setup::default().guarded(card("bot"), ScriptedAgent::saying(["x"]), vec![Arc::new(Closed)]).start().await;
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
