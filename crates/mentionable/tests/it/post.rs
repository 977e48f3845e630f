//! REST 3.2 and 3.3: the POST form.

use axum::body::Body;
use bytes::Bytes;
use forecourt_core::message::text_of;
use forecourt_core::{Part, Role};
use forecourt_testkit::{ScriptedAgent, card};
use futures::stream;
use http::Method;
use serde_json::json;

use crate::support::{MULTIPART, Setup, echo, form, post_to, request};

#[tokio::test]
async fn s3_2_the_last_run_is_the_question_and_the_rest_is_history() {
    let agent = ScriptedAgent::saying(["hi"]);
    let place = Setup::default().with(card("bot"), agent.clone()).start().await;
    let fields = [("user", "q1"), ("user", "q2"), ("assistant", "a1"), ("other", "x"), ("user", "q3"), ("user", "q4")];
    place.post("/~bot", &fields).await.is(200);
    let message = agent.heard().remove(0);
    let history: Vec<_> = message.history.iter().map(|turn| (turn.role, text_of(&turn.parts))).collect();
    assert_eq!(history, [(Role::User, "q1\nq2".to_owned()), (Role::Assistant, "a1".to_owned())]);
    assert_eq!(message.text(), "q3\nq4");
    assert_eq!(message.received_via, "rest");
}

#[tokio::test]
async fn s3_2_without_a_terminal_user_run_it_is_400() {
    let place = echo().await;
    for fields in [&[][..], &[("assistant", "a")], &[("user", "a"), ("assistant", "b")], &[("session", "x")]] {
        let answer = place.post("/~echo", fields).await.is(400);
        assert!(answer.json()["hint"].as_str().unwrap().contains("-F user="), "{fields:?}");
    }
}

#[tokio::test]
async fn s3_2_session_occurs_at_most_once() {
    let place = echo().await;
    place.post("/~echo", &[("session", "a"), ("session", "b"), ("user", "hi")]).await.is(400);
}

#[tokio::test]
async fn s3_2_other_bodies_are_415() {
    let place = echo().await;
    for mime in
        ["application/json", "application/x-www-form-urlencoded", "multipart/mixed; boundary=X", "text/plain", ""]
    {
        let request = request(Method::POST, "/~echo").header("content-type", mime);
        place.send_with(request, form(&[("user", "a")])).await.is(415).has_required_fields("@echo@demo.localhost");
    }
    place.send_with(request(Method::POST, "/~echo"), "x").await.is(415);
    let coded = post_to("/~echo").header("content-encoding", "gzip");
    place.send_with(coded, form(&[("user", "a")])).await.is(415);
}

/// A form of exactly `bytes` bytes.
fn sized(bytes: usize) -> Vec<u8> {
    let frame = form(&[("user", "")]).len();
    form(&[("user", &"a".repeat(bytes - frame))]).into_bytes()
}

