//! What a receiver does about refusals, lies and nonsense. PolicyPart 3.5, 3.6, 4.1, 4.2.

use axum::response::{IntoResponse, Response};
use forecourt_core::policy::RefusalKind;
use forecourt_core::{CollectedReply, Ending, Part};
use serde_json::{Value, json};

use crate::peer::*;

fn envelope(v: &str, part: Value) -> Value {
    json!({"mentionable": {"policy": {"v": v, "part": part, "later": 1}}})
}

async fn refused(state: &str, metadata: Value) -> CollectedReply {
    streamed(vec![
        json!({"task": task_10("WORKING", Value::Null, json!([]))}),
        status_10(state, said_10("No.", metadata)),
        text_10("late", false, true),
    ])
    .await
}

fn kinds() -> Vec<(&'static str, Value)> {
    let part = |kind: &str, more: Value| {
        let mut part = json!({"kind": kind, "message": "No."});
        part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        part
    };
    vec![
        ("AUTH_REQUIRED", part("unauthorized", json!({"auth_challenges": [{"scheme": "Bearer"}]}))),
        ("INPUT_REQUIRED", part("payment_required", json!({"accepted_payments": [{"scheme": "ln.x", "payload": {}}]}))),
        ("REJECTED", part("forbidden", json!({}))),
        ("REJECTED", part("unavailable_for_legal_reasons", json!({}))),
        ("FAILED", part("too_many_requests", json!({"retry_after_seconds": 7}))),
        ("FAILED", part("service_unavailable", json!({}))),
        ("FAILED", part("kind_of_tomorrow", json!({}))),
    ]
}

#[tokio::test]
async fn s4_2_a_refusal_whose_state_goes_with_its_kind_is_one() {
    for (state, part) in kinds() {
        let kind = part["kind"].as_str().unwrap().to_owned();
        let answer = refused(state, envelope("v0.1", part)).await;
        let Ending::Refused(part) = &answer.ending else { panic!("{kind}: {answer:?}") };
        assert_eq!((part.kind(), answer.text()), (kind.as_str(), String::new()), "nothing follows a refusal");
    }
}

#[tokio::test]
async fn s4_2_a_state_that_does_not_go_with_the_kind_is_rejected() {
    for state in ["COMPLETED", "WORKING", "SUBMITTED", "CANCELED", "FAILED"] {
        let (_, part) = kinds().swap_remove(2);
        let answer = refused(state, envelope("v0.1", part)).await;
        assert_eq!(failure(&answer), "The agent declined, but its reason was malformed.", "{state}");
    }
    let (_, unknown) = kinds().pop().unwrap();
    let answer = refused("COMPLETED", envelope("v0.1", unknown)).await;
    assert!(matches!(answer.ending, Ending::Failed { .. }), "an unknown kind is no success");
}

#[tokio::test]
async fn s3_6_what_its_kind_demands_must_be_there_and_links_must_lead_to_the_agent() {
    for (state, part) in [
        ("AUTH_REQUIRED", json!({"kind": "unauthorized", "message": "No."})),
        ("AUTH_REQUIRED", json!({"kind": "unauthorized", "message": "No.", "auth_challenges": []})),
        ("INPUT_REQUIRED", json!({"kind": "payment_required", "message": "No.", "accepted_payments": []})),
        ("INPUT_REQUIRED", json!({"kind": "consent_required", "message": "No.", "state": "s"})),
        ("REJECTED", json!({"kind": "forbidden", "message": "No.", "url": "https://evil.example/"})),
        ("REJECTED", json!({"kind": "forbidden"})),
        ("REJECTED", json!("forbidden")),
        ("REJECTED", json!(null)),
    ] {
        let answer = refused(state, envelope("v0.1", part.clone())).await;
        assert_eq!(failure(&answer), "The agent declined, but its reason was malformed.", "{part}");
    }
}

#[tokio::test]
async fn s4_1_an_envelope_of_another_version_is_kept_and_is_never_success() {
    let (_, part) = kinds().swap_remove(2);
    for state in ["REJECTED", "COMPLETED", "INPUT_REQUIRED"] {
        let sent = envelope("v0.2", part.clone());
        let answer = refused(state, sent.clone()).await;
        assert_eq!(failure(&answer), "The agent declined in a form that is not known here.", "{state}");
        let Part::Unknown(kept) = &answer.parts[0] else { panic!("{answer:?}") };
        assert_eq!(kept.fields["policy"], sent["mentionable"]["policy"], "{state}");
    }
}

