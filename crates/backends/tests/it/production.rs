//! `model` where providers fail, are busy, are empty, think aloud, or can't read so much.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use forecourt_agents::budget::BudgetSettings;
use forecourt_agents::siblings::Siblings;
use forecourt_agents::usage::{ModelCall, UsageRecorder};
use forecourt_agents::{BuiltAgent, Context};
use forecourt_backends::tools::limits::{ELSEWHERE_CALLS_MAX, ELSEWHERE_DOMAINS_MAX};
use forecourt_completions::budget::BudgetStore;
use forecourt_completions::chain::FALLBACKS_MAX;
use forecourt_contract::{HostApi, HostHandle, HostServices};
use forecourt_core::policy::RefusalKind;
use forecourt_core::reply::collect;
use forecourt_core::{CollectedReply, Ending, Event, Part, PolicyPart, Role, Store, Turn};
use forecourt_store::Memory;
use serde_json::{Value, json};

use crate::support::provider::{Server, calls, chunk, raw, says, settings, silent, stop, text};
use crate::support::{ask, ask_after, build, context, events, failure, message, problems};

fn status(status: u16) -> Response {
    (StatusCode::from_u16(status).unwrap(), "{}").into_response()
}

fn later(seconds: &'static str) -> Response {
    (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, seconds)], "{}").into_response()
}

/// An answer that says what it used.
fn counted(words: &str, input: u64, output: u64) -> Response {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": input, "completion_tokens": output}});
    raw(&format!("{}data: {usage}\n\n{}", says(words), stop("stop")))
}

fn too_long(bound: u64) -> Response {
    let text = format!("This model's maximum context length is {bound} tokens.");
    let error = json!({"error": {"code": "context_length_exceeded", "message": text}});
    (StatusCode::BAD_REQUEST, error.to_string()).into_response()
}

fn refusal(answer: &CollectedReply) -> &PolicyPart {
    match &answer.ending {
        Ending::Refused(part) => part,
        other => panic!("not a refusal: {other:?}"),
    }
}

async fn answer_of(responses: Vec<Response>, more: &str) -> (CollectedReply, usize) {
    let mut server = Server::new(responses).await;
    let answer = ask(&build(&settings(&server.url, more), &context()), "hi").await;
    let asked = server.all().len();
    (answer, asked)
}

#[tokio::test]
async fn what_fails_before_its_first_word_is_asked_again_within_bounds() {
    let done = |answer: &CollectedReply| (answer.text(), answer.ending == Ending::Complete);
    for first in [500, 502, 503, 504, 429] {
        let (answer, asked) = answer_of(vec![status(first), text("Here.")], "retries = 1\n").await;
        assert_eq!((done(&answer), asked), (("Here.".to_owned(), true), 2), "{first}");
    }
    let (answer, asked) = answer_of(vec![later("1"), text("Here.")], "retries = 1\n").await;
    assert_eq!((done(&answer), asked), (("Here.".to_owned(), true), 2), "Retry-After is kept to");
    let (answer, asked) = answer_of(vec![raw(""), text("Here.")], "retries = 1\n").await;
    assert_eq!((done(&answer), asked), (("Here.".to_owned(), true), 2), "a stream that broke off at once");
    let (answer, asked) = answer_of(vec![status(502), status(502)], "retries = 1\n").await;
    assert_eq!((failure(&answer), asked), ("The model provider failed.", 2));
    for never in [400, 401, 403, 404] {
        let (_, asked) = answer_of(vec![status(never)], "retries = 2\n").await;
        assert_eq!(asked, 1, "{never}");
    }
    let (answer, asked) = answer_of(vec![later("60")], "retries = 2\n").await;
    let wait = RefusalKind::ServiceUnavailable { retry_after_seconds: Some(60) };
    assert_eq!((&refusal(&answer).kind, asked), (&wait, 1), "nobody is held for a minute");
}

#[tokio::test]
async fn after_the_first_word_a_failure_is_the_end() {
    let (answer, asked) = answer_of(vec![raw(&says("Half an ans")), text("Whole.")], "retries = 2\n").await;
    assert_eq!((answer.text().as_str(), asked), ("Half an ans", 1));
    assert!(failure(&answer).contains("broke off"), "{answer:?}");
}

fn with_fallback(first: &Server, second: &Server, more: &str) -> String {
    let url = &second.url;
    settings(&first.url, &format!("{more}\n[[backend.fallback]]\nbase_url = \"{url}\"\nmodel = \"second\"\n"))
}

