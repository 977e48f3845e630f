//! `script`: design, section 3.

use std::time::Duration;

use forecourt_backends::limits::{SCRIPT_EVENTS_MAX, SCRIPT_PATTERN_BYTES_MAX, SCRIPT_RULES_MAX};
use forecourt_core::policy::{PolicyPart, RefusalKind};
use forecourt_core::{Ending, Event, FileSource, Message, MessageId, Part, ToolOutcome, ids};
use futures::StreamExt;
use tokio::time::Instant;

use crate::support::{HOST, ask, build, context, events, message, problems, stream};

fn script(rules: &str) -> String {
    format!("[backend]\nkind = \"script\"\n{rules}")
}

fn one_rule(events: &str) -> String {
    script(&format!("[[backend.rule]]\nevents = [{events}]\n"))
}

async fn play(list: &str) -> Vec<Event> {
    events(&build(&one_rule(list), &context()), message(vec![Part::text("go")])).await
}

async fn refusal(list: &str) -> PolicyPart {
    match play(list).await.pop() {
        Some(Event::Ending(Ending::Refused(part))) => *part,
        other => panic!("not a refusal: {other:?}"),
    }
}

/// All that was said, piece by piece or directly.
fn words(events: &[Event]) -> String {
    let said = events.iter().filter_map(|event| match event {
        Event::Text(text) | Event::Ending(Ending::Message(text)) => Some(text.as_str()),
        _ => None,
    });
    said.collect()
}

