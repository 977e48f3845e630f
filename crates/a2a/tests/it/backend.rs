//! `a2a` as a backend: what a remote agent hears, and what its answers become.

use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use forecourt_core::policy::{AuthChallenge, PaymentSubmission, RefusalKind, Submission};
use forecourt_core::{Ending, Event, FailureCause, Message, Part, Role, ToolOutcome, Turn};
use forecourt_egress::hops;
use serde_json::{Value, json};

use crate::peer::*;

fn texts(events: &[Event]) -> Vec<&str> {
    events.iter().filter_map(|event| if let Event::Text(text) = event { Some(text.as_str()) } else { None }).collect()
}

/// An answer of 1.0 in pieces, closed by the whole.
fn pieces() -> Vec<Value> {
    vec![
        json!({"task": task_10("SUBMITTED", Value::Null, json!([]))}),
        status_10("WORKING", said_10("Looking.", json!({}))),
        text_10("Hel", false, false),
        text_10("lo", true, false),
        text_10("Hello", false, true),
        status_10("COMPLETED", Value::Null),
    ]
}

#[tokio::test]
async fn a_stream_of_1_0_is_passed_on_piece_by_piece_and_once() {
    let mut peer =
        peer(|base| json_answer(card_10(base, "JSONRPC", true)), |_, _| rpc_stream(&pieces(), After::Close)).await;
    let built = build(&peer.base, "headers = { Authorization = \"Bearer ${KEY}\" }\n");
    let mut asked = message("hi");
    asked.hop = 2;
    asked.history = vec![Turn::text(Role::User, "before")].into();
    let events: Vec<Event> = futures::StreamExt::collect(begin(&built, asked).await).await;
    assert_eq!(texts(&events), ["Hel", "lo"]);
    let Event::Progress(note) = &events[0] else { panic!("{events:?}") };
    assert_eq!(note.note.as_deref(), Some("Looking."));
    assert_eq!(events.last(), Some(&Event::Ending(Ending::Complete)));
    let heard = peer.next().await;
    assert_eq!(heard.method(), "SendStreamingMessage");
    assert_eq!(heard.headers["a2a-version"], "1.0");
    assert!(heard.headers["a2a-extensions"].to_str().unwrap().contains("policy/v0.1"));
    assert_eq!(heard.headers["authorization"], "Bearer sesame");
    assert_eq!(hops::read(&heard.headers), 3);
    assert_eq!(heard.message()["parts"], json!([{"text": "hi"}]));
    let ours = &heard.message()["metadata"]["mentionable"];
    // The fourth in line has three before it: the field and the chain say the same.
    assert_eq!(ours["agent_chain"], json!({"hop": 4, "max_hops": 8, "is_final": false}));
    assert_eq!(ours["history"][0]["parts"][0]["content"], "before");
}

#[tokio::test]
async fn a_stream_of_0_3_is_passed_on_too() {
    let items = || {
        let update = |state: &str, last: bool| json!({"kind": "status-update", "taskId": "t1", "contextId": "c1", "status": {"state": state}, "final": last});
        let piece = |text: &str, append: bool, last: bool| {
            let artifact = json!({"artifactId": "a1", "parts": [{"kind": "text", "text": text}]});
            json!({"kind": "artifact-update", "taskId": "t1", "contextId": "c1", "artifact": artifact,
                "append": append, "lastChunk": last})
        };
        let task = json!({"kind": "task", "id": "t1", "contextId": "c1", "status": {"state": "submitted"}});
        vec![
            task,
            update("working", false),
            piece("Hel", false, false),
            piece("lo", true, true),
            update("completed", true),
        ]
    };
    let mut peer =
        peer(|base| json_answer(card_03(base, "JSONRPC", true)), move |_, _| rpc_stream(&items(), After::Close)).await;
    let events = events(&build(&peer.base, ""), "hi").await;
    assert_eq!(texts(&events), ["Hel", "lo"]);
    assert_eq!(events.last(), Some(&Event::Ending(Ending::Complete)));
    let heard = peer.next().await;
    assert_eq!(heard.method(), "message/stream");
    assert!(heard.headers.contains_key("x-a2a-extensions"));
    assert_eq!(heard.message()["parts"], json!([{"kind": "text", "text": "hi"}]));
}