#[tokio::test]
async fn another_model_stands_in_and_a_provider_that_fails_is_left_alone() {
    let first = Server::answering(|_| status(500)).await;
    let second = Server::answering(|_| text("From the second.")).await;
    let (mut first, mut second) = (first, second);
    let built = build(&with_fallback(&first, &second, ""), &context());
    for _ in 0..7 {
        assert_eq!(ask(&built, "hi").await.text(), "From the second.");
    }
    let asked = second.all();
    assert_eq!((first.all().len(), asked.len()), (5, 7), "the first was left alone after five failures");
    assert_eq!(asked[0]["model"], "second");
}

#[tokio::test]
async fn a_silent_provider_is_asked_once_and_leaves_time_for_the_one_behind_it() {
    let mut first = Server::answering(|_| silent("")).await;
    let mut second = Server::answering(|_| text("From the second.")).await;
    let built = build(&with_fallback(&first, &second, "first_token_seconds = 2\n"), &context());
    assert_eq!(ask(&built, "hi").await.text(), "From the second.");
    assert_eq!((first.all().len(), second.all().len()), (1, 1));
    let mut second = Server::answering(|_| silent("")).await;
    let built = build(&with_fallback(&first, &second, "first_token_seconds = 2\nretries = 5\n"), &context());
    let answer = ask(&built, "hi").await;
    assert_eq!(failure(&answer), "The model provider did not begin to answer in time.");
    assert_eq!((first.all().len(), second.all().len()), (1, 1));
}

#[tokio::test]
async fn when_all_are_left_alone_the_refusal_says_for_how_long() {
    let mut server = Server::answering(|_| status(502)).await;
    let built = build(&settings(&server.url, ""), &context());
    for _ in 0..5 {
        assert_eq!(failure(&ask(&built, "hi").await), "The model provider failed.");
    }
    let answer = ask(&built, "hi").await;
    assert_eq!(refusal(&answer).kind, RefusalKind::ServiceUnavailable { retry_after_seconds: Some(10) });
    assert_eq!(server.all().len(), 5);
}

#[tokio::test]
async fn an_empty_answer_is_asked_for_once_more() {
    let empty = || raw(&stop("stop"));
    let (answer, asked) = answer_of(vec![empty(), text("Here.")], "").await;
    assert_eq!((answer.text().as_str(), asked), ("Here.", 2));
    let (answer, asked) = answer_of(vec![empty(), raw(&format!("{}{}", says(" \n"), stop("stop")))], "").await;
    assert_eq!((failure(&answer), asked), ("The model had nothing to say, twice.", 2));
    let thinking = raw(&format!("{}{}", says("<think>hm"), stop("length")));
    let (answer, asked) = answer_of(vec![thinking], "").await;
    assert_eq!(asked, 1);
    assert!(failure(&answer).contains("length limit"), "{answer:?}");
}

#[tokio::test]
async fn thoughts_are_progress_and_never_shown_nor_sent_back() {
    let thought = chunk(&json!({"reasoning_content": "the secret plan"}));
    let call = json!({"tool_calls": [{"index": 0, "id": "x", "function": {"name": "none", "arguments": "{}"}}]});
    let said = [says("<thi"), says("nk>more of it</think>\n\nLet me see. ")].concat();
    let whole = format!("{thought}{said}{}{}", chunk(&call), stop("tool_calls"));
    let mut server = Server::new(vec![raw(&whole), text("Done.")]).await;
    let built = build(&settings(&server.url, ""), &context());
    let events = events(&built, message(vec![Part::text("hi")])).await;
    let progress = events.iter().filter(|event| matches!(event, Event::Progress(_))).count();
    assert_eq!(progress, 1, "{events:?}");
    let shown = format!("{events:?}");
    assert!(shown.contains("Let me see.") && shown.contains("Done."), "{shown}");
    server.next().await;
    let sent = server.next().await.to_string();
    for hidden in ["secret plan", "more of it", "think>"] {
        assert!(!shown.contains(hidden) && !sent.contains(hidden), "{hidden}: {shown} {sent}");
    }
}

#[tokio::test]
async fn calls_that_a_model_writes_as_text_are_made() {
    let written = "<tool_call>{\"name\": \"nothing\", \"arguments\": {}}</tool_call>";
    let mut server = Server::new(vec![text(written), text("Done.")]).await;
    let answer = ask(&build(&settings(&server.url, ""), &context()), "hi").await;
    assert_eq!(answer.text(), "Done.");
    server.next().await;
    let sent = server.next().await;
    assert_eq!(sent["messages"][2]["tool_calls"][0]["function"]["name"], "nothing", "{sent}");
}

