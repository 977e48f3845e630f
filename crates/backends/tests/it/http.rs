//! `http`: what a service hears, and what its answers and its faults become.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use forecourt_agents::Context;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{AgentState, Ending, Event, MessageId, Part, Role, Turn};
use forecourt_egress::{Egress, EgressConfig, Resolve, Resolving, hops, signature};
use futures::{Stream, StreamExt, stream};
use tokio::sync::mpsc;

use crate::support::{ask, build, context, events, failure, message, problems};

/// What the service was sent.
type Heard = (HeaderMap, Bytes);

/// A service that always answers the same.
async fn service<F, R>(answer: F) -> (String, mpsc::UnboundedReceiver<Heard>)
where
    F: Fn() -> R + Clone + Send + Sync + 'static,
    R: IntoResponse,
{
    let (sender, heard) = mpsc::unbounded_channel();
    let app = Router::new().fallback(move |request: Request| {
        let (sender, answer) = (sender.clone(), answer.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            sender.send((head.headers, body)).ok();
            answer()
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, app).await });
    (url, heard)
}

fn settings(url: &str, more: &str) -> String {
    format!("[backend]\nkind = \"http\"\nurl = \"{url}\"\n{more}")
}

fn json(text: &'static str) -> impl Fn() -> Response + Clone + Send + Sync + 'static {
    move || ([(header::CONTENT_TYPE, "application/json; charset=utf-8")], text).into_response()
}

fn sse(chunks: impl Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(chunks)).into_response()
}

/// An event stream of these pieces, which then ends in good order.
fn pieces(texts: &'static [&'static str]) -> impl Fn() -> Response + Clone + Send + Sync + 'static {
    move || sse(stream::iter(texts.iter().map(|text| Ok(Bytes::from_static(text.as_bytes())))))
}

/// An event stream of these pieces, which then stays open.
fn open(texts: &'static [&'static str]) -> impl Fn() -> Response + Clone + Send + Sync + 'static {
    move || sse(stream::iter(texts.iter().map(|text| Ok(Bytes::from_static(text.as_bytes())))).chain(stream::pending()))
}

async fn answer<R: IntoResponse>(
    reply: impl Fn() -> R + Clone + Send + Sync + 'static,
) -> forecourt_core::CollectedReply {
    let (url, _) = service(reply).await;
    ask(&build(&settings(&url, ""), &context()), "hi").await
}