#[tokio::test]
async fn http_json_is_spoken_in_both_versions() {
    let mut new =
        peer(|base| json_answer(card_10(base, "HTTP+JSON", true)), |_, _| sse(bare_frames(&pieces()), After::Close))
            .await;
    assert_eq!(ask(&build(&new.base, ""), "hi").await.text(), "Hello");
    let heard = new.next().await;
    assert_eq!(
        (heard.method().as_str(), &heard.message()["parts"][0]["text"]),
        ("POST /a2a/message:stream", &json!("hi"))
    );
    let answer = json!({"task": {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_COMPLETED"},
        "artifacts": [{"artifactId": "a1", "parts": [{"text": "Hello"}]}]}});
    let mut old =
        peer(|base| json_answer(card_03(base, "HTTP+JSON", false)), move |_, _| json_answer(answer.clone())).await;
    assert_eq!(ask(&build(&old.base, ""), "hi").await.text(), "Hello");
    let heard = old.next().await;
    assert_eq!(
        (heard.method().as_str(), &heard.message()["content"][0]["text"]),
        ("POST /a2a/v1/message:send", &json!("hi"))
    );
}

#[tokio::test]
async fn an_agent_that_does_not_stream_is_looked_at_until_it_has_done() {
    let peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", false)),
        |number, heard| match number {
            0 => {
                assert_eq!(heard.method(), "SendMessage");
                rpc_result(json!({"task": task_10("WORKING", Value::Null, json!([]))}))
            }
            _ => {
                assert_eq!((heard.method().as_str(), &heard.body["params"]["id"]), ("GetTask", &json!("t1")));
                let artifacts = json!([{"artifactId": "a1", "parts": [{"text": "Done."}]}]);
                rpc_result(task_10("COMPLETED", Value::Null, artifacts))
            }
        },
    )
    .await;
    assert_eq!(ask(&build(&peer.base, ""), "hi").await.text(), "Done.");
}

#[tokio::test]
async fn a_direct_answer_is_a_message() {
    let message = json!({"message": said_10("Hi there.", json!({}))});
    assert_eq!(streamed(vec![message]).await.ending, Ending::Message("Hi there.".to_owned()));
}

#[tokio::test]
async fn tools_files_links_and_data_come_as_what_they_are() {
    let parts = json!([
        {"data": {"type": "tool-call", "toolCallId": "1", "toolName": "add", "input": {"a": 1}}},
        {"data": {"type": "tool-result", "toolCallId": "1", "output": 2}},
        {"raw": "AQI=", "mediaType": "image/png", "filename": "a.png"},
        {"url": "https://far.example/b", "mediaType": "text/csv"},
        {"url": "javascript:alert(1)"},
        {"text": "https://far.example", "metadata": {"mentionable": {"link": {"url": "https://far.example", "title": "T"}}}},
        {"data": {"any": 1}},
    ]);
    let answer = streamed(vec![
        json!({"task": task_10("WORKING", Value::Null, json!([]))}),
        piece_10(parts, false, true),
        status_10("COMPLETED", Value::Null),
    ])
    .await;
    let kinds: Vec<&str> = answer.parts.iter().map(Part::kind).collect();
    assert_eq!(kinds, ["tool_call", "file", "file", "data", "link", "data"], "{answer:?}");
    let Part::ToolCall(call) = &answer.parts[0] else { panic!() };
    assert_eq!((call.name.as_str(), &call.outcome), ("add", &ToolOutcome::Result(json!(2))));
}

#[tokio::test]
async fn artifacts_keep_the_order_in_which_the_remote_agent_made_them() {
    let url = |name: &str| json!({"url": format!("https://far.example/{name}"), "mediaType": "image/png"});
    let artifacts = json!([
        {"artifactId": "a1", "parts": [url("chart.png")]},
        {"artifactId": "a2", "parts": [{"text": "So it rose."}]},
        {"artifactId": "a3", "parts": [{"data": {"n": 1}}, url("map.png")]},
        {"artifactId": "a4", "parts": [{"text": "And fell."}]},
    ]);
    let answer =
        move |_: usize, _: &Heard| rpc_result(json!({"task": task_10("COMPLETED", Value::Null, artifacts.clone())}));
    let peer = peer(|base| json_answer(card_10(base, "JSONRPC", false)), answer).await;
    let answer = ask(&build(&peer.base, ""), "hi").await;
    let kind = |part: &Part| match part {
        Part::Text(text) => text.content.trim().to_owned(),
        Part::File(file) => file.mime.clone(),
        Part::Data(data) => data.data.to_string(),
        other => panic!("{other:?}"),
    };
    let kinds: Vec<String> = answer.parts.iter().map(kind).collect();
    assert_eq!(kinds, ["image/png", "So it rose.", "{\"n\":1}", "image/png", "And fell."]);
    assert_eq!(answer.text(), "So it rose.\n\nAnd fell.");
}

