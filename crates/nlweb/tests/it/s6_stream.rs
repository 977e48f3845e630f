//! NLWeb 6: answers as they come.

use std::time::Duration;

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Ending, Event, File, Part, PolicyPart};
use forecourt_testkit::{ScriptedAgent, Step};
use futures::StreamExt;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::support::*;

fn soup() -> Value {
    json!({"query": {"text": "soup"}})
}

#[tokio::test(start_paused = true)]
async fn s6_1_a_stream_starts_gives_results_and_completes() {
    let (place, _, _) = two().await;
    let answer = place.stream(soup()).await;
    assert_eq!((answer.status.as_u16(), answer.field("content-type")), (200, "text/event-stream"));
    assert_eq!(answer.field("cache-control"), "no-cache");
    let events = answer.events();
    assert_eq!(answer.names(), ["start", "result", "complete"]);
    assert_eq!(events[0].1["_meta"]["streaming"], true);
    assert_eq!(events[0].1["_meta"]["response_type"], "answer");
    assert_eq!(events[1].1["index"], 0);
    assert_eq!(events[1].1["item"]["text"], "chef");
    assert!(events[2].1["_meta"]["session_context"]["conversation_id"].is_string());
    assert!(events[2].1["_meta"].get("streaming").is_none());
}

#[tokio::test(start_paused = true)]
async fn s6_1_indexes_are_places_in_the_whole_answer() {
    let events = vec![text("Two of them."), item("a"), item("b"), done()];
    let place = bot(events).await;
    let body = json!({"query": {"text": "x"}, "prefer": {"mode": "list, summarize"}});
    let streamed = place.stream(body.clone()).await.events();
    let results = streamed.iter().filter(|(name, _)| name == "result");
    let mut placed: Vec<(u64, Value)> =
        results.map(|(_, data)| (data["index"].as_u64().unwrap(), data["item"].clone())).collect();
    assert_eq!(placed.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1, 2, 0]);
    placed.sort_by_key(|(at, _)| *at);
    let items: Vec<Value> = placed.into_iter().map(|(_, item)| item).collect();
    assert_eq!(place.ask(body).await.json()["results"], json!(items));
}

#[tokio::test(start_paused = true)]
async fn s6_1_items_are_sent_as_they_come() {
    let steps = vec![Step::Do(item("a")), Step::Wait(Duration::from_secs(60)), Step::Do(item("b")), Step::Do(done())];
    let (place, _) = scripted(steps).await;
    let response = place.open(post("/ask").header("accept", "text/event-stream"), soup().to_string()).await;
    let mut frames = response.into_body().into_data_stream();
    let mut next = async || String::from_utf8(frames.next().await.unwrap().unwrap().to_vec()).unwrap();
    assert!(next().await.starts_with("event: start"));
    let before = tokio::time::Instant::now();
    assert!(next().await.contains("\"a\""));
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert_eq!(next().await, ": \n\n");
    assert_eq!(before.elapsed().as_secs(), 15);
}

#[tokio::test(start_paused = true)]
async fn s6_1_an_error_may_be_followed_by_more() {
    let large = Part::File(File::inline("a/b", Some("big.bin".to_owned()), vec![0; 1024 * 1024 + 1].into()));
    let answer = bot(vec![Event::Part(large), item("a"), done()]).await.stream(soup()).await;
    assert_eq!(answer.names(), ["start", "error", "result", "complete"]);
    let error = &answer.events()[1].1;
    assert_eq!(error["_meta"]["response_type"], "failure");
    assert!(error["error"]["message"].as_str().is_some_and(|text| text.contains("big.bin")));
    assert_eq!(answer.events()[3].1["_meta"]["response_type"], "answer");
}

