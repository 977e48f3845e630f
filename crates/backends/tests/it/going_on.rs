//! `model` and `http` whose node was lost: they go on by their notes, and do nothing twice that must not be.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use forecourt_agents::tool::{EndpointTool, Tool, ToolResult};
use forecourt_agents::{BuiltAgent, Context};
use forecourt_backends::limits::POLL_REDIRECTS_MAX;
use forecourt_core::reply::collect;
use forecourt_core::{CollectedReply, EarlierTry, Ending, Event, FailureCause, Message, Part, ToolOutcome};
use forecourt_egress::limits::URL_BYTES_MAX;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::support::notebook::Notebook;
use crate::support::provider::{self, Server, chunk, raw, says, stop, text};
use crate::support::{build, context, events, failure, message, stream};

/// Counts what it does, and says whether its journal told of it before.
#[derive(Default)]
struct Counter {
    is_idempotent: bool,
    done: Mutex<Vec<i64>>,
    journal: Mutex<Option<Arc<Notebook>>>,
}

impl Tool for Counter {
    fn name(&self) -> &'static str {
        "count"
    }

    fn description(&self) -> &'static str {
        "Counts."
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {"n": {"type": "integer"}}})
    }

    fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }

    fn call<'a>(&'a self, arguments: Value, _: &'a Message) -> BoxFuture<'a, ToolResult> {
        if let Some(journal) = &*self.journal.lock().unwrap() {
            assert!(journal.is_written() || self.is_idempotent, "it is called before that is written");
        }
        let n = arguments["n"].as_i64().unwrap();
        self.done.lock().unwrap().push(n);
        std::future::ready(if n == 3 { Err("not three".into()) } else { Ok(json!({"n": n, "half": 0.1})) }).boxed()
    }
}

fn hi() -> Message {
    message(vec![Part::text("hi")])
}

/// A provider whose model calls 1 and 2, then 3, then answers.
async fn counting() -> Server {
    let asks = |before: &str, numbers: &[i64]| {
        let call = |(at, n): (usize, &i64)| json!({"index": at, "id": format!("id{at}"), "function": {"name": "count", "arguments": format!("{{\"n\":{n}}}")}});
        let calls: Vec<Value> = numbers.iter().enumerate().map(call).collect();
        raw(&format!("{}{}{}", says(before), chunk(&json!({"tool_calls": calls})), stop("tool_calls")))
    };
    Server::answering(move |asked| {
        let results = asked["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool").count();
        match results {
            0 => asks("Let me see. ", &[1, 2]),
            2 => asks("One more. ", &[3]),
            3 => text("Done."),
            other => panic!("{other} results"),
        }
    })
    .await
}

fn counted(server: &Server, counter: &Arc<Counter>) -> BuiltAgent {
    let tool = EndpointTool { pair: "ADD /numbers".to_owned(), tool: counter.clone() };
    let context = Context { endpoints: vec![tool], ..context() };
    build(&provider::settings(&server.url, "endpoints = [\"ADD /numbers\"]\n"), &context)
}

/// Texts of one reply in one piece, however it was cut.
fn joined(events: Vec<Event>) -> Vec<Event> {
    let mut all: Vec<Event> = Vec::new();
    for event in events {
        match (all.last_mut(), event) {
            (Some(Event::Text(before)), Event::Text(text)) => before.push_str(&text),
            (_, event) => all.push(event),
        }
    }
    all
}

/// What a whole first try says and notes.
async fn first_try(server: &Server, counter: &Arc<Counter>) -> (Vec<Event>, Vec<Value>) {
    let journal = Notebook::behind(EarlierTry::None);
    *counter.journal.lock().unwrap() = Some(journal.clone());
    let said = events(&counted(server, counter), journal.with(hi())).await;
    *counter.journal.lock().unwrap() = None;
    assert_eq!(std::mem::take(&mut *counter.done.lock().unwrap()), [1, 2, 3]);
    (joined(said), journal.notes())
}

#[tokio::test]
async fn a_model_goes_on_from_any_note_and_calls_nothing_that_was_called() {
    for is_idempotent in [true, false] {
        let server = counting().await;
        let counter = Arc::new(Counter { is_idempotent, ..Counter::default() });
        let (said, notes) = first_try(&server, &counter).await;
        let kinds: Vec<_> =
            notes.iter().map(|note| note.as_object().unwrap().keys().next().unwrap().as_str()).collect();
        assert_eq!(kinds, ["round", "begun", "done", "begun", "done", "round", "begun", "done"]);
        for kept in 0..=notes.len() {
            let journal = Notebook::behind(EarlierTry::Left(notes[..kept].to_vec()));
            let again = joined(events(&counted(&server, &counter), journal.with(hi())).await);
            let done = std::mem::take(&mut *counter.done.lock().unwrap());
            let made = kinds[..kept].iter().filter(|kind| **kind == "done").count();
            let is_open = kept > 0 && kinds[kept - 1] == "begun";
            if is_open && !is_idempotent {
                let Some(Event::Ending(Ending::Failed { cause: FailureCause::NodeLost, reason })) = again.last() else {
                    panic!("{again:?}");
                };
                assert!(reason.contains("count") && reason.contains(&format!("call_{}", made + 1)), "{reason}");
                assert_eq!(
                    again[..again.len() - 1],
                    said[..again.len() - 1],
                    "all that was heard by then, and no more"
                );
                assert!(
                    matches!(&again[again.len() - 2], Event::ToolCall(call) if call.outcome == ToolOutcome::Running)
                );
                assert_eq!(done, [0; 0], "it is not called twice");
            } else {
                assert_eq!(again, said, "behind {kept} notes");
                assert_eq!(done, [1, 2, 3][made..], "behind {kept} notes");
                // What was noted before is not noted again.
                assert_eq!(journal.notes().len(), notes.len() - kept);
            }
        }
    }
}