#[tokio::test]
async fn an_answer_to_a_question_goes_on_with_its_task() {
    let mut peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |number, _| match number {
            0 => {
                let question = said_10("Which one?", json!({}));
                rpc_stream(&[json!({"task": task_10("INPUT_REQUIRED", question, json!([]))})], After::Close)
            }
            _ => rpc_stream(&pieces(), After::Close),
        },
    )
    .await;
    let built = build(&peer.base, "");
    let Ending::Question(question) = ask(&built, "one").await.ending else { panic!("a question") };
    assert_eq!(question.text, "Which one?");
    assert_eq!(ask(&built, "this").await.text(), "Hello");
    ask(&built, "more").await;
    let ids = |heard: &Heard| (heard.message()["contextId"].clone(), heard.message()["taskId"].clone());
    assert_eq!(ids(&peer.next().await), (Value::Null, Value::Null));
    assert_eq!(ids(&peer.next().await), (json!("c1"), json!("t1")));
    assert_eq!(ids(&peer.next().await), (json!("c1"), Value::Null));
}

#[tokio::test]
async fn policy5_3_a_payment_that_the_remote_agent_asked_for_goes_to_its_task_and_no_other() {
    let mut peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |number, _| match number {
            0 => {
                let offers = json!([{"scheme": "x402.exact", "payload": {"x402Version": 1, "accepts": []}}]);
                let part = json!({"kind": "payment_required", "message": "Pay.", "accepted_payments": offers,
                    "data": {"mentionable.state": "far"}});
                let metadata = json!({"mentionable": {"policy": {"v": "v0.1", "part": part}}});
                let task = task_10("INPUT_REQUIRED", said_10("Pay.", metadata), json!([]));
                rpc_stream(&[json!({ "task": task })], After::Close)
            }
            _ => rpc_stream(&pieces(), After::Close),
        },
    )
    .await;
    let built = build(&peer.base, "");
    let Ending::Refused(part) = ask(&built, "one").await.ending else { panic!("a refusal") };
    assert_eq!(part.data["mentionable.state"], "far", "its own state");
    assert!(part.data.contains_key("mentionable.relayed"), "it is paid there: {part:?}");
    let paying = || {
        let payload = json!({"x402Version": 1, "signature": "s"}).as_object().cloned().unwrap();
        let payment = Some(PaymentSubmission { family: "x402", payload });
        Message { submission: Some(Box::new(Submission { state: None, payment })), ..message("paid") }
    };
    for _ in 0..2 {
        forecourt_core::reply::collect(begin(&built, paying()).await).await;
    }
    peer.next().await;
    let paid = peer.next().await;
    assert_eq!(paid.message()["taskId"], "t1");
    assert_eq!(paid.message()["metadata"]["x402.payment.status"], "payment-submitted");
    assert_eq!(paid.message()["metadata"]["x402.payment.payload"]["signature"], "s");
    let later = peer.next().await;
    assert!(!later.message().to_string().contains("x402"), "nobody asks for it any more: {}", later.message());
}

#[tokio::test]
async fn what_a_task_made_before_its_question_is_not_said_again() {
    let peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |number, _| {
            let before = json!([{"artifactId": "a1", "parts": [{"text": "Hello there."}]}]);
            match number {
                0 => rpc_stream(&[json!({"task": task_10("INPUT_REQUIRED", Value::Null, before)})], After::Close),
                _ => rpc_stream(
                    &[
                        json!({"task": task_10("WORKING", Value::Null, before)}),
                        text_10("Hello", false, false),
                        text_10(" again.", true, true),
                        status_10("COMPLETED", Value::Null),
                    ],
                    After::Close,
                ),
            }
        },
    )
    .await;
    let built = build(&peer.base, "");
    assert_eq!(ask(&built, "one").await.text(), "Hello there.");
    assert_eq!(ask(&built, "two").await.text(), "Hello again.");
}