fn long_history(turns: usize) -> Vec<Turn> {
    let role = |n: usize| if n.is_multiple_of(2) { Role::User } else { Role::Assistant };
    (0..turns).map(|n| Turn::text(role(n), format!("turn {n} {}", "word ".repeat(100)))).collect()
}

/// The first words of each message that was sent.
fn sent(asked: &Value) -> Vec<String> {
    let first = |message: &Value| message["content"].as_str().unwrap_or_default().chars().take(7).collect::<String>();
    asked["messages"].as_array().unwrap().iter().map(first).collect()
}

#[tokio::test]
async fn a_conversation_that_fills_the_window_goes_on() {
    let mut server = Server::answering(|_| text("Fine.")).await;
    let more = "context_tokens = 1200\nmax_tokens = 100\n";
    let built = build(&settings(&server.url, more), &context());
    let answer = ask_after(&built, long_history(20), "now").await;
    assert_eq!(answer.ending, Ending::Complete);
    let asked = server.next().await;
    let words = sent(&asked);
    assert!(words.len() < 12 && words[0].starts_with("You are") && words.last().unwrap() == "now", "{words:?}");
    assert!(words[words.len() - 2].starts_with("turn 19"), "the newest are kept: {words:?}");
    assert_eq!(asked["messages"][1]["role"], "user");
}

#[tokio::test]
async fn what_a_provider_calls_too_long_is_cut_and_tried_once_more() {
    let is_long = |asked: &Value| asked["messages"].as_array().unwrap().len() > 8;
    let mut server = Server::answering(move |asked| if is_long(asked) { too_long(2_000) } else { text("Fine.") }).await;
    let built = build(&settings(&server.url, "history_turns = 20\n"), &context());
    let answer = ask_after(&built, long_history(20), "now").await;
    assert_eq!((answer.text().as_str(), answer.ending), ("Fine.", Ending::Complete));
    assert_eq!(server.all().len(), 2);
    ask_after(&built, long_history(20), "now").await;
    assert_eq!(server.all().len(), 1, "what was learned holds");
}

#[tokio::test]
async fn a_message_that_is_too_long_alone_is_refused_with_the_bound() {
    let mut server = Server::answering(|_| too_long(300)).await;
    let built = build(&settings(&server.url, ""), &context());
    let part = refusal(&ask(&built, &"word ".repeat(1_000)).await).clone();
    assert!(part.message.contains("at most 300") && part.kind == RefusalKind::Forbidden, "{part:?}");
    part.validate("demo.localhost").unwrap();
    assert_eq!(server.all().len(), 1, "there was nothing to leave out");
    let bounded = build(&settings(&server.url, "context_tokens = 400\nmax_tokens = 100\n"), &context());
    let part = refusal(&ask(&bounded, &"word ".repeat(1_000)).await).clone();
    assert!(part.message.contains("at most 300"), "{part:?}");
    assert!(server.all().is_empty(), "nobody was asked in vain");
}

#[tokio::test]
async fn one_that_stands_in_may_read_more() {
    let first = Server::answering(|_| too_long(300)).await;
    let second = Server::answering(|_| text("I can.")).await;
    let built = build(&with_fallback(&first, &second, ""), &context());
    assert_eq!(ask(&built, &"word ".repeat(1_000)).await.text(), "I can.");
}