#[tokio::test]
async fn s3_2_a_body_of_1_mib_is_fine_and_one_byte_more_is_413() {
    let place = echo().await;
    let length = |bytes: Vec<u8>| Body::from(bytes);
    let chunked = |bytes: Vec<u8>| {
        let chunks: Vec<_> = bytes.chunks(10_000).map(|c| Ok::<_, std::io::Error>(Bytes::copy_from_slice(c))).collect();
        Body::from_stream(stream::iter(chunks))
    };
    for (bytes, status) in [(1_048_576, 200), (1_048_577, 413)] {
        place.send_with(post_to("/~echo"), length(sized(bytes))).await.is(status);
        place
            .send_with(post_to("/~echo"), chunked(sized(bytes)))
            .await
            .is(status)
            .has_required_fields("@echo@demo.localhost");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_comes_too_slowly_is_408() {
    let place = echo().await;
    let never = Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>());
    place.send_with(post_to("/~echo"), never).await.is(408);
    let broken = Body::from_stream(stream::iter([Err::<Bytes, _>(std::io::Error::other("reset"))]));
    place.send_with(post_to("/~echo"), broken).await.is(400);
}

fn raw_parts(parts: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (disposition, mime, bytes) in parts {
        body.extend(
            format!("--X\r\nContent-Disposition: form-data; {disposition}\r\nContent-Type: {mime}\r\n\r\n").bytes(),
        );
        body.extend(*bytes);
        body.extend(b"\r\n");
    }
    body.extend(b"--X--\r\n");
    body
}

#[tokio::test]
async fn s3_3_bytes_stay_as_they_are() {
    let place = echo().await;
    let body = raw_parts(&[
        (r#"name="user""#, "text/plain", b"look"),
        (r#"name="user"; filename="a.png""#, "image/png", b"\x00\r\n--\xff"),
    ]);
    let parts = place.send_with(post_to("/~echo"), body).await.is(200).json()["parts"].clone();
    assert_eq!(parts[0]["text"], "look");
    assert_eq!(parts[0]["content"], "look");
    assert_eq!(parts[1]["name"], "a.png");
    assert_eq!(parts[1]["size_bytes"], 6);
    assert_eq!(parts[1]["bytes_ref"]["data"], "AA0KLS3/");
}

async fn heard(fields: &[(&str, &str)]) -> forecourt_core::Message {
    let agent = ScriptedAgent::saying(["hi"]);
    let place = Setup::default().with(card("bot"), agent.clone()).start().await;
    place.post("/~bot", fields).await.is(200);
    agent.heard().remove(0)
}

#[tokio::test]
async fn s3_2_1_a_valid_parts_sidecar_is_the_turn() {
    let parts = r#"[{"kind":"text","mime":"text/plain","content":"typed"},
        {"kind":"file","mime":"a/b","name":"n","bytes_ref":{"kind":"inline","data":"eA=="}},
        {"kind":"file","mime":"a/b","bytes_ref":{"kind":"url","url":"data:,y"}}]"#;
    let message = heard(&[("parts", parts), ("user", "plain")]).await;
    assert_eq!(message.text(), "typed");
    assert_eq!(message.parts.len(), 3);
    for broken in ["[", "{}", "[]", r#"[{"kind":"text"}]"#] {
        assert_eq!(heard(&[("parts", broken), ("user", "plain")]).await.text(), "plain", "{broken}");
    }
}

#[tokio::test]
async fn s3_2_1_addresses_in_a_sidecar_are_guarded() {
    let place = echo().await;
    let parts =
        r#"[{"kind":"file","mime":"text/plain","name":"x","bytes_ref":{"kind":"url","url":"https://10.0.0.1/x"}}]"#;
    place.post("/~echo", &[("parts", parts), ("user", "a")]).await.is(400);
}

#[tokio::test]
async fn s3_2_2_a_valid_history_sidecar_stands_and_proves_nothing() {
    let history = json!([{
        "role": "user",
        "sender": {"address": "slack:T123/U456", "auth_method": "mtls", "verified": true, "identities": [{"x": 1}],
                   "profile": {"display_name": "JC"}},
        "parts": [{"kind": "text", "content": "typed"}],
        "timestamp": "2026-05-06T00:00:00.000Z",
    }]);
    let message = heard(&[("history", &history.to_string()), ("user", "q"), ("assistant", "a"), ("user", "now")]).await;
    assert_eq!(message.history.len(), 1);
    let sender = &message.history[0].sender;
    assert_eq!(
        (sender.address.as_str(), sender.verified, sender.auth_method.as_str()),
        ("slack:T123/U456", false, "none")
    );
    assert_eq!(message.history[0].parts, [Part::text("typed")]);
    assert!(!message.sender.verified && message.sender.identities.is_empty(), "the body never says who speaks");
    let message = heard(&[("history", "{oops"), ("user", "q"), ("assistant", "a"), ("user", "now")]).await;
    assert_eq!(message.history.len(), 2);
}

#[tokio::test]
async fn the_order_of_checks_tells_the_first_fault() {
    let place = echo().await;
    let both = request(Method::POST, "/~echo").header("accept", "image/png").header("content-type", "text/plain");
    place.send_with(both, "x").await.is(406);
    let boundless = request(Method::POST, "/~echo").header("content-type", "multipart/form-data");
    place.send_with(boundless, "x").await.is(400);
    place.send_with(request(Method::POST, "/~nobody").header("content-type", MULTIPART), "x").await.is(404);
}

#[tokio::test]
async fn several_questions_are_answered_at_once_by_get_and_by_post() {
    let place = echo().await;
    let words = "Which kind? Pea, Bean\nminutes: 20";
    let posted =
        [("answer.Which kind?", "Pea"), ("answer.minutes", "20"), ("answer.Which kind?", "Bean"), ("answer.name", "")];
    assert_eq!(place.post("/~echo", &posted).await.is(200).json()["parts"][0]["content"], words);
    let query = "answer.Which+kind%3F=Pea&answer.minutes=20&answer.Which+kind%3F=Bean&answer.name=";
    let asked = place.ask(&format!("/~echo?{query}"), "application/json").await.is(200);
    assert_eq!(asked.json()["parts"][0]["content"], words);
    for nothing in ["answer.a=", "answer.=x", "answer.a=+"] {
        place.ask(&format!("/~echo?{nothing}"), "application/json").await.is(400);
    }
}