#[tokio::test]
async fn a_waiting_task_that_is_gone_is_begun_anew() {
    let peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |number, heard| match number {
            0 => rpc_stream(&[json!({"task": task_10("INPUT_REQUIRED", Value::Null, json!([]))})], After::Close),
            _ if heard.message()["taskId"] == "t1" => rpc_error(-32001, "gone"),
            _ => rpc_stream(&pieces(), After::Close),
        },
    )
    .await;
    let built = build(&peer.base, "");
    assert!(matches!(ask(&built, "one").await.ending, Ending::Question(_)));
    assert_eq!(ask(&built, "this").await.text(), "Hello");
}

#[tokio::test]
async fn the_line_of_agents_has_an_end() {
    let mut peer =
        peer(|base| json_answer(card_10(base, "JSONRPC", true)), |_, _| rpc_stream(&pieces(), After::Close)).await;
    let built = build(&peer.base, "");
    let asked = |hop| forecourt_core::Message { hop, ..message("hi") };
    let answer = forecourt_core::reply::collect(begin(&built, asked(6)).await).await;
    assert_eq!(answer.ending, Ending::Complete);
    let chain = json!({"hop": 8, "max_hops": 8, "is_final": true});
    assert_eq!(peer.next().await.message()["metadata"]["mentionable"]["agent_chain"], chain);
    let answer = forecourt_core::reply::collect(begin(&built, asked(7)).await).await;
    assert_eq!(failure(&answer), "Too many agents stand in line before this one.");
}

#[tokio::test]
async fn states_without_a_refusal_are_none() {
    let ended = async |state: &str| {
        streamed(vec![json!({"task": task_10(state, said_10("Words.", json!({})), json!([]))})]).await.ending
    };
    assert!(matches!(ended("INPUT_REQUIRED").await, Ending::Question(question) if question.text == "Words."));
    assert!(matches!(ended("AUTH_REQUIRED").await, Ending::SignIn(wanted) if wanted.question.text == "Words."));
    assert_eq!(ended("REJECTED").await, Ending::declined("Words."));
    assert_eq!(ended("FAILED").await, Ending::failed("Words."));
    assert_eq!(ended("CANCELED").await, Ending::Canceled);
}

#[tokio::test]
async fn what_another_host_like_this_one_failed_of_is_kept_and_only_where_its_state_says_so() {
    let ended = async |state: &str, told: Value| {
        let said = said_10("Words.", json!({"forecourt/ending": told}));
        streamed(vec![json!({"task": task_10(state, said, json!([]))})]).await.ending
    };
    let late = json!({"code": "timed-out"});
    assert_eq!(ended("FAILED", late.clone()).await, FailureCause::TimedOut.ending("Words."));
    assert_eq!(ended("FAILED", json!({"code": "declined"})).await, Ending::failed("Words."));
    assert_eq!(ended("REJECTED", late.clone()).await, Ending::declined("Words."));
    assert_eq!(ended("COMPLETED", late).await, Ending::Complete);
    let challenge = json!({"scheme": "Bearer", "params": {"realm": "far"}});
    let Ending::SignIn(wanted) = ended("AUTH_REQUIRED", json!({"challenges": [challenge]})).await else { panic!() };
    assert_eq!(wanted.challenges, [AuthChallenge::new("Bearer").with("realm", "far")]);
}

#[tokio::test]
async fn a_wish_to_sign_in_is_told_and_its_task_goes_on() {
    let mut peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |number, _| match number {
            0 => rpc_stream(&[json!({"task": task_10("AUTH_REQUIRED", Value::Null, json!([]))})], After::Close),
            _ => rpc_stream(&pieces(), After::Close),
        },
    )
    .await;
    let built = build(&peer.base, "");
    let Ending::SignIn(wanted) = ask(&built, "hi").await.ending else { panic!("it can go on") };
    assert_eq!(wanted.question.text, "The agent wants you to sign in before it goes on.");
    assert_eq!(ask(&built, "done").await.text(), "Hello");
    assert_eq!(peer.next().await.message()["taskId"], Value::Null);
    assert_eq!(peer.next().await.message()["taskId"], "t1");
}