#[tokio::test]
async fn a_tool_is_not_called_where_that_can_not_be_noted() {
    let server = counting().await;
    let counter = Arc::new(Counter::default());
    let journal = Notebook::behind(EarlierTry::None);
    journal.is_full.store(true, Ordering::SeqCst);
    let answer = collect(stream(&counted(&server, &counter), journal.with(hi())).await).await;
    assert!(failure(&answer).contains("count was not called"), "{answer:?}");
    assert_eq!(*counter.done.lock().unwrap(), [0; 0]);
}

#[tokio::test]
async fn notes_of_another_version_end_the_answer() {
    let server = counting().await;
    let counter = Arc::new(Counter { is_idempotent: true, ..Counter::default() });
    let journal = Notebook::behind(EarlierTry::Left(vec![json!({"thought": "hm"})]));
    let answer = collect(stream(&counted(&server, &counter), journal.with(hi())).await).await;
    assert!(failure(&answer).contains("can't be read"), "{answer:?}");
    assert_eq!(*counter.done.lock().unwrap(), [0; 0]);
}

/// What a service was asked: method, path and fields.
type Asked = Arc<Mutex<Vec<(String, String, HeaderMap)>>>;

/// A service that answers the n-th request by its path; its origin, and what it was asked.
async fn service(answer: impl Fn(usize, &str) -> Response + Send + Sync + 'static) -> (String, Asked) {
    let asked: Asked = Arc::default();
    let (all, answer) = (asked.clone(), Arc::new(answer));
    let app = Router::new().fallback(move |request: Request| {
        let (all, answer) = (all.clone(), answer.clone());
        async move {
            let path = request.uri().path().to_owned();
            let number = {
                let mut all = all.lock().unwrap();
                all.push((request.method().to_string(), path.clone(), request.headers().clone()));
                all.len() - 1
            };
            answer(number, &path)
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, app).await });
    (origin, asked)
}

fn requests(asked: &Asked) -> Vec<String> {
    asked.lock().unwrap().iter().map(|(method, path, _)| format!("{method} {path}")).collect()
}

fn posting(origin: &str, more: &str) -> BuiltAgent {
    build(&format!("[backend]\nkind = \"http\"\nurl = \"{origin}/hook\"\n{more}"), &context())
}

fn accepted(field: &'static str, place: &str) -> Response {
    (StatusCode::ACCEPTED, [(field, place.to_owned())], "{\"text\": \"not yet\"}").into_response()
}

fn whole() -> Response {
    axum::Json(json!({"text": "Done."})).into_response()
}

async fn later(origin: &str, more: &str, earlier: Vec<Value>) -> (CollectedReply, Arc<Notebook>) {
    let journal = Notebook::behind(EarlierTry::Left(earlier));
    (collect(stream(&posting(origin, more), journal.with(hi())).await).await, journal)
}

#[tokio::test]
async fn a_service_that_works_on_is_asked_where_it_says_until_there_is_an_answer() {
    for (field, place) in [("location", "/jobs/1"), ("operation-location", "jobs/1")] {
        let (origin, asked) = service(move |number, _| match number {
            0 => accepted(field, place),
            1 => (StatusCode::ACCEPTED, [("retry-after", "1")]).into_response(),
            _ => whole(),
        })
        .await;
        let journal = Notebook::behind(EarlierTry::None);
        let built = posting(&origin, "headers = { Authorization = \"Bearer ${KEY}\" }\n");
        let answer = collect(stream(&built, journal.with(hi())).await).await;
        assert_eq!((answer.text().as_str(), &answer.ending), ("Done.", &Ending::Complete));
        assert_eq!(requests(&asked), ["POST /hook", "GET /jobs/1", "GET /jobs/1"]);
        let asked = asked.lock().unwrap();
        assert!(asked.iter().all(|(_, _, fields)| fields["authorization"] == "Bearer sesame"));
        assert_eq!(asked[0].2["idempotency-key"], Notebook::WORK);
        assert_eq!(journal.notes(), [json!({"place": null}), json!({"place": format!("{origin}/jobs/1")})]);
    }
}