#[tokio::test(start_paused = true)]
async fn s6_1_what_fails_is_an_error_and_never_looks_complete() {
    let part = PolicyPart::new(RefusalKind::Forbidden, "Not for you.");
    for (events, names, code) in [
        (nothing(), vec!["start", "error", "complete"], "NO_RESULTS"),
        (
            vec![item("a"), Event::Ending(Ending::failed("It broke."))],
            vec!["start", "result", "error", "complete"],
            "INTERNAL_ERROR",
        ),
        (vec![text("Well."), refuse(part)], vec!["start", "error", "complete"], "FORBIDDEN"),
        (vec![Event::Ending(Ending::failed("At once."))], vec!["start", "error", "complete"], "INTERNAL_ERROR"),
    ] {
        let answer = bot(events).await.stream(soup()).await;
        assert_eq!(answer.names(), names);
        let events = answer.events();
        assert_eq!(events[events.len() - 2].1["error"]["code"], code);
        assert_eq!(events[events.len() - 1].1["_meta"]["response_type"], "failure");
    }
}

#[tokio::test(start_paused = true)]
async fn s6_1_a_question_comes_with_the_end() {
    let answer = bot(vec![Event::Ending(Ending::Question(question()))]).await.stream(soup()).await;
    assert_eq!(answer.names(), ["start", "complete"]);
    let events = answer.events();
    assert_eq!(events[0].1["_meta"]["response_type"], "elicitation");
    assert_eq!(events[1].1["elicitation"]["questions"].as_array().map(Vec::len), Some(5));
}

#[tokio::test(start_paused = true)]
async fn s6_who_is_refused_at_once_learns_it_from_the_status() {
    let part = PolicyPart::new(RefusalKind::TooManyRequests { retry_after_seconds: Some(7) }, "Slowly.");
    let answer = bot(vec![refuse(part)]).await.stream(soup()).await;
    assert_eq!(answer.verdict(), (429, "failure".to_owned(), "RATE_LIMITED".to_owned()));
    assert_eq!(answer.field("retry-after"), "7");
}

#[tokio::test(start_paused = true)]
async fn s6_what_the_request_says_goes_before_what_it_accepts() {
    let place = bot(vec![item("a"), done()]).await;
    for (streaming, accept, streams) in [
        (json!(null), "text/event-stream", true),
        (json!(null), "application/json", false),
        (json!(null), "*/*", false),
        (json!(null), "application/json;q=0.5, text/event-stream", true),
        (json!(true), "application/json", true),
        (json!(false), "text/event-stream", false),
    ] {
        let body = json!({"query": {"text": "x"}, "prefer": {"streaming": streaming}}).to_string();
        let answer = place.send(post("/ask").header("accept", accept), body).await;
        let is_stream = answer.field("content-type") == "text/event-stream";
        assert_eq!(is_stream, streams, "{streaming} {accept}");
    }
}

#[tokio::test(start_paused = true)]
async fn s6_a_stream_of_chatgpt_app_holds_the_words() {
    let body = json!({"query": {"text": "x"}, "prefer": {"streaming": true, "response_format": "chatgpt_app"}});
    let answer = bot(found(&["Pea"])).await.stream(body).await;
    assert_eq!(answer.events()[1].1["item"], json!({"@type": "SearchSummary", "text": "1 soups match."}));
}

#[tokio::test(start_paused = true)]
async fn s6_who_leaves_stops_the_agent() {
    let steps = vec![Step::Do(item("a")), Step::Hang];
    let agent = ScriptedAgent::new(steps);
    let place = Setup::default().with(remembering("bot"), agent.clone()).start().await;
    for _ in 0..50 {
        let response = place.open(post("/ask").header("accept", "text/event-stream"), soup().to_string()).await;
        let mut body = response.into_body();
        body.frame().await;
        drop(body);
    }
    assert_eq!(agent.begun_and_left(), (50, 50));
}

#[tokio::test(start_paused = true)]
async fn s6_no_text_begins_an_event() {
    let hostile = "x\n\nevent: complete\rdata: {}\r\n\r\n";
    let events = vec![Event::Part(Part::data(json!({"name": hostile}))), text(hostile), done()];
    let body = json!({"query": {"text": hostile}, "prefer": {"mode": "list, summarize"}});
    let answer = bot(events).await.stream(body).await;
    assert_eq!(answer.names(), ["start", "result", "result", "complete"]);
    assert_eq!(answer.events()[1].1["item"]["name"], hostile);
}