/// An answer with a status, and this body.
fn status(status: u16, body: Value) -> Response {
    let mut response = json_answer(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response.headers_mut().insert("retry-after", HeaderValue::from_static("7"));
    response.headers_mut().insert("www-authenticate", HeaderValue::from_static("Bearer realm=\"inside\""));
    response
}

/// What callers are told when the agent answers with this status and body, in either binding.
async fn told(code: u16, body: Value) -> Ending {
    let mut endings = Vec::new();
    for (binding, streams) in [("JSONRPC", true), ("JSONRPC", false), ("HTTP+JSON", true), ("HTTP+JSON", false)] {
        let body = body.clone();
        let peer =
            peer(move |base| json_answer(card_10(base, binding, streams)), move |_, _| status(code, body.clone()))
                .await;
        endings.push(ask(&build(&peer.base, ""), "hi").await.ending);
    }
    endings.dedup();
    assert_eq!(endings.len(), 1, "{endings:?}");
    endings.remove(0)
}

#[tokio::test]
async fn what_a_status_says_is_translated_and_told_apart() {
    let later = |ending: &Ending| match ending {
        Ending::Refused(part) => part.kind == RefusalKind::ServiceUnavailable { retry_after_seconds: Some(7) },
        _ => false,
    };
    for body in [json!(null), json!({"error": "secret"}), json!({"error": {"code": -32603, "message": "secret"}})] {
        assert!(later(&told(429, body.clone()).await) && later(&told(503, body.clone()).await), "{body}");
        let mut said = Vec::new();
        for (code, words) in [
            (401, "does not accept this host's credentials"),
            (402, "asks this host to pay"),
            (403, "does not let this host ask it"),
            (500, "failed"),
        ] {
            let Ending::Failed { reason, .. } = told(code, body.clone()).await else { panic!("{code} is a failure") };
            assert!(reason.starts_with("The agent behind this one ") && reason.contains(words), "{reason}");
            assert!(!reason.contains("secret") && !reason.contains("inside"), "{reason}");
            said.push(reason);
        }
        said.dedup();
        assert_eq!(said.len(), 4);
    }
}

#[tokio::test]
async fn a_card_that_is_kept_from_us_is_told_apart_too() {
    for (code, words) in [(401, "credentials"), (403, "does not let"), (500, "can't be found")] {
        let peer = peer(move |_| status(code, Value::Null), |_, _| not_found()).await;
        let answer = ask(&build(&peer.base, ""), "hi").await;
        assert!(failure(&answer).contains(words), "{answer:?}");
    }
    let peer = peer(move |_| status(429, Value::Null), |_, _| not_found()).await;
    assert!(matches!(ask(&build(&peer.base, ""), "hi").await.ending, Ending::Refused(_)));
}

#[tokio::test]
async fn words_of_errors_are_for_the_log() {
    let secret = "db01.internal: connection refused";
    for error in [
        json!({"error": secret}),
        json!({"error": {"message": secret}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": secret, "data": secret}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": secret}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32005, "message": secret}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 7, "message": secret}}),
    ] {
        let said = error.clone();
        let peer =
            peer(|base| json_answer(card_10(base, "JSONRPC", false)), move |_, _| json_answer(said.clone())).await;
        let answer = ask(&build(&peer.base, ""), "hi").await;
        assert!(failure(&answer).starts_with("The agent behind this one "), "{error}");
        assert!(!failure(&answer).contains("db01"), "{error}: {answer:?}");
    }
}

#[test]
fn settings_that_can_not_be_meant_are_said() {
    for (more, said) in [
        ("origins = [\"https://a.example/path\"]\n", "is not an origin"),
        ("card_refresh_seconds = 59\n", "between 60 and 3600"),
        ("total_seconds = 0\n", "`total_seconds`"),
        ("headers = { Host = \"x\" }\n", "set by the client"),
        ("tokne = 1\n", "tokne"),
    ] {
        let problems = try_build(&settings("https://far.example", more)).err().unwrap().to_string();
        assert!(problems.contains(said), "{problems}");
    }
    assert!(try_build(&settings("ftp://far.example", "")).is_err());
    assert!(try_build(&settings("https://far.example", "card_refresh_seconds = 60\n")).is_ok());
}