#[tokio::test]
async fn s4_2_payment_carriers_that_contradict_the_part_are_rejected() {
    let offer = |scheme: &str, payload: Value| {
        let offers = json!([{"scheme": scheme, "payload": payload}]);
        envelope("v0.1", json!({"kind": "payment_required", "message": "Pay.", "accepted_payments": offers}))
    };
    let with = |mut metadata: Value, key: &str, value: Value| {
        metadata[key] = value;
        metadata
    };
    let payload = json!({"x402Version": 1, "accepts": [{"amount": "1"}]});
    let x402 = || offer("x402.exact", payload.clone());
    let same = with(x402(), "x402.payment.required", json!({"accepts": [{"amount": "1"}], "x402Version": 1.0}));
    for fine in [x402(), with(same, "x402.payment.status", json!("payment-required"))] {
        assert!(matches!(refused("INPUT_REQUIRED", fine).await.ending, Ending::Refused(_)));
    }
    for wrong in [
        with(x402(), "x402.payment.required", json!({"x402Version": 1, "accepts": [{"amount": "2"}]})),
        with(x402(), "x402.payment.status", json!("payment-completed")),
        with(offer("ln.invoice", json!({})), "x402.payment.required", payload.clone()),
    ] {
        assert!(matches!(refused("INPUT_REQUIRED", wrong).await.ending, Ending::Failed { .. }));
    }
    for (mandate, is_fine) in [(json!({"a": 1}), true), (json!({"a": 2}), false)] {
        let cart = piece_10(json!([{"data": {"ap2.mandates.CartMandate": mandate}}]), false, true);
        let status = status_10("INPUT_REQUIRED", said_10("Pay.", offer("ap2.cart_mandate", json!({"a": 1}))));
        let answer = streamed(vec![json!({"task": task_10("WORKING", Value::Null, json!([]))}), cart, status]).await;
        assert_eq!(matches!(answer.ending, Ending::Refused(_)), is_fine, "{answer:?}");
    }
}

#[tokio::test]
async fn a_refusal_of_the_remote_agent_is_bound_to_our_host_when_it_is_passed_on() {
    let peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |_, heard| {
            let host = heard.headers["host"].to_str().unwrap();
            let url = |path: &str| format!("https://{host}{path}");
            let part = json!({"kind": "consent_required", "message": "Agree.", "state": "s",
                "url": url("/consent"), "return_to": url("/back")});
            let status = said_10("Agree.", envelope("v0.1", part));
            rpc_stream(&[json!({"task": task_10("INPUT_REQUIRED", status, json!([]))})], After::Close)
        },
    )
    .await;
    let Ending::Refused(part) = ask(&build(&peer.base, ""), "hi").await.ending else { panic!("a refusal") };
    part.validate("near.example").unwrap();
    let RefusalKind::ConsentRequired { return_to, .. } = &part.kind else { panic!("{part:?}") };
    assert_eq!(return_to, "https://near.example/~front");
    assert!(part.message.starts_with("Agree.\n\nContinue: https://127.0.0.1"), "{}", part.message);
}

#[tokio::test]
async fn s3_6_a_peer_that_breaks_its_promise_is_not_believed_for_an_hour() {
    let peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |number, _| {
            let state = if number == 0 { "COMPLETED" } else { "REJECTED" };
            let part = json!({"kind": "forbidden", "message": "No."});
            rpc_stream(
                &[json!({"task": task_10(state, said_10("No.", envelope("v0.1", part)), json!([]))})],
                After::Close,
            )
        },
    )
    .await;
    let (built, clock) = try_build(&settings(&peer.base, "")).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(failure(&ask(&built, "1").await).ends_with("its reason was malformed."));
    assert!(failure(&ask(&built, "2").await).ends_with("not believed for now."));
    clock.advance(std::time::Duration::from_secs(3_600));
    assert!(matches!(ask(&built, "3").await.ending, Ending::Refused(_)));
}

/// Whatever a server says, the answer is an honest failure, and soon.
async fn nonsense(answer: impl Fn() -> Response + Send + Sync + 'static) -> String {
    let peer = peer(|base| json_answer(card_10(base, "JSONRPC", true)), move |_, _| answer()).await;
    failure(&ask(&build(&peer.base, ""), "hi").await).to_owned()
}

#[tokio::test]
async fn nonsense_is_an_honest_failure() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let frames = [
        "{".to_owned(),
        deep,
        "null".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        json!({"jsonrpc": "2.0", "id": 1}).to_string(),
        json!({"jsonrpc": "2.0", "id": 1, "result": null}).to_string(),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"what": {}}}).to_string(),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"task": {"id": 7}}}).to_string(),
        "{\"result\": {}, \"result\": {}}".to_owned(),
    ];
    for frame in frames {
        let (streamed, whole) = (frame.clone(), frame.clone());
        let reason = nonsense(move || sse(vec![format!("data: {streamed}\n\n")], After::Close)).await;
        assert!(reason.contains("could not be read"), "{frame}: {reason}");
        let reason =
            nonsense(move || ([(axum::http::header::CONTENT_TYPE, "application/json")], whole.clone()).into_response())
                .await;
        assert!(reason.contains("could not be read"), "{frame}: {reason}");
    }
    assert!(nonsense(|| sse(Vec::new(), After::Close)).await.contains("broke off"));
    assert!(nonsense(|| rpc_error(-32603, "a\nb")).await.ends_with("failed."));
    assert!(nonsense(|| axum::http::StatusCode::BAD_GATEWAY.into_response()).await.ends_with("failed."));
}

#[tokio::test]
async fn a_frame_that_is_too_large_is_not_held() {
    const LINE: usize = 1024 * 1024;
    let lines = forecourt_a2a::client::limits::FRAME_BYTES_MAX / LINE + 2;
    let frame = move || std::iter::repeat_with(|| format!("data: {}\n", "x".repeat(LINE))).take(lines).collect();
    assert!(nonsense(move || sse(frame(), After::Hang)).await.contains("too large"));
}