/// A model, what came of it, its tokens in and out, its cost.
pub(crate) type Entry = (String, &'static str, u64, u64, u64);

#[derive(Default)]
pub(crate) struct Recorded(pub(crate) Mutex<Vec<Entry>>);

impl UsageRecorder for Recorded {
    fn record(&self, call: &ModelCall<'_>) {
        let entry = (call.model.to_owned(), call.outcome, call.input_tokens, call.output_tokens, call.cost_micros);
        self.0.lock().unwrap().push(entry);
    }
}

struct Hosted(Arc<HostServices>);

impl HostApi for Hosted {
    fn services(self: Arc<Self>) -> Option<Arc<HostServices>> {
        Some(self.0.clone())
    }
}

fn host(store: Arc<dyn Store>) -> HostHandle {
    let handle = HostHandle::default();
    let services = Arc::new(HostServices::new(handle.clone()));
    services.publish(Arc::new(BudgetStore(store)));
    let host = Arc::new(Hosted(services));
    handle.bind(&host);
    std::mem::forget(host);
    handle
}

pub(crate) fn with_budget(budget: BudgetSettings, usage: Arc<Recorded>, store: &Arc<dyn Store>) -> Context {
    Context { budget, usage, siblings: Siblings::new([], host(store.clone())), ..context() }
}

fn priced(server: &Server, context: &Context) -> BuiltAgent {
    build(&settings(&server.url, "max_tokens = 100\nprice = { input = 2.0, output = 10.0 }\n"), context)
}

#[tokio::test]
async fn what_a_provider_counts_is_what_a_budget_loses() {
    let server = Server::answering(|_| counted("Fine.", 400, 50)).await;
    let (store, usage): (Arc<dyn Store>, _) = (Arc::new(Memory::new()), Arc::new(Recorded::default()));
    let budget = BudgetSettings { tokens_per_day: Some(1_000), ..BudgetSettings::default() };
    let context = with_budget(budget, usage.clone(), &store);
    let built = priced(&server, &context);
    for _ in 0..2 {
        assert_eq!(ask(&built, "hi").await.ending, Ending::Complete);
    }
    let answer = ask(&priced(&server, &context), "hi").await;
    let part = refusal(&answer);
    assert!(part.message.contains("tokens_per_day") && part.message.contains("2026-01-02"), "{part:?}");
    assert!(matches!(part.kind, RefusalKind::TooManyRequests { retry_after_seconds: Some(86_400) }));
    part.validate("demo.localhost").unwrap();
    let recorded = usage.0.lock().unwrap().clone();
    let one = ("tiny".to_owned(), "answered", 400, 50, 1_300);
    assert_eq!(recorded, [one.clone(), one, ("tiny".to_owned(), "budget", 0, 0, 0)]);
}

#[tokio::test]
async fn where_a_provider_counts_nothing_bytes_are_counted() {
    let server = Server::answering(|_| text(&"word ".repeat(200))).await;
    let (store, usage): (Arc<dyn Store>, _) = (Arc::new(Memory::new()), Arc::new(Recorded::default()));
    let budget = BudgetSettings { tokens_per_day: Some(540), ..BudgetSettings::default() };
    let built = priced(&server, &with_budget(budget, usage.clone(), &store));
    assert_eq!(ask(&built, "hi").await.ending, Ending::Complete);
    assert!(matches!(ask(&built, "hi").await.ending, Ending::Refused(_)));
    let (_, _, input, output, _) = usage.0.lock().unwrap()[0].clone();
    assert!((50..400).contains(&input) && (200..500).contains(&output), "{input} {output}");
}

#[tokio::test]
async fn an_answer_that_is_given_up_is_settled_with_what_it_came_to() {
    let server = Server::answering(|_| silent("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")).await;
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let usage = Arc::new(Recorded::default());
    let budget = BudgetSettings { tokens_per_day: Some(300), ..BudgetSettings::default() };
    let built = priced(&server, &with_budget(budget, usage.clone(), &store));
    let mut stream = crate::support::stream(&built, message(vec![Part::text("hi")])).await;
    futures::StreamExt::next(&mut stream).await;
    drop(stream);
    assert_eq!(usage.0.lock().unwrap()[0].1, "canceled");
    // The first took 100 tokens for its reply aside that it never used: with them, a second one would not fit.
    let until = tokio::time::Instant::now() + Duration::from_secs(10);
    loop {
        let mut second = crate::support::stream(&built, message(vec![Part::text("hi")])).await;
        match futures::StreamExt::next(&mut second).await {
            Some(Event::Text(_)) => break,
            other => assert!(tokio::time::Instant::now() < until, "{other:?}"),
        }
        tokio::task::yield_now().await;
    }
}

#[test]
fn settings_that_can_not_be_are_named() {
    let of = |more: &str| problems(&format!("[backend]\nkind = \"model\"\nmodel = \"tiny\"\n{more}"));
    assert!(of("").contains("`base_url` is missing"));
    assert!(of("provider = \"nobody\"\n").contains("there is no provider `nobody`"));
    assert!(of("provider = \"openai\"\n").contains("OPENAI_API_KEY is not set"));
    assert!(of("provider = \"azure\"\napi_key = \"k\"\n").contains("`base_url` is missing"));
    assert!(of("provider = \"ollama\"\nretries = 6\n").contains("retries"));
    assert!(of("provider = \"ollama\"\ncontext_tokens = 255\n").contains("context_tokens"));
    assert!(of("provider = \"ollama\"\nprice = { input = -1.0, output = 1.0 }\n").contains("price"));
    assert!(of("provider = \"ollama\"\nquirks = { tool = true }\n").contains("tool"));
    assert!(of("provider = \"ollama\"\nask = { domains = [] }\n").contains("domains"));
    assert!(of("provider = \"ollama\"\nask = { domains = [\"no domain\"] }\n").contains("is not a domain"));
    let many = "[[backend.fallback]]\nprovider = \"ollama\"\nmodel = \"m\"\n".repeat(FALLBACKS_MAX + 1);
    assert!(of(&format!("provider = \"ollama\"\n{many}")).contains("fallback"));
}

#[test]
fn domains_and_questions_to_them_are_bounded() {
    let of = |domains: usize, calls: usize| {
        let names: Vec<String> = (0..domains).map(|n| format!("d{n}.example:8443")).collect();
        let more = format!("ask = {{ domains = {names:?}, calls = {calls} }}\n");
        crate::support::try_build(&settings("http://127.0.0.1:1/v1", &more), &context()).is_ok()
    };
    assert!(of(ELSEWHERE_DOMAINS_MAX, ELSEWHERE_CALLS_MAX));
    assert!(!of(ELSEWHERE_DOMAINS_MAX + 1, 1) && !of(1, ELSEWHERE_CALLS_MAX + 1) && !of(1, 0));
}

#[test]
fn a_bounded_cost_needs_a_price() {
    let budget = BudgetSettings { cost_per_day: Some(1.0), ..BudgetSettings::default() };
    let context = Context { budget, ..context() };
    let of = |more: &str| crate::support::try_build(&settings("http://127.0.0.1:1/v1", more), &context);
    assert!(of("price = { input = 1.0, output = 1.0 }\n").is_ok());
    let Err(problems) = of("") else { panic!("there is no price") };
    assert!(problems.to_string().contains("price"), "{problems}");
}

#[tokio::test]
async fn a_preset_brings_its_key_and_its_ways() {
    let mut server = Server::answering(|_| text("Fine.")).await;
    let more = "provider = \"groq\"\nmax_tokens = 9\n";
    assert_eq!(ask(&build(&settings(&server.url, more), &context()), "hi").await.text(), "Fine.");
    let (headers, asked) = server.asked.recv().await.unwrap();
    assert_eq!(headers["authorization"], "Bearer sesame");
    assert_eq!(
        (&asked["max_completion_tokens"], &asked["stream_options"]),
        (&json!(9), &json!({"include_usage": true}))
    );
    assert!(asked.get("max_tokens").is_none());
    let more = "api_key = \"${KEY}\"\nquirks = { key_in_api_key = true, tools = false, system_role = \"developer\" }\n";
    ask(&build(&settings(&server.url, more), &context()), "hi").await;
    let (headers, asked) = server.asked.recv().await.unwrap();
    assert_eq!((&headers["api-key"], headers.get("authorization")), (&"sesame".parse().unwrap(), None));
    assert_eq!(asked["messages"][0]["role"], "developer");
}

#[tokio::test]
async fn tools_are_not_told_to_a_model_that_takes_none() {
    let mut server = Server::answering(|_| text("Fine.")).await;
    let more = "quirks = { tools = false }\nask = { domains = [\"other.example\"] }\n";
    collect(
        crate::support::stream(&build(&settings(&server.url, more), &context()), message(vec![Part::text("hi")])).await,
    )
    .await;
    assert!(server.next().await.get("tools").is_none());
    let more = "ask = { domains = [\"other.example\"], calls = 1 }\n";
    let asked = calls(&[
        ("ask_agent", r#"{"agent": "@chef@elsewhere.example", "message": "?"}"#),
        ("ask_agent", r#"{"agent": "@chef@other.example", "message": "?"}"#),
        ("ask_agent", r#"{"agent": "@chef@other.example", "message": "?"}"#),
    ]);
    let mut server = Server::new(vec![asked, text("Done.")]).await;
    ask(&build(&settings(&server.url, more), &context()), "hi").await;
    server.next().await;
    let sent = server.next().await;
    let said: Vec<&str> = sent["messages"].as_array().unwrap().iter().filter_map(|m| m["content"].as_str()).collect();
    assert!(said[2].contains("there is no such agent"), "{said:?}");
    assert!(said[3].contains("can't be asked at the moment"), "{said:?}");
    assert!(said[4].contains("at most 1 times"), "{said:?}");
}