#[tokio::test]
async fn the_first_rule_that_fits_is_played_and_without_one_the_message_comes_back() {
    let built = build(
        &script(
            r#"
[[backend.rule]]
text = "^pay"
message_id = "^demo-"
events = [{ text = "both" }]
[[backend.rule]]
text = "^pay"
events = [{ text = "text" }]
[[backend.rule]]
text = "^pay me"
events = [{ text = "never" }]
[[backend.rule]]
message_id = "^demo-"
events = [{ text = "id" }]
"#,
        ),
        &context(),
    );
    for (id, text, wanted) in [
        ("demo-1", "pay me", "both"),
        ("m1", "pay me", "text"),
        ("demo-1", "other", "id"),
        ("m1", "other\nline", "other\nline"),
    ] {
        let asked = Message { id: MessageId::parse(id).unwrap(), ..message(vec![Part::text(text)]) };
        assert_eq!(words(&events(&built, asked).await), wanted, "{id} {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_example_of_the_design_plays_in_order() {
    let begun = Instant::now();
    let all = play(
        r#"
  { text = "One moment. " }, { wait_ms = 200 }, { progress = 0.5, note = "half way" },
  { tool_call = { id = "c1", name = "search", args = { q = "x" } } },
  { tool_call = { id = "c1", name = "search", args = { q = "x" }, result = { hits = 3 } } },
  { file = { name = "a.png", mime = "image/png", base64 = "iVBORw0KGgo=" } },
  { data = { any = "json" } }, { link = { url = "https://example.com", title = "T" } },
  { policy = { kind = "payment_required", message = "Two coins.", url = "https://{host}/pay/demo", accepted_payments = [{ scheme = "x402.exact", payload = { x402Version = 1 } }] } },
"#,
    )
    .await;
    assert_eq!(begun.elapsed(), Duration::from_millis(200));
    let [
        Event::Text(text),
        Event::Progress(progress),
        Event::ToolCall(running),
        Event::ToolCall(done),
        Event::Part(Part::File(file)),
        Event::Part(Part::Data(data)),
        Event::Part(Part::Link(link)),
        Event::Ending(Ending::Refused(refusal)),
    ] = &all[..]
    else {
        panic!("{all:?}")
    };
    assert_eq!((text.as_str(), progress.fraction), ("One moment. ", Some(0.5)));
    assert_eq!(running.outcome, ToolOutcome::Running);
    assert_eq!(done.outcome, ToolOutcome::Result(serde_json::json!({"hits": 3})));
    assert!(matches!(&file.source, FileSource::Inline(bytes) if bytes.len() == 8));
    assert_eq!(data.data, serde_json::json!({"any": "json"}));
    assert_eq!(link.title.as_deref(), Some("T"));
    assert_eq!(refusal.url.as_deref(), Some("https://demo.localhost/pay/demo"));
    let RefusalKind::PaymentRequired { accepted_payments } = &refusal.kind else { panic!("{refusal:?}") };
    assert_eq!(accepted_payments[0].payload["x402Version"], 1);
}

#[tokio::test]
async fn endings_end_and_what_stands_behind_them_is_never_sent() {
    let ending = |ending: Ending| vec![Event::Ending(ending)];
    assert_eq!(
        play(r#"{ message = "hi {host}" }, { text = "late" }"#).await,
        ending(Ending::Message("hi demo.localhost".into()))
    );
    assert_eq!(play(r#"{ fail = "no" }, { text = "late" }"#).await, ending(Ending::failed("no")));
    let question = play(r#"{ question = { text = "Which?", questions = [{ id = "q", text = "{host}?" }] } }"#).await;
    let [Event::Ending(Ending::Question(question))] = &question[..] else { panic!("{question:?}") };
    assert_eq!(question.questions[0]["text"], "demo.localhost?");
    assert_eq!(play("").await, ending(Ending::Complete));
}

#[tokio::test]
async fn a_file_may_lie_elsewhere() {
    let all = play(r#"{ file = { name = "a.pdf", mime = "application/pdf", url = "https://{host}/a.pdf" } }"#).await;
    let [Event::Part(Part::File(file)), Event::Ending(Ending::Complete)] = &all[..] else { panic!("{all:?}") };
    assert_eq!((file.name.as_deref(), file.mime.as_str(), file.size_bytes), (Some("a.pdf"), "application/pdf", None));
    let url = "https://demo.localhost/a.pdf".to_owned();
    assert_eq!(file.source, FileSource::Url { url, expires_at: None });
}

/// Suites of clients choose what happens by ids of their own, whatever the message says.
#[tokio::test]
async fn the_callers_id_alone_can_choose_the_ending() {
    let rules = [
        ("question", r#"{ text = "Hm. " }, { question = { text = "Which?" } }"#),
        ("policy", r#"{ policy = { kind = "forbidden", message = "No." } }"#),
        ("fail", r#"{ fail = "Broken." }"#),
        ("message", r#"{ message = "Direct." }"#),
        ("file", r#"{ file = { base64 = "aGk=", mime = "text/plain" } }"#),
    ];
    let rules: String = rules
        .iter()
        .map(|(name, list)| format!("[[backend.rule]]\nmessage_id = \"^suite-{name}\"\nevents = [{list}]\n"))
        .collect();
    let built = build(&script(&rules), &context());
    let played = async |name: &str, parts: Vec<Part>| {
        // As long as an id may be.
        let id = format!("{:x<256}", format!("suite-{name}-"));
        events(&built, Message { id: MessageId::parse(&id).unwrap(), ..message(parts) }).await
    };
    for parts in [Vec::new(), vec![Part::text("anything")], vec![Part::data(serde_json::json!({"no": "words"}))]] {
        let question = played("question", parts.clone()).await;
        assert!(matches!(&question[..], [Event::Text(_), Event::Ending(Ending::Question(q))] if q.text == "Which?"));
        assert!(matches!(&played("policy", parts.clone()).await[..], [Event::Ending(Ending::Refused(_))]));
        assert_eq!(played("fail", parts.clone()).await, [Event::Ending(Ending::failed("Broken."))]);
        assert_eq!(played("message", parts.clone()).await, [Event::Ending(Ending::Message("Direct.".to_owned()))]);
        let file = played("file", parts).await;
        assert!(matches!(&file[..], [Event::Part(Part::File(_)), Event::Ending(Ending::Complete)]), "{file:?}");
    }
}

#[tokio::test]
async fn the_host_stands_in_every_string() {
    let all = play(
        r#"{ file = { url = "https://{host}/f" } }, { data = { deep = ["{host}"] } }, { link = { url = "https://{host}/l" } },
           { tool_call = { id = "1", name = "n", args = { u = "{host}" }, error = "no" } }, { note = "at {host}" }"#,
    )
    .await;
    let text = format!("{all:?}");
    assert_eq!(text.matches(HOST).count(), 5, "{text}");
}

#[tokio::test]
async fn a_consent_without_state_gets_a_fresh_one_each_time() {
    let list = r#"{ policy = { kind = "consent_required", message = "m", url = "https://{host}/consent/{state}" } }"#;
    let built = build(&one_rule(list), &context());
    let mut states = Vec::new();
    for _ in 0..2 {
        let answer = ask(&built, "go").await;
        let Ending::Refused(part) = answer.ending else { panic!("{answer:?}") };
        part.validate(HOST).unwrap();
        let RefusalKind::ConsentRequired { state, return_to } = &part.kind else { panic!("{part:?}") };
        assert!(ids::is_token(state), "{state}");
        assert_eq!(return_to, "https://demo.localhost/~agent");
        assert_eq!(part.url.as_deref(), Some(format!("https://demo.localhost/consent/{state}").as_str()));
        states.push(state.clone());
    }
    assert_ne!(states[0], states[1]);
}

#[tokio::test]
async fn a_consent_keeps_the_state_that_was_written_down() {
    let list = r#"{ policy = { kind = "consent_required", message = "m", state = "fixed-state-fixed-state", return_to = "https://{host}/back" } }"#;
    let part = refusal(list).await;
    let RefusalKind::ConsentRequired { state, return_to } = &part.kind else { panic!("{part:?}") };
    assert_eq!((state.as_str(), return_to.as_str()), ("fixed-state-fixed-state", "https://demo.localhost/back"));
}

#[tokio::test]
async fn all_seven_refusals_can_be_written() {
    for (kind, more) in [
        ("consent_required", ""),
        ("unauthorized", r#", auth_challenges = [{ scheme = "Bearer", params = { realm = "{host}" } }]"#),
        ("payment_required", r#", accepted_payments = [{ scheme = "s", payload = {} }]"#),
        ("forbidden", r#", message_translations = { de = { title = "Nein", message = "Nein." } }"#),
        ("too_many_requests", ", retry_after_seconds = 30"),
        ("unavailable_for_legal_reasons", r#", url = "https://{host}/why", action_label = "Why""#),
        ("service_unavailable", r#", retry_after_seconds = 3, data = { "demo.x" = 1 }"#),
    ] {
        let part = refusal(&format!(r#"{{ policy = {{ kind = "{kind}", message = "m"{more} }} }}"#)).await;
        assert_eq!(part.kind(), kind);
        part.validate_of_agent(HOST).unwrap();
    }
}

#[test]
fn a_policy_is_checked_when_it_is_loaded() {
    for (policy, wanted) in [
        (r#"kind = "forbiden", message = "m""#, "`kind` must be one of"),
        (r#"kind = "forbidden""#, "missing key `message`"),
        (r#"kind = "forbidden", message = "m", mesage = "m""#, "did you mean `message`?"),
        (r#"kind = "unauthorized", message = "m""#, "`auth_challenges` is missing"),
        (r#"kind = "payment_required", message = "m", accepted_payments = []"#, "one or more ways to pay"),
        (r#"kind = "forbidden", message = "m", url = "https://evil.example/""#, "`url` must be an https URL"),
        (r#"kind = "forbidden", message = "m", retry_after_seconds = 1"#, "has no `retry_after_seconds`"),
        (r#"kind = "forbidden", message = "m", data = { plain = 1 }"#, "need a prefix"),
        (r#"kind = "consent_required", message = "m", return_to = "https://evil.example/""#, "`return_to` must be"),
    ] {
        let text = problems(&one_rule(&format!("{{ policy = {{ {policy} }} }}")));
        assert!(text.contains(wanted) && text.contains("agents/agent.toml:4"), "{policy}\n{text}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line_all_at_once() {
    let text = problems(&script(
        r#"
[[backend.rule]]
text = "("
events = [
  { txt = "typo" },
  { text = "a", wait_ms = 3 },
  {},
  { progress = 1.5 },
  { file = { name = "a" } },
  { file = { base64 = "!" } },
  { tool_call = { id = "1", name = "n", result = 1, error = "e" } },
  { wait_ms = 99999999 },
]
[[backend.rule]]
txet = "x"
events = "none"
"#,
    ));
    for wanted in [
        "`text` is no regular expression",
        "unknown key `txt`",
        "did you mean `text`?",
        "an event is one thing, not `text` and `wait_ms`",
        "an event needs one of text,",
        "`progress` must be between 0 and 1",
        "a file needs `base64` or `url`",
        "`base64` is not base64",
        "`result` or `error`, not both",
        "`wait_ms` is at most",
        "unknown key `txet`",
        "`events` in [backend.rule[1]] has to be a list, and is",
        "agents/agent.toml:8:",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
}

#[test]
fn a_script_has_bounds() {
    let rules = |count: usize| script(&"[[backend.rule]]\nevents = []\n".repeat(count));
    build(&rules(SCRIPT_RULES_MAX), &context());
    assert!(problems(&rules(SCRIPT_RULES_MAX + 1)).contains("at most 1000 rules"));
    let list = |count: usize| one_rule(&"{ wait_ms = 0 }, ".repeat(count));
    build(&list(SCRIPT_EVENTS_MAX), &context());
    assert!(problems(&list(SCRIPT_EVENTS_MAX + 1)).contains("at most 10000 events"));
    let pattern = |bytes: usize| script(&format!("[[backend.rule]]\ntext = '{}'\nevents = []\n", "x".repeat(bytes)));
    build(&pattern(SCRIPT_PATTERN_BYTES_MAX), &context());
    assert!(problems(&pattern(SCRIPT_PATTERN_BYTES_MAX + 1)).contains("more than 4096 bytes"));
    let huge = script("[[backend.rule]]\ntext = '(x{1000}){1000}'\nevents = []\n");
    assert!(problems(&huge).contains("no regular expression"));
}

#[tokio::test]
async fn a_hostile_text_is_matched_in_linear_time() {
    let built = build(&script("[[backend.rule]]\ntext = '(a+)+$'\nevents = [{ text = \"hit\" }]\n"), &context());
    let begun = std::time::Instant::now();
    let text = format!("{}b", "a".repeat(1_000_000));
    assert_eq!(ask(&built, &text).await.text(), text);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_repetition_counts() {
    let built = build(&one_rule(r#"{ stream = { text = "tick {n} of {host}; ", count = 2 } }"#), &context());
    assert_eq!(ask(&built, "go").await.text(), format!("tick 1 of {HOST}; tick 2 of {HOST}; "));
}

#[tokio::test(start_paused = true)]
async fn a_repetition_keeps_its_pace() {
    let built =
        build(&one_rule(r#"{ stream = { text = "tick ", count = 5, every_ms = 20 } }, { text = "done" }"#), &context());
    let mut events = stream(&built, message(vec![Part::text("go")])).await;
    let begun = Instant::now();
    let mut ticks = Vec::new();
    while let Some(event) = events.next().await {
        ticks.push((begun.elapsed().as_millis(), event));
        if ticks.len() == 2 {
            // A reader that is late once gets what was missed and is on time again.
            tokio::time::advance(Duration::from_millis(30)).await;
        }
    }
    let times: Vec<_> = ticks.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [0, 20, 50, 60, 80, 80, 80]);
    assert_eq!(ticks[6].1, Event::Ending(Ending::Complete));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_repetitions_at_once_end_on_time() {
    let built = build(&one_rule(r#"{ stream = { text = "tick ", count = 51, every_ms = 20 } }"#), &context());
    let begun = Instant::now();
    let all = futures::future::join_all((0..1_000).map(|_| ask(&built, "go"))).await;
    assert_eq!(begun.elapsed(), Duration::from_secs(1));
    assert!(all.iter().all(|answer| answer.text().len() == 51 * 5));
}

#[tokio::test(start_paused = true)]
async fn two_waits_follow_one_another() {
    let begun = Instant::now();
    play(
        r#"{ wait_ms = 10 }, { wait_ms = 20 }, { stream = { text = "x", count = 2, every_ms = 5 } }, { wait_ms = 1 }"#,
    )
    .await;
    assert_eq!(begun.elapsed(), Duration::from_millis(36));
}