#[tokio::test]
async fn the_service_hears_the_normalized_message_signed_and_marked() {
    let (url, mut heard) = service(json(r#"{"text": "ok"}"#)).await;
    let more = "secret = \"${KEY}\"\nheaders = { Authorization = \"Bearer ${KEY}\" }\n";
    let mut asked = message(vec![Part::text("hi")]);
    asked.history = vec![Turn::text(Role::User, "before")].into();
    asked.hop = 2;
    let answer = events(&build(&settings(&url, more), &context()), asked).await;
    assert_eq!(answer, [Event::Text("ok".to_owned()), Event::Ending(Ending::Complete)]);
    let (headers, body) = heard.recv().await.unwrap();
    let sent: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(sent["recipient"], "@agent@demo.localhost");
    assert_eq!((&sent["id"], &sent["parts"][0]["content"]), (&"m1".into(), &"hi".into()));
    assert_eq!(sent["history"][0]["parts"][0]["content"], "before");
    assert_eq!(headers["authorization"], "Bearer sesame");
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(hops::read(&headers), 3);
    assert!(signature::verify(b"sesame", &body, headers[signature::HEADER].to_str().unwrap()));
}

#[tokio::test]
async fn two_callers_with_one_message_id_have_two_idempotency_keys() {
    let (url, mut heard) = service(json(r#"{"text": "ok"}"#)).await;
    let built = build(&settings(&url, ""), &context());
    let mut keys = Vec::new();
    for _ in 0..2 {
        let mut asked = message(vec![Part::text("hi")]);
        asked.id = MessageId::parse("same").unwrap();
        events(&built, asked).await;
        keys.push(heard.recv().await.unwrap().0["idempotency-key"].clone());
    }
    assert_ne!(keys[0], keys[1]);
}

#[tokio::test]
async fn json_text_and_nothing_are_whole_answers() {
    assert_eq!(
        answer(json(r#"{"parts": [{"kind": "text", "text": "a"}, {"kind": "link", "url": "https://a.example"}]}"#))
            .await
            .parts
            .len(),
        2
    );
    assert_eq!(answer(json(r#""just text""#)).await.text(), "just text");
    assert_eq!(answer(|| ([(header::CONTENT_TYPE, "text/markdown")], "**b**")).await.text(), "**b**");
    let nothing = answer(|| StatusCode::NO_CONTENT).await;
    assert_eq!((nothing.text().as_str(), nothing.ending), ("", Ending::Complete));
}

#[tokio::test]
async fn events_are_played_as_they_come() {
    let (url, _) = service(pieces(&[
        "data: One \n\ndata:  mo",
        "ment.\n\n: keep-alive\n\nevent: progress\ndata: {\"progress\": 0.5, \"note\": \"half\"}\n\n",
        "event: tool_call\ndata: {\"id\": \"1\", \"name\": \"add\", \"args\": {}}\n\n",
        "event: part\ndata: {\"kind\": \"link\", \"url\": \"https://a.example\"}\n\nevent: end\ndata: {}\n\ndata: late\n\n",
    ]))
    .await;
    let all = events(&build(&settings(&url, ""), &context()), message(vec![Part::text("hi")])).await;
    let [
        Event::Text(one),
        Event::Text(two),
        Event::Progress(_),
        Event::ToolCall(_),
        Event::Part(_),
        Event::Ending(ending),
    ] = &all[..]
    else {
        panic!("{all:?}")
    };
    assert_eq!((one.as_str(), two.as_str(), ending), ("One ", " moment.", &Ending::Complete));
}

#[tokio::test]
async fn a_refusal_of_the_service_is_passed_on_if_it_is_well_formed() {
    for text in [
        r#"{"policy": {"kind": "forbidden", "message": "no", "url": "https://demo.localhost/why"}}"#,
        r#"{"parts": [{"kind": "forbidden", "message": "no"}]}"#,
    ] {
        let refused = answer(json(text)).await;
        assert!(matches!(&refused.ending, Ending::Refused(part) if part.kind() == "forbidden"), "{refused:?}");
    }
    let foreign =
        answer(json(r#"{"policy": {"kind": "forbidden", "message": "no", "url": "https://evil.example/"}}"#)).await;
    assert!(failure(&foreign).contains("could not be read"));
}

#[tokio::test]
async fn policy3_a_service_may_refuse_in_each_of_the_seven_ways_and_in_later_ones() {
    for (kind, text) in [
        ("forbidden", r#"{"policy": {"kind": "forbidden", "message": "m"}}"#),
        ("too_many_requests", r#"{"policy": {"kind": "too_many_requests", "message": "m", "retry_after_seconds": 3}}"#),
        ("service_unavailable", r#"{"policy": {"kind": "service_unavailable", "message": "m"}}"#),
        (
            "unavailable_for_legal_reasons",
            r#"{"policy": {"kind": "unavailable_for_legal_reasons", "message": "m", "url": "https://demo.localhost/why"}}"#,
        ),
        (
            "unauthorized",
            r#"{"policy": {"kind": "unauthorized", "message": "m", "auth_challenges": [{"scheme": "Bearer"}]}}"#,
        ),
        (
            "payment_required",
            r#"{"policy": {"kind": "payment_required", "message": "m", "accepted_payments": [{"scheme": "ln.x", "payload": {}}]}}"#,
        ),
        (
            "consent_required",
            r#"{"policy": {"kind": "consent_required", "message": "m", "state": "s", "return_to": "https://demo.localhost/"}}"#,
        ),
        ("quota_spent", r#"{"policy": {"kind": "quota_spent", "message": "m", "left": 0}}"#),
    ] {
        let refused = answer(json(text)).await;
        assert!(matches!(&refused.ending, Ending::Refused(part) if part.kind() == kind), "{kind}: {refused:?}");
    }
}

#[tokio::test]
async fn a_status_is_a_refusal_a_reason_or_a_plain_failure() {
    let later = answer(|| (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "7")])).await;
    let Ending::Refused(part) = later.ending else { panic!("{later:?}") };
    assert_eq!(part.kind, RefusalKind::ServiceUnavailable { retry_after_seconds: Some(7) });
    let own = answer(|| (StatusCode::BAD_GATEWAY, r#"{"error": {"message": "The oven is cold."}, "text": "x"}"#)).await;
    assert_eq!((failure(&own), own.text().as_str()), ("The oven is cold.", ""));
    let plain = answer(|| (StatusCode::INTERNAL_SERVER_ERROR, "stack trace with secrets")).await;
    assert_eq!(failure(&plain), "The service behind this agent failed.");
    for (status, said) in [
        (StatusCode::UNAUTHORIZED, "does not accept this host's credentials"),
        (StatusCode::FORBIDDEN, "does not let this host ask it"),
        (StatusCode::PAYMENT_REQUIRED, "asks this host to pay"),
        (StatusCode::NOT_FOUND, "was not found where it should be"),
        (StatusCode::UNPROCESSABLE_ENTITY, "did not take the message"),
    ] {
        let declined =
            answer(move || (status, [(header::WWW_AUTHENTICATE, "Bearer realm=\"inside\"")], "secret")).await;
        assert!(failure(&declined).contains(said), "{declined:?}");
        assert!(!failure(&declined).contains("secret") && !failure(&declined).contains("inside"), "{declined:?}");
    }
    let moved = answer(|| (StatusCode::FOUND, [(header::LOCATION, "https://evil.example/")])).await;
    assert_eq!(failure(&moved), "The service behind this agent failed.");
}

#[tokio::test]
async fn what_can_not_be_read_is_a_failure_that_tells_nothing() {
    for text in ["{", r#"{"txet": 1}"#, r#"{"a": 1, "a": 2}"#, ""] {
        let reply = move || ([(header::CONTENT_TYPE, "application/json")], text);
        assert!(failure(&answer(reply).await).contains("could not be read"), "{text}");
    }
    let html = answer(|| ([(header::CONTENT_TYPE, "text/html")], "<p>Proxy login</p>")).await;
    assert!(failure(&html).contains("could not be read"));
    let event = answer(pieces(&["event: tool_call\ndata: {broken\n\n"])).await;
    assert!(failure(&event).contains("could not be read"));
}

#[tokio::test]
async fn a_stream_that_stops_without_an_ending_has_failed() {
    let short = answer(pieces(&["data: half an ans\n\n", "event: end\n"])).await;
    assert_eq!(
        (short.text().as_str(), failure(&short)),
        ("half an ans", "the agent stopped before its answer was whole")
    );
    let broken =
        answer(|| sse(stream::iter([Ok(Bytes::from_static(b"data: a\n\n")), Err(std::io::Error::other("gone"))])))
            .await;
    assert!(failure(&broken).contains("broke off"), "{broken:?}");
}

#[tokio::test]
async fn a_service_that_says_nothing_or_falls_silent_is_given_up() {
    let (url, _heard) = service(open(&["data: a\n\n"])).await;
    let silent = ask(&build(&settings(&url, "idle_seconds = 1\n"), &context()), "hi").await;
    assert!(failure(&silent).contains("stopped in the middle"), "{silent:?}");
    let endless = || {
        let clock = tokio::time::interval(Duration::from_millis(100));
        sse(stream::unfold(clock, |mut clock| async {
            clock.tick().await;
            Some((Ok(Bytes::from_static(b": still here\n\n")), clock))
        }))
    };
    let (url, _heard) = service(endless).await;
    let late = ask(&build(&settings(&url, "total_seconds = 1\n"), &context()), "hi").await;
    assert!(failure(&late).contains("took too long"), "{late:?}");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mute = ask(&build(&settings(&url, "first_byte_seconds = 1\n"), &context()), "hi").await;
    assert!(failure(&mute).contains("did not begin"), "{mute:?}");
}

#[tokio::test]
async fn only_what_was_not_sent_is_tried_again() {
    let (url, mut heard) = service(|| StatusCode::INTERNAL_SERVER_ERROR).await;
    ask(&build(&settings(&url, "retries = 5\n"), &context()), "hi").await;
    heard.recv().await.unwrap();
    assert!(heard.try_recv().is_err(), "a request that was answered is not repeated");

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let built = build(&settings(&format!("http://{address}/"), "retries = 1\n"), &context());
    let away = ask(&built, "hi").await;
    assert!(failure(&away).contains("can't be reached"), "{away:?}");
}

/// A name that is where nobody listens when it is first looked up.
struct Moving(AtomicU32);

impl Resolve for Moving {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        let last = if self.0.fetch_add(1, Ordering::SeqCst) == 0 { 2 } else { 1 };
        Box::pin(std::future::ready(Ok(vec![Ipv4Addr::new(127, 0, 0, last).into()])))
    }
}

#[tokio::test]
async fn a_service_that_comes_back_between_two_attempts_answers() {
    let (url, _heard) = service(|| "back").await;
    let url = url.replace("127.0.0.1", "hook.example");
    let resolver = Arc::new(Moving(AtomicU32::new(0)));
    let egress = Egress::builder(EgressConfig::default()).resolver(resolver).build().unwrap();
    let context = Context { egress, ..context() };
    assert!(failure(&ask(&build(&settings(&url, "retries = 0\n"), &context), "hi").await).contains("can't be reached"));
    let context = Context {
        egress: Egress::builder(EgressConfig::default()).resolver(Arc::new(Moving(AtomicU32::new(0)))).build().unwrap(),
        ..context
    };
    assert_eq!(ask(&build(&settings(&url, "retries = 1\n"), &context), "hi").await.text(), "back");
}

#[tokio::test]
async fn dropping_the_answer_closes_the_connection() {
    struct Gone(Arc<tokio::sync::Notify>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let gone = Arc::new(tokio::sync::Notify::new());
    let watched = gone.clone();
    let reply = move || {
        let guard = Gone(watched.clone());
        sse(stream::repeat_with(move || {
            let _held = &guard;
            Ok(Bytes::from_static(b"data: x\n\n"))
        }))
    };
    let (url, _heard) = service(reply).await;
    let built = build(&settings(&url, ""), &context());
    let mut events = crate::support::stream(&built, message(vec![Part::text("hi")])).await;
    assert_eq!(events.next().await, Some(Event::Text("x".to_owned())));
    drop(events);
    tokio::time::timeout(Duration::from_secs(5), gone.notified()).await.expect("the service sees the connection close");
}

#[test]
fn settings_are_checked() {
    for (text, wanted) in [
        (settings("ftp://a.example/", ""), "`url` must be an absolute http"),
        (settings("https://user:pw@a.example/", ""), "without a name, a password"),
        (settings("https://a.example/", "headers = { Host = \"x\" }\n"), "set by the client itself"),
        (settings("https://a.example/", "headers = { \"a b\" = \"x\" }\n"), "`a b` can't be sent"),
        (settings("https://a.example/", "headers = { a = \"x\\ny\" }\n"), "`a` can't be sent"),
        (settings("https://a.example/", "retries = 6\n"), "between 0 and 5"),
        (settings("https://a.example/", "idle_seconds = 0\n"), "between 1 and 3600 seconds"),
        (settings("https://a.example/", "total_seconds = 3601\n"), "between 1 and 3600 seconds"),
        (settings("https://a.example/", "secret = \"\"\n"), "`secret` is empty"),
        (settings("https://a.example/", "ulr = \"\"\n"), "did you mean `url`?"),
    ] {
        let said = problems(&text);
        assert!(said.contains(wanted), "{said}");
    }
    let (headers, shown) = ("headers = { Authorization = \"hunter2\\n\" }\n", "hunter2");
    assert!(!problems(&settings("https://a.example/", headers)).contains(shown));
}

/// Lines of JSON, cut anywhere.
fn lines(texts: &'static [&'static str]) -> impl Fn() -> Response + Clone + Send + Sync + 'static {
    move || {
        let chunks =
            stream::iter(texts.iter().map(|text| Ok::<_, std::io::Error>(Bytes::from_static(text.as_bytes()))));
        ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(chunks)).into_response()
    }
}

#[tokio::test]
async fn lines_of_json_are_an_answer_wherever_they_are_cut_and_need_an_ending() {
    let whole = answer(lines(&["{\"text\": \"a\"}\n\n{\"te", "xt\": \"b\"}\r\n{\"end\"", ": true}"])).await;
    assert_eq!((whole.text().as_str(), &whole.ending), ("ab", &Ending::Complete));
    let short = answer(lines(&["{\"text\": \"a\"}\n"])).await;
    assert_eq!(failure(&short), "the agent stopped before its answer was whole");
    let broken = answer(lines(&["{\"text\": \"a\"}\n", "{broken\n"])).await;
    assert_eq!((broken.text().as_str(), failure(&broken).contains("could not be read")), ("a", true));
}

#[tokio::test]
async fn keys_that_mean_nothing_cost_no_answer_and_what_is_said_beside_it_is_not_in_it() {
    let (url, mut heard) = service(lines(&[
        "{\"txet\": 1}\n{\"usage\": {\"model\": \"m\", \"input_tokens\": 3}}\n{\"log\": {\"message\": \"at work\"}}\n",
        "{\"state\": {\"size\": \"M\"}, \"text\": \"a\", \"colour\": 1}\n{\"artifact\": {\"id\": \"f\", \"data\": \"b25l\"}}\n",
        "{\"end\": true}\n",
    ]))
    .await;
    let mut asked = message(vec![Part::text("hi")]);
    asked.state = AgentState::of(Some(serde_json::json!({"size": "S"})));
    let state = asked.state.clone();
    let all = events(&build(&settings(&url, ""), &context()), asked).await;
    assert!(
        matches!(&all[..], [Event::Text(_), Event::Part(Part::File(_)), Event::Ending(Ending::Complete)]),
        "{all:?}"
    );
    assert_eq!(state.next(), Some(serde_json::json!({"size": "M"})));
    let sent: serde_json::Value = serde_json::from_slice(&heard.recv().await.unwrap().1).unwrap();
    assert_eq!((&sent["state"]["size"], &sent["timeout_ms"]), (&"S".into(), &120_000.into()));
}