#[tokio::test]
async fn an_address_of_another_origin_or_a_long_one_is_not_asked() {
    let (elsewhere, not_asked) = service(|_, _| whole()).await;
    for (place, bytes, is_asked) in [
        (format!("{elsewhere}/jobs/1"), 0, false),
        ("file:///etc/passwd".to_owned(), 0, false),
        ("/".to_owned(), URL_BYTES_MAX + 1, false),
        ("/".to_owned(), URL_BYTES_MAX, true),
    ] {
        // The whole address has so many bytes, its origin too.
        let origin_bytes = Arc::new(AtomicUsize::new(0));
        let bytes_before = origin_bytes.clone();
        let (origin, asked) = service(move |number, _| match number {
            0 => {
                let more = bytes.saturating_sub(bytes_before.load(Ordering::SeqCst) + place.len());
                accepted("location", &format!("{place}{}", "x".repeat(more)))
            }
            _ => whole(),
        })
        .await;
        origin_bytes.store(origin.len(), Ordering::SeqCst);
        let answer = collect(stream(&posting(&origin, ""), hi()).await).await;
        match is_asked {
            true => assert_eq!(answer.text(), "Done."),
            false => assert!(failure(&answer).contains("none of its own"), "{answer:?}"),
        }
        assert_eq!(asked.lock().unwrap().len(), if is_asked { 2 } else { 1 });
    }
    assert!(not_asked.lock().unwrap().is_empty());
    let (origin, _) =
        service(|_, _| (StatusCode::ACCEPTED, axum::Json(json!({"text": "Noted."}))).into_response()).await;
    assert_eq!(collect(stream(&posting(&origin, ""), hi()).await).await.text(), "Noted.", "202 without an address");
}

#[tokio::test]
async fn a_service_may_lead_to_its_answer_and_not_for_ever() {
    for (times, is_found) in [(POLL_REDIRECTS_MAX, true), (POLL_REDIRECTS_MAX + 1, false)] {
        let (origin, _) = service(move |number, _| match u32::try_from(number).unwrap() {
            0 => accepted("location", "/jobs/1"),
            number if number <= times => (StatusCode::SEE_OTHER, [("location", format!("/{number}"))]).into_response(),
            _ => whole(),
        })
        .await;
        let answer = collect(stream(&posting(&origin, ""), hi()).await).await;
        assert_eq!(answer.ending == Ending::Complete, is_found, "{answer:?}");
    }
}

#[tokio::test]
async fn a_later_try_asks_for_the_answer_and_sends_again_only_where_that_is_harmless() {
    let sent = || json!({"place": null});
    let (origin, asked) = service(|_, _| whole()).await;
    let at = |place: &str| vec![sent(), json!({"place": place})];
    let job = format!("{origin}/jobs/1");
    for (earlier, more, wanted) in [
        // Noted before it is sent: it was not.
        (vec![], "", Ok("POST /hook")),
        (vec![sent()], "", Err("nobody knows")),
        (vec![sent()], "knows_repeats = true\n", Ok("POST /hook")),
        (vec![json!("of another version")], "knows_repeats = true\n", Err("nobody knows")),
        (at(&job), "", Ok("GET /jobs/1")),
        (at("http://other.example/jobs/1"), "knows_repeats = true\n", Err("another service")),
    ] {
        asked.lock().unwrap().clear();
        let (answer, journal) = later(&origin, more, earlier).await;
        match wanted {
            Ok(request) => {
                assert_eq!((answer.text().as_str(), requests(&asked)), ("Done.", vec![request.to_owned()]));
                let key = &asked.lock().unwrap()[0].2;
                assert_eq!(
                    key.get("idempotency-key").is_some_and(|key| key == Notebook::WORK),
                    request.starts_with("POST")
                );
                assert_eq!(journal.notes().len(), usize::from(more.is_empty() && request.starts_with("POST")));
            }
            Err(words) => {
                assert!(
                    matches!(&answer.ending, Ending::Failed { cause: FailureCause::NodeLost, reason } if reason.contains(words)),
                    "{answer:?}"
                );
                assert!(asked.lock().unwrap().is_empty());
            }
        }
    }
    let (gone, _) = service(|_, _| StatusCode::GONE.into_response()).await;
    let (answer, _) = later(&gone, "", at(&format!("{gone}/jobs/1"))).await;
    assert!(failure(&answer).contains("does not know"), "{answer:?}");
}

#[tokio::test]
async fn a_message_is_not_sent_where_that_can_not_be_noted() {
    let (origin, asked) = service(|_, _| whole()).await;
    let journal = Notebook::behind(EarlierTry::None);
    journal.is_full.store(true, Ordering::SeqCst);
    let answer = collect(stream(&posting(&origin, ""), journal.with(hi())).await).await;
    assert!(failure(&answer).contains("was not asked"), "{answer:?}");
    assert!(asked.lock().unwrap().is_empty());
}
